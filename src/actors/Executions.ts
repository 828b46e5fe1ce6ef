/**
 * The runs that this process executes: how many it has room for, their fibers, and the worker id their leases belong to.
 *
 * Room is taken before a lease is written and given back when the fiber ends, so a process never leases more than it runs.
 */
import { Context, Effect, FiberMap, Layer } from "effect"
import { newId } from "../layers/Ids.ts"
import { Leases } from "../layers/Leases.ts"
import { Settings } from "../layers/Settings.ts"

export class Executions extends Context.Service<
  Executions,
  {
    readonly workerId: () => string
    /** Takes room for one run; false when there is none, or the process is stopping. */
    readonly tryTake: () => boolean
    readonly giveBack: (count: number) => void
    readonly room: () => number
    readonly running: () => ReadonlyArray<string>
    /** Runs `work` in a fiber of its own; its room is given back when it ends. */
    readonly start: (run_id: string, work: Effect.Effect<void>) => Effect.Effect<void>
    /** Called whenever room becomes free. */
    readonly onRoom: (listener: () => void) => void
    /** Takes no more work and waits, within the drain time, for what runs; answers how many were left. */
    readonly drain: Effect.Effect<number>
    /** The lease was lost: stop everything and continue as a new worker. */
    readonly restart: Effect.Effect<void>
  }
>()("rungate/actors/Executions") {
  static readonly layer = Layer.effect(
    Executions,
    Effect.gen(function* () {
      const { concurrency, leaseSeconds, drainSeconds } = yield* Settings
      const leases = yield* Leases
      const fibers = yield* FiberMap.make<string, void, never>()
      let workerId = newId("wrk")
      let taken = 0
      let stopping = false
      let notify = () => {}
      yield* leases.register(workerId, leaseSeconds)

      const giveBack = (count: number) => {
        taken -= count
        if (count > 0) notify()
      }
      const start = (run_id: string, work: Effect.Effect<void>) =>
        FiberMap.run(fibers, run_id, work.pipe(Effect.ensuring(Effect.sync(() => giveBack(1)))), {
          startImmediately: true
        }).pipe(Effect.asVoid)
      const drain = Effect.gen(function* () {
        stopping = true
        yield* FiberMap.awaitEmpty(fibers).pipe(Effect.timeoutOption(`${drainSeconds} seconds`))
        const left = yield* FiberMap.size(fibers)
        yield* FiberMap.clear(fibers)
        yield* leases.retire(workerId)
        return left
      })
      const restart = Effect.gen(function* () {
        yield* FiberMap.clear(fibers)
        workerId = newId("wrk")
        yield* leases.register(workerId, leaseSeconds)
      })

      return Executions.of({
        workerId: () => workerId,
        tryTake: () => {
          if (stopping || taken >= concurrency) return false
          taken += 1
          return true
        },
        giveBack,
        room: () => (stopping ? 0 : concurrency - taken),
        running: () => Array.from(fibers, ([run_id]) => run_id),
        start,
        onRoom: (listener) => {
          notify = listener
        },
        drain,
        restart
      })
    })
  )
}
