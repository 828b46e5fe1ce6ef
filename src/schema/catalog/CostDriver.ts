/**
 * How the price of a raw endpoint depends on its input, as the catalog stores it.
 *
 * A call costs (base + the sum of all prices) × all factors; for `task` endpoints that is computed for each task and summed.
 * Every amount is in USD, is exact, and contains the platform's rate.
 */
import { Schema } from "effect"

/** Enough digits for the exact product of a price, the price of a credit and the platform's rate. */
const Exact = Schema.String.check(Schema.isPattern(/^\d{1,20}(\.\d{1,24})?$/u))
const Prices = Schema.Record(Schema.String, Exact)

/** What a driver counts. `Driver` in layers/catalog/import/cost/rates.ts explains each. */
export const counted = ["number", "items", "addresses", "characters", "presence"] as const

export const CostDriver = Schema.Struct({
  field: Schema.NonEmptyString,
  counts: Schema.Literals(counted),
  /** What each unit adds. */
  price: Schema.optionalKey(Exact),
  /** The number of units multiplies the price. */
  multiplies: Schema.optionalKey(Schema.Literal(true)),
  per: Schema.optionalKey(Schema.Int),
  included: Schema.optionalKey(Schema.Int),
  default: Schema.optionalKey(Schema.Int),
  max: Schema.optionalKey(Schema.Int),
  /** What each value adds, or by what each value multiplies. `*` is any other value. */
  values: Schema.optionalKey(Prices),
  times: Schema.optionalKey(Prices),
  contains: Schema.optionalKey(Schema.Array(Schema.String)),
  if: Schema.optionalKey(Schema.NonEmptyString),
  note: Schema.optionalKey(Schema.NonEmptyString)
})
export type CostDriver = typeof CostDriver.Type

export const CallPrice = Schema.Struct({
  /** Null if the provider publishes no rates. Then drivers only limit what a request may ask for. */
  base: Schema.NullOr(Exact),
  drivers: Schema.Array(CostDriver)
})
export type CallPrice = typeof CallPrice.Type
