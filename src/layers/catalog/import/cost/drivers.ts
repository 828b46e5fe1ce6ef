/**
 * Cost drivers in manifests, in the provider's own prices, and their conversion to the catalog's format.
 */
import { Schema } from "effect"
import type { CostDriver } from "../../../../schema/catalog/CostDriver.ts"
import { exactAtPlatformRate } from "../../../../schema/money/Pricing.ts"
import type { Report } from "../kit/fields.ts"

/** Finer than a microdollar: providers sell credits by the hundred thousand. */
const amountPattern = /^\d{1,7}(\.\d{1,9})?$/u
export const Amount = Schema.String.check(
  Schema.isPattern(amountPattern, { message: 'must be a decimal string such as "0.0042"' })
)

const Decimals = Schema.Record(Schema.String, Amount)

/**
 * A field of the request that drives what a call costs. The cost of a call is (base + the sum of all prices) × all factors;
 * for `task` endpoints it is computed for each task and summed.
 */
export const Driver = Schema.Struct({
  /**
   * Dotted path into the request's input (one task object for `task`; the query on GET), or into `query.` or `path.`; `*` is every item of a
   * list, `.` the input itself.
   */
  field: Schema.NonEmptyString,
  /** What is counted: the number itself (default), items of a list, comma-separated addresses (a list counts each), characters, or 1 if the field is present and not false. */
  counts: Schema.optionalKey(Schema.Literals(["number", "items", "addresses", "characters", "presence"])),
  /** The price of a unit, in USD or in the provider's credits. */
  usd: Schema.optionalKey(Amount),
  credits: Schema.optionalKey(Amount),
  /** The count multiplies the call instead of adding to it. */
  multiplies: Schema.optionalKey(Schema.Literal(true)),
  /** The size of a unit, 1 by default. Counts are rounded up to whole units. */
  per: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /** The count that the base price includes. */
  included: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** The provider's default for a missing field. Without it the field is required, because its count has no limit. */
  default: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** The greatest count that a request may ask for. */
  max: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /** Instead of a count: what a value adds, in USD or credits; of a list, each item adds. `*` is any other value, `{}` an object. */
  values_usd: Schema.optionalKey(Decimals),
  values_credits: Schema.optionalKey(Decimals),
  /** Instead of a count: by what factor a value multiplies the call. `*` is any other value. */
  times: Schema.optionalKey(Decimals),
  /**
   * The driver applies only if the text, or a text of the list, contains one of these. Case is ignored, and percent-encoding is decoded. A table
   * may then have `*` only, which counts once for all texts.
   */
  contains: Schema.optionalKey(Schema.NonEmptyArray(Schema.NonEmptyString)),
  /** The driver applies only if this field is present and not false. */
  if: Schema.optionalKey(Schema.NonEmptyString),
  /** The reason, and where it is published. */
  note: Schema.optionalKey(Schema.NonEmptyString)
})
export type Driver = typeof Driver.Type

/** The effects of a driver on the price. A driver without one only limits the request. */
const effects = ["usd", "credits", "multiplies", "values_usd", "values_credits", "times"] as const

export const checkDriver = (driver: Driver, path: string, report: Report) => {
  const driverEffects = effects.filter((effect) => driver[effect] !== undefined)
  if (driverEffects.length > 1)
    report(path, `must have one of ${effects.join(", ")}, not ${driverEffects.join(" and ")}`)
  if (driverEffects.length === 0 && driver.max === undefined) {
    report(path, `must have one of ${effects.join(", ")}, or max; list a field that does not change the price in flat`)
  }
  if (driver.max !== undefined && (driver.default ?? 0) > driver.max) report(`${path}.default`, "is above max")
}

export const isPriced = (driver: Driver): boolean => effects.some((effect) => driver[effect] !== undefined)

/** Whether the driver's price is in credits, so that the rates must have the price of a credit. */
export const isInCredits = ({ credits, values_credits }: Driver): boolean =>
  credits !== undefined || values_credits !== undefined

export const isDriverInUsd = ({ usd = "0", values_usd = {} }: Driver): boolean =>
  [usd, ...Object.values(values_usd)].some((amount) => Number(amount) > 0)

type Prices = Readonly<Record<string, string>>

const mapped = (prices: Prices, change: (amount: string) => string): Prices =>
  Object.fromEntries(Object.entries(prices).map(([value, amount]) => [value, change(amount)]))

/** A driver's prices in USD at the platform's rate. Without the price of a credit the driver only limits the request. */
const pricesOf = (driver: Driver, credit: string | undefined): Pick<CostDriver, "price" | "values"> => {
  const { usd, credits, values_usd, values_credits } = driver
  const inUsd = (amount: string) => exactAtPlatformRate(amount)
  const inCredits = (amount: string) => exactAtPlatformRate(amount, credit ?? "0")
  return {
    ...(usd === undefined ? {} : { price: inUsd(usd) }),
    ...(credits === undefined ? {} : { price: inCredits(credits) }),
    ...(values_usd === undefined ? {} : { values: mapped(values_usd, inUsd) }),
    ...(values_credits === undefined ? {} : { values: mapped(values_credits, inCredits) })
  }
}

export const shippedDriver = (driver: Driver, credit: string | undefined): CostDriver => {
  const { usd: _usd, credits: _credits, values_usd: _inUsd, values_credits: _inCredits, ...rest } = driver
  return { ...rest, counts: driver.counts ?? "number", ...pricesOf(driver, credit) }
}
