/**
 * Stores organizations, their users, sessions and API keys. Secrets are shown once and stored as SHA-256 digests.
 *
 * This module caches nothing. So every look-up after a key was revoked or a session ended refuses it, in every process.
 */
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { done, hasRows, oneNumber, rowsOf, textValues, texts } from "../postgres/Rows.ts"
import { roles } from "../../schema/accounts/Role.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { Caller, KeyAccess } from "../../schema/accounts/KeyAccess.ts"
import { newId } from "../platform/Ids.ts"
import {
  apiKeys,
  type Environment,
  type Unchangeable,
  type KeyRow,
  type KeyRules,
  type NewKey,
  type RenewKey,
  type TooManyKeys
} from "./ApiKeys.ts"
import { accessColumns, accessOf, AccessRow } from "./KeyRows.ts"
import { organizationList, type OrganizationRow } from "./organizations/OrganizationList.ts"
import type { InvitationRefused } from "./Invitations.ts"
import { Settings } from "../platform/Settings.ts"
import type { ReferralRefused } from "./Referrals.ts"
import { diesIfMoved } from "../postgres/Elsewhere.ts"
import { digest, hashed, matches, newToken, randomText, tokenHash } from "./Secrets.ts"
import { type CodeNeeded, SecondFactors, type WrongCode } from "./SecondFactors.ts"
import { newWalletLane } from "./WalletLanes.ts"

export { keysMax, TooManyKeys } from "./ApiKeys.ts"
export type { Environment, KeyRow } from "./ApiKeys.ts"

export const SessionRow = Schema.Struct({
  org_id: Schema.String,
  organization: Schema.String,
  user_id: Schema.String,
  email: Schema.String,
  expires_at: Schema.Date,
  /** The user has not verified the e-mail address. */
  pending: Schema.Boolean,
  /** The user's role in the organization, and whether that is being copied to another cell. */
  role: Schema.Literals(roles),
  moving: Schema.Boolean
})
export type SessionRow = typeof SessionRow.Type
const sessionRows = rowsOf(SessionRow.fields)

export interface NewSession {
  readonly token: Redacted.Redacted
  readonly session: SessionRow
}

export interface NewUser {
  readonly org_id: string
  readonly user_id: string
}

/** Why a sign-up's `joining` step may fail. */
export type JoiningRefused = ReferralRefused | InvitationRefused

export interface NewAccount {
  readonly email: string
  readonly password: Redacted.Redacted
  readonly organization: string
  readonly daily_limit: MicroUsd | null
  /**
   * `pending`: the user must verify the address. Several pending users may have the same address, because a refusal would reveal
   * that it has an account. `verified`: the operator vouched for the address with an invitation. `trusted`: verification is off.
   */
  readonly address: "pending" | "verified" | "trusted"
  /** The client address, for the audit log. */
  readonly client: string
  /** Runs in the transaction that creates the organization, to store an invitation or referral. Its failure refuses the sign-up. */
  readonly joining: (user: NewUser) => Effect.Effect<void, JoiningRefused>
}

/** The password is right, and the user is no member of the organization, or of any if none was named. */
export class NotMember extends Schema.TaggedError<NotMember>()("NotMember", {}) {}
export class EmailTaken extends Schema.TaggedError<EmailTaken>()("EmailTaken", {}) {}
const sessionDays = 30

const lastUsedEvery = "10 seconds"

const userRows = rowsOf({ user_id: Schema.String, password_hash: Schema.String, pending: Schema.Boolean })
const keyOwnerRows = rowsOf({
  org_id: Schema.String,
  key_id: Schema.String,
  environment: Schema.Literals(["test", "live"]),
  ...AccessRow.fields
})
const accessRows = rowsOf(AccessRow.fields)

const defaultOrganization = (sql: SqlClient.SqlClient, user_id: string) =>
  Effect.map(
    textValues(sql`
      SELECT m.org_id FROM users u JOIN members m ON m.user_id = u.user_id WHERE u.user_id = ${user_id}
      ORDER BY (m.org_id = u.org_id) DESC, m.created_at, m.org_id LIMIT 1`),
    (rows) => rows[0] ?? null
  )

