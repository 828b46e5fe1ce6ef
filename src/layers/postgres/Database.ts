/**
 * The database: a pooled client, the schema brought up to date, and one clear sentence when it can't be reached.
 *
 * Several processes may start at once: an advisory lock lets one of them migrate while the others wait. With `DATABASE_URL`
 * unset a real PostgreSQL is started beside the service.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseChecks, statementTimeoutMillis } from "./DatabaseChecks.ts"
import { checkMode, claimMode } from "./DatabaseMode.ts"
import { DatabaseRefused, prepareSchema } from "./DatabaseSchema.ts"
import { embeddedPostgres } from "./embedded/EmbeddedPostgres.ts"
import { Settings, type SettingsShape } from "../platform/Settings.ts"

export class DatabaseUnavailable extends Schema.TaggedError<DatabaseUnavailable>()("DatabaseUnavailable", {
  message: Schema.String
}) {}

/** Where the database is, embedded or not: BullMQ's own driver needs to know it too. */
export class DatabaseUrl extends Context.Service<
  DatabaseUrl,
  { readonly url: Redacted.Redacted; readonly embedded: boolean }
>()("rungate/layers/postgres/DatabaseUrl") {
  static readonly layerOf = (pick: (settings: SettingsShape) => Redacted.Redacted | null) =>
    Layer.effect(
      DatabaseUrl,
      Effect.gen(function* () {
        const settings = yield* Settings
        const given = pick(settings)
        if (given !== null) return { url: given, embedded: false }
        const started = yield* embeddedPostgres({
          dataDir: settings.dataDir,
          onProgress: (message) => Effect.logInfo(message)
        })
        return { url: started.url, embedded: true }
      })
    )
  static readonly layer = DatabaseUrl.layerOf(({ databaseUrl }) => databaseUrl)
}

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

/** The server and the database, never the password. */
const placeOf = (url: Redacted.Redacted): string => {
  const { hostname, port, pathname } = new URL(Redacted.value(url))
  return `${hostname}:${port === "" ? "5432" : port}${pathname}`
}

/** What an operator can act on: the server and the reason, never the password. */
const unavailable =
  (url: Redacted.Redacted, embedded: boolean) => (error: { readonly message: string; readonly cause?: unknown }) => {
    const advice = embedded ? "see postgres.log in RUNGATE_DATA_DIR" : "is DATABASE_URL right and the server up?"
    return new DatabaseUnavailable({
      message: `Can't use the database at ${placeOf(url)} (${reasonOf(error)}); ${advice}`
    })
  }

const minimumVersion = 150_000

const isRefused = Schema.is(DatabaseRefused)

/** What goes wrong with the database, as one sentence. */
const explained = <A, E extends { readonly message: string; readonly cause?: unknown }, R>(
  work: Effect.Effect<A, E, R>
) =>
  Effect.flatMap(DatabaseUrl, ({ url, embedded }) => {
    const failed = unavailable(url, embedded)
    return Effect.mapError(work, (error) => (isRefused(error) ? error : failed(error)))
  })

const upToDate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [server] = yield* explained(sql<{ version: number }>`
    SELECT current_setting('server_version_num')::int AS version`)
  if ((server?.version ?? 0) < minimumVersion) {
    return yield* new DatabaseUnavailable({
      message: "Rungate needs PostgreSQL 15 or newer; point DATABASE_URL at one."
    })
  }
  yield* explained(prepareSchema)
}).pipe(Effect.withSpan("Database.prepare"))

const ofThisMode = Effect.flatMap(DatabaseUrl, ({ url }) => explained(checkMode(placeOf(url))))

export const DatabaseLayer: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient | DatabaseUrl, unknown, Settings> =
  Layer.effectDiscard(Effect.andThen(upToDate, ofThisMode)).pipe(
    Layer.provideMerge(Layer.unwrap(client)),
    Layer.provideMerge(DatabaseUrl.layer)
  )

/** The database as its owner sees it: brought up to date, whatever its mode. */
export const MigrationDatabase = Layer.effectDiscard(upToDate).pipe(
  Layer.provideMerge(Layer.unwrap(client)),
  Layer.provideMerge(
    DatabaseUrl.layerOf(({ migrationDatabaseUrl, databaseUrl }) => migrationDatabaseUrl ?? databaseUrl)
  )
)

/** What a service does beyond a command: it refuses a database that may lose money, and writes the mode into one that has none. */
export const ServiceDatabase = Layer.unwrap(
  Effect.map(DatabaseUrl, ({ url, embedded }) =>
    Layer.effectDiscard(claimMode(placeOf(url))).pipe(
      Layer.provideMerge(DatabaseChecks.layerOf(url, placeOf(url), embedded))
    )
  )
)
