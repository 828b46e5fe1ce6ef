import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  attemptsOf,
  bucketMillis,
  endpointSubject,
  type HealthStatus,
  hourSeconds,
  lastOf,
  latencyBucket,
  measured,
  metricsOf,
  monthSeconds,
  noAttempts,
  offerSubject,
  orReported,
  providerWorked,
  sum,
  unmeasured,
  verdict,
  type Window,
  windowStart
} from "../../src/schema/runs/Health.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { anyDemand, flat } from "../../src/schema/money/Pricing.ts"
import { type Metrics, route } from "../../src/schema/runs/Routing.ts"

/** So many attempts, so many of them successes. */
const of = (attempts: number, successes: number): Window =>
  sum([attemptsOf(true, latencyBucket(100), successes), attemptsOf(false, 0, attempts - successes)])

describe("what an attempt says about its provider", () => {
  test.each([
    ["succeeded", true],
    ["no_match", true],
    ["inconclusive", true],
    ["provider_error", false],
    ["provider_timeout", false],
    ["provider_rate_limited", false],
    ["provider_account", false],
    ["invalid_response", false],
    ["outcome_unknown", false],
    ["started", null],
    ["worker_lost", null],
    ["something_new", null]
  ])("%s: %p", (outcome, worked) => expect(providerWorked(outcome)).toBe(worked))
})

test("subjects never meet: a capability's slug has a dot, a raw endpoint's name begins with a word that has none", () => {
  expect(offerSubject("email.find", "hunter")).toBe("email.find hunter")
  expect(endpointSubject("hunter", "GET", "/v2/email-finder")).toBe("endpoint hunter GET /v2/email-finder")
})

test("the recent windows are the last hour and the last 30 days", () => {
  expect([hourSeconds, monthSeconds]).toEqual([60 * 60, 30 * 24 * 60 * 60])
})

test("windows begin at whole five minutes and at midnight, UTC", () => {
  const at = (text: string) => Date.parse(text)
  expect(windowStart("5m", at("2026-03-01T12:34:56.789Z")) * 1_000).toBe(at("2026-03-01T12:30:00Z"))
  expect(windowStart("5m", at("2026-03-01T12:35:00Z")) * 1_000).toBe(at("2026-03-01T12:35:00Z"))
  expect(windowStart("1d", at("2026-03-01T23:59:59.999Z")) * 1_000).toBe(at("2026-03-01T00:00:00Z"))
})

describe("latencies", () => {
  test("a bucket's middle is within a fifth of what fell into it, and buckets never fall", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_600_000 }), (millis) => {
        const bucket = latencyBucket(millis)
        // Half a millisecond of rounding counts where a millisecond is much.
        expect(Math.abs(bucketMillis(bucket) - millis)).toBeLessThanOrEqual(millis * 0.1 + 0.5)
        expect(latencyBucket(millis + 1)).toBeGreaterThanOrEqual(bucket)
      })
    )
    expect([latencyBucket(0), bucketMillis(0)]).toEqual([0, 0])
    expect([latencyBucket(0.999), latencyBucket(1), bucketMillis(1)]).toEqual([0, 1, 1])
    expect(latencyBucket(Number.MAX_SAFE_INTEGER)).toBe(100)
  })

  test("percentiles are those of the values themselves, to within a bucket", () => {
    const values = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(values, fc.nat({ max: 50 }), (latencies, failures) => {
        const windows = latencies.map((millis) => attemptsOf(true, latencyBucket(millis), 1))
        const metrics = metricsOf(sum([...windows, attemptsOf(false, 0, failures)]))
        const sorted = latencies.toSorted((a, b) => a - b)
        for (const [share, found] of [
          [0.5, metrics.latency_ms_p50],
          [0.95, metrics.latency_ms_p95]
        ] as const) {
          const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0
          expect(Math.abs((found ?? -1) - exact)).toBeLessThanOrEqual(exact * 0.1 + 0.5)
        }
        expect(metrics.sample_size).toBe(latencies.length + failures)
      })
    )
  })

  test("failures have none", () => {
    expect(metricsOf(of(3, 0))).toEqual({
      success_rate: 0,
      latency_ms_p50: null,
      latency_ms_p95: null,
      sample_size: 3
    })
    expect(metricsOf(noAttempts)).toEqual({
      success_rate: null,
      latency_ms_p50: null,
      latency_ms_p95: null,
      sample_size: 0
    })
  })
})

