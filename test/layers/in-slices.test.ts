import { expect } from "bun:test"
import { Clock, Effect } from "effect"
import { inSlices } from "../../src/layers/platform/inSlices.ts"
import { effect } from "../kit/effect-tests.ts"

/** A clock on which each look takes 0.1 ms. */
const slow = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  let nanos = 0n
  const monotonicTimeNanosUnsafe = () => (nanos += 100_000n)
  return { ...clock, monotonicTimeNanosUnsafe } satisfies Clock.Clock
})

effect("others get a turn between slices, and the result is the computation's", () =>
  Effect.gen(function* () {
    let steps = 0
    const seen: Array<number> = []
    function* computation(): Generator<void, string> {
      for (; steps < 100; steps++) yield
      return "done"
    }
    yield* Effect.forkChild(
      Effect.forever(
        Effect.andThen(
          Effect.sync(() => seen.push(steps)),
          Effect.yieldNow
        )
      ),
      { startImmediately: true }
    )
    expect(yield* inSlices(computation()).pipe(Effect.provideServiceEffect(Clock.Clock, slow))).toBe("done")
    // A slice is three steps long; the other fiber needs a turn or two for each of its own.
    expect(seen.filter((at) => at > 0 && at < 100).length).toBeGreaterThan(10)
  })
)
