import { describe, expect } from "bun:test"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { costBoundCache } from "../../src/layers/platform/costBoundCache.ts"
import { effect } from "../kit/effect-tests.ts"

/** Answers that take a second each; counts what was begun and how many were computed at once. */
const stage = Effect.gen(function* () {
  const seen = { begun: 0, at_once: 0, at_once_max: 0 }
  const ask = yield* costBoundCache((key) =>
    Effect.gen(function* () {
      seen.begun += 1
      seen.at_once += 1
      seen.at_once_max = Math.max(seen.at_once_max, seen.at_once)
      yield* Effect.sleep("1 second")
      seen.at_once -= 1
      return `${key} ${seen.begun}`
    })
  )
  return { ask, seen }
})

describe("an answer that stands", () => {
  effect("is computed once for all who ask meanwhile, and stands twenty times as long as it took", () =>
    Effect.gen(function* () {
      const { ask, seen } = yield* stage
      const asking = yield* Effect.forkChild(Effect.all([ask("a"), ask("a"), ask("a")], { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(asking)).toEqual(["a 1", "a 1", "a 1"])
      yield* TestClock.adjust("19900 millis")
      expect(yield* ask("a")).toBe("a 1")
      yield* TestClock.adjust("200 millis")
      const again = yield* Effect.forkChild(ask("a"))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(again)).toBe("a 2")
      expect(seen.begun).toBe(2)
    })
  )

  effect("goes on when the one who asked hangs up, so asking again does not start it again", () =>
    Effect.gen(function* () {
      const { ask, seen } = yield* stage
      for (let n = 0; n < 5; n++) {
        const asking = yield* Effect.forkChild(ask("a"))
        yield* TestClock.adjust("100 millis")
        yield* Fiber.interrupt(asking)
      }
      yield* TestClock.adjust("600 millis")
      expect(yield* ask("a")).toBe("a 1")
      expect(seen.begun).toBe(1)
    })
  )

  effect("is computed one at a time, whoever asks", () =>
    Effect.gen(function* () {
      const { ask, seen } = yield* stage
      const asking = yield* Effect.forkChild(Effect.all(["a", "b", "c"].map(ask), { concurrency: "unbounded" }))
      yield* TestClock.adjust("3 seconds")
      expect(yield* Fiber.join(asking)).toHaveLength(3)
      expect(seen).toEqual({ begun: 3, at_once: 0, at_once_max: 1 })
    })
  )

  effect("is not kept when computing it failed", () =>
    Effect.gen(function* () {
      let tries = 0
      const ask = yield* costBoundCache(() =>
        ++tries === 1 ? Effect.die("the database is gone") : Effect.succeed("back")
      )
      expect((yield* Effect.exit(ask("a")))._tag).toBe("Failure")
      expect(yield* ask("a")).toBe("back")
    })
  )
})
