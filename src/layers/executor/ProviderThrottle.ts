/**
 * The way to one provider: so many calls at once, so far apart, and none before the provider said so.
 *
 * Calls pass in the order in which they came. Waiting counts against a call's own deadline, so a queue can't hold a run for ever.
 */
import { Clock, Effect, Semaphore } from "effect"

/** The provider's pause is longer than the caller waits; the work was not begun. */
export interface Closed {
  readonly _tag: "Closed"
  readonly seconds: number
}

export interface Gate {
  readonly pass: <A, E, R>(work: Effect.Effect<A, E, R>, patienceSeconds?: number) => Effect.Effect<A | Closed, E, R>
  /** The provider asked for a pause (`Retry-After`). */
  readonly pause: (seconds: number) => Effect.Effect<void>
}

/** A provider that asks for longer than this is asked again after this. */
const pauseSecondsMax = 600

export const gate = (options: {
  /** Calls at once. */
  readonly concurrency: number
  /** Milliseconds between the starts of two calls; 0 for none. */
  readonly spacingMillis: number
}): Gate => {
  const permits = Semaphore.makeUnsafe(options.concurrency)
  const turnstile = Semaphore.makeUnsafe(1)
  let nextAt = 0
  let closedUntil = 0
  const closed = (now: number, patienceSeconds: number): Closed | null => {
    const seconds = Math.ceil((closedUntil - now) / 1_000)
    return seconds > patienceSeconds ? { _tag: "Closed", seconds } : null
  }
  const wait = (patienceSeconds: number) =>
    turnstile.withPermits(1)(
      Effect.gen(function* () {
        // A pause may begin or grow while somebody waits: nobody sleeps through one that is too long for him.
        for (;;) {
          const now = yield* Clock.currentTimeMillis
          const late = closed(now, patienceSeconds)
          if (late !== null) return late
          const at = Math.max(nextAt, closedUntil)
          if (at <= now) {
            nextAt = now + options.spacingMillis
            return null
          }
          yield* Effect.sleep(at - now)
        }
      })
    )
  return {
    pass: (work, patienceSeconds = Number.POSITIVE_INFINITY) =>
      Effect.gen(function* () {
        // Not even into the queue, whose calls may take long.
        const late = closed(yield* Clock.currentTimeMillis, patienceSeconds)
        if (late !== null) return late
        return yield* permits.withPermits(1)(
          Effect.gen(function* () {
            const late = yield* wait(patienceSeconds)
            return late ?? (yield* work)
          })
        )
      }),
    pause: (seconds) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        closedUntil = Math.max(closedUntil, now + Math.min(seconds, pauseSecondsMax) * 1_000)
      })
  }
}
