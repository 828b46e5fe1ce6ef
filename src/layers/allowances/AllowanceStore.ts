/**
 * Stores allowances: a key with a budget, under the key that gives it. The wallet's turn holds their money; see schema/wallet/Allowance.ts.
 *
 * A new allowance is `pending` and its key can run nothing until a turn has held the amount.
 */
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Allow } from "../../schema/accounts/KeyAccess.ts"
import { childScope, type Wider } from "../../schema/accounts/ChildScope.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { purseStates } from "../../schema/wallet/KeyBudget.ts"
import { apiKeys, type Environment, type TooManyKeys } from "../accounts/ApiKeys.ts"
import { Reads, scopeOf } from "../accounts/KeyRows.ts"
import { displayOf } from "../../schema/accounts/TokenText.ts"
import { digest, newToken } from "../accounts/Secrets.ts"
import { newId } from "../platform/Ids.ts"
import { done, hasRows, rowsOf, storedAs, texts } from "../postgres/Rows.ts"
import { Settings } from "../platform/Settings.ts"

/** An allowance, one that it gives, and one that this gives. */
export const depthMax = 3

export interface NewAllowance {
  readonly org_id: string
  readonly environment: Environment
  readonly name: string
  readonly amount: MicroUsd
  readonly expires_at: Date
  readonly allow: Allow
  /** The key that gives it. Null for a person. */
  readonly parent_key_id: string | null
  readonly idempotency_key: string | null
  readonly fingerprint: string
}

/** Where a turn finds the allowance. */
export interface AllowanceBudgets {
  readonly org_id: string
  readonly key_id: string
  readonly budget_id: string
  readonly held_in: string | null
}

export interface Minted extends AllowanceBudgets {
  readonly token: Redacted.Redacted
  /** Whether an earlier request with its Idempotency-Key has created it. */
  readonly replayed: boolean
}

/** The request can't be granted. `path` is its field. */
export class AllowanceRefused extends Schema.TaggedError<AllowanceRefused>()("AllowanceRefused", {
  why: Schema.Literals(["parent_ended", "may_not_mint", "too_deep", "wider", "expires_late", "key_reused", "ended"]),
  path: Schema.String,
  message: Schema.String
}) {}

const refused = (why: AllowanceRefused["why"], { path, message }: Wider) => new AllowanceRefused({ why, path, message })

const StoredAllowance = Schema.Struct({
  key_id: Schema.String,
  parent_key_id: Schema.NullOr(Schema.String),
  depth: Schema.Int,
  name: Schema.String,
  display: Schema.String,
  /** JSON. */
  allow: Schema.Unknown,
  reads: Reads,
  state: Schema.Literals(purseStates),
  /** Whether its key can be used. */
  usable: Schema.Boolean,
  amount: Schema.BigInt,
  held: Schema.BigInt,
  reserved: Schema.BigInt,
  spent: Schema.BigInt,
  expires_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date
})
export interface AllowanceRow extends Omit<typeof StoredAllowance.Type, "allow" | "reads"> {
  readonly allow: Allow | null
}

const storedRows = rowsOf(StoredAllowance.fields)
const parentRows = rowsOf({
  allow: Schema.Unknown,
  reads: Reads,
  budget_id: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.Date),
  usable: Schema.Boolean,
  depth: Schema.Int
})
const budgetFields = {
  org_id: Schema.String,
  key_id: Schema.String,
  budget_id: Schema.String,
  held_in: Schema.NullOr(Schema.String)
}
const budgetRows = storedAs(budgetFields)
const earlierRows = rowsOf({
  ...budgetFields,
  environment: Schema.Literals(["test", "live"]),
  fingerprint: Schema.String,
  usable: Schema.Boolean
})
const stateRows = storedAs({ state: Schema.Literals(purseStates), usable: Schema.Boolean })

/** Of the key `k`. */
const usable = "k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())"
/** Allowances whose money a turn has to return, with their budgets and keys. */
const ended = `key_budgets b JOIN allowances a USING (budget_id) JOIN api_keys k ON k.key_id = a.key_id
  WHERE b.allowance IN ('pending', 'open', 'ended') AND NOT (${usable}) AND (b.allowance <> 'ended' OR b.reserved = 0)`
/** Allowances whose process died before a turn held their amount, with their keys. */
const left = `key_budgets b JOIN api_keys k USING (key_id)
  WHERE b.allowance = 'pending' AND b.created_at < now() - interval '1 minute' AND k.revoked_at IS NULL`

/** Ends of allowances that a worker sends in one pass. */
const dueMax = 200

