/**
 * The settings of PostgreSQL that every session of the service needs, and what to do where a pooler does not pass them on.
 *
 * A direct connection asks for them when it connects. A pooler shares its server's sessions between clients and refuses or drops the
 * request, so there the settings belong to the role: the server gives them to each session of the role.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf, texts } from "./Rows.ts"

/** Time limit of every statement: a turn or a read that hangs must not block a lane for ever. */
export const statementTimeoutMillis = 15_000

/** A process that freezes inside a transaction keeps its locks. After this long the server closes its connection and rolls back. */
const idleMillisMax = 3_000

/** Poolers pass this one on. */
export const timezone = { timezone: "UTC" }

type Named = Readonly<Record<string, string>>

const others: Named = {
  statement_timeout: String(statementTimeoutMillis),
  idle_in_transaction_session_timeout: String(idleMillisMax),
  synchronous_commit: "on",
  // There are few statements, and they are large: planning one for each set of parameters would cost more than running it.
  plan_cache_mode: "force_generic_plan",
  jit: "off",
  // A generic plan is made once, perhaps on empty tables, and must also suit full ones: it may only use nested loops over
  // indexes. The audit reads whole tables and turns the other plans on again (audit/snapshot.ts).
  enable_seqscan: "off",
  // For a list's first page a bitmap scan reads and sorts all runs of the organization, because the planner does not know the limit.
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off"
}

/** Null: the role's own search path. */
const pathOf = (schema: string | null): Named => (schema === null ? {} : { search_path: schema })

export const sessionSettingsOf = (schema: string | null): Named => ({ ...timezone, ...others, ...pathOf(schema) })

const Session = Schema.Struct({ name: Schema.String, setting: Schema.String })
const sessionRows = rowsOf(Session.fields)
const whoRows = rowsOf({ role: Schema.String, database: Schema.String })

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** One sentence with the SQL that gives the role its settings, or nothing. Pure. */
export const roleProblems = (
  sessions: ReadonlyArray<typeof Session.Type>,
  { role, database }: { readonly role: string; readonly database: string },
  schema: string | null = null
): ReadonlyArray<string> => {
  const seen = new Map(sessions.map(({ name, setting }) => [name, setting]))
  const missing = Object.entries({ ...others, ...pathOf(schema) }).filter(([name, value]) => seen.get(name) !== value)
  if (missing.length === 0) return []
  const sql = missing.map(
    ([name, value]) => `ALTER ROLE ${quoted(role)} IN DATABASE ${quoted(database)} SET ${name} = '${value}';`
  )
  const names = missing.map(([name]) => name).join(", ")
  return [
    `the sessions behind the pooler of DATABASE_URL lack the service's ${names}. Give them to the role once: ${sql.join(" ")} Then run RECONNECT in the pooler's console, so that its open sessions have them too.`
  ]
}

/** The problems of a session behind the pooler. */
export const pooledProblems = (sql: SqlClient.SqlClient, schema: string | null) =>
  Effect.gen(function* () {
    const [who] = yield* whoRows(sql`SELECT current_user::text AS role, current_database()::text AS database`)
    const sessions = yield* sessionRows(
      sql`SELECT name, setting FROM pg_settings WHERE name = ANY(${texts(Object.keys({ ...others, ...pathOf(schema) }))})`
    )
    return who === undefined ? [] : roleProblems(sessions, who, schema)
  })
