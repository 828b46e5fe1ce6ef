/**
 * Handlers of `rungate admin backup` and `rungate admin restore`, for the embedded database. Loaded on demand.
 */
import { existsSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { Console, Effect, Redacted, References } from "effect"
import { consent } from "../cli/terminal/consent.ts"
import { bad, failedWith } from "../cli/terminal/exits.ts"
import type { FlagsOf } from "../cli/terminal/flags.ts"
import type { restoreFlags } from "./flags.ts"
import { messageOf, print } from "../operator/output.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { writeBackup } from "../../layers/postgres/embedded/backup/Backup.ts"
import { type Replaced, replaceByBackup } from "../../layers/postgres/embedded/backup/Restore.ts"
import { embeddedPostgres } from "../../layers/postgres/embedded/EmbeddedPostgres.ts"
import { locate, readState } from "../../layers/postgres/embedded/EmbeddedPostgresFiles.ts"
import { query } from "../../layers/postgres/embedded/EmbeddedPostgresPrograms.ts"

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

/** The data directory, if the service uses the embedded database. */
const embeddedOnly = (verb: string) =>
  Effect.gen(function* () {
    const { databaseUrl, dataDir } = yield* Settings
    if (databaseUrl !== null)
      return yield* bad(
        `DATABASE_URL is set, and this command is for the embedded database. To ${verb} a server of your own, see docs/operate.md, Backup.`
      )
    return dataDir
  })

const running = (dataDir: string) =>
  embeddedPostgres({ dataDir, onProgress: (message) => Console.error(`${message} …`) })

const tooOld = /WAL level not sufficient|wal_level/
const adviceOf = (reason: string) =>
  tooOld.test(reason)
    ? "The database was started by an older release. Restart the service with this release, then try again"
    : reason

export const backup = (given: string, json: boolean) =>
  Effect.gen(function* () {
    const dataDir = yield* embeddedOnly("back up")
    const path = resolve(given)
    if (existsSync(path)) return yield* bad(`${given} exists. Give the name of a new file.`)
    if (!existsSync(dirname(path))) return yield* bad(`There is no folder ${dirname(path)}.`)
    if (!existsSync(dataDir)) return yield* bad(`There is no database in ${resolve(dataDir)} (RUNGATE_DATA_DIR).`)
    const { url } = yield* running(dataDir)
    const place = locate(dataDir)
    const password = readState(place)?.password ?? ""
    const bytes = yield* Effect.tryPromise({
      try: () => writeBackup(Redacted.value(url), place, path, password),
      catch: (cause) => failedWith(`There is no backup: ${adviceOf(messageOf(cause))}.`)
    })
    yield* json
      ? print({ file: path, bytes })
      : Console.log(`${path}: ${megabytes(bytes)}. It has every secret that the database has, so keep it safe.`)
    yield* Console.error(`To restore it: rungate admin restore ${given}`)
  }).pipe(Effect.scoped, Effect.provideService(References.LogToStderr, true))

/** Wake-ups of the state before the restore stay in Redis under another name, so they can't reach runs of the restored one. */
const renamed = "UPDATE installation SET id = gen_random_uuid()"

const recover = (dataDir: string) =>
  Effect.gen(function* () {
    yield* running(dataDir)
    const state = readState(locate(dataDir))
    if (state !== undefined) yield* Effect.tryPromise(() => query(state, renamed))
  }).pipe(Effect.scoped)

const undone = ({ aside, undo }: Replaced) =>
  Effect.andThen(
    Effect.promise(undo),
    Effect.succeed(aside === null ? "The data directory is as before" : "The database that was there is back")
  )

export const restore = ({ file, yes, json }: FlagsOf<typeof restoreFlags>) =>
  Effect.gen(function* () {
    const dataDir = yield* embeddedOnly("restore")
    if (!existsSync(file)) return yield* bad(`There is no file ${file}.`)
    yield* consent(`Replace the database in ${resolve(dataDir)} by the backup? What is there now is kept beside it.`, {
      yes
    })
    const replaced = yield* Effect.tryPromise({
      try: () => replaceByBackup(locate(dataDir), resolve(file)),
      catch: (cause) => failedWith(`Nothing was changed: ${messageOf(cause)}.`)
    })
    yield* recover(dataDir).pipe(
      Effect.catch((error) =>
        Effect.flatMap(undone(replaced), (now) =>
          Effect.fail(failedWith(`The backup does not start: ${messageOf(error)}. ${now}.`))
        )
      )
    )
    const { aside, manifest } = replaced
    if (json) return yield* print({ made_at: manifest.made_at, rungate: manifest.rungate, aside })
    yield* Console.log(`Restored the backup of ${manifest.made_at}, made by Rungate ${manifest.rungate}.`)
    if (aside !== null)
      yield* Console.log(`The database that was there before is in ${aside}. Delete it when you don't need it.`)
    yield* Console.error("Next: rungate audit, then start the service.")
  }).pipe(Effect.provideService(References.LogToStderr, true))
