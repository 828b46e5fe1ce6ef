/**
 * Wakes workers with BullMQ jobs. A job carries no data, because the work itself is stored in Postgres.
 *
 * Each queue has at most one active job over all processes and at most one waiting job. So a burst of wake-ups becomes one job, and a
 * wake-up during a job leads to one more job. BullMQ runs on Redis if `REDIS_URL` is set, otherwise on the service's Postgres.
 */
import { createPostgresBackend, Queue, type QueueOptions, Worker, type WorkerOptions } from "bullmq"
import { Clock, Context, Effect, Exit, Layer, Redacted, Schedule, type Scope } from "effect"
import { logFailure, oneLine } from "../postgres/Batch.ts"
import { DatabaseUrl } from "../postgres/connection/DatabaseUrl.ts"
import { storedLanes } from "../postgres/DatabaseLanes.ts"
import { LastingClient, listenWithLastingClients } from "../postgres/connection/LastingClient.ts"
import { mayMigrateQueues, queueSchemaOf } from "../postgres/QueueSchema.ts"
import { Installation } from "./Installation.ts"
import { underway } from "../platform/Underway.ts"
import { Redis } from "./Redis.ts"

export const laneQueue = (lane: number) => `lane-${lane}`
const isLane = (queue: string) => queue.startsWith("lane-")
export const runsQueue = "runs"

/** A job whose worker died can be taken over after this time. BullMQ renews the lock of a live worker. */
const lockMillis = 3_000
const stalledMillis = 1_000
/**
 * A lane's job is active for a fraction of a second. A job that is active for longer than this has lost its worker, even if its lock is
 * valid: on Postgres, BullMQ dates locks by the clock of the process that takes them, and a wrong clock would lock a lane for hours.
 */
const activeMillisMax = 1_500
/** An idle worker polls for jobs this often, in case a notification was lost. BullMQ's default is 5 s, half of what a client waits. */
const pollSeconds = 2
/**
 * After a refused connection BullMQ waits this long before it asks for jobs again. A worker that closes meanwhile waits as well, because BullMQ
 * can't cut this wait short. So it is short. BullMQ's default is 15 s.
 */
const retryMillis = 1_000
/** A worker that takes longer to close is left alone. The process ends soon. */
const closeSecondsMax = 5
/** The token with which BullMQ moves a job without checking who holds its lock. */
const anyToken = "0"
/** BullMQ fails a job after this many stalls. Practically unlimited, because a wake-up must always run again. */
const stalledCountMax = 1_000_000

type Processor = () => Promise<void>

/** Redis answered a moment ago. If it has gone again, the start goes on when it is back. */
const untilDone = (name: string, prepare: Effect.Effect<unknown, Error>) =>
  prepare.pipe(
    Effect.tapError((error) =>
      Effect.logWarning(`queue ${name}: Redis does not answer (${error.message}); trying again`)
    ),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.orDie
  )

