/**
 * Refuses a database that can lose what was committed, and a pooler that loses what a session was told.
 *
 * Money is only as durable as the server's settings, and a statement is only bounded while the session keeps its timeout. In production a
 * service does not start on such a database; RUNGATE_DATABASE_CHECKS=warn, the sandbox's default, only logs it.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { Settings } from "../platform/Settings.ts"

/** Every statement is bounded: a turn or a read that hangs must not hold a lane for ever. */
export const statementTimeoutMillis = 15_000

interface ServerSettings {
  readonly fsync: string
  readonly full_page_writes: string
  /** As this session has it: the service asks for `on` when it connects, whatever the server's or the role's default is. */
  readonly synchronous_commit: string
  readonly statement_timeout_ms: number
  readonly role: string
}

const repair = (name: string) => `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf();`
const direct = "Point DATABASE_URL at the server itself, or at a pool in session mode that keeps startup parameters."

/** What is wrong, each a sentence with what to do about it. Pure. */
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

/** A pooler that has as many idle server connections as this, and hands them out in turn, is not noticed here. Its lost settings are. */
const othersMax = 3
const probeMillisMax = 5_000

/**
 * Whether a session keeps what it was told while other connections are busy. A pooler in transaction mode lends this connection's server
 * to one of the others, who then sees the value, or leaves this one with another server, which doesn't have it.
 */
const sessionLasts = async (url: string): Promise<boolean> => {
  const opened: Array<Client> = []
  const open = async () => {
    const limits = { connectionTimeoutMillis: probeMillisMax, query_timeout: probeMillisMax }
    const client = new Client({ connectionString: url, application_name: "rungate", ...limits })
    // A connection that breaks amid the probe fails its query too.
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
    const mine = await open()
    await mine.query("SELECT set_config('rungate.session', $1, false)", [value])
    for (let n = 0; n < othersMax; n++) {
      const other = await open()
      await other.query("BEGIN")
      if ((await read(other)) === value) return false
    }
    // All servers of a small pool are busy with the others: this one would wait for its own.
    return (await read(mine).catch(() => null)) === value
  } finally {
    for (const client of opened) client.end().catch(() => {})
  }
}

export class DatabaseChecks extends Context.Service<
  DatabaseChecks,
  {
    /** What is wrong with the server's settings at this moment; none where problems are only warned about. */
    readonly problems: Effect.Effect<ReadonlyArray<string>>
  }
>()("rungate/layers/postgres/DatabaseChecks") {
  /** Checks once, when a service starts; `place` names the database in the message. */
  static readonly layerOf = (url: Redacted.Redacted, place: string, embedded: boolean) =>
    Layer.effect(
      DatabaseChecks,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { databaseChecks, mode } = yield* Settings

        const server = Effect.map(
          sql<ServerSettings>`
            SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
                   current_setting('synchronous_commit') AS synchronous_commit, current_user::text AS role,
                   (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::int AS statement_timeout_ms`,
          (rows) => rows.flatMap(settingsProblems)
        )
        const pooled =
          mode === "production" && !embedded
            ? Effect.map(
                Effect.promise(() => sessionLasts(Redacted.value(url))),
                (lasts) => (lasts ? [] : [transactionPooling])
              )
            : Effect.succeed([])

        const found = [...(yield* server), ...(yield* pooled)]
        if (found.length > 0 && databaseChecks === "refuse") {
          return yield* new DatabaseRefused({
            message: `The database at ${place} is not safe for payments. ${found.join(" ")} RUNGATE_DATABASE_CHECKS=warn starts anyway.`
          })
        }
        for (const problem of found) yield* Effect.logWarning(`database: ${problem}`)
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
  const [row] = yield* sql<{ owns: boolean }>`
    SELECT pg_has_role(c.relowner, 'USAGE') AS owns FROM pg_class c WHERE c.oid = to_regclass('ledger')`
  return row?.owns === true
})
