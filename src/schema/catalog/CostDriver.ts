/**
 * How a raw endpoint's price follows its input, as the catalog ships it.
 *
 * A call costs (base + the sum of all prices) × all factors; for `task` endpoints that is computed for each task and summed.
 * Every amount is in USD, is exact, and contains the platform's rate.
 */
import { Schema } from "effect"

/** Products of a price, the price of a credit and the platform's rate have this many digits. */
const Exact = Schema.String.check(Schema.isPattern(/^\d{1,20}(\.\d{1,24})?$/u))
const Prices = Schema.Record(Schema.String, Exact)

/** What is counted: see `Driver` in layers/catalog/import/cost/rates.ts, whose fields these are. */
export const counted = ["number", "items", "addresses", "characters", "presence"] as const

export const CostDriver = Schema.Struct({
  field: Schema.NonEmptyString,
  counts: Schema.Literals(counted),
  /** What each unit adds. */
  price: Schema.optionalKey(Exact),
  /** The number of units is a factor. */
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
  /** Null where the provider publishes no rates: then drivers only bound what a request may ask for. */
  base: Schema.NullOr(Exact),
  drivers: Schema.Array(CostDriver)
})
export type CallPrice = typeof CallPrice.Type
