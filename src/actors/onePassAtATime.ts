/** Runs a pass over pending work one at a time in this process. */
import { Effect } from "effect"

/** A call during a pass makes another pass follow and returns at once. */
export const onePassAtATime = (pass: Effect.Effect<unknown>): Effect.Effect<void> => {
  let running = false
  let again = false
  return Effect.suspend(() => {
    again = true
    if (running) return Effect.void
    running = true
    return Effect.gen(function* () {
      while (again) {
        again = false
        yield* pass
      }
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          running = false
        })
      )
    )
  })
}
