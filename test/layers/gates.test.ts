/** Throttles and breakers under a virtual clock. */
import { describe, expect, test } from "bun:test"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { after, Breakers, healthy } from "../../src/layers/executor/Breakers.ts"
import { makeConnections } from "../../src/layers/executor/Connection.ts"
import { ProviderShares } from "../../src/layers/executor/ProviderShares.ts"
import { makeThrottle } from "../../src/layers/executor/ProviderThrottle.ts"
import { ProviderAccounts } from "../../src/layers/provideraccounts/ProviderAccounts.ts"
import { failure } from "../../src/schema/catalog/Provider.ts"

const virtual = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect.pipe(Effect.provide(TestClock.layer())))

describe("a provider throttle", () => {
  const race = (
    call: (start: Effect.Effect<number>) => Effect.Effect<unknown>,
    count: number,
    started: Array<number>
  ) =>
    Effect.gen(function* () {
      const clock = yield* Effect.clockWith((clock) => Effect.succeed(clock))
      return yield* Effect.forEach(
        Array.from({ length: count }, (_, index) => index),
        () =>
          Effect.forkChild(call(Effect.map(clock.currentTimeMillis, (now) => started.push(now))), {
            startImmediately: true
          })
      )
    })

  test("keeps calls apart, in their order", () =>
    virtual(
      Effect.gen(function* () {
        const started: Array<number> = []
        const fibers = yield* race(makeThrottle({ concurrency: 5, spacingMillis: 10_000 }, () => 1).call, 3, started)
        yield* TestClock.adjust("25 seconds")
        yield* Effect.forEach(fibers, Fiber.join)
        expect(started).toEqual([0, 10_000, 20_000])
      })
    ))

  test("opens when the provider said", () =>
    virtual(
      Effect.gen(function* () {
        const throttle = makeThrottle({ concurrency: 5, spacingMillis: 0 }, () => 1)
        const started: Array<number> = []
        yield* throttle.pause(7)
        const fibers = yield* race(throttle.call, 2, started)
        yield* TestClock.adjust("6 seconds")
        expect(started).toEqual([])
        yield* TestClock.adjust("1 seconds")
        yield* Effect.forEach(fibers, Fiber.join)
        expect(started).toEqual([7_000, 7_000])
      })
    ))

  test("lets so many through at once, and the next one when one is done", () =>
    virtual(
      Effect.gen(function* () {
        const throttle = makeThrottle({ concurrency: 2, spacingMillis: 0 }, () => 1)
        let inside = 0
        let most = 0
        const work = Effect.gen(function* () {
          inside += 1
          most = Math.max(most, inside)
          yield* Effect.sleep("1 seconds")
          inside -= 1
        })
        const fibers = yield* Effect.forEach(Array(6), () =>
          Effect.forkChild(throttle.call(work), { startImmediately: true })
        )
        yield* TestClock.adjust("3 seconds")
        yield* Effect.forEach(fibers, Fiber.join)
        expect(most).toBe(2)
      })
    ))

  test("lets each of several workers use its part, and the rest of them all when some have stopped", () =>
    virtual(
      Effect.gen(function* () {
        let workers = 3
        const started: Array<number> = []
        const throttle = makeThrottle({ concurrency: 6, spacingMillis: 0 }, () => workers)
        const slowly = (start: Effect.Effect<number>) => throttle.call(Effect.andThen(start, Effect.sleep("1 seconds")))
        const fibers = yield* race(slowly, 4, started)
        yield* TestClock.adjust("1 seconds")
        expect(started).toEqual([0, 0, 1_000, 1_000])
        workers = 1
        fibers.push(...(yield* race(slowly, 5, started)))
        expect(started).toEqual([0, 0, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000])
        yield* TestClock.adjust("2 seconds")
        yield* Effect.forEach(fibers, Fiber.join)
        expect(started.at(-1)).toBe(2_000)
      })
    ))

  test("keeps the calls of a worker as much further apart as there are workers", () =>
    virtual(
      Effect.gen(function* () {
        const started: Array<number> = []
        const fibers = yield* race(makeThrottle({ concurrency: 5, spacingMillis: 1_000 }, () => 4).call, 3, started)
        yield* TestClock.adjust("10 seconds")
        yield* Effect.forEach(fibers, Fiber.join)
        expect(started).toEqual([0, 4_000, 8_000])
      })
    ))

  test("the service's account is shared with all workers, and an organization's own one with those of its cell", () =>
    virtual(
      Effect.gen(function* () {
        const connect = yield* makeConnections(() => new Map())
        const target = {
          ...{ slug: "acme", base_url: "https://api.example.com", auth: { kind: "none" as const }, headers: {} },
          ...{ concurrency: 8, spacingMillis: 0, timeoutMillis: 1_000 }
        }
        const calls: Array<number> = []
        for (const own of [false, true]) {
          const connection = yield* connect(target, { org_id: "org_1", own })
          if ("_tag" in connection) return expect.unreachable(connection.detail)
          const started: Array<number> = []
          yield* race((start) => connection.throttle.call(Effect.andThen(start, Effect.never)), 9, started)
          calls.push(started.length)
        }
        expect(calls).toEqual([2, 4])
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            Breakers.layer,
            Layer.mock(ProviderAccounts, {
              open: () => Effect.succeed({ account_id: "pac_1", api_key: Redacted.make("key"), base_url: null })
            }),
            Layer.mock(ProviderShares, { workers: () => 4, workersOfCell: () => 2 })
          )
        )
      )
    ))
})

