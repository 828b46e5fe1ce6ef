import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { providers } from "../../src/layers/providers/index.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { dollars, MicroUsd, minus, plus, times, zero } from "../../src/schema/money/Money.ts"
import {
  type Billing,
  byPlatform,
  charge,
  demandOf,
  flat,
  metered,
  type Price,
  priceMax,
  priceMin
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
    expect(priceMin(price)).toBe(dollars("0.002"))
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
  })

  test("a miss is free unless the capability says otherwise", () => {
    const miss = { matched: false, results: 0 }
    expect(charge(flat("0.01"), onMatch, demandOf({}), miss)).toBe(zero)
    expect(charge(flat("0.01"), perCall, demandOf({}), miss)).toBe(dollars("0.01"))
    expect(charge(price, billing, demandOf({}), miss)).toBe(zero)
  })

  test("a price with a rounding error in it does not compile into the catalog", () => {
    expect(() => flat("0.0000001")).toThrow()
    expect(() => flat("1e-3")).toThrow()
    expect(() => metered("0.01", String(0.1 + 0.2), 10)).toThrow()
  })
})
