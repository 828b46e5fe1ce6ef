/** Which offers a run calls, in which order, at which price, and what its plan and its receipt keep of that. */
import { describe, expect, test } from "bun:test"
import { dollars, usd } from "../../src/schema/money/Money.ts"
import { anyDemand, flat, metered, type Price } from "../../src/schema/money/Pricing.ts"
import { acts, affords, decodePlan, markedUp, type Plan, totalOf } from "../../src/schema/runs/Plan.ts"
import {
  type Candidate,
  holdOf,
  type Metrics,
  ownOffers,
  priceInPlan,
  rankBy,
  route,
  type RoutingRequest,
  strategies
} from "../../src/schema/runs/Routing.ts"
import { metricsOf, seenOf } from "../../src/schema/runs/Seen.ts"

const metricsWith = (success_rate: number | null, latency_ms_p50: number | null, sample_size = 100): Metrics => ({
  success_rate,
  latency_ms_p50,
  sample_size
})
const candidate = (provider: string, price: string | Price, change: Partial<Candidate> = {}): Candidate => ({
  provider,
  metrics: null,
  barred: null,
  offer: {
    capability: "test.test",
    price: typeof price === "string" ? flat(price) : price,
    note: null,
    verified: false,
    wired: true,
    platforms: [],
    wraps: [],
    serves: () => true,
    request: () => ({ method: "GET", path: "/" }),
    next: () => ({ method: "GET", path: "/" }),
    timeoutMillis: null,
    response: () => ({ _tag: "NoMatch", detail: "" })
  },
  ...change
})
const servesNothing = (provider: string): Candidate => {
  const one = candidate(provider, "0.01")
  return { ...one, offer: { ...one.offer, serves: () => false } }
}
/** An own account for `fee`, in front of the service's at `price`. */
const ownAccount = (provider: string, fee: string, price: string | null, change: Partial<Candidate> = {}): Candidate =>
  candidate(provider, fee, { own: { failover: price === null ? null : candidate(provider, price, change) } })

const request = (change: Partial<RoutingRequest> = {}): RoutingRequest => ({
  provider: "auto",
  strategy: "cheapest",
  max_cost: null,
  allow_fallback: true,
  ...change
})
const routed = (
  candidates: ReadonlyArray<Candidate>,
  change: Partial<RoutingRequest> = {},
  { side_effect = false } = {}
) => route(candidates, request(change), {}, anyDemand, side_effect)
const names = (of: ReadonlyArray<{ readonly provider: string }>) => of.map(({ provider }) => provider)
const order = (candidates: ReadonlyArray<Candidate>, change: Partial<RoutingRequest> = {}) =>
  names(routed(candidates, change).candidates)