test("windows add up in any order and grouping", () => {
  const window = fc
    .tuple(fc.boolean(), fc.nat({ max: 100 }), fc.integer({ min: 1, max: 1_000 }))
    .map(([ok, bucket, count]) => attemptsOf(ok, ok ? bucket : 0, count))
  fc.assert(
    fc.property(fc.array(window), fc.array(window), (a, b) => {
      expect(metricsOf(sum([...a, ...b]))).toEqual(metricsOf(sum([sum(b), sum(a)])))
    })
  )
})

describe("the verdict", () => {
  // last, hour, month
  const cases: ReadonlyArray<readonly [string, Window, Window, Window, HealthStatus]> = [
    ["nothing", noAttempts, noAttempts, noAttempts, "unknown"],
    ["five failures in the hour", of(5, 0), of(5, 0), of(5, 0), "outage"],
    ["four failures are too few", of(4, 0), of(4, 0), of(4, 0), "unknown"],
    ["one of five succeeded", of(5, 1), of(5, 1), of(5, 1), "degraded"],
    ["79 % of the hour", of(100, 79), of(100, 79), of(100, 79), "degraded"],
    ["80 % of the hour", of(100, 80), of(100, 80), of(100, 80), "unknown"],
    ["3 of 4 in the hour are too few", of(4, 3), of(4, 3), of(4, 3), "unknown"],
    ["one success in the hour", of(1, 1), of(1, 1), of(1, 1), "healthy"],
    ["95 % of the hour", of(20, 19), of(20, 19), of(20, 19), "healthy"],
    ["94 % of the hour", of(100, 94), of(100, 94), of(100, 94), "unknown"],
    ["95 % of 20 in the month", noAttempts, noAttempts, of(20, 19), "stable"],
    ["all of 19 in the month", noAttempts, noAttempts, of(19, 19), "unknown"],
    ["94 % of the month", noAttempts, noAttempts, of(100, 94), "unknown"],
    // Precedence.
    ["an outage, with a good hour and month", of(5, 0), of(1_000, 995), of(9_000, 8_995), "outage"],
    ["a bad hour in a good month", of(5, 3), of(10, 7), of(9_000, 8_990), "degraded"],
    ["a good hour in a bad month", of(5, 5), of(5, 5), of(100, 10), "healthy"],
    ["a middling hour in a good month", of(10, 9), of(10, 9), of(1_000, 990), "stable"],
    ["a failure or two in the hour of a good month", of(2, 0), of(2, 0), of(1_000, 990), "stable"]
  ]
  test.each(cases)("%s", (_name, last, hour, month, status) => expect(verdict(last, hour, month)).toBe(status))

  test("sees a busy provider break down while its hour is still good, and get up again", () => {
    const busy = Array.from({ length: 10 }, () => of(500, 500))
    expect(measured([of(6, 0), ...busy], of(90_000, 89_500)).health.status).toBe("outage")
    expect(measured([of(3, 0), of(2, 0), ...busy], of(90_000, 89_500)).health.status).toBe("outage")
    expect(measured([of(4, 0), ...busy], of(90_000, 89_500)).health.status).toBe("healthy")
    expect(measured([of(6, 1), of(80, 0), ...busy], of(90_000, 89_500)).health.status).toBe("healthy")
  })

  test("the last attempts are the newest five or more, and on for as long as nothing succeeded", () => {
    const sizes = (...windows: ReadonlyArray<Window>) => {
      const { attempts, successes } = lastOf(windows)
      return [attempts, successes]
    }
    expect(sizes()).toEqual([0, 0])
    expect(sizes(of(2, 2), of(9, 9), of(9, 0))).toEqual([11, 11])
    expect(sizes(of(5, 0), of(7, 0), of(3, 1), of(4, 0))).toEqual([12, 0])
    expect(sizes(of(5, 1), of(7, 0))).toEqual([5, 1])
  })
})

describe("what is shown and expected", () => {
  test("metrics and health are of the 30 days, whatever the verdict stands on", () => {
    const { metrics, health } = measured([of(5, 0)], of(100, 90))
    expect(metrics).toMatchObject({ success_rate: 0.9, sample_size: 100 })
    expect(health).toEqual({ status: "outage", source: "measured", ...metrics })
  })
  test("routing expects the 30 days, and less when it goes worse now", () => {
    expect(measured([of(5, 5)], of(100, 90)).expected).toMatchObject({ success_rate: 0.9, sample_size: 100 })
    expect(measured([of(8, 0), of(50, 50)], of(100, 90)).expected).toMatchObject({ success_rate: 0, sample_size: 8 })
    expect(measured([of(10, 7)], of(100, 90)).expected).toMatchObject({ success_rate: 0.7, sample_size: 10 })
  })
  test("nothing measured is unknown", () => {
    expect(unmeasured.health).toMatchObject({ status: "unknown", success_rate: null, sample_size: 0 })
  })
})