describe("a breaker", () => {
  const error = failure("provider_error", "HTTP 500")
  const account = failure("provider_account", "HTTP 401")

  test("opens after five failures in a row, for twice as long each time, and closes with one answer", () => {
    let record: Parameters<typeof after>[0] = healthy
    for (let count = 1; count < 5; count++) {
      record = after(record, error, 0)
      expect(record.trip).toBeNull()
    }
    record = after(record, error, 0)
    expect(record.trip?.until).toBe(30_000)
    record = after(record, error, 100_000)
    expect(record.trip?.until).toBe(160_000)
    // Nine more calls that were in flight change nothing.
    for (let count = 0; count < 9; count++) record = after(record, count < 5 ? error : account, 159_999)
    expect(record.trip?.until).toBe(160_000)
    let now = 0
    for (let count = 0; count < 20; count++) {
      now = record.trip?.until ?? 0
      record = after(record, error, now)
    }
    expect(record.trip?.until).toBe(now + 1_800_000)
    expect(after(record, null, 0)).toEqual(healthy)
  })

  test("opens at once for an account that is refused, and never for a rate limit", () => {
    expect(after(healthy, account, 0).trip).toEqual({ reason: "provider_account", detail: "HTTP 401", until: 60_000 })
    let record: Parameters<typeof after>[0] = healthy
    for (let count = 0; count < 50; count++) record = after(record, failure("provider_rate_limited", "HTTP 429"), 0)
    expect(record.trip).toBeNull()
  })

  test("leaves one offer alone and no other", () =>
    virtual(
      Effect.gen(function* () {
        const breakers = yield* Breakers
        yield* breakers.record("hunter", "email.find", "org_a", account)
        expect(breakers.tripped("hunter", "email.find", "org_a", 0)?.reason).toBe("provider_account")
        expect(breakers.tripped("hunter", "email.verify", "org_a", 0)).toBeNull()
        expect(breakers.tripped("hunter", "email.find", "org_a", 60_000)).toBeNull()
        expect(breakers.all().map((one) => `${one.provider} ${one.subject}`)).toEqual(["hunter email.find"])
        yield* breakers.record("hunter", "email.find", "org_a", null)
        expect(breakers.all()).toEqual([])
      }).pipe(Effect.provide(Breakers.layer))
    ))

  test("of one organization bars nobody else; while it is open, two failures of another's own bar that one too", () =>
    virtual(
      Effect.gen(function* () {
        const breakers = yield* Breakers
        const tripped = (org: string) => breakers.tripped("hunter", "email.find", org, 0) !== null
        const fail = (org: string) => breakers.record("hunter", "email.find", org, error)
        for (let count = 0; count < 50; count++) yield* fail("org_a")
        expect(["org_a", "org_b"].map(tripped)).toEqual([true, false])
        // Its own trouble: a success of somebody else says nothing about it.
        yield* breakers.record("hunter", "email.find", "org_b", null)
        expect(tripped("org_a")).toBe(true)
        yield* fail("org_b")
        expect(tripped("org_b")).toBe(false)
        yield* fail("org_b")
        expect(["org_a", "org_b", "org_c"].map(tripped)).toEqual([true, true, false])
        // The provider's trouble: whoever it answers first opens it for all.
        yield* breakers.record("hunter", "email.find", "org_c", null)
        expect(["org_a", "org_b", "org_c"].map(tripped)).toEqual([false, false, false])
        expect(breakers.all()).toEqual([])
      }).pipe(Effect.provide(Breakers.layer))
    ))
})