describe("the order of offers", () => {
  test("each strategy ranks by its own measure", () => {
    const offers = [
      candidate("cheap", "0.01", { metrics: metricsWith(0.3, 3_000) }),
      candidate("fast", "0.03", { metrics: metricsWith(0.5, 100) }),
      candidate("sure", "0.02", { metrics: metricsWith(0.99, 1_500) })
    ]
    expect(strategies.map((strategy) => [strategy, ...order(offers, { strategy })])).toEqual([
      ["best_value", "sure", "cheap", "fast"],
      ["cheapest", "cheap", "sure", "fast"],
      ["fastest", "fast", "sure", "cheap"],
      ["highest_success_rate", "sure", "fast", "cheap"]
    ])
  })

  test("of equal offers the cheaper comes first, then the faster, then the name decides", () => {
    const same = { metrics: metricsWith(0.9, 500) }
    expect(
      order([candidate("a", "0.02", same), candidate("b", "0.01", same)], { strategy: "highest_success_rate" })
    ).toEqual(["b", "a"])
    expect(order([candidate("a", "0.01", { metrics: metricsWith(0.9, 501) }), candidate("b", "0.01", same)])).toEqual([
      "b",
      "a"
    ])
    expect(order([candidate("b", "0.01", same), candidate("a", "0.01", same)])).toEqual(["a", "b"])
    const [first, second] = ["a", "b"].map((provider) => ({ provider, quote: dollars("0.01"), metrics: null }))
    if (first === undefined || second === undefined) return expect.unreachable("there are two")
    expect([rankBy("cheapest")(first, second) < 0, rankBy("cheapest")(second, first) > 0]).toEqual([true, true])
    expect(order([candidate("a", "0.01", same), candidate("b", "0.01", same)])).toEqual(["a", "b"])
  })

  test("an unmeasured offer counts as one that takes two seconds and delivers 4 of 5 times", () => {
    const fastest = { strategy: "fastest" } as const
    const took = (millis: number) => candidate("measured", "0.01", { metrics: metricsWith(1, millis) })
    expect(order([candidate("new", "0.01"), took(1_999)], fastest)).toEqual(["measured", "new"])
    expect(order([candidate("new", "0.01"), took(2_001)], fastest)).toEqual(["new", "measured"])
    const surest = { strategy: "highest_success_rate" } as const
    const delivered = (rate: number) => candidate("measured", "0.01", { metrics: metricsWith(rate, 100) })
    expect(order([candidate("new", "0.01"), delivered(0.81)], surest)).toEqual(["measured", "new"])
    expect(order([candidate("new", "0.01"), delivered(0.79)], surest)).toEqual(["new", "measured"])
  })

  test("a rate counts more, the more calls it was measured over", () => {
    const surest = { strategy: "highest_success_rate" } as const
    const of = (provider: string, rate: number, calls: number) =>
      candidate(provider, "0.01", { metrics: metricsWith(rate, 100, calls) })
    // 11 of 11 say less than 96 % of 1,000.
    expect(order([of("few", 1, 11), of("many", 0.96, 1_000)], surest)).toEqual(["many", "few"])
    expect(order([of("few", 1, 1_000), of("many", 0.96, 1_000)], surest)).toEqual(["few", "many"])
  })
})

describe("the number of attempts", () => {
  const five = ["a", "b", "c", "d", "e"].map((name, n) => candidate(name, `0.0${n + 1}`))

  test("is three, and the offers beyond are spare", () => {
    const { candidates, spare, attempts_max, routing, hold } = routed(five)
    expect([names(candidates), names(spare), attempts_max, routing]).toEqual([["a", "b", "c"], ["d", "e"], 3, "auto"])
    expect(usd(hold)).toBe("0.03")
  })

  test("is three for a run that acts, whose reason says when the next one is called", () => {
    const { candidates, attempts_max, reason } = routed(five, {}, { side_effect: true })
    expect([names(candidates), attempts_max]).toEqual([["a", "b", "c"], 3])
    expect(reason).toEndWith("; then b, c if it surely did nothing")
  })

  test("is one without fallback and for a pinned provider", () => {
    const off = routed(five, { allow_fallback: false })
    expect([names(off.candidates), names(off.spare), off.attempts_max, off.routing]).toEqual([
      ["a"],
      ["b", "c", "d", "e"],
      1,
      "no_fallback"
    ])
    const pinned = routed(five, { provider: "d" })
    expect([names(pinned.candidates), names(pinned.spare), pinned.attempts_max, pinned.routing]).toEqual([
      ["d"],
      [],
      1,
      "pinned"
    ])
    expect(routed(five, { provider: "d", allow_fallback: false }).routing).toBe("pinned")
  })
})

