/**
 * Wake-ups on BullMQ: a job says that a queue has work. It carries no data, because the work is stored in Postgres.
 *
 * Per queue, at most one job is active over all processes and at most one more waits. So a burst of wake-ups collapses, and a wake-up during
 * a job leads to one more job. The backend is Redis if `REDIS_URL` is set, otherwise the same Postgres.
 */
import { createPostgresBackend, Queue, type QueueOptions, Worker, type WorkerOptions } from "bullmq"
import { Clock, Context, Effect, Exit, Layer, Redacted, type Scope } from "effect"
import { oneLine } from "../postgres/Batch.ts"
import { DatabaseUrl } from "../postgres/Database.ts"
import { mayMigrateQueues, queueSchema as schema } from "../postgres/QueueSchema.ts"
import { Installation } from "./Installation.ts"
import { Redis } from "./Redis.ts"

/**
 * Wallets hash onto this many lanes. A wallet keeps the lane it was created with, so the number may grow and never shrink.
 * Few, because a lane's turn is a group commit: the more share one, the cheaper each is.
 */
export const laneCount = 2
export const laneQueue = (lane: number) => `lane-${lane}`
export const runsQueue = "runs"
const queueNames = [...Array.from({ length: laneCount }, (_, lane) => laneQueue(lane)), runsQueue]

/** A turn-holder that died is replaced after this long; a living one renews its lock by itself. */
const lockMillis = 3_000
const stalledMillis = 1_000
/**
 * A lane's job is held for a fraction of a second. One that is active this long has lost its worker, though its lock may say otherwise:
 * on Postgres BullMQ dates locks by the clock of the process that takes them, and a wrong one locks a lane for hours.
 */
const heldMillisMax = 1_500
/** An idle worker looks for jobs this often, in case a notification was lost; BullMQ's own five seconds are half of what a client waits. */
const lookSeconds = 2
/** BullMQ's word for "whoever holds the lock". */
const anyToken = "0"
/** BullMQ gives up on a job after so many deaths of its workers; ours must always run again. */
const stalledCountMax = 1_000_000

type Processor = () => Promise<void>

