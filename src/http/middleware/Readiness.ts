/**
 * Whether this process accepts new requests.
 *
 * After a stop signal `/readyz` answers 503, and the process serves for RUNGATE_STOP_DELAY_SECONDS more, so that a load balancer can react.
 * A database with a full disk still answers reads. So `/readyz` is also 503 for 30 seconds after a write was refused for that reason.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Settings } from "../../layers/platform/Settings.ts"

const fullDiskMillis = 30_000

export class Readiness extends Context.Service<
  Readiness,
  {
    readonly leaving: () => boolean
    /** Announces the stop and waits until load balancers had time to notice. */
    readonly leave: Effect.Effect<void>
    /** Notes that a request failed because the database's disk is full. */
    readonly diskWasFull: Effect.Effect<void>
    /** A request failed for that reason in the last 30 seconds. */
    readonly diskFull: Effect.Effect<boolean>
  }
>()("rungate/http/middleware/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { stopDelaySeconds } = yield* Settings
      let leaving = false
      let fullAt = -Infinity
      return Readiness.of({
        leaving: () => leaving,
        diskWasFull: Effect.map(Clock.currentTimeMillis, (now) => {
          fullAt = now
        }),
        diskFull: Effect.map(Clock.currentTimeMillis, (now) => now - fullAt < fullDiskMillis),
        leave: Effect.suspend(() => {
          leaving = true
          return stopDelaySeconds === 0 ? Effect.void : Effect.sleep(`${stopDelaySeconds} seconds`)
        })
      })
    })
  )
}
