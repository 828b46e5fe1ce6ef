/**
 * The statements behind API keys: create, list, change, rotate and revoke. Accounts.ts offers them.
 *
 * A change locks the key's row. Admission shares that lock until its commit, so no run is admitted by the old rules after the change was
 * answered.
 */
import { Effect, Option, Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Allow } from "../../schema/accounts/KeyAccess.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { namesMax } from "../../schema/guards/Approval.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import type { BudgetPeriod } from "../../schema/money/SpendDay.ts"
import { readBudgets } from "../ledger/BudgetTurn.ts"
import { newId } from "../platform/Ids.ts"
import { oneBigint, oneText, rowsOf } from "../postgres/Rows.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import { dayOf, zonesOf } from "../postgres/SpendDay.ts"
import { constraintOf } from "../postgres/connection/SqlState.ts"
import { allowOf, Reads, scopeOf as scopeInForce } from "./KeyRows.ts"
import { displayOf } from "../../schema/accounts/TokenText.ts"
import { digest, newToken } from "./Secrets.ts"

export type Environment = "test" | "live"

/** The organization already has `keysMax` keys that are in use. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", {}) {}

/** The key can't be changed: it was revoked, it has expired, or another key replaced it. */
export class KeyEnded extends Schema.TaggedError<KeyEnded>()("KeyEnded", {
  /** Null if it was revoked or has expired. */
  replaced_by: Schema.NullOr(Schema.String)
}) {}

/** The key belongs to an allowance, which keeps its amount, scope and expiry. */
export class IsAllowance extends Schema.TaggedError<IsAllowance>()("IsAllowance", {}) {}

/** Why a key can't be changed or rotated. */
export type Unchangeable = IsAllowance | KeyEnded

/** Keys in use per organization. `api_keys_at_most` enforces it. Enough for one key per machine of a large customer. */
export const keysMax = 100

export interface NewBudget {
  readonly limit: MicroUsd
  readonly period: BudgetPeriod
}

/** What a key may do. Null removes the rule. A field that is left out of a change stays. */
export interface KeyRules {
  readonly expires_at?: Date | null
  readonly budget?: NewBudget | null
  readonly allow?: Allow | null
}

export interface NewKey {
  readonly id: string
  readonly token: Redacted.Redacted
}

/** Gives the key of a connection a new secret and expiry. It may have expired. None if it was revoked or replaced. */
export type RenewKey = (
  org_id: string,
  key_id: string,
  expires_at: Date
) => Effect.Effect<Option.Option<NewKey>, TooManyKeys>

const StoredKey = Schema.Struct({
  key_id: Schema.String,
  name: Schema.String,
  environment: Schema.Literals(["test", "live"]),
  display: Schema.String,
  last_used_at: Schema.NullOr(Schema.Date),
  revoked_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date,
  /** The user who created it. Null for keys of operators, of other keys, and from before members had roles. */
  created_by: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.Date),
  /** JSON. */
  allow: Schema.Unknown,
  reads: Reads,
  budget_id: Schema.NullOr(Schema.String),
  replaced_by: Schema.NullOr(Schema.String),
  expired: Schema.Boolean,
  /** An agent that is connected with OAuth holds it and renews its expiry. */
  connected: Schema.Boolean,
  /** It belongs to an allowance, which keeps its amount, scope and expiry. */
  allowance: Schema.Boolean,
  /** The day of the organization's time zone. */
  today: Schema.String,
  time_zones: Schema.NullOr(Zones)
})
type StoredKey = typeof StoredKey.Type
const storedRows = rowsOf(StoredKey.fields)

export interface KeyRow extends Omit<StoredKey, "allow" | "budget_id"> {
  readonly allow: Allow | null
  readonly budget: KeyBudget | null
}

const encodeAllow = Schema.encodeSync(Schema.fromJsonString(Allow))
/** A scope without a field restricts nothing. */
const scopeOf = (allow: Allow | null | undefined): Allow | null =>
  allow === undefined || allow === null || Object.keys(allow).length === 0 ? null : allow
const allowText = (allow: Allow | null): string | null => (allow === null ? null : encodeAllow(allow))

