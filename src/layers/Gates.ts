/**
 * The way to one provider: so many calls at once, so far apart, and none before the provider said so.
 *
 * Calls pass in the order in which they came. Waiting counts against a call's own deadline, so a queue can't hold a run for ever.
 */
import { Clock, Effect, Semaphore } from "effect"

export interface Gate {
  readonly pass: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The provider asked for a pause (`Retry-After`). */
  readonly pause: (seconds: number) => Effect.Effect<void>
  /** Seconds that are left of such a pause. */
  readonly closedSeconds: Effect.Effect<number>
}

/** A provider that asks for longer than this is not waited for: its calls fail at their deadlines instead. */
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
  const wait = turnstile.withPermits(1)(
    Effect.gen(function* () {
      // A pause may grow while somebody waits for its end.
      for (;;) {
        const now = yield* Clock.currentTimeMillis
        const at = Math.max(nextAt, closedUntil)
        if (at <= now) {
          nextAt = now + options.spacingMillis
          return
        }
        yield* Effect.sleep(at - now)
      }
    })
  )
  return {
    pass: (work) => permits.withPermits(1)(Effect.andThen(wait, work)),
    closedSeconds: Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, Math.ceil((closedUntil - now) / 1_000))),
    pause: (seconds) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        closedUntil = Math.max(closedUntil, now + Math.min(seconds, pauseSecondsMax) * 1_000)
      })
  }
}
