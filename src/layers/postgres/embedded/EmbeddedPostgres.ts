/**
 * The embedded database: a real, durable PostgreSQL 18 on loopback, used if DATABASE_URL is not set.
 *
 * Of all processes on one data directory, one holds its lock. It starts the server, restarts it after a crash, and stops it. If that process
 * dies, the kernel drops the lock, and another process adopts or restarts the server.
 */
import type { Database } from "bun:sqlite"
import type { ChildProcess } from "node:child_process"
import * as fs from "node:fs"
import { setTimeout } from "node:timers/promises"
import { Effect, Redacted, Schema } from "effect"
import * as files from "./EmbeddedPostgresFiles.ts"
import { createCluster, ensureDatabase, query, run, urlOf } from "./EmbeddedPostgresPrograms.ts"

export class EmbeddedPostgresFailed extends Schema.TaggedError<EmbeddedPostgresFailed>()("EmbeddedPostgresFailed", {
  message: Schema.String
}) {}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string
  readonly onProgress: (message: string) => Effect.Effect<void>
  /** Over the defaults below; tests turn `fsync` off. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface RunningPostgres {
  readonly url: Redacted.Redacted
  /** PostgreSQL's data directory. It may lie outside `dataDir`; see EmbeddedPostgresFiles. */
  readonly cluster: string
  readonly began: "created" | "started" | "adopted" | "attached"
}

const defaults = {
  fsync: "on",
  synchronous_commit: "on",
  shared_buffers: "128MB",
  max_connections: "200",
  // A backup needs it.
  wal_level: "replica",
  max_wal_senders: "0",
  log_min_messages: "warning",
  timezone: "UTC",
  log_timezone: "UTC",
  listen_addresses: "127.0.0.1",
  // Clients speak TCP, and a socket would need a folder that both we and the server's account may write.
  unix_socket_directories: ""
}

/** Recovery after a crash replays at most `max_wal_size` (1 GB) of log. */
const startMillisMax = 60_000
/** Fast shutdown writes a checkpoint; a server that needs longer is told to stop at once, and recovers next time. */
const stopSignals = [
  ["SIGINT", 10_000],
  ["SIGQUIT", 3_000],
  ["SIGKILL", 2_000]
] as const
/** A killed server's last processes may hold its memory for a moment, and a free port may be taken before it is bound. */
const launchesMax = 5
const passing = /in use|TCP\/IP sockets|lock file/
const pollMillis = 10
const superviseMillis = 500

const poll = async <A>(millisMax: number, signal: AbortSignal | undefined, look: () => A | undefined) => {
  for (const end = performance.now() + millisMax; performance.now() < end; await Bun.sleep(pollMillis)) {
    signal?.throwIfAborted()
    const seen = look()
    if (seen !== undefined) return seen
  }
  return undefined
}

