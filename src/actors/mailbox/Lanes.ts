/**
 * Wakes the worker of a lane. A lane is a partition of the queued commands, and a turn is one batch commit of a lane.
 *
 * Call `wake` after storing a command. A lost wake-up is harmless: the sweeper repeats it. If this process is already taking the
 * lane's turns, `wake` marks the lane dirty and another turn follows. Otherwise BullMQ delivers the wake-up to one process, and a
 * signal tells the process that has the lane, which may keep it while nobody else wants it.
 */
import { Context, Effect, Layer } from "effect"
import { laneQueue, Queues } from "../../layers/queues/Queues.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { lanesMax } from "../../schema/wallet/Lane.ts"

export interface LaneState {
  turning: boolean
  dirty: boolean
  /** Whether another process has stored commands since this process took the lane. */
  wanted: boolean
  /** Ends the wait for commands early. Null when nothing waits. */
  stopWaiting: (() => void) | null
}

/** Says that a lane has commands from the process that sends the signal. */
const signalOf = (lane: number, sender: string): string => `lane:${lane}:${sender}`
const signalForm = /^lane:(\d+):(.+)$/

export class Lanes extends Context.Service<
  Lanes,
  {
    readonly wake: (lane: number) => Effect.Effect<void>
    readonly state: (lane: number) => LaneState
    /** Waits at most `millis` for the next wake-up of a lane whose turns this process takes. */
    readonly awaitCommands: (lane: number, millis: number) => Effect.Effect<void>
    /** Ends every wait for commands, now and later. For a process that is stopping. */
    readonly close: Effect.Effect<void>
  }
>()("rungate/actors/mailbox/Lanes") {
  static readonly layer = Layer.effect(
    Lanes,
    Effect.gen(function* () {
      const queues = yield* Queues
      const signals = yield* Signals
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const self = crypto.randomUUID().slice(0, 8)
      let closed = false
      // For as many lanes as there may ever be, because their number can grow while this process runs.
      const states = Array.from(
        { length: lanesMax },
        (): LaneState => ({ turning: false, dirty: false, wanted: false, stopWaiting: null })
      )
      const state = (lane: number): LaneState => {
        const current = states[lane]
        if (current === undefined) throw new Error(`there is no lane ${lane}`)
        return current
      }

      yield* Effect.acquireRelease(
        Effect.sync(() =>
          signals.listen((ids) => {
            for (const id of ids) {
              const [, lane, sender] = id.startsWith("lane:") ? (signalForm.exec(id) ?? []) : []
              const current = states[Number(lane)]
              if (sender === self || current?.turning !== true) continue
              current.wanted = true
              current.dirty = true
              current.stopWaiting?.()
            }
          })
        ),
        (stop) => Effect.sync(stop)
      )

      /** Lanes whose signal is about to be sent. Commands that were stored together need one. */
      const telling = new Set<number>()
      const tell = (lane: number) => {
        if (telling.has(lane)) return
        telling.add(lane)
        setImmediate(() => {
          telling.delete(lane)
          fork(signals.publish([signalOf(lane, self)]))
        })
      }
      const wake = (lane: number) =>
        Effect.suspend(() => {
          const current = state(lane)
          if (!current.turning) {
            tell(lane)
            return queues.wake(laneQueue(lane))
          }
          current.dirty = true
          current.stopWaiting?.()
          return Effect.void
        })
      const awaitCommands = (lane: number, millis: number) =>
        Effect.callback<void>((resume) => {
          const current = state(lane)
          if (current.dirty || closed) return resume(Effect.void)
          const end = () => {
            clearTimeout(timer)
            current.stopWaiting = null
            resume(Effect.void)
          }
          const timer = setTimeout(end, millis)
          current.stopWaiting = end
          return Effect.sync(() => {
            clearTimeout(timer)
            current.stopWaiting = null
          })
        })
      const close = Effect.sync(() => {
        closed = true
        for (const { stopWaiting } of states) stopWaiting?.()
      })
      return Lanes.of({ wake, state, awaitCommands, close })
    })
  )
}
