/**
 * Reads something into memory, one reading at a time, so that an older answer never replaces a newer one. Callers that come while it is read
 * share the next reading, which begins after they came: many at once make two readings.
 */
import { Effect, Semaphore } from "effect"

export const sharedReading = <E, R>(read: Effect.Effect<void, E, R>): Effect.Effect<void, E, R> => {
  const oneAtATime = Semaphore.makeUnsafe(1).withPermits(1)
  /** Numbers of the newest reading, and of the newest one that did not fail. */
  let [begun, done] = [0, 0]
  return Effect.suspend(() => {
    const before = begun
    return oneAtATime(
      Effect.suspend(() => {
        if (done > before) return Effect.void
        begun += 1
        const number = begun
        return Effect.andThen(
          read,
          Effect.sync(() => {
            done = number
          })
        )
      })
    )
  })
}