/** One process's hold on one data directory. */
const hold = (place: files.Place, options: EmbeddedPostgresOptions, say: (message: string) => Promise<void>) => {
  const settings = Object.entries({ ...defaults, ...options.settings })
  const stopping = new AbortController()
  let lock: Database | undefined
  let child: ChildProcess | undefined
  let pid = 0
  /** Known once the database has answered; from then on neither port nor password changes under our clients. */
  let held: files.State | undefined
  let work: Promise<unknown> = Promise.resolve()

  const alive = () =>
    child === undefined ? files.clusterOf(pid) === place.cluster : child.exitCode === null && child.signalCode === null

  /** True when the server with our `pid` takes connections; false when it ended before it did. */
  const answers = async () => {
    const answer = await poll(startMillisMax, stopping.signal, () => {
      const noted = files.readPostmaster(place.cluster)
      if (noted?.pid === pid && noted.ready) return true
      return alive() ? undefined : false
    })
    if (answer === undefined) throw new Error(`PostgreSQL was not ready within ${startMillisMax / 1_000} s`)
    return answer
  }

  const launch = async (state: files.State) => {
    files.forgetStrangers(place.cluster)
    const serverOptions = settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])
    child = run(place, "postgres", ["-D", place.cluster, "-c", `port=${state.port}`, ...serverOptions])
    pid = child.pid ?? 0
    child.on("error", () => {})
    return answers()
  }

  const start = async (lastState: files.State): Promise<files.State> => {
    let state = lastState
    for (let launches = 1; ; launches += 1) {
      const port = held?.port ?? (await files.freePort(state.port))
      if (port !== state.port) state = files.writeState(place, { ...state, port })
      if (await launch(state)) return state
      const complaint = files.lastComplaint(place)
      if (launches === launchesMax || !passing.test(complaint))
        throw new Error(`PostgreSQL did not start: ${complaint}`)
      await Bun.sleep(100 * launches)
    }
  }

  /** We hold the lock: whatever state the last owner left, a server runs when this returns. */
  const own = async (): Promise<RunningPostgres["began"]> => {
    const lastState = held ?? files.readState(place)
    const noted = files.readPostmaster(place.cluster)
    if (lastState !== undefined && noted !== undefined && files.clusterOf(noted.pid) === place.cluster) {
      child = undefined
      pid = noted.pid
      await say("adopting the embedded database that an ended Rungate process left running")
      if (await answers()) {
        held = await ensureDatabase(lastState)
        return "adopted"
      }
    }
    const there = fs.existsSync(place.cluster)
    if (there && lastState !== undefined) {
      await say("starting the embedded database")
      held = await ensureDatabase(await start(lastState))
      return "started"
    }
    if (held !== undefined) throw new Error(`${place.cluster} is gone: stop Rungate, put it back, and start again`)
    if (there) {
      const aside = `${place.cluster}.${new Date().toISOString().replaceAll(":", "-")}`
      fs.renameSync(place.cluster, aside)
      await say(`${place.state} is gone and with it the password of an older database, now kept as ${aside}`)
    }
    await say(`creating the embedded database in ${place.cluster} (first start)`)
    const state = files.writeState(place, lastState ?? { port: 0, password: files.newPassword() })
    await createCluster(place, state.password, options.settings?.fsync !== "off")
    held = await ensureDatabase(await start(state))
    return "created"
  }

  /** Somebody else holds the lock: true when their server lets us in. */
  const attach = async () => {
    const state = files.readState(place)
    if (state === undefined || files.readPostmaster(place.cluster)?.ready !== true) return false
    const rows = await query(state, "SELECT 1").catch(() => [])
    if (rows.length > 0) held = state
    return rows.length > 0
  }

  const open = async (): Promise<RunningPostgres["began"]> => {
    for (const end = performance.now() + startMillisMax; performance.now() < end; await Bun.sleep(pollMillis)) {
      stopping.signal.throwIfAborted()
      lock ??= files.takeLock(place.lock)
      if (lock !== undefined) return own()
      if (await attach()) return "attached"
    }
    throw new Error(`another Rungate process holds ${place.lock} but its database does not answer`)
  }

  /** Restarts a server that died, and takes over from an owner that ended. */
  const supervise = async () => {
    while (!stopping.signal.aborted) {
      try {
        lock ??= files.takeLock(place.lock)
        if (lock !== undefined && !alive()) await own()
      } catch (error) {
        await say(`the embedded database stopped and does not start again: ${error}`)
      }
      await setTimeout(superviseMillis, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  const stop = async () => {
    for (const [signal, millisMax] of stopSignals) {
      if (!alive()) return
      process.kill(pid, signal)
      await poll(millisMax, undefined, () => (alive() ? undefined : true))
    }
  }

  return {
    open: async () => {
      const opening = open()
      work = opening.then(supervise, () => {})
      const began = await opening
      if (held === undefined) throw new Error("the embedded database has no password")
      return { url: Redacted.make(urlOf(held)), cluster: place.cluster, began }
    },
    close: async () => {
      stopping.abort()
      await work
      if (lock !== undefined) await stop()
      lock?.close()
    }
  }
}

const failed = (dataDir: string) => (cause: unknown) =>
  new EmbeddedPostgresFailed({
    message:
      `The embedded database can't run: ${cause instanceof Error ? cause.message : cause} (data directory ${dataDir}, ` +
      "its postgres.log may say more). Point RUNGATE_DATA_DIR at a directory that this user may write, or " +
      "DATABASE_URL at a PostgreSQL server."
  })

/** Ready when it succeeds; stopped, within a bound, when the scope closes and we own it. */
export const embeddedPostgres = Effect.fn("embeddedPostgres")(function* (options: EmbeddedPostgresOptions) {
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  const fail = failed(options.dataDir)
  const cluster = yield* Effect.acquireRelease(
    Effect.try({
      try: () => hold(files.locate(options.dataDir), options, (message) => runPromise(options.onProgress(message))),
      catch: fail
    }),
    (cluster) => Effect.promise(cluster.close)
  )
  return yield* Effect.tryPromise({ try: cluster.open, catch: fail })
})
