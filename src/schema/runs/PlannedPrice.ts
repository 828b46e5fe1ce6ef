/**
 * The price of an offer as a run's plan stores it, so that the run is charged what it was quoted.
 *
 * The operator may change what a credit costs, or the markup, while a run waits. The hold was computed from the old price.
 */
import { Schema } from "effect"
import * as Money from "../money/Money.ts"
import { type Demand, type Price, priceMax } from "../money/Pricing.ts"

/** Decimal strings in USD. A price per platform or page is stored as the amount for the platform or the pages of the run. */
export const PlannedPrice = Schema.Union([
  Schema.String,
  Schema.Struct({ base: Schema.String, per_result: Schema.String, default_limit: Schema.Int })
])
export type PlannedPrice = typeof PlannedPrice.Type

const stored = (price: Price, demand: Demand): PlannedPrice =>
  price.kind === "metered"
    ? { base: Money.usd(price.base), per_result: Money.usd(price.per_result), default_limit: price.default_limit }
    : Money.usd(priceMax(price, demand))

/** An offer has one price object until its price changes, so most plans share these. */
const plannedPrices = new WeakMap<Price, PlannedPrice>()

export const plannedPrice = (price: Price, demand: Demand): PlannedPrice => {
  if (price.kind === "by_platform" || price.kind === "paged") return stored(price, demand)
  const before = plannedPrices.get(price)
  if (before !== undefined) return before
  const planned = stored(price, demand)
  plannedPrices.set(price, planned)
  return planned
}

export const priceFrom = (planned: PlannedPrice): Price =>
  typeof planned === "string"
    ? { kind: "flat", amount: Money.dollars(planned) }
    : {
        kind: "metered",
        base: Money.dollars(planned.base),
        per_result: Money.dollars(planned.per_result),
        default_limit: planned.default_limit
      }
