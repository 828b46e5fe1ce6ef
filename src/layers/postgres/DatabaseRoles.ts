/**
 * What the service's role may do in a database that another role owns: enough to run, and no way to change the books.
 *
 * The role reads and appends to the ledger. It can't update, delete or truncate it, and as it owns nothing it can't disable a trigger.
 * docs/database-roles.md says the same in SQL, for who would rather run it by hand.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { queueSchema } from "./QueueSchema.ts"

/** Rows that are written once. */
const appendOnly = ["ledger", "audit_checks", "payment_events", "referral_credits", "losses", "service_mode"]
/** Rows that change and never go. */
const kept = ["wallets", "runs", "payments", "payment_reversals", "referrals", "orgs", "api_keys", "unknown_outcomes"]
const readOnly = ["effect_sql_migrations"]

/** Grants in one transaction. Done twice it is done once; a new release's tables are granted by the next call. */
export const grantTo = Effect.fnUntraced(function* (role: string, queues: boolean) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ superuser: boolean; owner: boolean }>`
    SELECT r.rolsuper AS superuser, pg_has_role(r.oid, c.relowner, 'MEMBER') AS owner
    FROM pg_roles r, pg_class c WHERE r.rolname = ${role} AND c.oid = to_regclass('ledger')`
  if (found === undefined) {
    return yield* new DatabaseRefused({
      message: `There is no role "${role}". Create it first: CREATE ROLE ${role} LOGIN PASSWORD '…';`
    })
  }
  if (found.superuser || found.owner) {
    const why = found.superuser ? "is a superuser" : "is a member of the role that owns the ledger"
    return yield* new DatabaseRefused({
      message: `The role "${role}" ${why}, so it could disable the ledger's triggers. Name a role of its own for the service.`
    })
  }
  const to = sql(role)
  const [place] = yield* sql<{ database: string; schema: string }>`
    SELECT current_database()::text AS database, current_schema()::text AS schema`
  const schema = sql(place?.schema ?? "public")
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`GRANT CONNECT ON DATABASE ${sql(place?.database ?? "")} TO ${to}`
      yield* sql`GRANT USAGE ON SCHEMA ${schema} TO ${to}`
      yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${to}`
      yield* sql`ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to}`
      for (const table of kept) yield* sql`REVOKE DELETE, TRUNCATE ON ${sql(table)} FROM ${to}`
      for (const table of appendOnly) yield* sql`REVOKE UPDATE, DELETE, TRUNCATE ON ${sql(table)} FROM ${to}`
      for (const table of readOnly) yield* sql`REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${sql(table)} FROM ${to}`
      if (!queues) return
      const jobs = sql(queueSchema)
      yield* sql`GRANT USAGE ON SCHEMA ${jobs} TO ${to}`
      yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${jobs} TO ${to}`
      yield* sql`GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${jobs} TO ${to}`
      yield* sql`ALTER DEFAULT PRIVILEGES IN SCHEMA ${jobs} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to}`
      yield* sql`ALTER DEFAULT PRIVILEGES IN SCHEMA ${jobs} GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO ${to}`
      yield* sql`REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${sql(`${queueSchema}.migration`)} FROM ${to}`
    })
  )
})