export class AllowanceStore extends Context.Service<
  AllowanceStore,
  {
    /** Creates a pending allowance. A repeat with its Idempotency-Key gives the same one a new key, and the earlier key stops working. */
    readonly create: (given: NewAllowance) => Effect.Effect<Minted, AllowanceRefused | TooManyKeys>
    /** Forgets an allowance whose amount the wallet refused, and revokes its key. */
    readonly discard: (given: Pick<AllowanceBudgets, "org_id" | "key_id">) => Effect.Effect<void>
    /** `usable`: its key has neither been revoked nor expired. */
    readonly state: (
      budget_id: string
    ) => Effect.Effect<{ readonly state: (typeof purseStates)[number]; readonly usable: boolean } | null>
    /** Newest first; pending ones are left out. */
    readonly list: (
      org_id: string,
      before: string | null,
      limit: number,
      /** Only those that these keys gave, directly or through keys between, and their own. */
      under?: ReadonlyArray<string> | null
    ) => Effect.Effect<ReadonlyArray<AllowanceRow>>
    readonly find: (org_id: string, key_id: string) => Effect.Effect<Option.Option<AllowanceRow>>
    /** Whether one key gave the other, directly or through keys between. */
    readonly isUnder: (org_id: string, key_id: string, ancestor: string) => Effect.Effect<boolean>
    /** Allowances whose key has ended and whose money a turn has to return, deepest first: of one organization, or of all. */
    readonly due: (org_id: string | null) => Effect.Effect<ReadonlyArray<AllowanceBudgets>>
    /** Revokes the keys of allowances that have been pending for a minute, because the process that created them died. */
    readonly giveUp: Effect.Effect<void>
  }
