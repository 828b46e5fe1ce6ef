/**
 * Opens the connection pool, migrates the schema, and explains in one sentence why the database can't be used.
 *
 * Several processes may start at once: an advisory lock lets one of them migrate while the others wait. Without `DATABASE_URL` the
 * service starts an embedded PostgreSQL.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseChecks, statementTimeoutMillis } from "./DatabaseChecks.ts"
import { claimLanes } from "./DatabaseLanes.ts"
import { checkMode, claimMode } from "./DatabaseMode.ts"
import { DatabaseRefused, prepareSchema } from "./DatabaseSchema.ts"
import { embeddedPostgres } from "./embedded/EmbeddedPostgres.ts"
import { Settings, type SettingsShape } from "../platform/Settings.ts"
import { oneRowOf } from "./Rows.ts"

export class DatabaseUnavailable extends Schema.TaggedError<DatabaseUnavailable>()("DatabaseUnavailable", {
  message: Schema.String
}) {}

const versionRow = oneRowOf({ version: Schema.Number })

/** The URL of the database in use. BullMQ opens its own connections with it. */
export class DatabaseUrl extends Context.Service<
  DatabaseUrl,
  { readonly url: Redacted.Redacted; readonly embedded: boolean }
>()("rungate/layers/postgres/DatabaseUrl") {
  static readonly layerOf = (pick: (settings: SettingsShape) => Redacted.Redacted | null) =>
    Layer.effect(
      DatabaseUrl,
      Effect.gen(function* () {
        const settings = yield* Settings
        const url = pick(settings)
        if (url !== null) return { url, embedded: false }
        const started = yield* embeddedPostgres({
          dataDir: settings.dataDir,
          onProgress: (message) => Effect.logInfo(message)
        })
        return { url: started.url, embedded: true }
      })
    )
  static readonly layer = DatabaseUrl.layerOf(({ databaseUrl }) => databaseUrl)
}

/** A process that freezes inside a transaction keeps its locks. After this long the server closes its connection and rolls back. */
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
      // There are few statements, and they are large: planning one for each set of parameters would cost more than running it.
      plan_cache_mode: "force_generic_plan",
      jit: "off",
      // A generic plan is made once, perhaps on empty tables, and must also suit full ones: it may only use nested loops over
      // indexes. The audit reads whole tables and turns the other plans on again (audit/snapshot.ts).
      enable_seqscan: "off",
      enable_hashjoin: "off",
      enable_mergejoin: "off"
    }
  })
})

/** The message of the innermost cause. The outer errors only say that a connection or a statement failed. */
const reasonOf = (error: { readonly message: string; readonly cause?: unknown }): string =>
  error.cause instanceof Error ? reasonOf(error.cause) : error.message

/** Host, port and database name, without the credentials. */
const placeOf = (url: Redacted.Redacted): string => {
  const { hostname, port, pathname } = new URL(Redacted.value(url))
  return `${hostname}:${port === "" ? "5432" : port}${pathname}`
}

/** Names the server, the reason and what to check, without the credentials. */
const unavailable =
  (url: Redacted.Redacted, embedded: boolean) => (error: { readonly message: string; readonly cause?: unknown }) => {
    const advice = embedded ? "see postgres.log in RUNGATE_DATA_DIR" : "is DATABASE_URL right and the server up?"
    return new DatabaseUnavailable({
      message: `Can't use the database at ${placeOf(url)} (${reasonOf(error)}); ${advice}`
    })
  }

/** PostgreSQL 15, as `server_version_num` writes it. */
const minimumVersion = 150_000

const isRefused = Schema.is(DatabaseRefused)

/** Turns an error of the database into one sentence for the operator. */
const explained = <A, E extends { readonly message: string; readonly cause?: unknown }, R>(
  work: Effect.Effect<A, E, R>
) =>
  Effect.flatMap(DatabaseUrl, ({ url, embedded }) => {
    const failed = unavailable(url, embedded)
    return Effect.mapError(work, (error) => (isRefused(error) ? error : failed(error)))
  })

const upToDate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { version } = yield* explained(
    versionRow(sql`
    SELECT current_setting('server_version_num')::int AS version`)
  )
  if (version < minimumVersion) {
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

/** The database for `rungate migrate`: connected as the schema's owner and migrated, in either mode. */
export const MigrationDatabase = Layer.effectDiscard(upToDate).pipe(
  Layer.provideMerge(Layer.unwrap(client)),
  Layer.provideMerge(
    DatabaseUrl.layerOf(({ migrationDatabaseUrl, databaseUrl }) => migrationDatabaseUrl ?? databaseUrl)
  )
)

/** The checks of a starting service: refuses a database that may lose committed money, and stores the mode and the number of lanes. */
export const ServiceDatabase = Layer.unwrap(
  Effect.map(DatabaseUrl, ({ url, embedded }) =>
    Layer.effectDiscard(Effect.andThen(claimMode(placeOf(url)), claimLanes(placeOf(url)))).pipe(
      Layer.provideMerge(DatabaseChecks.layerOf(url, placeOf(url), embedded))
    )
  )
)
