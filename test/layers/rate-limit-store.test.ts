/** The buckets of one process: they refill as the library's do, and strangers can't make them take all memory. */
import { describe, expect } from "bun:test"
import { Duration, Effect } from "effect"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { memoryBuckets } from "../../src/layers/RateLimitStore.ts"
import { effect } from "../it.ts"

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
