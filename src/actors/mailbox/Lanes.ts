/**
 * Wakes the worker of a lane. A lane is a partition of the queued commands, and a turn is one batch commit of a lane.
 *
 * Call `wake` after storing a command. A lost wake-up is harmless: the sweeper repeats it. If this process is already taking the
 * lane's turns, `wake` marks the lane dirty and another turn follows. Otherwise BullMQ delivers the wake-up to one process.
 */
import { Context, Effect, Layer } from "effect"
import { laneQueue, Queues } from "../../layers/queues/Queues.ts"
import { lanesMax } from "../../schema/wallet/Lane.ts"

export interface LaneState {
  turning: boolean
  dirty: boolean
  /** Ends the wait for commands early. Null when nothing waits. */
  stopWaiting: (() => void) | null
}

export class Lanes extends Context.Service<
  Lanes,
  {
    readonly wake: (lane: number) => Effect.Effect<void>
    readonly state: (lane: number) => LaneState
    /** Waits at most `millis` for the next wake-up of a lane whose turns this process takes. */
    readonly awaitCommands: (lane: number, millis: number) => Effect.Effect<void>
  }
>()("rungate/actors/mailbox/Lanes") {
  static readonly layer = Layer.effect(
    Lanes,
    Effect.gen(function* () {
      const queues = yield* Queues
      // For as many lanes as there may ever be, because their number can grow while this process runs.
      const states = Array.from(
        { length: lanesMax },
        (): LaneState => ({ turning: false, dirty: false, stopWaiting: null })
      )
      const state = (lane: number): LaneState => {
        const current = states[lane]
        if (current === undefined) throw new Error(`there is no lane ${lane}`)
        return current
      }
      const wake = (lane: number) =>
        Effect.suspend(() => {
          const current = state(lane)
          if (!current.turning) return queues.wake(laneQueue(lane))
          current.dirty = true
          current.stopWaiting?.()
          return Effect.void
        })
      const awaitCommands = (lane: number, millis: number) =>
        Effect.callback<void>((resume) => {
          const current = state(lane)
          if (current.dirty) return resume(Effect.void)
          current.stopWaiting = () => resume(Effect.void)
        }).pipe(
          Effect.timeoutOption(`${millis} millis`),
          Effect.ensuring(
            Effect.sync(() => {
              state(lane).stopWaiting = null
            })
          ),
          Effect.asVoid
        )
      return Lanes.of({ wake, state, awaitCommands })
    })
  )
}
