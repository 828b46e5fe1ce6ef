/**
 * The database: a pooled client, the schema brought up to date, and one clear sentence when it can't be reached.
 *
 * Several processes may start at once: an advisory lock lets one of them migrate while the others wait. With `DATABASE_URL`
 * unset a real PostgreSQL is started beside the service.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { embeddedPostgres } from "./EmbeddedPostgres.ts"
import { migrations } from "./migrations/index.ts"
import { Settings } from "./Settings.ts"

export class DatabaseUnavailable extends Schema.TaggedError<DatabaseUnavailable>()("DatabaseUnavailable", {
  message: Schema.String
}) {}

/** Where the database is, embedded or not: BullMQ's own driver needs to know it too. */
export class DatabaseUrl extends Context.Service<
  DatabaseUrl,
  { readonly url: Redacted.Redacted; readonly embedded: boolean }
>()("rungate/layers/Database/DatabaseUrl") {
  static readonly layer = Layer.effect(
    DatabaseUrl,
    Effect.gen(function* () {
      const settings = yield* Settings
      if (settings.databaseUrl !== null) return { url: settings.databaseUrl, embedded: false }
      const started = yield* embeddedPostgres({
        dataDir: settings.dataDir,
        onProgress: (message) => Effect.logInfo(message)
      })
      return { url: started.url, embedded: true }
    })
  )
}

/** A number of our own, so that no other application's advisory lock is in the way. */
const migrationLock = 7_305_801_943n

/** Every statement is bounded: a turn or a read that hangs must not hold a lane for ever. */
const statementTimeoutMillis = 15_000

/** A process that is frozen amid a transaction holds its locks: the server hangs up on it and undoes what it did. */
const idleMillisMax = 3_000

const client = Effect.gen(function* () {
  const settings = yield* Settings
  const { url } = yield* DatabaseUrl
  return PgClient.layer({
    url,
    maxConnections: settings.connections,
    multiplex: true,
    connectTimeout: "5 seconds",
    applicationName: "rungate",
    maxMessageSize: 256 * 1024 * 1024,
    startupParameters: {
      statement_timeout: String(statementTimeoutMillis),
      idle_in_transaction_session_timeout: String(idleMillisMax),
      synchronous_commit: "on",
      timezone: "UTC",
      // Our statements are few, large and always alike: planning one anew for its parameters costs more than running it.
      plan_cache_mode: "force_generic_plan",
      jit: "off",
      // Such a plan is made once, maybe while the tables are empty, and must be right when they are not: look-ups by index,
      // row by row, whatever the statistics say. The auditor, who reads everything, turns them on again.
      enable_seqscan: "off",
      enable_hashjoin: "off",
      enable_mergejoin: "off"
    }
  })
})

/** The innermost reason: what is around it says only that a connection or a statement failed. */
const reasonOf = (error: { readonly message: string; readonly cause?: unknown }): string =>
  error.cause instanceof Error ? reasonOf(error.cause) : error.message

/** What an operator can act on: the server and the reason, never the password. */
const unavailable =
  (url: Redacted.Redacted, embedded: boolean) => (error: { readonly message: string; readonly cause?: unknown }) => {
    const { hostname, port, pathname } = new URL(Redacted.value(url))
    const place = `${hostname}:${port === "" ? "5432" : port}${pathname}`
    const advice = embedded ? "see postgres.log in RUNGATE_DATA_DIR" : "is DATABASE_URL right and the server up?"
    return new DatabaseUnavailable({ message: `Can't use the database at ${place} (${reasonOf(error)}); ${advice}` })
  }

const minimumVersion = 150_000

const prepare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { url, embedded } = yield* DatabaseUrl
  const [server] = yield* sql<{ version: number; fsync: string }>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync`.pipe(
    Effect.mapError(unavailable(url, embedded))
  )
  if ((server?.version ?? 0) < minimumVersion) {
    return yield* new DatabaseUnavailable({
      message: "Rungate needs PostgreSQL 15 or newer; point DATABASE_URL at one."
    })
  }
  // The session-level lock lives on the connection of this transaction, and goes with it whatever happens.
  yield* sql
    .withTransaction(
      Effect.gen(function* () {
        yield* sql`SET LOCAL statement_timeout = 0`
        yield* sql`SELECT pg_advisory_xact_lock(${migrationLock})`
        yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations) })
      })
    )
    .pipe(Effect.mapError(unavailable(url, embedded)))
}).pipe(Effect.withSpan("Database.prepare"))

export const DatabaseLayer: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient | DatabaseUrl, unknown, Settings> =
  Layer.effectDiscard(prepare).pipe(Layer.provideMerge(Layer.unwrap(client)), Layer.provideMerge(DatabaseUrl.layer))
