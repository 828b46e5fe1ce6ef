/**
 * Watches the disk of the embedded database. New runs are refused before it is full, so that runs under way can still end and be charged.
 *
 * A server of one's own watches its disk itself: with DATABASE_URL nothing is refused here.
 */
import { statfs } from "node:fs/promises"
import { Effect } from "effect"
import { Settings } from "../../platform/Settings.ts"

const bytesPerMb = 1_000_000
/** Of the least space: below so many times of it there is a warning. */
const warnTimes = 4
const lookSeconds = 5

export type Room = "enough" | "low" | "refuse"

export const roomOf = (freeMb: number, minMb: number): Room =>
  freeMb < minMb ? "refuse" : freeMb < warnTimes * minMb ? "low" : "enough"

const freeMbOf = (folder: string) =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, bsize }) => Math.floor((bavail * bsize) / bytesPerMb)),
    // A file system that does not tell refuses nothing.
    Effect.orElseSucceed(() => Number.POSITIVE_INFINITY)
  )

/** Looks now and every few seconds until the scope closes. The result says whether new runs are refused. */
export const watchDisk = Effect.gen(function* () {
  const { databaseUrl, dataDir, minFreeDiskMb } = yield* Settings
  let room: Room = "enough"
  if (databaseUrl !== null || minFreeDiskMb === 0) return () => false
  const look = Effect.gen(function* () {
    const free = yield* freeMbOf(dataDir)
    const now = roomOf(free, minFreeDiskMb)
    if (now === room) return
    room = now
    if (now === "enough") return yield* Effect.logInfo(`disk: ${free} MB are free in ${dataDir}`)
    const then = now === "refuse" ? "New runs are refused" : `Below ${minFreeDiskMb} MB new runs are refused`
    yield* Effect.logWarning(
      `disk: ${free} MB are free in ${dataDir}. ${then} (RUNGATE_MIN_FREE_DISK_MB). Make room, or move to a server: rungate admin move --to postgres://…`
    )
  })
  yield* look
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(`${lookSeconds} seconds`), look)))
  return () => room === "refuse"
})
