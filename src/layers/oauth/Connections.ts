/**
 * Connections of agents to an organization: authorization codes, access tokens and refresh tokens.
 *
 * An access token is an API key with a scope, a budget and an expiry. Its key keeps its id, rules and budget for the life of the connection;
 * a refresh gives it a new secret. A code or a refresh token that comes a second time ends the connection and revokes the key.
 */
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type BudgetPeriod, budgetPeriods } from "../../schema/money/SpendDay.ts"
import { MicroUsd } from "../../schema/money/Money.ts"
import { markPattern } from "../../schema/accounts/TokenText.ts"
import { allowOf, type OAuthScope, oauthScopes } from "../../schema/oauth/Scope.ts"
import { provesChallenge } from "../../schema/oauth/Pkce.ts"
import { Accounts, type Environment } from "../accounts/Accounts.ts"
import type { TooManyKeys } from "../accounts/ApiKeys.ts"
import { digest, newToken, randomText } from "../accounts/Secrets.ts"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { diesIfMoved } from "../postgres/Elsewhere.ts"
import { oneBigint, rowsOf } from "../postgres/Rows.ts"

/** What a person has agreed to. */
export interface Consent {
  readonly org_id: string
  readonly user_id: string
  readonly client_id: string
  readonly client_name: string
  readonly redirect_uri: string
  readonly challenge: string
  readonly scope: OAuthScope
  readonly budget: { readonly limit: MicroUsd; readonly period: BudgetPeriod } | null
}

export interface Tokens {
  readonly access: Redacted.Redacted
  readonly refresh: Redacted.Redacted
  /** Seconds for which the access token works. */
  readonly seconds: number
  readonly scope: OAuthScope
}

/** The organization has as many codes that nobody has used as it may have. */
export class TooManyCodes extends Schema.TaggedError<TooManyCodes>()("TooManyCodes", {}) {}

const codeSeconds = 60
const codesMax = 100
const accessSeconds = 8 * 3_600
/** A connection that is not used for this long ends. */
const refreshDays = 60
const forgetDays = 30

const CodeRow = Schema.Struct({
  org_id: Schema.String,
  user_id: Schema.String,
  client_hash: Schema.Uint8Array,
  client_name: Schema.String,
  redirect_uri: Schema.String,
  challenge: Schema.String,
  scope: Schema.Literals(oauthScopes),
  budget: Schema.NullOr(Schema.BigInt),
  period: Schema.NullOr(Schema.Literals(budgetPeriods)),
  may_connect: Schema.Boolean
})
const codeRows = rowsOf(CodeRow.fields)
const GrantRow = Schema.Struct({
  grant_id: Schema.String,
  org_id: Schema.String,
  user_id: Schema.String,
  key_id: Schema.String,
  client_hash: Schema.Uint8Array,
  refresh_hash: Schema.Uint8Array,
  scope: Schema.Literals(oauthScopes),
  open: Schema.Boolean
})
type GrantRow = typeof GrantRow.Type
const grantRows = rowsOf(GrantRow.fields)

const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.from(a).equals(Buffer.from(b))

const refreshForm = new RegExp(`^(rg_refresh_${markPattern}[0-9A-Za-z]{43})_[0-9A-Za-z]{43}$`)
const newRefresh = (family: string) => `${family}_${randomText(43)}`
const familyOf = (refresh: string): string | null => refreshForm.exec(refresh)?.[1] ?? null

export class Connections extends Context.Service<
  Connections,
  {
    /** A code that works once, within a minute. */
    readonly issue: (consent: Consent) => Effect.Effect<Redacted.Redacted, TooManyCodes>
    /** Null if the code is unknown, expired, or was made for another client, redirect URI or challenge. It is used up in any case. */
    readonly redeem: (given: {
      readonly code: string
      readonly client_id: string
      readonly redirect_uri: string
      readonly verifier: string
      readonly environment: Environment
      readonly address: string
    }) => Effect.Effect<Tokens | null, TooManyKeys>
    /** Null if the token is unknown or was used before, or its connection has ended. */
    readonly refresh: (given: {
      readonly token: string
      readonly client_id: string
      readonly address: string
    }) => Effect.Effect<Tokens | null, TooManyKeys>
    /**
     * Ends the connection to which an access or refresh token belongs, and does nothing for any other token. With a `client_id`, the token must
     * belong to that client. Null checks no client: having the token is enough.
     */
    readonly revoke: (given: {
      readonly token: string
      readonly client_id: string | null
      readonly address: string
    }) => Effect.Effect<void>
  }
