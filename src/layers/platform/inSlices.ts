/**
 * Runs a long computation in short slices, between which the event loop answers requests.
 *
 * The computation is a generator that pauses after every small piece of work. Pauses are cheap: the event loop gets a turn only when a slice's
 * time is over. A request takes a few turns, so the slices delay it by about a millisecond.
 */
import { Clock, Effect } from "effect"

const sliceNanos = 250_000n

export const inSlices = Effect.fnUntraced(function* <A>(steps: Generator<void, A>) {
  const clock = yield* Clock.Clock
  let end = clock.monotonicTimeNanosUnsafe() + sliceNanos
  let step = steps.next()
  while (step.done !== true) {
    if (clock.monotonicTimeNanosUnsafe() >= end) {
      yield* Effect.yieldNow
      end = clock.monotonicTimeNanosUnsafe() + sliceNanos
    }
    step = steps.next()
  }
  return step.value
})

/** Runs the computation without pauses, where nothing can wait for it. */
export const atOnce = <A>(steps: Generator<void, A>): A => {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}