export class Queues extends Context.Service<
  Queues,
  {
    /** Wakes a queue's worker, also that of a lane that is new to this process. Concurrent calls collapse into one more job. Never fails, because the sweeper repeats lost wake-ups. */
    readonly wake: (queue: string) => Effect.Effect<void>
    /** Releases the job and the deduplication key of a dead worker, then wakes the queue. */
    readonly releaseStalledJob: (queue: string) => Effect.Effect<void>
    /** Processes the queue's jobs one at a time until the scope closes. Closing waits for the current job. A lost connection is opened again. */
    readonly work: (queue: string, process: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
    /** Sets each lane's concurrency to 1 again, because a flushed Redis has lost the setting. */
    readonly processDue: Effect.Effect<void>
    readonly depth: Effect.Effect<number>
    readonly backend: "redis" | "postgres"
  }
>()("rungate/layers/queues/Queues") {
  static readonly layer = Layer.effect(
    Queues,
    Effect.gen(function* () {
      const redis = yield* Redis
      const { redisPrefix, schema: own } = yield* Installation
      // On Postgres, BullMQ's tables are the installation's own, and BullMQ uses no prefix.
      const prefix = redis === null ? "rungate" : redis.together(redisPrefix)
      const schema = queueSchemaOf(own)
      const { directUrl } = yield* DatabaseUrl
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const runPromiseExit = Effect.runPromiseExitWith(yield* Effect.context<never>())
      const log = (message: string) => (error: Error) => {
        fork(Effect.logDebug(`${message}: ${error.message}`))
      }

      if (redis === null) listenWithLastingClients()
      const mayMigrate = redis === null && (yield* mayMigrateQueues(schema))
      // A lost job is harmless, so commits of jobs need not wait for the disk.
      const postgres = (max: number, migrate = false) => ({
        connection: {
          connectionString: Redacted.value(directUrl),
          schema,
          max,
          migrate,
          Client: LastingClient,
          options: "-c synchronous_commit=off"
        }
      })
      const queueOf = (name: string) => {
        const options: Partial<QueueOptions> = {
          prefix,
          defaultJobOptions: { removeOnComplete: true, removeOnFail: true }
        }
        return redis === null
          ? new Queue(name, { ...options, ...postgres(2, mayMigrate && name === runsQueue) }, createPostgresBackend)
          : new Queue(name, { ...options, connection: redis.client })
      }
      const openWorker = (name: string, processor: Processor) => {
        const options: Partial<WorkerOptions> = {
          prefix,
          autorun: false,
          concurrency: 1,
          drainDelay: pollSeconds,
          runRetryDelay: retryMillis,
          lockDuration: lockMillis,
          stalledInterval: stalledMillis,
          maxStalledCount: stalledCountMax
        }
        return redis === null
          ? new Worker(name, processor, { ...options, ...postgres(2) }, createPostgresBackend)
          : new Worker(name, processor, { ...options, connection: redis.dedicated() })
      }

      type Opened = ReturnType<typeof queueOf>
      const queues = new Map<string, Promise<Opened>>()
      const close = (queue: Opened | Promise<Opened>) =>
        Effect.promise(async () => (await queue).close()).pipe(Effect.timeout("3 seconds"), Effect.ignoreCause)
      yield* Effect.addFinalizer(() =>
        Effect.forEach(queues.entries(), ([name, queue]) => underway(`closing queue ${name}`)(close(queue)), {
          concurrency: "unbounded",
          discard: true
        })
      )
      const connect = async (queue: Opened, name: string) => {
        queue.on("error", log(`queue ${name}`))
        await queue.waitUntilReady()
        // Only lanes need this limit: one turn at a time. Concurrent claims of runs never take the same run.
        if (isLane(name)) await queue.setGlobalConcurrency(1)
        return queue
      }
      /** Opens a queue at its first use. The number of lanes may grow while this process runs. A failed opening is tried again. */
      const opened = (name: string): Promise<Opened> => {
        const existing = queues.get(name)
        if (existing !== undefined) return existing
        const queue = queueOf(name)
        const connecting = connect(queue, name)
        queues.set(name, connecting)
        connecting.catch(() => {
          queues.delete(name)
          fork(close(queue))
        })
        return connecting
      }
      const prepare = (name: string) => {
        const opening = Effect.tryPromise({
          try: () => opened(name),
          catch: (error) => (error instanceof Error ? error : new Error(String(error)))
        })
        return redis === null ? Effect.orDie(opening) : untilDone(name, opening)
      }
      // This one migrates the schema of BullMQ's Postgres backend, so it comes before the others.
      yield* prepare(runsQueue)
      const lanes = yield* storedLanes
      for (let lane = 0; lane < lanes; lane++) yield* prepare(laneQueue(lane))

      const add = (name: string) =>
        Effect.promise(async () => {
          // Without an id BullMQ creates a sequence for the queue, which needs a role that owns the schema.
          const jobId = crypto.randomUUID()
          const queue = await opened(name)
          await queue.add("wake", {}, { jobId, deduplication: { id: name, keepLastIfActive: true } })
        }).pipe(
          Effect.catchCause((cause) => Effect.logDebug(`could not store the wake-up of ${name}: ${oneLine(cause)}`))
        )

      // One `add` in progress per queue and one after it, because a wake-up during an `add` may be too late for that job.
      const state = new Map<string, "adding" | "again">()
      const wake = (name: string): Effect.Effect<void> =>
        Effect.suspend(() => {
          if (state.has(name)) {
            state.set(name, "again")
            return Effect.void
          }
          state.set(name, "adding")
          const loop: Effect.Effect<void> = add(name).pipe(
            Effect.flatMap(() => {
              if (state.get(name) === "again") {
                state.set(name, "adding")
                return loop
              }
              return Effect.sync(() => state.delete(name))
            })
          )
          return Effect.asVoid(Effect.forkDetach(loop, { startImmediately: true }))
        })

      const activeJobs = new Map<string, { readonly id: string; readonly since: number }>()
      /** Gives a dead worker's job to other workers. If the worker is alive after all, two turns conflict and only one applies. */
      const release = Effect.fnUntraced(function* (name: string) {
        const now = yield* Clock.currentTimeMillis
        yield* Effect.promise(async () => {
          const [job] = await (await opened(name)).getActive(0, 0)
          const previous = activeJobs.get(name)
          if (job?.id === undefined) activeJobs.delete(name)
          else if (previous?.id !== job.id) activeJobs.set(name, { id: job.id, since: now })
          else if (now - previous.since > activeMillisMax) await job.moveToWait(anyToken)
        })
      })
      const releaseStalledJob = (name: string) =>
        Effect.promise(async () => {
          await (await opened(name)).removeDeduplicationKey(name)
        }).pipe(Effect.andThen(release(name)), Effect.ignoreCause, Effect.andThen(wake(name)))

      /**
       * Runs one worker until the scope closes. On Postgres, BullMQ keeps the failure of a worker's first connection and repeats it without a
       * pause. A running worker would then let nothing else in this process run, not even a stop signal. So a worker runs once it is connected.
       */
      const serve = (name: string, process: Effect.Effect<void>) =>
        Effect.gen(function* () {
          const worker = yield* Effect.acquireRelease(
            Effect.sync(() => {
              const opening = openWorker(name, async () => {
                const exit = await runPromiseExit(underway(`job of ${name}`)(process))
                // The work is stored in Postgres, so a failed job is only logged.
                if (Exit.isFailure(exit))
                  fork(logFailure(`A job of ${name} failed; the sweeper wakes it again`)(exit.cause))
              })
              opening.on("error", log(`worker ${name}`))
              return opening
            }),
            (opening) =>
              Effect.promise(() => opening.close()).pipe(
                Effect.timeout(`${closeSecondsMax} seconds`),
                Effect.ignore,
                underway(`closing worker ${name}`)
              )
          )
          yield* Effect.tryPromise(() => worker.waitUntilReady())
          yield* Effect.tryPromise(() => worker.run())
        }).pipe(Effect.scoped)
      const work = (name: string, process: Effect.Effect<void>) =>
        serve(name, process).pipe(
          Effect.catchCause((cause) => Effect.logDebug(`worker ${name}: ${oneLine(cause)}`)),
          Effect.repeat(Schedule.spaced(`${retryMillis} millis`)),
          Effect.forkScoped({ startImmediately: true }),
          Effect.asVoid
        )

      const processDue = Effect.promise(async () => {
        for (const [name, queue] of queues) if (isLane(name)) await (await queue).setGlobalConcurrency(1)
      }).pipe(
        Effect.catchCause((cause) => Effect.logDebug(`could not set the concurrency of the lanes: ${oneLine(cause)}`))
      )

      const depth = Effect.promise(async () => {
        let waiting = 0
        for (const queue of queues.values()) waiting += await (await queue).getWaitingCount()
        return waiting
      }).pipe(Effect.catchCause(() => Effect.succeed(0)))

      return Queues.of({
        wake,
        releaseStalledJob,
        work,
        processDue,
        depth,
        backend: redis === null ? "postgres" : "redis"
      })
    })
  )
}
