import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { providers } from "../../src/layers/providers/index.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { dollars, MicroUsd, minus, plus, signed, times, zero } from "../../src/schema/money/Money.ts"
import {
  atPlatformRate,
  type Billing,
  byPlatform,
  charge,
  demandOf,
  exactAtPlatformRate,
  flat,
  metered,
  type Price,
  priceMax,
  priceMin,
  rawCharge,
  rawHold
} from "../../src/schema/money/Pricing.ts"

const outcomes = fc.record({ matched: fc.boolean(), results: fc.integer({ min: 0, max: 500 }) })
const limits = fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined })
const withLimit = (input: object, limit: number | undefined) => (limit === undefined ? input : { ...input, limit })

const onMatch: Billing = { model: "on_match", bills_no_match: false, description: "" }
const perCall: Billing = { model: "per_call", bills_no_match: true, description: "" }

/** What must hold of any price, so that a hold of `priceMax` always covers the charge. */
const expectCovered = (
  price: Price,
  billing: Billing,
  input: unknown,
  outcome: { matched: boolean; results: number },
  demand = demandOf(input)
) => {
  const hold = priceMax(price, demand)
  const charged = charge(price, billing, demand, outcome)
  expect(charged >= zero).toBe(true)
  expect(charged <= hold).toBe(true)
  // What is kept and what is given back are the whole hold, to the microdollar.
  expect(plus(charged, minus(hold, charged))).toBe(hold)
  if (!outcome.matched && !billing.bills_no_match) expect(charged).toBe(zero)
  // Asked twice, answered alike: nothing is rounded on the way.
  expect(charge(price, billing, demand, outcome)).toBe(charged)
  return charged
}

describe("rounding.never_up", () => {
  for (const provider of providers) {
    for (const offer of provider.offers) {
      const capability = capabilities.find((one) => one.slug === offer.capability)
      if (capability === undefined) continue
      test(`${provider.slug} ${capability.slug}`, () => {
        fc.assert(
          fc.property(limits, outcomes, (limit, outcome) => {
            const input = withLimit(Object(capability.example), limit)
            const demand = capability.demand(input)
            const charged = expectCovered(offer.price, capability.billing, input, outcome, demand)
            if (!outcome.matched && !capability.billing.bills_no_match) return
            if (offer.price.kind !== "metered") return expect(charged).toBe(priceMax(offer.price, demand))
            const asked = demand.results ?? offer.price.default_limit
            const delivered = Math.min(outcome.results, asked)
            // Σ parts = whole: the base and each result at its own price.
            let whole = offer.price.base
            for (let index = 0; index < delivered; index++) whole = plus(whole, offer.price.per_result)
            expect(charged).toBe(whole)
          }),
          { numRuns: 200 }
        )
      })
      test(`${provider.slug} ${capability.slug} is priced the way the capability is billed`, () => {
        expect(offer.price.kind === "metered").toBe(capability.billing.model === "metered")
        expect(priceMin(offer.price) <= priceMax(offer.price, demandOf({}))).toBe(true)
      })
    }
  }

  test("any metered price", () => {
    const amounts = fc.bigInt({ min: 0n, max: 10n ** 16n }).map((micros) => MicroUsd(micros))
    fc.assert(
      fc.property(amounts, amounts, limits, outcomes, fc.boolean(), (base, per_result, limit, outcome, bills) => {
        const price: Price = { kind: "metered", base, per_result, default_limit: 10 }
        const charged = expectCovered(price, bills ? perCall : onMatch, withLimit({}, limit), outcome)
        if (outcome.matched) expect(charged).toBe(plus(base, times(per_result, Math.min(outcome.results, limit ?? 10))))
      })
    )
  })

  test("any platform price, also for a platform the offer does not name", () => {
    const price = byPlatform({ instagram: "0.002", tiktok: "0.003" })
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom("instagram", "tiktok", "__proto__", "toString"), fc.string()),
        outcomes,
        (platform, outcome) => {
          expectCovered(price, perCall, { platform }, outcome)
          expectCovered(price, onMatch, { platform }, outcome)
        }
      )
    )
    expect(priceMax(price, demandOf({ platform: "tiktok" }))).toBe(dollars("0.003"))
    // A platform that the offer names costs its own price, also the cheaper one.
    expect(priceMax(price, demandOf({ platform: "instagram" }))).toBe(dollars("0.002"))
    for (const other of [{}, { platform: "x" }]) expect(priceMax(price, demandOf(other))).toBe(dollars("0.003"))
    expect(priceMin(price)).toBe(dollars("0.002"))
  })

  test("a price per page charges each page that was asked for, however many results it has", () => {
    const price: Price = { kind: "paged", first: dollars("0.0024"), further: dollars("0.0018"), page_size: 10 }
    const of = (limit: number | null) => priceMax(price, { results: limit, platform: null })
    expect([null, 1, 10].map(of)).toEqual(Array.from({ length: 3 }, () => dollars("0.0024")))
    expect([11, 20].map(of)).toEqual(Array.from({ length: 2 }, () => dollars("0.0042")))
    expect(of(100)).toBe(dollars("0.0186"))
    expect(priceMin(price)).toBe(dollars("0.0024"))
    fc.assert(
      fc.property(limits, outcomes, (limit, outcome) => {
        const charged = expectCovered(price, perCall, withLimit({}, limit), outcome)
        expect(charged).toBe(of(limit ?? null))
      })
    )
  })

  test("an input of any shape has a bound", () => {
    fc.assert(
      fc.property(fc.anything(), outcomes, (input, outcome) => {
        expectCovered(metered("0.01", "0.002", 10), onMatch, input, outcome)
        expectCovered(flat("0.01"), perCall, input, outcome)
      })
    )
  })
})