describe("published runs stand in", () => {
  test.each([
    [{ succeeded: 950, total: 1_000 }, "stable", 0.95],
    [{ succeeded: 20, total: 20 }, "stable", 1],
    [{ succeeded: 19, total: 19 }, "unknown", 1],
    [{ succeeded: 900, total: 1_000 }, "unknown", 0.9],
    [{ succeeded: 800, total: 1_000 }, "unknown", 0.8],
    [{ succeeded: 799, total: 1_000 }, "degraded", 0.799],
    [{ succeeded: 0, total: 1_000 }, "degraded", 0],
    [{ succeeded: 0, total: 5 }, "degraded", 0],
    [{ succeeded: 0, total: 4 }, "unknown", 0],
    [{ succeeded: 1, total: 1 }, "unknown", 1]
  ] as const)("%j: %s", (reported, status, success_rate) =>
    expect(orReported(unmeasured.health, reported)).toEqual({
      status,
      success_rate,
      latency_ms_p50: null,
      latency_ms_p95: null,
      sample_size: reported.total,
      source: "provider_reported"
    })
  )
  test("more successes than runs, or fewer than none, count as all or none of them", () => {
    const rate = (succeeded: number) => orReported(unmeasured.health, { succeeded, total: 50 }).success_rate
    expect([rate(51), rate(-1)]).toEqual([1, 0])
  })
  test("only while nothing is measured, and only when there are any", () => {
    const { health } = measured([of(1, 0)], of(1, 0))
    expect(orReported(health, { succeeded: 100, total: 100 })).toBe(health)
    expect(orReported(unmeasured.health, null)).toBe(unmeasured.health)
    expect(orReported(unmeasured.health, { succeeded: 0, total: 0 })).toBe(unmeasured.health)
  })
})

describe("routing by what was measured", () => {
  const candidate = (provider: string, price: string, metrics: Metrics | null) => ({
    provider,
    metrics,
    barred: null,
    offer: {
      capability: "test.test",
      price: flat(price),
      note: null,
      verified: false,
      wired: true,
      platforms: [],
      wraps: [],
      serves: () => true,
      request: () => ({ method: "GET" as const, path: "/" }),
      next: () => ({ method: "GET" as const, path: "/" }),
      timeoutMillis: null,
      response: () => ({ _tag: "NoMatch" as const, detail: "" })
    }
  })
  const first = (strategy: "best_value" | "fastest" | "highest_success_rate", a: Metrics | null, b: Metrics | null) =>
    route(
      [candidate("a", "0.01", a), candidate("b", "0.015", b)],
      { provider: "auto", strategy, max_cost: dollars("1.00"), allow_fallback: true },
      {},
      anyDemand,
      false
    )
  const winner = (...asked: Parameters<typeof first>) => first(...asked).candidates[0]?.provider

  test("an offer that fails loses to a dearer one, and is still there to fall back to", () => {
    expect(winner("best_value", null, null)).toBe("a")
    const failing = metricsOf(of(12, 0))
    expect(winner("best_value", failing, null)).toBe("b")
    expect(first("best_value", failing, null).candidates.map((one) => one.provider)).toEqual(["b", "a"])
  })
  test("an offer that never succeeded has no latency: it is taken for an average one", () => {
    expect(winner("fastest", metricsOf(of(3, 0)), metricsOf(of(3, 3)))).toBe("b")
    expect(winner("fastest", metricsOf(of(3, 0)), null)).toBe("a")
  })
  test("an unmeasured offer is neither skipped nor punished: it beats a measured bad one and loses to a good one", () => {
    expect(winner("highest_success_rate", null, metricsOf(of(30, 15)))).toBe("a")
    expect(winner("highest_success_rate", null, metricsOf(of(30, 30)))).toBe("b")
  })
  test("the reason says how many calls were measured", () => {
    expect(first("best_value", metricsOf(of(12, 12)), null).reason).toContain("12 calls measured")
    expect(first("best_value", null, null).reason).toContain("not measured yet")
  })
})
