/**
 * Grants the service's role its privileges in a database that another role owns.
 *
 * The role may read and append to the ledger, but not update, delete or truncate it. It owns no table, so it can't disable a
 * trigger. docs/database-roles.md has the same grants in SQL, for operators who run them by hand.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { queueSchemaOf, queueVersionsOf } from "./QueueSchema.ts"
import { oneRowOf, rowsOf } from "./Rows.ts"

/** Tables whose rows are only inserted. */
const appendOnly = [
  "ledger",
  "audit_checks",
  "payment_events",
  "referral_credits",
  "losses",
  "service_mode",
  "audit_log",
  "wallet_heads",
  "warranty_refunds"
]
/** Tables whose rows change and are never deleted. */
const kept = [
  "wallets",
  "runs",
  "runs_recent",
  "payments",
  "payment_reversals",
  "referrals",
  "orgs",
  "api_keys",
  "key_budgets",
  "unknown_outcomes",
  "lane_count",
  "warranty_disputes",
  "warranty_fund"
]
const readOnly = [
  "effect_sql_migrations",
  "schema_compatibility",
  "contact_secret",
  "contact_secrets",
  "cell_moves",
  "moved_tokens",
  "ledger_heads",
  "ledger_checkpoints",
  "dropped_months",
  "receipt_keys"
]
/** Tables with secrets. The service reaches them through functions of the owner. */
const closed = ["receipt_secrets"]

/** Functions that only the service may call. */
const receiptFunctions = [
  "receipt_secret(text)",
  "keep_receipt_key(text, json, text, text)",
  "seal_receipt_secret(text, text)"
]

const roleRows = rowsOf({ superuser: Schema.Boolean, owner: Schema.Boolean })
const placeRow = oneRowOf({ database: Schema.String, schema: Schema.String })

/** Grants in one transaction. Safe to repeat; repeat it after an upgrade to cover new tables. */
export const grantTo = Effect.fnUntraced(function* (role: string, queues: boolean) {
  const sql = yield* SqlClient.SqlClient
  const [candidate] = yield* roleRows(sql`
    SELECT r.rolsuper AS superuser, pg_has_role(r.oid, c.relowner, 'MEMBER') AS owner
    FROM pg_roles r, pg_class c WHERE r.rolname = ${role} AND c.oid = to_regclass('ledger')`)
  if (candidate === undefined) {
    return yield* new DatabaseRefused({
      message: `There is no role "${role}". Create it first: CREATE ROLE ${role} LOGIN PASSWORD '…';`
    })
  }
  if (candidate.superuser || candidate.owner) {
    const why = candidate.superuser ? "is a superuser" : "is a member of the role that owns the ledger"
    return yield* new DatabaseRefused({
      message: `The role "${role}" ${why}, so it could disable the ledger's triggers. Create a separate role for the service.`
    })
  }
  const to = sql(role)
  const place = yield* placeRow(sql`
    SELECT current_database()::text AS database, current_schema()::text AS schema`)
  const schema = sql(place.schema)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`GRANT CONNECT ON DATABASE ${sql(place.database)} TO ${to}`
      yield* sql`GRANT USAGE ON SCHEMA ${schema} TO ${to}`
      yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${to}`
      yield* sql`ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to}`
      for (const table of kept) yield* sql`REVOKE DELETE, TRUNCATE ON ${sql(table)} FROM ${to}`
      for (const table of appendOnly) yield* sql`REVOKE UPDATE, DELETE, TRUNCATE ON ${sql(table)} FROM ${to}`
      for (const table of readOnly) yield* sql`REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${sql(table)} FROM ${to}`
      for (const table of closed) yield* sql`REVOKE ALL ON ${sql(table)} FROM ${to}`
      for (const one of receiptFunctions) yield* sql`GRANT EXECUTE ON FUNCTION ${sql.literal(one)} TO ${to}`
      // The first statement opened them too, and a partition's own privileges count for whoever names it.
      yield* sql`SELECT close_partitions()`
      if (!queues) return
      const queueSchema = queueSchemaOf(place.schema)
      const jobs = sql(queueSchema)
      yield* sql`GRANT USAGE ON SCHEMA ${jobs} TO ${to}`
      yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${jobs} TO ${to}`
      yield* sql`GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${jobs} TO ${to}`
      yield* sql`ALTER DEFAULT PRIVILEGES IN SCHEMA ${jobs} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to}`
      yield* sql`ALTER DEFAULT PRIVILEGES IN SCHEMA ${jobs} GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO ${to}`
      yield* sql`REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${sql(queueVersionsOf(queueSchema))} FROM ${to}`
    })
  )
})