>()("rungate/layers/oauth/Connections") {
  static readonly layer = Layer.effect(
    Connections,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings
      const accounts = yield* Accounts
      const log = yield* AuditLog

      const expiry = Effect.map(Clock.currentTimeMillis, (now) => new Date(now + accessSeconds * 1_000))

      const grantColumns = sql.literal(
        "g.grant_id, g.org_id, g.user_id, g.key_id, g.client_hash, g.refresh_hash, g.scope, g.ended_at IS NULL AND g.expires_at > now() AS open"
      )

      const end = Effect.fnUntraced(function* ({ grant_id, org_id, key_id }: GrantRow) {
        yield* sql`
          UPDATE oauth_grants SET ended_at = now() WHERE org_id = ${org_id} AND grant_id = ${grant_id} AND ended_at IS NULL`
        yield* accounts.revokeKey(org_id, key_id)
      })

      /** Somebody has the code or token of another: both lose the connection. */
      const stolen = Effect.fnUntraced(function* (grant: GrantRow, what: string) {
        yield* Effect.logWarning(`${what} came a second time; the connection of key ${grant.key_id} has ended`)
        yield* end(grant)
        return null
      })

      const refresh = Effect.fn("Connections.refresh")(
        function* (given: { readonly token: string; readonly client_id: string; readonly address: string }) {
          const family = familyOf(given.token)
          if (family === null) return null
          const exchange = Effect.gen(function* () {
            const [grant] = yield* grantRows(
              sql`SELECT ${grantColumns} FROM oauth_grants g WHERE g.family_hash = ${digest(family)} FOR UPDATE`
            )
            if (grant === undefined) yield* diesIfMoved(sql, { token_hash: digest(family) })
            if (grant === undefined || !grant.open || !isSame(grant.client_hash, digest(given.client_id))) return null
            if (!isSame(grant.refresh_hash, digest(given.token))) return yield* stolen(grant, "a refresh token")
            const { grant_id, org_id, key_id, user_id, scope } = grant
            const by = log.by({ kind: "person", id: user_id, name: null, address: given.address })
            const renewed = yield* by(accounts.renewKey(org_id, key_id, yield* expiry))
            // Somebody revoked the key or made another one in its place.
            if (Option.isNone(renewed)) return yield* Effect.as(end(grant), null)
            const next = newRefresh(family)
            yield* sql`
              UPDATE oauth_grants SET refresh_hash = ${digest(next)}, refreshed_at = now(), expires_at = now() + make_interval(days => ${refreshDays})
              WHERE org_id = ${org_id} AND grant_id = ${grant_id}`
            return { access: renewed.value.token, refresh: Redacted.make(next), seconds: accessSeconds, scope }
          })
          return yield* sql.withTransaction(exchange)
        },
        Effect.catchTag("SqlError", Effect.die)
      )

      return Connections.of({
        issue: Effect.fn("Connections.issue")(
          function* (consent) {
            const { org_id, user_id, client_id, client_name, redirect_uri, challenge, scope, budget } = consent
            yield* sql`DELETE FROM oauth_codes WHERE org_id = ${org_id} AND expires_at < now()`
            // A connection that ended long ago: its old tokens then are as unknown as they are refused.
            yield* sql`
              DELETE FROM oauth_grants WHERE org_id = ${org_id} AND least(ended_at, expires_at) < now() - make_interval(days => ${forgetDays})`
            const code = newToken(cell, "code", org_id)
            const insertion = Effect.gen(function* () {
              // So that concurrent requests can't exceed the limit together. A change of a member locks codes and then the organization's row.
              yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`codes of ${org_id}`}, 0))`
              const count = yield* oneBigint(sql`SELECT count(*) AS count FROM oauth_codes WHERE org_id = ${org_id}`)
              if (count >= codesMax) return yield* Effect.fail(new TooManyCodes())
              yield* sql`
                INSERT INTO oauth_codes (code_hash, org_id, user_id, client_hash, client_name, redirect_uri, challenge, scope, budget, period, expires_at)
                VALUES (${digest(code)}, ${org_id}, ${user_id}, ${digest(client_id)}, ${client_name}, ${redirect_uri}, ${challenge}, ${scope},
                        ${budget?.limit ?? null}, ${budget?.period ?? null}, now() + make_interval(secs => ${codeSeconds}))`
            })
            yield* sql.withTransaction(insertion)
            return Redacted.make(code)
          },
          Effect.catchTag("SqlError", Effect.die)
        ),
        redeem: Effect.fn("Connections.redeem")(
          function* (given) {
            const code_hash = digest(given.code)
            const exchange = Effect.gen(function* () {
              // Whoever deletes the row has the code. A second request waits here for the first one's commit.
              const [code] = yield* codeRows(sql`
                DELETE FROM oauth_codes c WHERE code_hash = ${code_hash} AND expires_at > now()
                RETURNING org_id, user_id, client_hash, client_name, redirect_uri, challenge, scope, budget, period,
                          EXISTS (SELECT FROM members m WHERE m.org_id = c.org_id AND m.user_id = c.user_id AND m.role <> 'viewer') AS may_connect`)
              if (code === undefined) {
                const [grant] = yield* grantRows(
                  sql`SELECT ${grantColumns} FROM oauth_grants g WHERE g.code_hash = ${code_hash} FOR UPDATE`
                )
                return grant === undefined || !grant.open ? null : yield* stolen(grant, "an authorization code")
              }
              const isRight =
                isSame(code.client_hash, digest(given.client_id)) &&
                code.redirect_uri === given.redirect_uri &&
                provesChallenge(given.verifier, code.challenge) &&
                code.may_connect
              if (!isRight) return null
              const { org_id, user_id, client_name, scope, budget, period } = code
              const family = newToken(cell, "refresh", org_id)
              const refresh = newRefresh(family)
              const by = log.by({ kind: "person", id: user_id, name: null, address: given.address })
              return yield* by(
                Effect.gen(function* () {
                  const key = yield* accounts.createKey(org_id, `${client_name} (connected)`, given.environment, {
                    expires_at: yield* expiry,
                    allow: allowOf[scope],
                    budget: budget === null || period === null ? null : { limit: MicroUsd(budget), period }
                  })
                  yield* sql`
                    INSERT INTO oauth_grants (grant_id, org_id, user_id, key_id, client_hash, code_hash, family_hash, refresh_hash, scope, expires_at)
                    VALUES (${newId("con")}, ${org_id}, ${user_id}, ${key.id}, ${digest(given.client_id)}, ${code_hash}, ${digest(family)},
                            ${digest(refresh)}, ${scope}, now() + make_interval(days => ${refreshDays}))`
                  return { access: key.token, refresh: Redacted.make(refresh), seconds: accessSeconds, scope }
                })
              )
            })
            return yield* sql.withTransaction(exchange)
          },
          Effect.catchTag("SqlError", Effect.die)
        ),
        refresh,
        revoke: Effect.fn("Connections.revoke")(
          function* (given) {
            const family = familyOf(given.token)
            const ending = Effect.gen(function* () {
              const [grant] = yield* grantRows(
                family === null
                  ? sql`
                    SELECT ${grantColumns} FROM oauth_grants g JOIN api_keys k ON k.org_id = g.org_id AND k.key_id = g.key_id
                    WHERE k.key_hash = ${digest(given.token)} FOR UPDATE OF g`
                  : sql`SELECT ${grantColumns} FROM oauth_grants g WHERE g.family_hash = ${digest(family)} FOR UPDATE`
              )
              if (grant === undefined || !grant.open) return
              if (given.client_id !== null && !isSame(grant.client_hash, digest(given.client_id))) return
              const by = log.by({ kind: "key", id: grant.key_id, name: null, address: given.address })
              yield* by(end(grant))
            })
            yield* sql.withTransaction(ending)
          },
          Effect.catchTag("SqlError", Effect.die)
        )
      })
    })
  )
}