describe("limits of cost", () => {
  test("an offer at max_cost is called, and one above it is left out with its price", () => {
    const { candidates, excluded } = routed([candidate("at", "0.02"), candidate("above", "0.020001")], {
      max_cost: dollars("0.02")
    })
    expect(names(candidates)).toEqual(["at"])
    expect(excluded).toEqual([{ provider: "above", reason: "max_cost", quote: "0.020001" }])
  })

  test("an offer that can't serve the input, or can't be used now, says so whatever it costs", () => {
    const { candidates, excluded, hold, reason } = routed(
      [
        servesNothing("other"),
        candidate("shut", "0.02", { barred: "unavailable" }),
        candidate("none", "0.03", { barred: "no_account" })
      ],
      { max_cost: dollars("0.00") }
    )
    expect([candidates, usd(hold), reason]).toEqual([[], "0.00", "no provider could serve this run"])
    expect(excluded).toEqual([
      { provider: "other", reason: "cannot_serve", quote: "0.01" },
      { provider: "shut", reason: "unavailable", quote: "0.02" },
      { provider: "none", reason: "no_account", quote: "0.03" }
    ])
  })

  test("max_total pays for all attempts together, to the microdollar, and skips what is too expensive", () => {
    const offers = [candidate("a", "0.01"), candidate("b", "0.02"), candidate("c", "0.03"), candidate("d", "0.04")]
    const within = (amount: string, change: Partial<RoutingRequest> = {}) => {
      const { candidates, over_total, spare } = routed(offers, { max_total: dollars(amount), ...change })
      return { called: names(candidates), over: names(over_total), spare: names(spare) }
    }
    expect(within("0.06")).toEqual({ called: ["a", "b", "c"], over: [], spare: ["d"] })
    expect(within("0.059999")).toEqual({ called: ["a", "b"], over: ["c", "d"], spare: [] })
    expect(within("0.03")).toEqual({ called: ["a", "b"], over: ["c", "d"], spare: [] })
    expect(within("0.009999")).toEqual({ called: [], over: ["a", "b", "c", "d"], spare: [] })
    expect(within("0.03", { allow_fallback: false })).toEqual({ called: ["a"], over: [], spare: ["b", "c", "d"] })
    expect(routed(offers, { max_total: dollars("0.01") }).over_total[0]).toEqual({ provider: "b", quote: "0.02" })
  })
})

describe("an own account", () => {
  test("is called for its fee, and a call of the service's account after it is one of the three attempts", () => {
    const { candidates, attempts_max, hold } = routed([ownAccount("mine", "0.001", "0.05"), candidate("other", "0.02")])
    expect([names(candidates), attempts_max, usd(hold)]).toEqual([["mine", "other"], 3, "0.05"])
    expect(ownOffers(candidates)).toEqual([{ provider: "mine", fee: "0.001", fallback: true }])
    const dear = routed([ownAccount("mine", "0.06", "0.05")]).candidates[0]
    expect(dear === undefined ? null : usd(holdOf(dear))).toBe("0.06")
  })

  test("stands alone if the service's account may not be called, can't be, or costs more than max_cost", () => {
    const alone = (one: Candidate, change: Partial<RoutingRequest> = {}) => {
      const { candidates, attempts_max } = routed([one], change)
      expect(attempts_max).toBe(3)
      return ownOffers(candidates).map(({ fallback }) => fallback)
    }
    expect(alone(ownAccount("mine", "0.001", null))).toEqual([false])
    expect(alone(ownAccount("mine", "0.001", "0.05", { barred: "unavailable" }))).toEqual([false])
    expect(alone(candidate("mine", "0.001", { own: { failover: servesNothing("mine") } }))).toEqual([false])
    expect(alone(ownAccount("mine", "0.001", "0.05"), { max_cost: dollars("0.049999") })).toEqual([false])
    const at = routed([ownAccount("mine", "0.001", "0.05")], { max_cost: dollars("0.05") })
    expect(ownOffers(at.candidates)).toEqual([{ provider: "mine", fee: "0.001", fallback: true }])
  })

  test("in third place leaves no attempt for the service's account, which is then not held for either", () => {
    const three = ["a", "b", "c"].map((name, n) => ownAccount(name, `0.00${n + 1}`, `0.0${n + 5}`))
    const { candidates, attempts_max, hold } = routed(three)
    expect([names(candidates), attempts_max, usd(hold)]).toEqual([["a", "b", "c"], 3, "0.06"])
    expect(ownOffers(candidates).map(({ fallback }) => fallback)).toEqual([true, true, false])
    const within = routed(three, { max_total: dollars("0.116") })
    expect(ownOffers(within.candidates).map(({ fallback }) => fallback)).toEqual([true, true, false])
  })

  test("of a pinned provider and without fallback has one more attempt, at the service's account", () => {
    const one = ownAccount("mine", "0.001", "0.05")
    expect(routed([one], { provider: "mine" }).attempts_max).toBe(2)
    expect(routed([one], { allow_fallback: false }).attempts_max).toBe(2)
    expect(routed([ownAccount("mine", "0.001", null)], { provider: "mine" }).attempts_max).toBe(1)
  })

  test("max_total pays for both calls, or for the own account only", () => {
    const within = (amount: string) =>
      ownOffers(routed([ownAccount("mine", "0.01", "0.05")], { max_total: dollars(amount) }).candidates).map(
        ({ fallback }) => fallback
      )
    expect(within("0.06")).toEqual([true])
    expect(within("0.059999")).toEqual([false])
    expect(within("0.01")).toEqual([false])
    expect(within("0.009999")).toEqual([])
    const both = [ownAccount("mine", "0.01", "0.05"), candidate("other", "0.02")]
    expect(names(routed(both, { max_total: dollars("0.08") }).candidates)).toEqual(["mine", "other"])
    expect(names(routed(both, { max_total: dollars("0.079999") }).over_total)).toEqual(["other"])
  })

  test("the plan has the price of the service's account only if that may be called", () => {
    const price = (one: Candidate) => {
      const scored = routed([one]).candidates[0]
      return scored === undefined ? null : priceInPlan(scored, anyDemand)
    }
    expect(price(candidate("service", "0.05"))).toBe("0.05")
    expect(price(ownAccount("mine", "0.01", "0.05"))).toBe("0.05")
    expect(price(ownAccount("mine", "0.01", "0.05", { barred: "no_account" }))).toBe("0.01")
  })
})

