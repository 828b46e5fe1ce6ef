/**
 * What an offer costs the operator at its provider, in credits or in USD, and the price that follows from it.
 *
 * Price = cost × price of a credit × markup. The product is exact and rounded up once, to a microdollar. The markup is at least 1, so a
 * price is never below the cost. Prices are computed once per process, when the catalog is built.
 */
import * as Decimal from "./Decimal.ts"
import { MicroUsd } from "./Money.ts"
import type { Price } from "./Pricing.ts"

/** `credit`: the provider's own unit, whose price depends on the operator's plan. */
export type Unit = "credit" | "USD"

/** The cost of a run, without markup. Amounts are decimal strings in `unit`. */
export type OfferRate =
  | { readonly unit: Unit; readonly kind: "flat"; readonly amount: string }
  | {
      readonly unit: Unit
      readonly kind: "metered"
      readonly base: string
      readonly per_result: string
      readonly default_limit: number
    }
  | { readonly unit: Unit; readonly kind: "by_platform"; readonly amounts: Readonly<Record<string, string>> }
  | {
      readonly unit: Unit
      readonly kind: "paged"
      readonly first: string
      readonly further: string
      readonly page_size: number
    }

/** What the operator pays for a credit, and charges for a dollar of cost. */
export interface Rates {
  /** USD per credit, as a decimal string. Null if the provider has no credits. */
  readonly credit: string | null
  /** As a decimal string, at least 1. */
  readonly markup: string
}

const ratesIn = (unit: Unit) => ({
  flat: (amount: string): OfferRate => ({ unit, kind: "flat", amount }),
  metered: (base: string, per_result: string, default_limit: number): OfferRate => ({
    unit,
    kind: "metered",
    base,
    per_result,
    default_limit
  }),
  byPlatform: (amounts: Readonly<Record<string, string>>): OfferRate => ({ unit, kind: "by_platform", amounts }),
  paged: (first: string, further: string, page_size: number): OfferRate => ({
    unit,
    kind: "paged",
    first,
    further,
    page_size
  })
})

export const inCredits = ratesIn("credit")
export const inUsd = ratesIn("USD")

export const priceOf = (rate: OfferRate, { credit, markup }: Rates): Price => {
  if (rate.unit === "credit" && credit === null) throw new Error("A rate in credits needs the price of a credit.")
  const factor = Decimal.times(Decimal.parse(markup), Decimal.parse(rate.unit === "credit" ? (credit ?? "0") : "1"))
  const priced = (amount: string): MicroUsd => Decimal.micros(Decimal.times(Decimal.parse(amount), factor))
  switch (rate.kind) {
    case "flat":
      return { kind: "flat", amount: priced(rate.amount) }
    case "metered": {
      const { base, per_result, default_limit } = rate
      return { kind: "metered", base: priced(base), per_result: priced(per_result), default_limit }
    }
    case "by_platform": {
      const amounts = Object.entries(rate.amounts).map(([platform, amount]) => [platform, priced(amount)] as const)
      return { kind: "by_platform", amounts: Object.fromEntries(amounts) }
    }
    case "paged":
      return {
        kind: "paged",
        first: priced(rate.first),
        further: priced(rate.further),
        page_size: rate.page_size
      }
  }
}

/** A cost with the markup, rounded up. */
export const atMarkup = (cost: MicroUsd, markup: string): MicroUsd => {
  const { digits, scale } = Decimal.parse(markup)
  const divisor = 10n ** BigInt(scale)
  return MicroUsd((cost * digits + divisor - 1n) / divisor)
}
