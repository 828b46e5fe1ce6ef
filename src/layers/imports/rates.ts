/**
 * Published rates, and what a call costs by them: the provider's own cost at the platform's rate, rounded up to a microdollar.
 *
 * An estimate is what one ordinary call is charged, because the hold is taken from it: a rate per result is multiplied by
 * the results that such a call returns.
 */
import { Schema } from "effect"
import { type Endpoint, type EndpointCost, endpointKey } from "../../schema/Endpoint.ts"
import * as Money from "../../schema/Money.ts"
import { atPlatformRate } from "../../schema/Pricing.ts"
import { patternFor } from "./patterns.ts"
import type { Report } from "./fields.ts"

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
  /** Instead of a count: what a value adds, in USD or credits; of a list, each item adds. `*` is any other value. */
  values_usd: Schema.optionalKey(Decimals),
  values_credits: Schema.optionalKey(Decimals),
  /** Instead of a count: by what factor a value multiplies the call. `*` is any other value. */
  times: Schema.optionalKey(Decimals),
  /** Only counts when the text, or a text of the list, contains one of these, whatever its case; percent-encoding is undone. With `times` `*` or `values_usd` `*`. */
  contains: Schema.optionalKey(Schema.NonEmptyArray(Schema.NonEmptyString)),
  /** Only counts when this field is there and not false. */
  if: Schema.optionalKey(Schema.NonEmptyString),
  /** For people: why, and where it is published. */
  note: Schema.optionalKey(Schema.NonEmptyString)
})
export type Driver = typeof Driver.Type

/** Exactly one of `usd`, `credits`, `free` and `unpublished` says what it costs. */
export const Rate = Schema.Struct({
  usd: Schema.optionalKey(Amount),
  /** A fraction is a decimal string. */
  credits: Schema.optionalKey(
    Schema.Union([Amount, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))])
  ),
  free: Schema.optionalKey(Schema.Literal(true)),
  unpublished: Schema.optionalKey(Schema.Literal(true)),
  model: Schema.optionalKey(Schema.Literals(["per_call", "per_result", "per_event"])),
  /** Results or events of an ordinary call; one by default. */
  results: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }))),
  note: Schema.optionalKey(Schema.NonEmptyString),
  drivers: Schema.optionalKey(Schema.Array(Driver)),
  /** Fields that look like drivers (a limit, a list) and do not change the price. */
  flat: Schema.optionalKey(Schema.Array(Schema.NonEmptyString))
})
export type Rate = typeof Rate.Type

export const Rates = Schema.Struct({
  /** What one of the provider's credits costs us. */
  credit: Schema.optionalKey(Amount),
  default: Schema.optionalKey(Rate),
  /** By `METHOD /path`, in which `*` stands for anything. An exact key wins, then the longest pattern. */
  endpoints: Schema.optionalKey(Schema.Record(Schema.String, Rate))
})
export type Rates = typeof Rates.Type

const kinds = ["usd", "credits", "free", "unpublished"] as const

/** Mistakes that the shape alone does not show. */
export const checkRate = (rate: Rate, path: string, report: Report) => {
  const said = kinds.filter((kind) => rate[kind] !== undefined)
  if (said.length !== 1)
    report(path, `must have exactly one of ${kinds.join(", ")}, not ${said.join(" and ") || "none"}`)
  if (rate.results !== undefined && (rate.model ?? "per_call") === "per_call") {
    report(`${path}.results`, "only means something when model is per_result or per_event")
  }
}

const counted = { per_call: "call", per_result: "result", per_event: "event" }

const sentences = (...parts: ReadonlyArray<string | undefined>) =>
  parts.filter((part) => part !== undefined).join(" ") || null

export const unpublished = (note: string | null): EndpointCost => ({ model: "unpublished", estimate: null, note })
export const free: EndpointCost = { model: "free", estimate: "0.00", note: null }

export const costOf = (rate: Rate | undefined, credit: string | undefined): EndpointCost => {
  if (rate === undefined || rate.unpublished === true) return unpublished(rate?.note ?? null)
  if (rate.free === true) return { ...free, note: rate.note ?? null }
  const model = rate.model ?? "per_call"
  const results = String(rate.results ?? 1)
  const credits = rate.credits === undefined ? undefined : String(rate.credits)
  const unit = credits === undefined ? undefined : `${credits} ${credits === "1" ? "credit" : "credits"}`
  const each = counted[model]
  if (unit !== undefined && credit === undefined) {
    return unpublished(sentences(`${unit} per ${each}; the price of a credit is not published.`, rate.note))
  }
  // Multiplied before it is rounded, so that a thousand tiny results are not charged a thousand roundings.
  const factors = [rate.usd ?? credits, rate.usd === undefined ? credit : undefined, results]
  const estimate = atPlatformRate(...factors.filter((factor) => factor !== undefined))
  const said = unit === undefined ? undefined : `${unit} of $${credit} per ${each}.`
  const many = results === "1" ? undefined : `The estimate counts ${results} ${each}s.`
  return { model, estimate: Money.usd(estimate), note: sentences(said, many, rate.note) }
}

/** A rate for every endpoint, and the keys that met none. */
export const applyRates = (endpoints: ReadonlyArray<Endpoint>, rates: Rates | undefined) => {
  const keys = Object.keys(rates?.endpoints ?? {}).sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  const patterns = keys.map((key) => ({ key, matches: patternFor(key) }))
  const met = new Set<string>()
  const priced = endpoints.map((endpoint) => {
    const name = endpointKey(endpoint)
    const matching = patterns.filter(({ matches }) => matches(name)).map(({ key }) => key)
    for (const key of matching) met.add(key)
    const key = matching.find((one) => one === name) ?? matching[0]
    const rate = key === undefined ? rates?.default : rates?.endpoints?.[key]
    return rate === undefined ? endpoint : { ...endpoint, cost: costOf(rate, rates?.credit) }
  })
  return { endpoints: priced, unmet: keys.filter((key) => !met.has(key)) }
}
