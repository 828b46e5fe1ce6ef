/**
 * Who nudges a lane to take its mail. `nudge` is called by whoever stored a command; it may be forgotten, never be wrong.
 *
 * While this process holds the lane's turn a nudge only marks the lane dirty, and the turn goes round once more; otherwise a
 * wake-up travels over BullMQ to whichever process takes it.
 */
import { Context, Effect, Layer } from "effect"
import { laneCount, laneQueue, Queues } from "../../layers/queues/Queues.ts"

export interface LaneState {
  turning: boolean
  dirty: boolean
  /** Set while the turn lingers for mail that is about to come. */
  hurry: (() => void) | null
}

export class Lanes extends Context.Service<
  Lanes,
  {
    readonly wake: (lane: number) => Effect.Effect<void>
    readonly state: (lane: number) => LaneState
    /** Waits at most `millis` for the next nudge of a lane whose turn this process holds. */
    readonly awaitCommands: (lane: number, millis: number) => Effect.Effect<void>
  }
>()("rungate/actors/mailbox/Lanes") {
  static readonly layer = Layer.effect(
    Lanes,
    Effect.gen(function* () {
      const queues = yield* Queues
      const states = Array.from({ length: laneCount }, (): LaneState => ({ turning: false, dirty: false, hurry: null }))
      const state = (lane: number): LaneState => {
        const found = states[lane]
        if (found === undefined) throw new Error(`there is no lane ${lane}`)
        return found
      }
      const wake = (lane: number) =>
        Effect.suspend(() => {
          const current = state(lane)
          if (!current.turning) return queues.wake(laneQueue(lane))
          current.dirty = true
          current.hurry?.()
          return Effect.void
        })
      const awaitCommands = (lane: number, millis: number) =>
        Effect.callback<void>((resume) => {
          const current = state(lane)
          if (current.dirty) return resume(Effect.void)
          current.hurry = () => resume(Effect.void)
        }).pipe(
          Effect.timeoutOption(`${millis} millis`),
          Effect.ensuring(
            Effect.sync(() => {
              state(lane).hurry = null
            })
          ),
          Effect.asVoid
        )
      return Lanes.of({ wake, state, awaitCommands })
    })
  )
}
