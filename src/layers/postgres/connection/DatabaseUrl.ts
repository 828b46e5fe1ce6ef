/**
 * The addresses of the database: of the server itself, and of the connection pooler in front of it if there is one.
 *
 * Without `DATABASE_URL` the service starts an embedded PostgreSQL.
 */
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Settings, type LiveSettings } from "../../platform/Settings.ts"
import { embeddedPostgres } from "../embedded/EmbeddedPostgres.ts"
import { type Sharing, sharingOf } from "./Pooler.ts"

export class DatabaseUnavailable extends Schema.TaggedError<DatabaseUnavailable>()("DatabaseUnavailable", {
  message: Schema.String
}) {}

interface Failure {
  readonly message: string
  readonly cause?: unknown
}

/** The message of the innermost cause. The outer errors only say that a connection or a statement failed. */
const reasonOf = (error: Failure): string => (error.cause instanceof Error ? reasonOf(error.cause) : error.message)

/** Host, port and database name, without the credentials. */
export const placeOf = (url: Redacted.Redacted): string => {
  const { hostname, port, pathname } = new URL(Redacted.value(url))
  return `${hostname}:${port === "" ? "5432" : port}${pathname}`
}

/** PgBouncer's words when it does not know a setting that a client asks for. */
const unknownToPooler = /unsupported startup parameter/

const adviceOf = (reason: string, embedded: boolean): string =>
  embedded
    ? "see postgres.log in RUNGATE_DATA_DIR"
    : unknownToPooler.test(reason)
      ? "DATABASE_URL leads to a connection pooler, so set DATABASE_DIRECT_URL to the address of the server itself (docs/operate.md, A connection pooler)"
      : "is DATABASE_URL right and the server up?"

/** Names the server, the reason and what to check, without the credentials. */
export const unavailable = (place: string, embedded: boolean) => (error: Failure) => {
  const reason = reasonOf(error)
  return new DatabaseUnavailable({
    message: `Can't use the database at ${place} (${reason}); ${adviceOf(reason, embedded)}`
  })
}

/** Whether a missing embedded database is created. Only the service does that: a command would create one in whatever folder it is run. */
export const CreatesDatabase = Context.Reference("rungate/layers/postgres/CreatesDatabase", {
  defaultValue: () => false
})

/** The settings' choice. `direct` is null if `url` leads to the server itself. */
interface Urls {
  readonly url: Redacted.Redacted | null
  readonly direct: Redacted.Redacted | null
}

export class DatabaseUrl extends Context.Service<
  DatabaseUrl,
  {
    /** Where statements and transactions go: a pooler, or the server itself. */
    readonly url: Redacted.Redacted
    /** The server itself, for LISTEN and for BullMQ, which opens its own connections. The same as `url` without a pooler. */
    readonly directUrl: Redacted.Redacted
    /** How the pooler at `url` shares sessions. Null without a pooler. */
    readonly sharing: Sharing | null
    readonly embedded: boolean
    /** Host, port and database name of `url`, for messages. */
    readonly place: string
  }
>()("rungate/layers/postgres/DatabaseUrl") {
  static readonly layerOf = (pick: (settings: LiveSettings) => Urls) =>
    Layer.effect(
      DatabaseUrl,
      Effect.gen(function* () {
        const settings = yield* Settings
        const { url, direct } = pick(settings)
        if (url !== null) {
          const place = placeOf(url)
          const sharing =
            direct === null
              ? null
              : yield* Effect.tryPromise(() => sharingOf(Redacted.value(url))).pipe(
                  Effect.mapError(unavailable(place, false))
                )
          return { url, directUrl: direct ?? url, sharing, embedded: false, place }
        }
        if (!(yield* CreatesDatabase) && !existsSync(join(settings.dataDir, "postgres.json")))
          return yield* new DatabaseUnavailable({
            message: `There is no database in ${resolve(settings.dataDir)} (RUNGATE_DATA_DIR), and DATABASE_URL is not set. Run this in the folder of your service, or set one of them as the service has it. "rungate serve" creates a database`
          })
        const started = yield* embeddedPostgres({
          dataDir: settings.dataDir,
          onProgress: (message) => Effect.logInfo(message)
        })
        return { url: started.url, directUrl: started.url, sharing: null, embedded: true, place: placeOf(started.url) }
      })
    )
  static readonly layer = DatabaseUrl.layerOf(({ databaseUrl, databaseDirectUrl }) => ({
    url: databaseUrl,
    direct: databaseDirectUrl
  }))
}