describe("what a call costs", () => {
  const price = metered("0.01", "0.002", 10)
  const billing: Billing = { model: "metered", bills_no_match: false, description: "" }

  test("metered: base plus each result, never beyond the limit", () => {
    const of = (input: object, results: number) => charge(price, billing, demandOf(input), { matched: true, results })
    expect(priceMax(price, demandOf({ limit: 3 }))).toBe(dollars("0.016"))
    expect(priceMax(price, demandOf({}))).toBe(dollars("0.03"))
    expect(of({ limit: 3 }, 2)).toBe(dollars("0.014"))
    expect(of({ limit: 3 }, 7)).toBe(dollars("0.016"))
    expect(of({}, 7)).toBe(dollars("0.024"))
    expect(of({ limit: 3 }, -1)).toBe(dollars("0.01"))
    expect(priceMin(price)).toBe(dollars("0.012"))
  })

  test("a limit that is no whole number asks for the default", () => {
    for (const limit of [2.5, "2", null, NaN]) expect(priceMax(price, demandOf({ limit }))).toBe(dollars("0.03"))
  })

  test("a miss is free unless the capability says otherwise", () => {
    const miss = { matched: false, results: 0 }
    expect(charge(flat("0.01"), onMatch, demandOf({}), miss)).toBe(zero)
    expect(charge(flat("0.01"), perCall, demandOf({}), miss)).toBe(dollars("0.01"))
    expect(charge(price, billing, demandOf({}), miss)).toBe(zero)
    expect(charge(flat("0.01"), perCall, demandOf({}), { matched: true, results: 1, unbilled: true })).toBe(zero)
  })

  test("a price with a rounding error in it does not compile into the catalog", () => {
    expect(() => flat("0.0000001")).toThrow()
    expect(() => flat("1e-3")).toThrow()
    expect(() => metered("0.01", String(0.1 + 0.2), 10)).toThrow()
  })
})

describe("a raw call", () => {
  const rates = { estimate: dollars("0.000003") }
  test("holds 1.5 times the rate card, rounded up, or $1.00 without one, and never more than max_cost", () => {
    expect(rawHold(rates, null)).toBe(dollars("0.000005"))
    expect(rawHold({ estimate: dollars("0.02") }, null)).toBe(dollars("0.03"))
    expect(rawHold(null, null)).toBe(dollars("1.00"))
    expect([rawHold(null, dollars("0.40")), rawHold(null, dollars("2.00"))]).toEqual([dollars("0.40"), dollars("1.00")])
  })

  test("is charged by its measured cost, otherwise by the rate card, otherwise nothing, and never more than the hold", () => {
    const hold = dollars("0.03")
    const measured = (amount: string) => rawCharge(rates, signed(amount), hold)
    // The cost × 1.2, rounded up.
    expect(measured("0.01")).toBe(dollars("0.012"))
    expect(measured("0.000001")).toBe(dollars("0.000002"))
    expect(measured("0.05")).toBe(hold)
    expect([measured("0.00"), measured("-0.01")]).toEqual([zero, zero])
    expect(rawCharge(rates, null, hold)).toBe(rates.estimate)
    expect(rawCharge(null, null, hold)).toBe(zero)
    expect(rawCharge({ estimate: dollars("0.04") }, null, hold)).toBe(hold)
  })

  test("of an imported document has the markup in its rate, exactly or rounded up once", () => {
    expect(exactAtPlatformRate("0.00125", "3")).toBe("0.0045")
    expect(exactAtPlatformRate("0.0000001")).toBe("0.00000012")
    expect([atPlatformRate("0.00125", "3"), atPlatformRate("0.0000001")]).toEqual([
      dollars("0.0045"),
      dollars("0.000001")
    ])
  })
})