export class Accounts extends Context.Service<
  Accounts,
  {
    readonly signUp: (account: NewAccount) => Effect.Effect<NewSession, EmailTaken | JoiningRefused>
    /**
     * Opens a session for `org_id`, or by default for the organization that the user signed up with, else for the oldest membership. Takes
     * the same time whether or not the address has an account.
     */
    readonly signIn: (
      email: string,
      password: Redacted.Redacted,
      org_id: string | null,
      code: string | null
    ) => Effect.Effect<Option.Option<NewSession>, NotMember | CodeNeeded | WrongCode>
    /**
     * Opens a session for a user whom the caller has checked. Null if the password was changed since, or there is no membership. `proven`: with
     * more than a password. Without it, no session opens for an account with a second factor.
     */
    readonly open: (
      user_id: string,
      password_hash: string,
      org_id: string | null,
      proven: boolean
    ) => Effect.Effect<NewSession | null>
    readonly signOut: (token: Redacted.Redacted) => Effect.Effect<void>
    readonly session: (token: Redacted.Redacted) => Effect.Effect<Option.Option<SessionRow>>
    /** Creates an organization without users, for operators. */
    readonly createOrganization: (name: string, daily_limit: MicroUsd | null) => Effect.Effect<string>
    readonly organizations: Effect.Effect<number>
    /**
     * Newest first; only those older than `before`, when given. `search` is a part of the name or of a member's e-mail address, or the whole
     * id.
     */
    readonly findOrganizations: (
      search: string | null,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<OrganizationRow>>
    readonly organization: (org_id: string) => Effect.Effect<Option.Option<OrganizationRow>>
    readonly principal: (token: Redacted.Redacted) => Effect.Effect<Option.Option<Caller>>
    /** The rules of an API key as they are now. Null if it was revoked or has expired. */
    readonly access: (org_id: string, key_id: string) => Effect.Effect<KeyAccess | null>
    readonly createKey: (
      org_id: string,
      name: string,
      environment: Environment,
      rules?: KeyRules
    ) => Effect.Effect<NewKey, TooManyKeys>
    readonly keys: (org_id: string, before: string | null, limit: number) => Effect.Effect<ReadonlyArray<KeyRow>>
    /** The keys that people make and change: in use, of no allowance and of no connected agent. */
    readonly changeableKeys: (org_id: string) => Effect.Effect<ReadonlyArray<KeyRow>>
    /** None if the key does not exist or belongs to another organization. */
    readonly key: (org_id: string, key_id: string) => Effect.Effect<Option.Option<KeyRow>>
    readonly revokeKey: (org_id: string, key_id: string) => Effect.Effect<Option.Option<KeyRow>>
    readonly changeKey: (
      org_id: string,
      key_id: string,
      change: KeyRules & { readonly name?: string }
    ) => Effect.Effect<Option.Option<KeyRow>, Unchangeable>
    /** Replaces a key. The old one works for `graceSeconds` more. */
    readonly rotateKey: (
      org_id: string,
      key_id: string,
      graceSeconds: number
    ) => Effect.Effect<Option.Option<NewKey>, Unchangeable | TooManyKeys>
    readonly renewKey: RenewKey
    /** The organization that a key belongs to, for operators. */
    readonly ownerOfKey: (key_id: string) => Effect.Effect<Option.Option<string>>
    /** Records that a key was used. One statement stores all used keys every few seconds. */
    readonly used: (key_id: string) => void
  }
>()("rungate/layers/accounts/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const factors = yield* SecondFactors
      const { cell, emailVerification } = yield* Settings
      // Compared with the password if the e-mail address has no account, so that both cases take the same time.
      const decoy = yield* Effect.cached(Effect.suspend(() => hashed(Redacted.make(randomText(20)))))

      const insertOrganization = Effect.fnUntraced(function* (name: string, daily_limit: MicroUsd | null) {
        const org_id = newId("org")
        yield* sql`INSERT INTO orgs ${sql.insert({ org_id, name })}`
        const lane = yield* newWalletLane(sql, org_id)
        yield* sql`INSERT INTO wallets ${sql.insert({ org_id, lane, daily_limit })}`
        return org_id
      })

      /**
       * Opens a session. Null if the password was changed after it was checked, or there is no membership. The row locks wait for a password
       * change or a removal in progress, so no session opens with the old password or for a removed member afterwards.
       */
      const open = Effect.fnUntraced(function* (
        user_id: string,
        password_hash: string,
        organization: string | null,
        proven: boolean
      ) {
        // The token of a cell names its organization, so that one is read before.
        const org_id = cell === null ? organization : (organization ?? (yield* defaultOrganization(sql, user_id)))
        const token = newToken(cell, "sess", org_id)
        yield* sql`
          INSERT INTO sessions (token_hash, user_id, org_id, expires_at)
          SELECT ${digest(token)}, u.user_id, m.org_id, now() + make_interval(days => ${sessionDays})
          FROM users u JOIN members m ON m.user_id = u.user_id
          WHERE u.user_id = ${user_id} AND u.password_hash = ${password_hash} AND (${org_id}::text IS NULL OR m.org_id = ${org_id})
            AND (${proven} OR NOT EXISTS (SELECT FROM second_factors f WHERE f.user_id = u.user_id AND f.confirmed_at IS NOT NULL))
          ORDER BY (m.org_id = u.org_id) DESC, m.created_at, m.org_id LIMIT 1 FOR SHARE OF u FOR KEY SHARE OF m`
        const [session] = yield* findSession(token)
        return session === undefined ? null : { token: Redacted.make(token), session }
      })

      const findSession = (token: string) =>
        sessionRows(sql`
          SELECT s.org_id, o.name AS organization, s.user_id, u.email, s.expires_at, u.pending, m.role,
                 EXISTS (SELECT FROM wallets w WHERE w.org_id = s.org_id AND w.moving = 2) AS moving
          FROM sessions s JOIN users u USING (user_id) JOIN orgs o ON o.org_id = s.org_id
          JOIN members m ON m.org_id = s.org_id AND m.user_id = s.user_id
          WHERE s.token_hash = ${digest(token)} AND s.ended_at IS NULL AND s.expires_at > now()`)

      const isMember = (user_id: string, org_id: string | null) =>
        hasRows(sql`
          SELECT 1 AS found FROM members WHERE user_id = ${user_id} AND (${org_id}::text IS NULL OR org_id = ${org_id}) LIMIT 1`)

      const check = Effect.fnUntraced(function* (email: string, password: Redacted.Redacted) {
        const users = yield* userRows(sql`
          (SELECT user_id, password_hash, pending FROM users WHERE lower(email) = lower(${email}) AND NOT pending)
          UNION ALL
          (SELECT user_id, password_hash, pending FROM users WHERE lower(email) = lower(${email}) AND pending
           ORDER BY user_id DESC LIMIT 1)`)
        // With verification on, an address may have a verified and a pending user. Always check both, so that the response time does
        // not reveal which of them exist.
        const pendingStates = emailVerification ? [false, true] : [users[0]?.pending === true]
        const decoyHash = yield* decoy
        const signedIn = yield* Effect.forEach(
          pendingStates,
          Effect.fnUntraced(function* (pending) {
            const user = users.find((one) => one.pending === pending)
            const isCorrect = yield* matches(password, user?.password_hash ?? decoyHash)
            return isCorrect ? user : undefined
          }),
          { concurrency: "unbounded" }
        )
        return signedIn.find((one) => one !== undefined)
      }, Effect.orDie)

      const keys = apiKeys(sql, cell)

      const listOrganizations = organizationList(sql)

      const usedKeys = new Set<string>()
      const writeUsed = Effect.suspend(() => {
        if (usedKeys.size === 0) return Effect.void
        const ids = [...usedKeys]
        usedKeys.clear()
        return Effect.asVoid(sql`UPDATE api_keys SET last_used_at = now() WHERE key_id = ANY(${texts(ids)})`)
      }).pipe(Effect.ignore)
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(lastUsedEvery), writeUsed)))

      return Accounts.of({
        signUp: Effect.fn("Accounts.signUp")(function* (account) {
          const { email, address } = account
          const password_hash = yield* hashed(account.password)
          const user_id = newId("usr")
          return yield* log
            .by({ kind: "person", id: user_id, name: null, address: account.client })(
              Effect.gen(function* () {
                const org_id = yield* insertOrganization(account.organization, account.daily_limit)
                yield* sql`
                  INSERT INTO users (user_id, org_id, email, password_hash, pending, email_verified_at)
                  VALUES (${user_id}, ${org_id}, ${email}, ${password_hash}, ${address === "pending"},
                          CASE WHEN ${address === "verified"} THEN now() END)`
                yield* account.joining({ org_id, user_id })
                return (
                  (yield* open(user_id, password_hash, org_id, false)) ??
                  (yield* Effect.die(new Error("the session of a new user was not stored")))
                )
              })
            )
            .pipe(
              Effect.catchReason("SqlError", "UniqueViolation", () => Effect.fail(new EmailTaken())),
              Effect.catchTag("SqlError", Effect.die)
            )
        }),
        signIn: Effect.fn("Accounts.signIn")(function* (email, password, org_id, code) {
          const user = yield* check(email, password)
          if (user === undefined) return Option.none()
          const proven = yield* factors.check(user.user_id, code)
          const opened = yield* Effect.orDie(open(user.user_id, user.password_hash, org_id, proven))
          if (opened === null && !(yield* isMember(user.user_id, org_id))) return yield* new NotMember()
          return Option.fromNullishOr(opened)
        }),
        open: (user_id, password_hash, org_id, proven) => Effect.orDie(open(user_id, password_hash, org_id, proven)),
        signOut: (token) =>
          done(sql`
            UPDATE sessions SET ended_at = now() WHERE token_hash = ${tokenHash(token)} AND ended_at IS NULL`),
        session: (token) =>
          Effect.orDie(Effect.map(findSession(Redacted.value(token)), (rows) => Option.fromNullishOr(rows[0]))),
        createOrganization: (name, daily_limit) =>
          Effect.orDie(sql.withTransaction(insertOrganization(name, daily_limit))),
        organizations: Effect.orDie(oneNumber(sql`SELECT count(*)::int FROM orgs`)),
        findOrganizations: (search, before, limit) => listOrganizations(null, search, before, limit),
        organization: (org_id) =>
          Effect.map(listOrganizations(org_id, null, null, 1), (rows) => Option.fromNullishOr(rows[0])),
        principal: Effect.fnUntraced(function* (token) {
          const text = Redacted.value(token)
          if (text.startsWith("rg_sess_")) {
            const [row] = yield* findSession(text)
            if (row?.moving !== false) yield* diesIfMoved(sql, row ?? { token_hash: digest(text) })
            return Option.map(Option.fromNullishOr(row), (session) => ({
              ...session,
              key_id: null,
              environment: null,
              access: null
            }))
          }
          const [key] = yield* keyOwnerRows(sql`
            SELECT org_id, key_id, environment, ${sql.literal(accessColumns)} FROM api_keys
            WHERE key_hash = ${digest(text)} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`)
          if (key === undefined) return yield* Effect.as(diesIfMoved(sql, { token_hash: digest(text) }), Option.none())
          const { org_id, key_id, environment } = key
          return Option.some({
            org_id,
            key_id,
            environment,
            user_id: null,
            pending: false,
            role: null,
            access: accessOf(key)
          })
        }, Effect.orDie),
        access: Effect.fnUntraced(function* (org_id, key_id) {
          const [row] = yield* accessRows(sql`
            SELECT ${sql.literal(accessColumns)} FROM api_keys
            WHERE org_id = ${org_id} AND key_id = ${key_id} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`)
          return row === undefined ? yield* diesIfMoved(sql, { org_id }) : accessOf(row)
        }, Effect.orDie),
        createKey: keys.create,
        changeableKeys: (org_id) => Effect.orDie(keys.changeable(org_id)),
        keys: (org_id, before, limit) => Effect.orDie(keys.list(org_id, before, limit)),
        key: (org_id, key_id) => Effect.orDie(keys.find(org_id, key_id)),
        revokeKey: (org_id, key_id) => Effect.orDie(keys.revoke(org_id, key_id)),
        changeKey: keys.change,
        rotateKey: keys.rotate,
        renewKey: keys.renew,
        ownerOfKey: (key_id) =>
          Effect.orDie(
            Effect.map(textValues(sql`SELECT org_id FROM api_keys WHERE key_id = ${key_id}`), (rows) =>
              Option.fromNullishOr(rows[0])
            )
          ),
        used: (key_id) => {
          usedKeys.add(key_id)
        }
      })
    })
  )
}