export const apiKeys = (sql: SqlClient.SqlClient, cell: string | null) => {
  const columns =
    sql.literal(`key_id, name, environment, display, last_used_at, revoked_at, created_at, created_by, expires_at, allow, budget_id,
    key_reads(api_keys) AS reads, replaced_by, expires_at IS NOT NULL AND expires_at <= now() AS expired,
    revoked_at IS NULL AND EXISTS (SELECT FROM oauth_grants g WHERE g.key_id = api_keys.key_id AND g.ended_at IS NULL AND g.expires_at > now()) AS connected,
    EXISTS (SELECT FROM allowances a WHERE a.key_id = api_keys.key_id) AS allowance, ${dayOf("now()", zonesOf("api_keys.org_id"))}::text AS today, ${zonesOf("api_keys.org_id")} AS time_zones`)

  const withBudgets = Effect.fnUntraced(function* (rows: ReadonlyArray<StoredKey>) {
    const ids = rows.flatMap(({ budget_id }) => (budget_id === null ? [] : [budget_id]))
    const budgets = yield* readBudgets(sql, ids)
    return rows.map(({ allow, budget_id, ...row }): KeyRow => {
      const budget = budget_id === null ? null : (budgets.get(budget_id)?.budget ?? null)
      return { ...row, allow: scopeInForce({ allow, reads: row.reads }), budget }
    })
  })

  const insertBudget = (org_id: string, key_id: string, { limit, period }: NewBudget) =>
    oneText(sql`
      INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period)
      VALUES (${newId("bud")}, ${org_id}, ${key_id}, ${limit}, ${period}) RETURNING budget_id`)

  const insertKey = Effect.fnUntraced(function* (
    org_id: string,
    id: string,
    { name, environment }: Pick<StoredKey, "name" | "environment">,
    rules: { readonly expires_at: Date | null; readonly allow: Allow | null; readonly budget_id: string | null }
  ) {
    const token = newToken(cell, environment, org_id)
    const { expires_at, allow, budget_id } = rules
    yield* sql`
      INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display, expires_at, allow, max_cost, budget_id)
      VALUES (${id}, ${org_id}, ${name}, ${environment}, ${digest(token)}, ${displayOf(token)}, ${expires_at}, ${allowText(allow)}::text::jsonb,
              ${allow?.max_cost ?? null}, ${budget_id})`.pipe(
      Effect.catchReason("SqlError", "ConstraintError", (reason) =>
        constraintOf(reason) === "api_keys_at_most" ? Effect.fail(new TooManyKeys()) : Effect.die(reason)
      )
    )
    return { id, token: Redacted.make(token) } satisfies NewKey
  })

  const create = Effect.fn("ApiKeys.create")(function* (
    org_id: string,
    name: string,
    environment: Environment,
    { expires_at = null, budget = null, allow = null }: KeyRules = {}
  ) {
    const insertion = Effect.gen(function* () {
      const id = newId("key")
      const budget_id = budget === null ? null : yield* insertBudget(org_id, id, budget)
      return yield* insertKey(org_id, id, { name, environment }, { expires_at, allow: scopeOf(allow), budget_id })
    })
    return yield* Effect.catchTag(budget === null ? insertion : sql.withTransaction(insertion), "SqlError", Effect.die)
  })

  const list = (org_id: string, before: string | null, limit: number) =>
    Effect.flatMap(
      storedRows(sql`
      SELECT ${columns} FROM api_keys WHERE org_id = ${org_id} AND (${before}::text IS NULL OR key_id < ${before})
      ORDER BY key_id DESC LIMIT ${limit}`),
      withBudgets
    )

  /** Those that people make and change: neither ended nor replaced, of no allowance and of no connected agent. */
  const changeable = (org_id: string) =>
    Effect.flatMap(
      storedRows(sql`
      SELECT ${columns} FROM api_keys WHERE org_id = ${org_id} AND revoked_at IS NULL AND replaced_by IS NULL
        AND (expires_at IS NULL OR expires_at > now()) AND NOT EXISTS (SELECT FROM allowances a WHERE a.key_id = api_keys.key_id)
        AND NOT EXISTS (SELECT FROM oauth_grants g WHERE g.key_id = api_keys.key_id) ORDER BY key_id`),
      withBudgets
    )

  const first = (rows: ReadonlyArray<StoredKey>) => Effect.map(withBudgets(rows), ([row]) => Option.fromNullishOr(row))

  const find = (org_id: string, key_id: string) =>
    Effect.flatMap(
      storedRows(sql`SELECT ${columns} FROM api_keys WHERE org_id = ${org_id} AND key_id = ${key_id}`),
      first
    )

  const revoke = (org_id: string, key_id: string) =>
    Effect.flatMap(
      storedRows(sql`
      UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE org_id = ${org_id} AND key_id = ${key_id} RETURNING ${columns}`),
      first
    )

  /** The key's row, locked. */
  const locked = Effect.fnUntraced(function* (org_id: string, key_id: string) {
    const [row] = yield* storedRows(sql`
      SELECT ${columns} FROM api_keys WHERE org_id = ${org_id} AND key_id = ${key_id} FOR UPDATE`)
    if (row !== undefined && (row.revoked_at !== null || row.replaced_by !== null || row.expired))
      return yield* new KeyEnded({ replaced_by: row.replaced_by })
    if (row?.allowance === true) return yield* new IsAllowance()
    return row
  })

  /** The id of the budget after a change. */
  const changedBudget = Effect.fnUntraced(function* (
    org_id: string,
    { key_id, budget_id }: StoredKey,
    budget: NewBudget | null | undefined
  ) {
    if (budget === undefined) return budget_id
    if (budget === null) return null
    if (budget_id === null) return yield* insertBudget(org_id, key_id, budget)
    // What was spent stays counted, also in another period.
    yield* sql`
      UPDATE key_budgets SET amount = ${budget.limit}, period = ${budget.period}, version = version + 1 WHERE budget_id = ${budget_id}`
    return budget_id
  })

  const change = Effect.fn("ApiKeys.change")(function* (
    org_id: string,
    key_id: string,
    { name, ...rules }: KeyRules & { readonly name?: string }
  ) {
    const changed = Effect.gen(function* () {
      const before = yield* locked(org_id, key_id)
      if (before === undefined) return Option.none<KeyRow>()
      const allow = rules.allow === undefined ? allowOf(before.allow) : scopeOf(rules.allow)
      const expires_at = rules.expires_at === undefined ? before.expires_at : rules.expires_at
      const budget_id = yield* changedBudget(org_id, before, rules.budget)
      const rows = yield* storedRows(sql`
        UPDATE api_keys SET name = ${name ?? before.name}, expires_at = ${expires_at}, allow = ${allowText(allow)}::text::jsonb,
               max_cost = ${allow?.max_cost ?? null}, budget_id = ${budget_id}
        WHERE key_id = ${key_id} RETURNING ${columns}`)
      return yield* first(rows)
    })
    return yield* Effect.catchTag(sql.withTransaction(changed), "SqlError", Effect.die)
  })

  /** Makes a key with the same rules. Both share one budget, so what they spend is counted together. */
  const rotate = Effect.fn("ApiKeys.rotate")(function* (org_id: string, key_id: string, graceSeconds: number) {
    const rotated = Effect.gen(function* () {
      // As a turn does, which locks keys after its wallet.
      yield* sql`SELECT 1 FROM wallets WHERE org_id = ${org_id} FOR UPDATE`
      const before = yield* locked(org_id, key_id)
      if (before === undefined) return Option.none<NewKey>()
      const { expires_at, budget_id } = before
      const id = newId("key")
      yield* sql`
        UPDATE api_keys SET replaced_by = ${id}, revoked_at = CASE WHEN ${graceSeconds}::int = 0 THEN now() END,
               expires_at = least(expires_at, now() + make_interval(secs => ${graceSeconds}::int))
        WHERE key_id = ${key_id}`
      if (budget_id !== null)
        yield* sql`UPDATE key_budgets SET key_id = ${id}, version = version + 1 WHERE budget_id = ${budget_id}`
      const key = yield* insertKey(org_id, id, before, { expires_at, allow: allowOf(before.allow), budget_id })
      // A rule about the key is about its successor too. Names of keys that ended make room.
      yield* sql`
        UPDATE approval_rules SET conditions = jsonb_set(conditions, '{keys}', (
          SELECT jsonb_agg(key_id ORDER BY nth DESC) FROM (
            SELECT k.key_id, row_number() OVER (ORDER BY k.key_id = ${id} DESC, k.revoked_at IS NULL DESC, k.created_at DESC) AS nth
            FROM api_keys k WHERE k.org_id = ${org_id} AND (k.key_id = ${id} OR conditions -> 'keys' ? k.key_id)
          ) n WHERE nth <= ${namesMax}))
        WHERE org_id = ${org_id} AND conditions -> 'keys' ? ${key_id}`
      return Option.some(key)
    })
    return yield* Effect.catchTag(sql.withTransaction(rotated), "SqlError", Effect.die)
  })

  const renew: RenewKey = Effect.fn("ApiKeys.renew")(function* (org_id: string, key_id: string, expires_at: Date) {
    const renewed = Effect.gen(function* () {
      const [row] = yield* storedRows(sql`
        SELECT ${columns} FROM api_keys WHERE org_id = ${org_id} AND key_id = ${key_id} AND revoked_at IS NULL AND replaced_by IS NULL FOR UPDATE`)
      if (row === undefined) return Option.none<NewKey>()
      if (row.expired) {
        // It counts among the keys in use again. The row's lock is that of the trigger which counts new keys.
        yield* sql`SELECT 1 AS locked FROM orgs WHERE org_id = ${org_id} FOR NO KEY UPDATE`
        const count = yield* oneBigint(sql`
          SELECT count(*) AS count FROM api_keys WHERE org_id = ${org_id} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`)
        if (count >= keysMax) return yield* new TooManyKeys()
      }
      const token = newToken(cell, row.environment, org_id)
      yield* sql`
        UPDATE api_keys SET key_hash = ${digest(token)}, display = ${displayOf(token)}, expires_at = ${expires_at}
        WHERE org_id = ${org_id} AND key_id = ${key_id}`
      return Option.some<NewKey>({ id: key_id, token: Redacted.make(token) })
    })
    return yield* Effect.catchTag(sql.withTransaction(renewed), "SqlError", Effect.die)
  })

  return { create, insertKey, list, changeable, find, revoke, change, rotate, renew }
}
