/**
 * Refuses a database that can lose committed transactions, and a pooler that drops session settings.
 *
 * Money is only as durable as the server's settings, and a statement only has a time limit while the session keeps its timeout. In
 * production the service does not start on such a database. RUNGATE_DATABASE_CHECKS=warn, the sandbox's default, only logs it.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { Settings } from "../platform/Settings.ts"
import { rowsOf } from "./Rows.ts"

/** Time limit of every statement: a turn or a read that hangs must not block a lane for ever. */
export const statementTimeoutMillis = 15_000

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
const direct = "Point DATABASE_URL at the server itself, or at a pool in session mode that keeps startup parameters."

/** One sentence per problem, each with a remedy. Pure. */
export const settingsProblems = (server: ServerSettings): ReadonlyArray<string> => [
  ...(server.fsync === "off"
    ? [`fsync is off: a crash of the server can lose or corrupt committed payments. Run: ${repair("fsync")}`]
    : []),
  ...(server.full_page_writes === "off"
    ? [`full_page_writes is off: a power failure can corrupt tables. Run: ${repair("full_page_writes")}`]
    : []),
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

/**
 * Connections that the probe opens beside its own. It does not detect a pooler with more idle server connections than this;
 * `settingsProblems` still detects the settings that such a pooler drops.
 */
const othersMax = 3
const probeMillisMax = 5_000

/**
 * Whether a session keeps its settings while other connections are busy. A pooler in transaction mode lends this connection's server
 * session to another connection, which then sees the value, or gives this connection a session without the value.
 */
const sessionLasts = async (url: string): Promise<boolean> => {
  const opened: Array<Client> = []
  const open = async () => {
    const limits = { connectionTimeoutMillis: probeMillisMax, query_timeout: probeMillisMax }
    const client = new Client({ connectionString: url, application_name: "rungate", ...limits })
    // A connection that breaks during the probe also fails its query.
    client.on("error", () => {})
    opened.push(client)
    await client.connect()
    return client
  }
  const read = async (client: Client): Promise<unknown> => {
    const { rows } = await client.query("SELECT current_setting('rungate.session', true) AS value")
    return rows[0]?.value
  }
  try {
    const value = crypto.randomUUID()
    const session = await open()
    await session.query("SELECT set_config('rungate.session', $1, false)", [value])
    for (let n = 0; n < othersMax; n++) {
      const other = await open()
      await other.query("BEGIN")
      if ((await read(other)) === value) return false
    }
    // In a small pool all sessions are busy with the other connections, so this read fails by its timeout.
    return (await read(session).catch(() => null)) === value
  } finally {
    for (const client of opened) client.end().catch(() => {})
  }
}

const ownershipRows = rowsOf({ owns: Schema.Boolean })

export class DatabaseChecks extends Context.Service<
  DatabaseChecks,
  {
    /** Problems of the server's current settings; empty when RUNGATE_DATABASE_CHECKS is `warn`. */
    readonly problems: Effect.Effect<ReadonlyArray<string>>
  }
>()("rungate/layers/postgres/DatabaseChecks") {
  /** Checks once, at start. `place` names the database in messages. */
  static readonly layerOf = (url: Redacted.Redacted, place: string, embedded: boolean) =>
    Layer.effect(
      DatabaseChecks,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { databaseChecks, mode } = yield* Settings

        const server = Effect.map(
          serverSettingsRows(sql`
            SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
                   current_setting('synchronous_commit') AS synchronous_commit, current_user::text AS role,
                   (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::int AS statement_timeout_ms`),
          (rows) => rows.flatMap(settingsProblems)
        )
        const pooled =
          mode === "production" && !embedded
            ? Effect.map(
                Effect.promise(() => sessionLasts(Redacted.value(url))),
                (lasts) => (lasts ? [] : [transactionPooling])
              )
            : Effect.succeed([])

        const problems = [...(yield* server), ...(yield* pooled)]
        if (problems.length > 0 && databaseChecks === "refuse") {
          return yield* new DatabaseRefused({
            message: `The database at ${place} is not safe for payments. ${problems.join(" ")} RUNGATE_DATABASE_CHECKS=warn starts anyway.`
          })
        }
        for (const problem of problems) yield* Effect.logWarning(`database: ${problem}`)
        if (mode === "production" && !embedded && (yield* ownsLedger))
          yield* Effect.logWarning(`database: ${ownerWarning}`)
        return DatabaseChecks.of({
          problems: databaseChecks === "refuse" ? Effect.orDie(server) : Effect.succeed([])
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
