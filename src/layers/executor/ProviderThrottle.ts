/**
 * Throttles the calls to one provider: concurrency, spacing, and the pauses that the provider asks for.
 *
 * A worker uses its part of the limits (ProviderShares.ts). Calls start in the order in which they arrive. Waiting counts against a call's own
 * deadline, so the queue can't hold a run for ever.
 */
import { Clock, Effect, Semaphore } from "effect"
import { partOf } from "./ProviderShares.ts"

/** The provider's pause is longer than the caller is ready to wait, so the call was not made. */
export interface Paused {
  readonly _tag: "Paused"
  readonly seconds: number
}

export interface ProviderThrottle {
  /** Runs `call` as soon as the limits allow it. */
  readonly call: <A, E, R>(call: Effect.Effect<A, E, R>, waitSecondsMax?: number) => Effect.Effect<A | Paused, E, R>
  /** The provider asked for a pause (`Retry-After`). */
  readonly pause: (seconds: number) => Effect.Effect<void>
}

/** A provider that asks for a longer pause is called again after this one. */
const pauseSecondsMax = 600

export const makeThrottle = (
  limits: {
    /** Calls at once. */
    readonly concurrency: number
    /** Milliseconds between the starts of two calls; 0 for none. */
    readonly spacingMillis: number
  },
  /** How many workers share the limits. */
  workers: () => number
): ProviderThrottle => {
  const callsAtOnce = () => partOf(limits.concurrency, workers())
  const permits = Semaphore.makeUnsafe(callsAtOnce())
  const startLock = Semaphore.makeUnsafe(1)
  let nextStartAt = 0
  let pausedUntil = 0
  const tooLongPause = (now: number, waitSecondsMax: number): Paused | null => {
    const seconds = Math.ceil((pausedUntil - now) / 1_000)
    return seconds > waitSecondsMax ? { _tag: "Paused", seconds } : null
  }
  const awaitStart = (waitSecondsMax: number) =>
    startLock.withPermits(1)(
      Effect.gen(function* () {
        // A pause may begin or grow while a call waits, so the limit is checked after every sleep.
        for (;;) {
          const now = yield* Clock.currentTimeMillis
          const paused = tooLongPause(now, waitSecondsMax)
          if (paused !== null) return paused
          const at = Math.max(nextStartAt, pausedUntil)
          if (at <= now) {
            nextStartAt = now + limits.spacingMillis * workers()
            return null
          }
          yield* Effect.sleep(at - now)
        }
      })
    )
  return {
    call: (call, waitSecondsMax = Number.POSITIVE_INFINITY) =>
      Effect.gen(function* () {
        // Checked before queueing too: the calls in the queue may take long.
        const paused = tooLongPause(yield* Clock.currentTimeMillis, waitSecondsMax)
        if (paused !== null) return paused
        yield* permits.resize(callsAtOnce())
        return yield* permits.withPermits(1)(
          Effect.gen(function* () {
            const paused = yield* awaitStart(waitSecondsMax)
            return paused ?? (yield* call)
          })
        )
      }),
    pause: (seconds) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        pausedUntil = Math.max(pausedUntil, now + Math.min(seconds, pauseSecondsMax) * 1_000)
      })
  }
}
