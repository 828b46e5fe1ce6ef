/**
 * Who nudges a lane to take its mail. `nudge` is called by whoever stored a command; it may be forgotten, never be wrong.
 *
 * While this process holds the lane's turn a nudge only marks the lane dirty, and the turn goes round once more; otherwise a
 * wake-up travels over BullMQ to whichever process takes it.
 */
import { Context, Effect, Layer } from "effect"
import { laneCount, laneQueue, Queues } from "../layers/Queues.ts"

export interface LaneState {
  turning: boolean
  dirty: boolean
}

export class Lanes extends Context.Service<
  Lanes,
  {
    readonly nudge: (lane: number) => Effect.Effect<void>
    readonly state: (lane: number) => LaneState
  }
>()("rungate/actors/Lanes") {
  static readonly layer = Layer.effect(
    Lanes,
    Effect.gen(function* () {
      const queues = yield* Queues
      const states = Array.from({ length: laneCount }, (): LaneState => ({ turning: false, dirty: false }))
      const state = (lane: number): LaneState => {
        const found = states[lane]
        if (found === undefined) throw new Error(`there is no lane ${lane}`)
        return found
      }
      const nudge = (lane: number) =>
        Effect.suspend(() => {
          const current = state(lane)
          if (!current.turning) return queues.wake(laneQueue(lane))
          current.dirty = true
          return Effect.void
        })
      return Lanes.of({ nudge, state })
    })
  )
}