>()("rungate/layers/allowances/AllowanceStore") {
  /** Whether the money of some allowance has to return. */
  static readonly due = () => `EXISTS (SELECT FROM ${ended}) OR EXISTS (SELECT FROM ${left})`

  static readonly layer = Layer.effect(
    AllowanceStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings
      const keys = apiKeys(sql, cell)
      const isUsable = sql.literal(usable)

      /** The parent's row, locked against a revocation until the commit. */
      const parentOf = Effect.fnUntraced(function* ({ org_id, parent_key_id }: NewAllowance) {
        if (parent_key_id === null) return null
        const [row] = yield* parentRows(sql`
          SELECT k.allow, key_reads(k) AS reads, k.budget_id, k.expires_at, ${isUsable} AS usable, coalesce(a.depth, 0)::int AS depth
          FROM api_keys k LEFT JOIN allowances a USING (key_id)
          WHERE k.org_id = ${org_id} AND k.key_id = ${parent_key_id} FOR NO KEY UPDATE OF k`)
        if (row === undefined || !row.usable)
          return yield* refused("parent_ended", { path: "", message: "This API key was revoked or has expired." })
        return { ...row, allow: scopeOf(row) }
      })

      const insert = Effect.fnUntraced(function* (given: NewAllowance) {
        const { org_id, name, environment, amount, expires_at, parent_key_id } = given
        const parent = yield* parentOf(given)
        if (parent !== null && parent.allow?.mint !== true)
          return yield* refused("may_not_mint", {
            path: "",
            message: "This API key can't give allowances (allow.mint)."
          })
        const depth = 1 + (parent?.depth ?? 0)
        if (depth > depthMax)
          return yield* refused("too_deep", {
            path: "",
            message: `Allowances can be given ${depthMax} deep, and this API key is the last of them.`
          })
        if (parent !== null && parent.expires_at !== null && parent.expires_at < expires_at)
          return yield* refused("expires_late", {
            path: "expires_at",
            message: `must not be after the expiry of this API key, ${parent.expires_at.toISOString()}`
          })
        const scope = childScope(given.allow, parent?.allow ?? null, parent === null)
        if ("wider" in scope) return yield* refused("wider", scope.wider)
        const key_id = newId("key")
        const budget_id = newId("bud")
        const held_in = parent?.budget_id ?? null
        yield* sql`
          INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, allowance, held_in)
          VALUES (${budget_id}, ${org_id}, ${key_id}, ${amount}, 'total', 'pending', ${held_in})`
        const { token } = yield* keys.insertKey(
          org_id,
          key_id,
          { name, environment },
          { expires_at, allow: scope.allow, budget_id }
        )
        yield* sql`
          INSERT INTO allowances (key_id, org_id, budget_id, parent_key_id, depth, idempotency_key, fingerprint)
          VALUES (${key_id}, ${org_id}, ${budget_id}, ${parent_key_id}, ${depth}, ${given.idempotency_key}, ${given.fingerprint})`
        const minted: Minted = { org_id, key_id, budget_id, held_in, token, replayed: false }
        return minted
      })

      /** Gives the allowance of an earlier request a new key. Null if there is none. */
      const replay = Effect.fnUntraced(function* ({ org_id, idempotency_key, fingerprint }: NewAllowance) {
        if (idempotency_key === null) return null
        const [row] = yield* earlierRows(sql`
          SELECT a.org_id, a.key_id, a.budget_id, b.held_in, k.environment, a.fingerprint, ${isUsable} AS usable
          FROM allowances a JOIN key_budgets b USING (budget_id) JOIN api_keys k ON k.key_id = a.key_id
          WHERE a.org_id = ${org_id} AND a.idempotency_key = ${idempotency_key} FOR UPDATE OF k`)
        if (row === undefined) return null
        const path = "headers.idempotency-key"
        if (row.fingerprint !== fingerprint)
          return yield* refused("key_reused", {
            path,
            message: "was used with another request body, or by somebody else"
          })
        if (!row.usable)
          return yield* refused("ended", {
            path,
            message: `was used for ${row.key_id}, which was revoked or has expired`
          })
        const token = newToken(cell, row.environment, org_id)
        yield* sql`UPDATE api_keys SET key_hash = ${digest(token)}, display = ${displayOf(token)} WHERE org_id = ${org_id} AND key_id = ${row.key_id}`
        const { key_id, budget_id, held_in } = row
        const minted: Minted = { org_id, key_id, budget_id, held_in, token: Redacted.make(token), replayed: true }
        return minted
      })

      const columns = sql`
        SELECT a.key_id, a.parent_key_id, a.depth::int AS depth, k.name, k.display, k.allow, key_reads(k) AS reads, b.allowance AS state, ${isUsable} AS usable,
               b.amount, b.held, b.reserved, b.spent_total AS spent, k.expires_at, a.created_at
        FROM allowances a JOIN api_keys k USING (key_id) JOIN key_budgets b ON b.budget_id = a.budget_id`
      const shown = Effect.map((rows: ReadonlyArray<typeof StoredAllowance.Type>) =>
        rows.map(({ allow, reads, ...row }): AllowanceRow => ({ ...row, allow: scopeOf({ allow, reads }) }))
      )

      return AllowanceStore.of({
        create: Effect.fn("AllowanceStore.create")(
          function* (given) {
            const stored = Effect.gen(function* () {
              return (yield* replay(given)) ?? (yield* insert(given))
            })
            const transaction = sql.withTransaction(stored)
            // Of two first requests with one Idempotency-Key, the later one finds the allowance of the other.
            return yield* transaction.pipe(Effect.catchReason("SqlError", "UniqueViolation", () => transaction))
          },
          Effect.catchTag("SqlError", Effect.die)
        ),
        discard: ({ org_id, key_id }) =>
          done(sql`
            WITH revoked AS (
              UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE org_id = ${org_id} AND key_id = ${key_id}
            ) DELETE FROM allowances WHERE org_id = ${org_id} AND key_id = ${key_id}`),
        state: (budget_id) =>
          stateRows.first(sql`
            SELECT b.allowance AS state, ${isUsable} AS usable FROM key_budgets b JOIN api_keys k USING (key_id)
            WHERE b.budget_id = ${budget_id} AND b.allowance IS NOT NULL`),
        list: (org_id, before, limit, under = null) =>
          Effect.orDie(
            shown(
              storedRows(sql`${columns} WHERE a.org_id = ${org_id} AND (${before}::text IS NULL OR a.key_id < ${before})
          AND b.allowance <> 'pending' AND (${under === null} OR a.key_id IN (
            WITH RECURSIVE below AS (
              SELECT key_id FROM unnest(${texts(under ?? [])}) AS u(key_id)
              UNION SELECT n.key_id FROM below JOIN allowances n ON n.org_id = ${org_id} AND n.parent_key_id = below.key_id
            ) SELECT key_id FROM below)) ORDER BY a.key_id DESC LIMIT ${limit}`)
            )
          ),
        find: (org_id, key_id) =>
          Effect.orDie(
            Effect.map(
              shown(storedRows(sql`${columns} WHERE a.org_id = ${org_id} AND a.key_id = ${key_id}`)),
              ([row]) => Option.fromNullishOr(row)
            )
          ),
        isUnder: (org_id, key_id, ancestor) =>
          hasRows(sql`
            WITH RECURSIVE above AS (
              SELECT parent_key_id FROM allowances WHERE org_id = ${org_id} AND key_id = ${key_id}
              UNION SELECT a.parent_key_id FROM above JOIN allowances a ON a.key_id = above.parent_key_id
            ) SELECT 1 AS found FROM above WHERE parent_key_id = ${ancestor} LIMIT 1`),
        due: (org_id) =>
          budgetRows.all(sql`
            SELECT a.org_id, a.key_id, a.budget_id, b.held_in FROM ${sql.literal(ended)} AND (${org_id}::text IS NULL OR a.org_id = ${org_id})
            ORDER BY a.depth DESC, a.key_id LIMIT ${dueMax}`),
        giveUp: done(sql`
          UPDATE api_keys SET revoked_at = now() WHERE revoked_at IS NULL AND key_id IN (SELECT k.key_id FROM ${sql.literal(left)})`)
      })
    })
  )
}
