/**
 * Cost drivers as manifests write them, in the provider's own prices, and as the catalog ships them.
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
  /** What is counted: the number itself (default), items of a list, comma-separated addresses (a list counts each), characters, or whether it is there and not false. */
  counts: Schema.optionalKey(Schema.Literals(["number", "items", "addresses", "characters", "presence"])),
  /** The price of a unit, in USD or in the provider's credits. */
  usd: Schema.optionalKey(Amount),
  credits: Schema.optionalKey(Amount),
  /** The count multiplies the call instead of adding to it. */
  multiplies: Schema.optionalKey(Schema.Literal(true)),
  /** A unit is so many, begun ones counting whole; 1 by default. */
  per: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /** So many are in the base price. */
  included: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** What the provider takes when the field is left out. Without it the field must be given: its count has no bound. */
  default: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** The greatest count that a request may ask for. */
  max: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /** Instead of a count: what a value adds, in USD or credits; of a list, each item adds. `*` is any other value, `{}` an object. */
  values_usd: Schema.optionalKey(Decimals),
  values_credits: Schema.optionalKey(Decimals),
  /** Instead of a count: by what factor a value multiplies the call. `*` is any other value. */
  times: Schema.optionalKey(Decimals),
  /**
   * Only counts when the text, or a text of the list, contains one of these, whatever its case; percent-encoding is undone. A table has `*`
   * alone then, and it counts once, however many texts contain a word.
   */
  contains: Schema.optionalKey(Schema.NonEmptyArray(Schema.NonEmptyString)),
  /** Only counts when this field is there and not false. */
  if: Schema.optionalKey(Schema.NonEmptyString),
  /** For people: why, and where it is published. */
  note: Schema.optionalKey(Schema.NonEmptyString)
})
export type Driver = typeof Driver.Type

/** What a driver does to the price; one that does nothing only bounds what a request may ask for. */
const effects = ["usd", "credits", "multiplies", "values_usd", "values_credits", "times"] as const

export const checkDriver = (driver: Driver, path: string, report: Report) => {
  const said = effects.filter((effect) => driver[effect] !== undefined)
  if (said.length > 1) report(path, `must have one of ${effects.join(", ")}, not ${said.join(" and ")}`)
  if (said.length === 0 && driver.max === undefined) {
    report(path, `must have one of ${effects.join(", ")}, or max; a field that changes nothing belongs into flat`)
  }
  if (driver.max !== undefined && (driver.default ?? 0) > driver.max) report(`${path}.default`, "is above max")
}

export const isPriced = (driver: Driver): boolean => effects.some((effect) => driver[effect] !== undefined)

/** Its price is in credits, of which somebody must say what one costs. */
export const isInCredits = ({ credits, values_credits }: Driver): boolean =>
  credits !== undefined || values_credits !== undefined

type Prices = Readonly<Record<string, string>>

const mapped = (prices: Prices, change: (amount: string) => string): Prices =>
  Object.fromEntries(Object.entries(prices).map(([value, amount]) => [value, change(amount)]))

/** What a driver adds, in USD at the platform's rate. Without a price of the provider's credits it only bounds. */
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
