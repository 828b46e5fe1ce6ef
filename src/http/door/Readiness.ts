/**
 * Whether this process wants new requests. A stop signal turns `/readyz` to 503 first; the process goes on serving for
 * RUNGATE_STOP_DELAY_SECONDS, so that a load balancer has time to notice before connections are refused.
 *
 * A database whose disk is full still answers questions. So a refused write counts: `/readyz` is 503 for half a minute after the last one.
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
>()("rungate/http/door/Readiness") {
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
