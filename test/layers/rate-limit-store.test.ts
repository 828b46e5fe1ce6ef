/** The buckets of one process: they refill as the library's do, and strangers can't make them take all memory. */
import { describe, expect } from "bun:test"
import { Duration, Effect } from "effect"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { memoryBuckets, sharedBuckets } from "../../src/layers/queues/RateLimitStore.ts"
import { effect } from "../kit/effect-tests.ts"

const bucket = (key: string, tokens = 1) => ({
  key,
  tokens,
  limit: 10,
  refillRate: Duration.millis(100),
  allowOverflow: false
})

describe("buckets in memory", () => {
  effect("decide as the library's own store does", () =>
    Effect.gen(function* () {
      const library = yield* RateLimiter.RateLimiterStore
      const ours = memoryBuckets()
      const steps = fc.sample(
        fc.record({ millis: fc.nat(700), key: fc.constantFrom("a", "b"), tokens: fc.nat(6) }),
        500
      )
      for (const { millis, key, tokens } of steps) {
        yield* TestClock.adjust(millis)
        expect(yield* ours.tokenBucket(bucket(key, tokens))).toEqual(yield* library.tokenBucket(bucket(key, tokens)))
      }
    }).pipe(Effect.provide(RateLimiter.layerStoreMemory))
  )

  effect("are bounded: full ones go first, then the least recently used", () =>
    Effect.gen(function* () {
      const { tokenBucket, size } = memoryBuckets(100)
      for (let n = 0; n < 50; n += 1) yield* tokenBucket(bucket(`early ${n}`))
      yield* TestClock.adjust(1_000)
      for (let n = 0; n < 50; n += 1) yield* tokenBucket(bucket(`late ${n}`, 10))
      // The early ones are full again; the late ones are empty and stay.
      yield* tokenBucket(bucket("one more"))
      expect(size()).toBe(51)
      expect((yield* tokenBucket(bucket("late 0")))[0]).toBeLessThan(0)
      for (let n = 0; n < 10_000; n += 1) yield* tokenBucket(bucket(`flood ${n}`))
      expect(size()).toBeLessThanOrEqual(100)
    })
  )
})

describe("buckets of several processes", () => {
  const asked = (limit: number, tokens = 1, millis = 20) => ({
    key: "k",
    tokens,
    limit,
    refillRate: Duration.millis(millis),
    allowOverflow: false
  })
  /** So many processes over one store, which counts its calls. */
  const processes = Effect.fnUntraced(function* (count: number) {
    const { tokenBucket } = yield* RateLimiter.RateLimiterStore
    const calls = { count: 0 }
    const theirs: typeof tokenBucket = (options) =>
      Effect.suspend(() => {
        calls.count += 1
        return tokenBucket(options)
      })
    return { calls, all: Array.from({ length: count }, () => sharedBuckets(theirs)) }
  })
  const takenOf = Effect.fnUntraced(function* (
    all: ReadonlyArray<ReturnType<typeof sharedBuckets>>,
    limit: number,
    rounds: number,
    millis = 20
  ) {
    let taken = 0
    for (let round = 0; round < rounds; round += 1)
      for (const one of all) if ((yield* one(asked(limit, 1, millis)))[0] >= 0) taken += 1
    return taken
  })

  effect("give a caller one burst and at most a share more for each process, at few calls", () =>
    Effect.gen(function* () {
      const { all, calls } = yield* processes(3)
      const taken = yield* takenOf(all, 100, 200)
      expect(taken).toBeGreaterThanOrEqual(100)
      expect(taken).toBeLessThanOrEqual(100 + 3 * 12)
      expect(calls.count).toBeLessThan(20)
      // What was too much is owed: over the next second the rate is what it is for one process.
      yield* TestClock.adjust(1_000)
      expect(yield* takenOf(all, 100, 200)).toBeLessThanOrEqual(50 + 3 * 12)
    }).pipe(Effect.provide(RateLimiter.layerStoreMemory))
  )

  effect("are exact where they are slow", () =>
    Effect.gen(function* () {
      const { all } = yield* processes(3)
      expect(yield* takenOf(all, 10, 20, 6_000)).toBe(10)
      yield* TestClock.adjust(6_000)
      expect(yield* takenOf(all, 10, 20, 6_000)).toBe(1)
    }).pipe(Effect.provide(RateLimiter.layerStoreMemory))
  )

  effect("never ask for a caller who asks seldom, nor for one who is refused", () =>
    Effect.gen(function* () {
      const { all, calls } = yield* processes(1)
      for (let n = 0; n < 100; n += 1) {
        yield* takenOf(all, 100, 1)
        yield* TestClock.adjust(100)
      }
      expect(calls.count).toBe(0)
      yield* takenOf(all, 100, 120)
      const before = calls.count
      yield* takenOf(all, 100, 1_000)
      expect(calls.count).toBe(before)
    }).pipe(Effect.provide(RateLimiter.layerStoreMemory))
  )
})