describe("the reason of a route", () => {
  const [a, b] = [candidate("a", "0.01", { metrics: metricsWith(1, 100, 12) }), candidate("b", "0.02")]
  test.each([
    [
      [a, b],
      {},
      "cheapest: a has the lowest price of 2 (quoted at $0.01, 12 calls measured); then b if it does not deliver"
    ],
    [
      [a],
      {},
      "cheapest: a has the lowest price of 1 (quoted at $0.01, 12 calls measured); no other provider is left to fall back to"
    ],
    [
      [b],
      { allow_fallback: false },
      "cheapest: b has the lowest price of 1 (quoted at $0.02, not measured yet); fallback is off"
    ],
    [[a, b], { provider: "b" }, "pinned to b, quoted at $0.02; a pinned provider never falls back"],
    [
      [ownAccount("mine", "0.01", "0.05")],
      { provider: "mine" },
      "pinned to mine (your account), quoted at $0.01; if it refuses your account, this service's account is called, quoted at $0.05; a pinned provider never falls back"
    ]
  ] satisfies ReadonlyArray<[ReadonlyArray<Candidate>, Partial<RoutingRequest>, string]>)(
    "%#",
    (offers, change, reason) => {
      expect(routed(offers, change).reason).toBe(reason)
    }
  )

  test("says of one measured call that it was measured, and of none that it was not", () => {
    const measured = (calls: number) => routed([candidate("a", "0.01", { metrics: metricsWith(1, 100, calls) })]).reason
    expect(measured(1)).toMatch(/, 1 calls? measured\)/)
    expect(measured(0)).toContain(", not measured yet)")
  })

  test("counts every offer that could serve the run", () => {
    const offers = ["a", "b", "c", "d"].map((name) => candidate(name, "0.01"))
    expect(routed(offers).reason).toContain("the lowest price of 4 (")
    expect(routed([...offers, servesNothing("e")]).reason).toContain("the lowest price of 4 (")
  })
})

