import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { providers } from "../../src/layers/providers/index.ts"
import { withRates } from "../../src/schema/catalog/Provider.ts"
import { dollars, MicroUsd, usd } from "../../src/schema/money/Money.ts"
import { anyDemand, byPlatform, estimatedCost, rawCharge } from "../../src/schema/money/Pricing.ts"
import { atMarkup, inCredits, inUsd, priceOf } from "../../src/schema/money/Rates.ts"
import { defaultMarkup } from "../../src/schema/money/Pricing.ts"
import { plannedPrice, priceFrom } from "../../src/schema/runs/PlannedPrice.ts"

const decimal = (whole: number, decimals: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: whole }), fc.integer({ min: 0, max: 10 ** decimals - 1 }))
    .map(([a, b]) => `${a}.${String(b).padStart(decimals, "0")}`)
/** The same product in whole numbers of 10^-30 dollars. */
const exactly = (...factors: ReadonlyArray<string>) => {
  let digits = 1n
  let scale = 0
  for (const factor of factors) {
    const [whole = "0", fraction = ""] = factor.split(".")
    digits *= BigInt(whole + fraction)
    scale += fraction.length
  }
  return { digits, scale }
}

describe("a price", () => {
  test("is cost × credit × markup, rounded up by less than a microdollar, so never below the cost", () => {
    const markups = fc
      .integer({ min: 0, max: 90_000 })
      .map((more) => `${1 + Math.floor(more / 10_000)}.${String(more % 10_000).padStart(4, "0")}`)
    fc.assert(
      fc.property(decimal(500, 4), decimal(99, 9), markups, (credits, credit, markup) => {
        const price = priceOf(inCredits.flat(credits), { credit, markup })
        if (price.kind !== "flat") throw new Error("a flat rate gives a flat price")
        const { digits, scale } = exactly(credits, credit, markup)
        const unit = 10n ** BigInt(scale - 6)
        expect(price.amount * unit >= digits).toBe(true)
        expect((price.amount - 1n) * unit < digits).toBe(true)
        const cost = exactly(credits, credit)
        expect(price.amount * 10n ** BigInt(cost.scale - 6) >= cost.digits).toBe(true)
      })
    )
  })

  test("in USD does not depend on the price of a credit", () => {
    expect(priceOf(inUsd.flat("0.0155"), { credit: "9", markup: "1.2" })).toEqual({
      kind: "flat",
      amount: dollars("0.0186")
    })
    expect(() => priceOf(inCredits.flat("1"), { credit: null, markup: "1.2" })).toThrow("price of a credit")
  })

  test("of every offer follows the operator's plan: twice the price of a credit is twice the price, markup 1 is the cost", () => {
    for (const provider of providers) {
      const { credit } = provider
      const again = withRates(provider, { credit, markup: defaultMarkup })
      expect(again.offers.map((one) => one.price)).toEqual(provider.offers.map((one) => one.price))
      const atCost = withRates(provider, { credit: credit === null ? null : "0.5", markup: "1" })
      for (const { rate, price } of atCost.offers) {
        if (rate.kind !== "flat" || price.kind !== "flat") continue
        const cost = Number(rate.amount) * (rate.unit === "credit" ? 0.5 : 1)
        expect(Number(price.amount) / 1e6).toBeCloseTo(cost, 5)
      }
    }
  })

  test("in a plan is charged as quoted", () => {
    for (const { offers } of providers) {
      for (const { price } of offers) {
        const stored: ReturnType<typeof plannedPrice> = JSON.parse(JSON.stringify(plannedPrice(price, anyDemand)))
        const kept = priceFrom(stored)
        if (price.kind === "by_platform" || price.kind === "paged") expect(kept.kind).toBe("flat")
        else expect(kept).toEqual(price)
      }
    }
  })
})

test("a price per platform is kept in a plan as the amount of the run's platform", () => {
  const price = byPlatform({ x: "0.01", y: "0.02" })
  const kept = (platform: string) => plannedPrice(price, { ...anyDemand, platform })
  expect([kept("x"), kept("y"), kept("x")]).toEqual(["0.01", "0.02", "0.01"])
  expect(priceFrom(kept("y"))).toEqual({ kind: "flat", amount: dollars("0.02") })
})

test("a price per page is kept in a plan as the amount of the run's pages", () => {
  const price = priceOf(inUsd.paged("0.002", "0.0015", 10), { credit: null, markup: "1.2" })
  const kept = (results: number | null) => plannedPrice(price, { ...anyDemand, results })
  expect([kept(null), kept(100), kept(11)]).toEqual(["0.0024", "0.0186", "0.0042"])
})

describe("a markup", () => {
  test("applies to a reported cost, and an estimated cost is the charge without it", () => {
    expect(usd(rawCharge(null, dollars("0.01"), dollars("1.00"), "1.5"))).toBe("0.015")
    expect(usd(rawCharge(null, dollars("0.01"), dollars("1.00")))).toBe("0.012")
    expect(usd(estimatedCost(dollars("0.015"), "1.5"))).toBe("0.01")
    expect(usd(estimatedCost(dollars("0.012")))).toBe("0.01")
  })

  test("is rounded up to the microdollar, unless it is exact", () => {
    const priced = (cost: bigint, markup: string) => atMarkup(MicroUsd(cost), markup)
    expect([priced(1n, "1.1"), priced(9n, "1.1"), priced(10n, "1.1")]).toEqual([2n, 10n, 11n].map(MicroUsd))
    expect([priced(3n, "1"), priced(1n, "1.001"), priced(0n, "1.2")]).toEqual([3n, 2n, 0n].map(MicroUsd))
  })
})
