/**
 * Whether this process wants new requests. A stop signal turns `/readyz` to 503 first; the process goes on serving for
 * RUNGATE_STOP_DELAY_SECONDS, so that a load balancer has time to notice before connections are refused.
 */
import { Context, Effect, Layer } from "effect"
import { Settings } from "../layers/Settings.ts"

export class Readiness extends Context.Service<
  Readiness,
  {
    readonly leaving: () => boolean
    /** Announces the stop and waits until load balancers had time to notice. */
    readonly leave: Effect.Effect<void>
  }
>()("rungate/http/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { stopDelaySeconds } = yield* Settings
      let leaving = false
      return Readiness.of({
        leaving: () => leaving,
        leave: Effect.suspend(() => {
          leaving = true
          return stopDelaySeconds === 0 ? Effect.void : Effect.sleep(`${stopDelaySeconds} seconds`)
        })
      })
    })
  )
}