describe("what a plan keeps", () => {
  const plan = (change: Partial<Plan> = {}): Plan => ({
    providers: ["a", "b"],
    attempts_max: 3,
    routing: "auto",
    include_raw: false,
    side_effect: false,
    excluded: [],
    ...change
  })

  test("a run acts if its capability has a side effect or its endpoint changes something", () => {
    const raw = { method: "POST", endpoint: "/a", path: "/a", query: [], body_type: "json", encoding: "json" } as const
    const rawPlan = { ...raw, has_body: true, hold: "1.00", estimate: null }
    expect(acts(plan())).toBe(false)
    expect(acts(plan({ side_effect: true }))).toBe(true)
    expect(acts(decodePlan(plan({ acts: true, raw: rawPlan })))).toBe(true)
    expect(acts(plan({ side_effect: true, raw: rawPlan }))).toBe(false)
  })

  test("the markup, unless it is the default", () => {
    expect([markedUp("1.2"), markedUp("1.25")]).toEqual([{}, { markup: "1.25" }])
  })

  test("max_total, from which each attempt's hold is taken", () => {
    const total = totalOf(dollars("0.05"), [dollars("0.02"), dollars("0.03")], [{ provider: "c", quote: "0.06" }])
    expect(total).toEqual({
      total: { amount: "0.05", holds: ["0.02", "0.03"], excluded: [{ provider: "c", quote: "0.06" }] }
    })
    expect(totalOf(null, [dollars("0.02")], [])).toEqual({})
    const [a, b] = [{ provider: "a" }, { provider: "b" }]
    const next = { provider: "b", own: false }
    expect(affords(plan(total), [a], next)).toBe(true)
    expect(affords(plan(total), [a, a], next)).toBe(false)
    expect(affords(plan(total), [], { provider: "unlisted", own: false })).toBe(true)
    expect(affords(plan(total), [b], { provider: "unlisted", own: false })).toBe(false)
    expect(affords(plan(), [a, b, a, b], next)).toBe(true)
  })

  test("a call through the own account takes its fee only", () => {
    const own = plan({
      ...totalOf(dollars("0.03"), [dollars("0.02"), dollars("0.03")], []),
      own: [{ provider: "a", fee: "0.01", fallback: true }]
    })
    const mine = { provider: "a", account: "own" } as const
    expect(affords(own, [mine], { provider: "a", own: false })).toBe(true)
    expect(affords(own, [mine, mine], { provider: "a", own: false })).toBe(false)
    expect(affords(own, [{ provider: "a" }], { provider: "a", own: true })).toBe(true)
    expect(affords(own, [{ provider: "a" }], { provider: "a", own: false })).toBe(false)
  })
})

describe("what was known of a route", () => {
  const seen = (candidates: ReadonlyArray<Candidate>, change: Partial<RoutingRequest> = {}) =>
    seenOf("v1", request({ strategy: "best_value", ...change }), candidates, routed(candidates, change))

  test("leaves out the default strategy, unmeasured offers, and what nobody asked for", () => {
    const empty = candidate("empty", "0.02", { metrics: metricsWith(null, null, 0) })
    expect(seen([candidate("a", "0.01"), empty])).toEqual({ catalog: "v1" })
    const known = seen([candidate("a", "0.01", { metrics: metricsWith(0.98765, 120, 7) })], {
      strategy: "fastest",
      max_cost: dollars("0.05")
    })
    expect(known).toEqual({ catalog: "v1", strategy: "fastest", max_cost: "0.05", health: { a: [0.9877, 120, 7] } })
    expect(metricsOf(known, "a")).toEqual({ success_rate: 0.9877, latency_ms_p50: 120, sample_size: 7 })
    expect(metricsOf(known, "b")).toBeNull()
    expect(metricsOf(seen([]), "a")).toBeNull()
  })

  test("has the quotes of a run whose prices depend on its input, and the spare offers with theirs", () => {
    const perResult = metered("0.01", "0.002", 5)
    expect(seen([candidate("a", perResult), candidate("b", "0.05")])).toEqual({
      catalog: "v1",
      quotes: ["0.02", "0.05"]
    })
    const own = candidate("a", "0.001", { own: { failover: candidate("a", perResult) } })
    expect(seen([own])).toEqual({ catalog: "v1", quotes: ["0.02"] })
    expect(seen(["a", "b", "c", "d"].map((name) => candidate(name, "0.01")))).toEqual({
      catalog: "v1",
      spare: [["d", "0.01"]]
    })
  })
})
