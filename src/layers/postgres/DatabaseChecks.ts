/**
 * Refuses a database that can lose committed transactions, and a pooler that drops session settings or leads elsewhere.
 *
 * Money is only as durable as the server's settings, and a statement only has a time limit while the session keeps its timeout. In
 * production the service does not start on such a database. RUNGATE_DATABASE_CHECKS=warn, the sandbox's default, only logs it.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readOnlyReason } from "./Outage.ts"
import { DatabaseUrl } from "./connection/DatabaseUrl.ts"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { keepsOptions, sameDatabase, sentenceOf, sharingOf } from "./connection/Pooler.ts"
import { pooledProblems, statementTimeoutMillis } from "./SessionSettings.ts"
import { Settings } from "../platform/Settings.ts"
import { rowsOf } from "./Rows.ts"

const ServerSettings = Schema.Struct({
  fsync: Schema.String,
  full_page_writes: Schema.String,
  /** The value of this session. The service requests `on` when it connects, so another value means that a pooler dropped it. */
  synchronous_commit: Schema.String,
  statement_timeout_ms: Schema.Number,
  role: Schema.String
})
type ServerSettings = typeof ServerSettings.Type
const serverSettingsRows = rowsOf(ServerSettings.fields)

const repair = (name: string) => `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf();`
const direct =
  "Set DATABASE_DIRECT_URL to the address of the server itself (docs/operate.md, A connection pooler), or point DATABASE_URL there."

/** Problems of the server, each with a remedy. Pure. */
const serverProblems = (server: ServerSettings): ReadonlyArray<string> => [
  ...(server.fsync === "off"
    ? [`fsync is off: a crash of the server can lose or corrupt committed payments. Run: ${repair("fsync")}`]
    : []),
  ...(server.full_page_writes === "off"
    ? [`full_page_writes is off: a power failure can corrupt tables. Run: ${repair("full_page_writes")}`]
    : [])
]

/** Problems of the server and of a session that asked for its settings when it connected. Pure. */
export const settingsProblems = (server: ServerSettings): ReadonlyArray<string> => [
  ...serverProblems(server),
  ...(server.synchronous_commit === "off"
    ? [
        `synchronous_commit is off in this service's session although the service asks for on, so a pooler dropped the request: a crash can lose committed payments. ${direct} Or run: ALTER ROLE "${server.role}" SET synchronous_commit = on;`
      ]
    : []),
  ...(server.statement_timeout_ms === statementTimeoutMillis
    ? []
    : [
        `statement_timeout is ${server.statement_timeout_ms} ms although the service asks for ${statementTimeoutMillis} ms, so a pooler dropped the request. ${direct}`
      ])
]

const transactionPooling = `DATABASE_URL leads to a pooler in transaction mode: session state (settings, LISTEN, advisory locks) does not last from one transaction to the next. ${direct}`
const directIsPooled =
  "DATABASE_DIRECT_URL leads to a pooler in transaction mode, where LISTEN does not work. Set it to the address of the server itself."
const elsewhere =
  "DATABASE_DIRECT_URL leads to another database than DATABASE_URL. Both must name the same database of the same server."

const noOptions = `A pooler drops the startup parameter options, and BullMQ's queues on PostgreSQL need it. ${direct} Or set REDIS_URL to run the queues on Redis.`

const ownershipRows = rowsOf({ owns: Schema.Boolean })

export class DatabaseChecks extends Context.Service<
  DatabaseChecks,
  {
    /** Problems of the server's current settings; empty when RUNGATE_DATABASE_CHECKS is `warn`. */
    readonly problems: Effect.Effect<ReadonlyArray<string>>
    /** Why the server accepts no writes, or null. A service may be led to a standby when its primary dies. */
    readonly readOnly: Effect.Effect<string | null>
  }
>()("rungate/layers/postgres/DatabaseChecks") {
  /** Checks once, at start. */
  static readonly layer = Layer.effect(
    DatabaseChecks,
    Effect.gen(function* () {
      const { url, directUrl, embedded, sharing, place } = yield* DatabaseUrl
      const sql = yield* SqlClient.SqlClient
      const { databaseChecks, databaseSchema, mode, redisUrl } = yield* Settings

      const settings = serverSettingsRows(sql`
        SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
               current_setting('synchronous_commit') AS synchronous_commit, current_user::text AS role,
               (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::int AS statement_timeout_ms`)
      const server =
        sharing === null
          ? Effect.map(settings, (rows) => rows.flatMap(settingsProblems))
          : Effect.zipWith(settings, pooledProblems(sql, databaseSchema), (rows, pooled) => [
              ...rows.flatMap(serverProblems),
              ...pooled
            ])
      // The address for session state: with a pooler, that of the server itself.
      const shared =
        (mode === "production" && !embedded) || sharing !== null
          ? Effect.map(
              Effect.promise(() => sharingOf(Redacted.value(directUrl))),
              ({ sessionLasts }) => (sessionLasts ? [] : [sharing === null ? transactionPooling : directIsPooled])
            )
          : Effect.succeed([])

      if (sharing !== null) {
        if (!(yield* Effect.promise(() => sameDatabase(url, directUrl)))) {
          return yield* new DatabaseRefused({ message: elsewhere })
        }
        yield* Effect.logInfo(`database: ${sentenceOf(sharing)}`)
      }
      const keeps = redisUrl !== null || embedded || (yield* Effect.promise(() => keepsOptions(directUrl)))
      const problems = [...(yield* server), ...(yield* shared), ...(keeps ? [] : [noOptions])]
      if (problems.length > 0 && databaseChecks === "refuse") {
        return yield* new DatabaseRefused({
          message: `The database at ${place} is not safe for payments. ${problems.join(" ")} RUNGATE_DATABASE_CHECKS=warn starts anyway.`
        })
      }
      // A warning would not help: BullMQ would not find its tables.
      if (!keeps) return yield* new DatabaseRefused({ message: `The database at ${place} can't be used. ${noOptions}` })
      for (const problem of problems) yield* Effect.logWarning(`database: ${problem}`)
      if (mode === "production" && !embedded && (yield* ownsLedger))
        yield* Effect.logWarning(`database: ${ownerWarning}`)
      return DatabaseChecks.of({
        problems: databaseChecks === "refuse" ? Effect.orDie(server) : Effect.succeed([]),
        readOnly: Effect.orDie(Effect.provideService(readOnlyReason, SqlClient.SqlClient, sql))
      })
    })
  )
}

const ownerWarning =
  "this service's database role owns the ledger or is a superuser. An attacker who takes over the service could disable the ledger's triggers. docs/database-roles.md shows how to use a role that can't."

const ownsLedger = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* ownershipRows(sql`
    SELECT pg_has_role(c.relowner, 'USAGE') AS owns FROM pg_class c WHERE c.oid = to_regclass('ledger')`)
  return row?.owns === true
})