export class Queues extends Context.Service<
  Queues,
  {
    /** Wakes a queue. Calls while one is on its way collapse into one more. Never fails: the sweeper comes behind. */
    readonly wake: (queue: string) => Effect.Effect<void>
    /** Clears what a lost job may have left behind, then wakes. */
    readonly releaseStalledJob: (queue: string) => Effect.Effect<void>
    /** Takes the queue's jobs, one at a time, until the scope closes; closing waits for the job at hand. */
    readonly work: (queue: string, process: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
    /** Sets each lane's concurrency to 1 again, because a Redis that was emptied has lost the setting. */
    readonly processDue: Effect.Effect<void>
    readonly depth: Effect.Effect<number>
    readonly backend: "redis" | "postgres"
  }
>()("rungate/layers/queues/Queues") {
  static readonly layer = Layer.effect(
    Queues,
    Effect.gen(function* () {
      const redis = yield* Redis
      // In Postgres BullMQ's tables are in this service's own database, and the prefix stays what it was.
      const prefix = redis === null ? "rungate" : (yield* Installation).redisPrefix
      const { url } = yield* DatabaseUrl
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const runPromiseExit = Effect.runPromiseExitWith(yield* Effect.context<never>())
      const log = (message: string) => (error: Error) => {
        fork(Effect.logDebug(`${message}: ${error.message}`))
      }

      const migrate = redis === null && (yield* mayMigrateQueues)
      // Jobs are hints, so their commits need not wait for the disk.
      const postgres = (max: number) => ({
        connection: {
          connectionString: Redacted.value(url),
          schema,
          max,
          migrate,
          options: "-c synchronous_commit=off"
        }
      })
      const openQueue = (name: string) => {
        const options: Partial<QueueOptions> = {
          prefix,
          defaultJobOptions: { removeOnComplete: true, removeOnFail: true }
        }
        return redis === null
          ? new Queue(name, { ...options, ...postgres(2) }, createPostgresBackend)
          : new Queue(name, { ...options, connection: redis.client })
      }
      const openWorker = (name: string, processor: Processor) => {
        const options: Partial<WorkerOptions> = {
          prefix,
          concurrency: 1,
          drainDelay: lookSeconds,
          lockDuration: lockMillis,
          stalledInterval: stalledMillis,
          maxStalledCount: stalledCountMax
        }
        return redis === null
          ? new Worker(name, processor, { ...options, ...postgres(2) }, createPostgresBackend)
          : new Worker(name, processor, { ...options, connection: redis.dedicated() })
      }

      // Opened one after the other: the Postgres backend migrates its schema with the first.
      const queues = new Map<string, ReturnType<typeof openQueue>>()
      for (const name of queueNames) {
        const queue = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const opened = openQueue(name)
            opened.on("error", log(`queue ${name}`))
            await opened.waitUntilReady()
            // The runs queue too: one claim at a time is enough, each takes all that its worker has room for.
            if (name !== runsQueue) await opened.setGlobalConcurrency(1)
            return opened
          }),
          (opened) => Effect.promise(() => opened.close()).pipe(Effect.timeout("3 seconds"), Effect.ignore)
        )
        queues.set(name, queue)
      }

      const add = (name: string) =>
        Effect.promise(async () => {
          // Without an id BullMQ makes a sequence for the queue, which a role that owns no schema may not.
          const jobId = crypto.randomUUID()
          await queues.get(name)?.add("wake", {}, { jobId, deduplication: { id: name, keepLastIfActive: true } })
        }).pipe(Effect.catchCause((cause) => Effect.logDebug(`wake-up of ${name} not stored: ${oneLine(cause)}`)))

      // One add under way per queue and one more behind it: a wake-up asked for now may have missed the job being added.
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

      const held = new Map<string, { readonly id: string; readonly since: number }>()
      /** Gives a dead worker's job to others. If it is alive after all, two turns meet, and one of them applies. */
      const release = Effect.fnUntraced(function* (name: string) {
        const now = yield* Clock.currentTimeMillis
        yield* Effect.promise(async () => {
          const [job] = (await queues.get(name)?.getActive(0, 0)) ?? []
          const before = held.get(name)
          if (job?.id === undefined) held.delete(name)
          else if (before?.id !== job.id) held.set(name, { id: job.id, since: now })
          else if (now - before.since > heldMillisMax) await job.moveToWait(anyToken)
        })
      })
      const releaseStalledJob = (name: string) =>
        Effect.promise(async () => {
          await queues.get(name)?.removeDeduplicationKey(name)
        }).pipe(Effect.andThen(release(name)), Effect.ignoreCause, Effect.andThen(wake(name)))

      const work = (name: string, process: Effect.Effect<void>) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const worker = openWorker(name, async () => {
              const exit = await runPromiseExit(process)
              // The work stands in Postgres and the sweeper wakes it again, so a failed job is only worth a line.
              if (Exit.isFailure(exit)) fork(Effect.logWarning(`${name}: ${oneLine(exit.cause)}`))
            })
            worker.on("error", log(`worker ${name}`))
            return worker
          }),
          (worker) => Effect.promise(() => worker.close()).pipe(Effect.timeout("10 seconds"), Effect.ignore)
        ).pipe(Effect.asVoid)

      const processDue = Effect.promise(async () => {
        for (const [name, queue] of queues) if (name !== runsQueue) await queue.setGlobalConcurrency(1)
      }).pipe(Effect.catchCause((cause) => Effect.logDebug(`the lanes' concurrency was not set: ${oneLine(cause)}`)))

      const depth = Effect.promise(async () => {
        let waiting = 0
        for (const queue of queues.values()) waiting += await queue.getWaitingCount()
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
