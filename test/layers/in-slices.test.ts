import { expect } from "bun:test"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { inSlices } from "../../src/layers/platform/inSlices.ts"
import { sharedReading } from "../../src/layers/platform/sharedReading.ts"
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

effect("callers at once share a reading that begins after they came, and a failed one is not shared", () =>
  Effect.gen(function* () {
    const gates = [yield* Deferred.make<void, string>(), yield* Deferred.make<void, string>()]
    let readings = 0
    const refresh = sharedReading(
      Effect.suspend(() => {
        readings += 1
        const gate = gates[readings - 1]
        return gate === undefined ? Effect.void : Deferred.await(gate)
      })
    )
    const begin = Effect.forkChild(Effect.result(refresh), { startImmediately: true })
    const first = yield* begin
    const later = yield* Effect.all(Array.from({ length: 50 }, () => begin))
    expect(readings).toBe(1)
    yield* Deferred.succeed(gates[0]!, undefined)
    expect((yield* Fiber.join(first))._tag).toBe("Success")
    yield* Deferred.fail(gates[1]!, "no answer")
    const tags = (yield* Fiber.joinAll(later)).map(({ _tag }) => _tag)
    expect([tags.filter((tag) => tag === "Failure").length, readings]).toEqual([1, 3])
  })
)
