/**
 * Opens the connection pool, migrates the schema, and explains in one sentence why the database can't be used.
 *
 * Several processes may start at once: an advisory lock lets one of them migrate while the others wait.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { DatabaseChecks } from "./DatabaseChecks.ts"
import { claimLanes } from "./DatabaseLanes.ts"
import { checkMode, claimMode } from "./DatabaseMode.ts"
import { DatabaseRefused, prepareSchema } from "./DatabaseSchema.ts"
import { keepAwake } from "./connection/KeepAwake.ts"
import { DueWork } from "./DueWork.ts"
import { DatabaseUnavailable, DatabaseUrl, unavailable } from "./connection/DatabaseUrl.ts"
import { socketsTo } from "./connection/Sockets.ts"
import { sessionSettingsOf, timezone } from "./SessionSettings.ts"
import { Settings } from "../platform/Settings.ts"
import { closingListed } from "../platform/Underway.ts"
import { oneNumber } from "./Rows.ts"

const clientOptions = Effect.map(Settings, ({ connections, databaseSchema }) => ({
  maxConnections: connections,
  startupParameters: sessionSettingsOf(databaseSchema),
  multiplex: true,
  connectTimeout: "5 seconds" as const,
  applicationName: "rungate",
  maxMessageSize: 256 * 1024 * 1024
}))

/** A client whose pool does not fall asleep. */
const awake = (options: PgClient.PgPoolConfig & { readonly maxConnections: number }) =>
  Effect.tap(PgClient.make(options), (sql) => Effect.forkScoped(keepAwake(sql`SELECT 1`, options.maxConnections)))
const layerOf = (options: Parameters<typeof awake>[0]) => PgClient.layerFrom(awake(options))

const client = Effect.gen(function* () {
  const options = yield* clientOptions
  const { url, sharing } = yield* DatabaseUrl
  const pool = PgClient.layer({
    ...options,
    url,
    stream: socketsTo(url),
    // A pooler refuses what it does not know. Behind it the role has the settings (SessionSettings.ts).
    startupParameters: sharing === null ? options.startupParameters : timezone,
    prepare: sharing === null || sharing.keepsStatements
  })
  return DueWork.layerOf(options.maxConnections).pipe(Layer.provideMerge(pool))
})

/** Connects to the standby that lists and history are read from. It is asked from the first second on, and may be away. */
export const readClientOf = (url: Redacted.Redacted) =>
  Effect.map(clientOptions, (options) =>
    layerOf({
      ...options,
      url,
      stream: socketsTo(url),
      startupParameters: { ...options.startupParameters, default_transaction_read_only: "on" }
    })
  )

/** Connects to the server itself, past a pooler, for LISTEN. Without a pooler it is the client that all share. */
export class DirectClient extends Context.Service<DirectClient, PgClient.PgClient>()(
  "rungate/layers/postgres/DirectClient"
) {
  static readonly layer = Layer.effect(
    DirectClient,
    Effect.gen(function* () {
      const options = yield* clientOptions
      const { directUrl, sharing } = yield* DatabaseUrl
      if (sharing === null) return yield* PgClient.PgClient
      return yield* awake({
        ...options,
        url: directUrl,
        stream: socketsTo(directUrl),
        maxConnections: 2
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

/** PostgreSQL 15, as `server_version_num` writes it. */
const minimumVersion = 150_000

const isRefused = Schema.is(DatabaseRefused)

/** Turns an error of the database into one sentence for the operator. */
const explained = <A, E extends { readonly message: string; readonly cause?: unknown }, R>(
  work: Effect.Effect<A, E, R>
) =>
  Effect.flatMap(DatabaseUrl, ({ place, embedded }) => {
    const failed = unavailable(place, embedded)
    return Effect.mapError(work, (error) => (isRefused(error) ? error : failed(error)))
  })

const upToDate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const version = yield* explained(
    oneNumber(sql`
    SELECT current_setting('server_version_num')::int AS version`)
  )
  if (version < minimumVersion) {
    return yield* new DatabaseUnavailable({
      message: "Rungate needs PostgreSQL 15 or newer; point DATABASE_URL at one."
    })
  }
  yield* explained(prepareSchema)
}).pipe(Effect.withSpan("Database.prepare"))

const ofThisMode = Effect.flatMap(DatabaseUrl, ({ place }) => explained(checkMode(place)))

export const DatabaseLayer: Layer.Layer<
  PgClient.PgClient | SqlClient.SqlClient | DatabaseUrl | DirectClient | DueWork,
  unknown,
  Settings
> = Layer.effectDiscard(Effect.andThen(upToDate, ofThisMode)).pipe(
  Layer.provideMerge(DirectClient.layer),
  Layer.provideMerge(closingListed("the connections to PostgreSQL")(Layer.unwrap(client))),
  Layer.provideMerge(DatabaseUrl.layer)
)

/** The database for `rungate migrate`: connected as the schema's owner and migrated, in either mode, past a pooler. */
export const MigrationDatabase = Layer.effectDiscard(upToDate).pipe(
  Layer.provideMerge(Layer.unwrap(client)),
  Layer.provideMerge(
    DatabaseUrl.layerOf(({ migrationDatabaseUrl, databaseDirectUrl, databaseUrl }) => ({
      url: migrationDatabaseUrl ?? databaseDirectUrl ?? databaseUrl,
      direct: null
    }))
  )
)

/** The checks of a starting service: refuses a database that may lose committed money, and stores the mode and the number of lanes. */
export const ServiceDatabase = Layer.unwrap(
  Effect.map(DatabaseUrl, ({ place }) =>
    Layer.effectDiscard(Effect.andThen(claimMode(place), claimLanes(place))).pipe(
      Layer.provideMerge(DatabaseChecks.layer)
    )
  )
)
