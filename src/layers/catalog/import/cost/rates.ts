/**
 * Published rates, and the cost of a call by them: the provider's cost at the platform's rate, rounded up to a microdollar.
 *
 * An estimate is the charge of one ordinary call, because the hold is based on it. A rate per result is multiplied by the
 * number of results of such a call.
 */
import { Schema } from "effect"
import { type Endpoint, type EndpointCost, endpointKey } from "../../../../schema/catalog/Endpoint.ts"
import * as Decimal from "../../../../schema/money/Decimal.ts"
import * as Money from "../../../../schema/money/Money.ts"
import { ordinaryCost } from "../../../../schema/catalog/CallCost.ts"
import type { CallPrice } from "../../../../schema/catalog/CostDriver.ts"
import { atPlatformRate, exactAtPlatformRate } from "../../../../schema/money/Pricing.ts"
import { patternFor } from "../kit/patterns.ts"
import { Amount, checkDriver, Driver, isDriverInUsd, isInCredits, isPriced, shippedDriver } from "./drivers.ts"
import type { Report } from "../kit/fields.ts"

/** Credits of a call as a whole number. */
export const Credits = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

/** Exactly one of `usd`, `credits`, `free` and `unpublished` gives the price. */
export const Rate = Schema.Struct({
  usd: Schema.optionalKey(Amount),
  /** A fraction is a decimal string. */
  credits: Schema.optionalKey(Schema.Union([Amount, Credits])),
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
  /** The price of one of the provider's credits, in USD. */
  credit: Schema.optionalKey(Amount),
  default: Schema.optionalKey(Rate),
  /** By `METHOD /path`, in which `*` stands for anything. An exact key wins, then the longest pattern. */
  endpoints: Schema.optionalKey(Schema.Record(Schema.String, Rate))
})
export type Rates = typeof Rates.Type

/** Whether every amount is in credits, so that all of them follow the price of a credit. */
const isAllInCredits = ({ usd = "0", credits, drivers = [] }: Rate): boolean =>
  (credits !== undefined || drivers.some(isInCredits)) && Number(usd) === 0 && !drivers.some(isDriverInUsd)

const kinds = ["usd", "credits", "free", "unpublished"] as const

/** Reports mistakes that the schema does not find. */
export const checkRate = (rate: Rate, path: string, report: Report) => {
  const said = kinds.filter((kind) => rate[kind] !== undefined)
  if (said.length !== 1)
    report(path, `must have exactly one of ${kinds.join(", ")}, not ${said.join(" and ") || "none"}`)
  if (rate.results !== undefined && (rate.model ?? "per_call") === "per_call") {
    report(`${path}.results`, "requires model per_result or per_event")
  }
  for (const [index, driver] of (rate.drivers ?? []).entries()) {
    checkDriver(driver, `${path}.drivers.${index}`, report)
    if ((rate.free ?? rate.unpublished) === true && isPriced(driver))
      report(
        `${path}.drivers.${index}`,
        `has a price, but the rate is ${rate.free === true ? "free" : "unpublished"}; remove one of them`
      )
    if (rate.results !== undefined && driver.multiplies === true)
      report(`${path}.results`, "is already counted by a driver that multiplies; remove it")
  }
}

const counted = { per_call: "call", per_result: "result", per_event: "event" }

const sentences = (...parts: ReadonlyArray<string | undefined>) =>
  parts.filter((part) => part !== undefined).join(" ") || null

export const unpublished = (note: string | null): EndpointCost => ({ model: "unpublished", estimate: null, note })
export const free: EndpointCost = { model: "free", estimate: "0.00", note: null }

/** The factors of a call's base price; null when a price is missing. */
const factorsOf = (rate: Rate, credit: string | undefined): ReadonlyArray<string> | null => {
  const { usd, credits, free, results = 1, drivers = [] } = rate
  if (free === true) return ["0"]
  if (credit === undefined && drivers.some(isInCredits)) return null
  if (usd !== undefined) return [usd, String(results)]
  return credits === undefined || credit === undefined ? null : [String(credits), credit, String(results)]
}

/** The price by input, in the catalog's format; undefined without drivers. */
export const priceOf = (rate: Rate, credit: string | undefined): CallPrice | undefined => {
  if (rate.drivers === undefined || rate.drivers.length === 0) return undefined
  const factors = factorsOf(rate, credit)
  const base = factors === null ? null : exactAtPlatformRate(...factors)
  return { base, drivers: rate.drivers.map((driver) => shippedDriver(driver, credit)) }
}

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
  const factors = factorsOf(rate, credit)
  if (factors === null) return unpublished(sentences("The price of a credit is not published.", rate.note))
  const price = priceOf(rate, credit)
  // Multiplied before rounding, so that a thousand tiny results are rounded only once.
  const flat = atPlatformRate(...factors)
  const estimate = price === undefined ? flat : (ordinaryCost(price) ?? flat)
  // A call may cost nothing before what its input counts, which the note and the drivers say.
  const priced = credits === "0" ? `A credit costs $${credit}.` : `${unit} of $${credit} per ${each}.`
  const said = unit === undefined ? undefined : priced
  const many = results === "1" ? undefined : `The estimate counts ${results} ${each}s.`
  const exact = exactAtPlatformRate(...factors)
  return {
    model,
    estimate: Money.usd(estimate),
    note: sentences(said, many, rate.note),
    ...(credit !== undefined && isAllInCredits(rate) ? { credit } : {}),
    ...(price === undefined && !Decimal.isEqual(Decimal.parse(exact), Decimal.parse(Money.usd(flat))) ? { exact } : {})
  }
}

/** The endpoints with their rates, the rates by `METHOD /path`, and the keys that match no endpoint. */
export const applyRates = (endpoints: ReadonlyArray<Endpoint>, rates: Rates | undefined) => {
  const keys = Object.keys(rates?.endpoints ?? {}).sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  const patterns = keys.map((key) => ({ key, matches: patternFor(key) }))
  const matched = new Set<string>()
  const rated = new Map<string, Rate>()
  const priced = endpoints.map((endpoint) => {
    const name = endpointKey(endpoint)
    const matching = patterns.filter(({ matches }) => matches(name)).map(({ key }) => key)
    for (const key of matching) matched.add(key)
    const key = matching.find((one) => one === name) ?? matching[0]
    const rate = key === undefined ? rates?.default : rates?.endpoints?.[key]
    if (rate === undefined) return endpoint
    rated.set(name, rate)
    const price = priceOf(rate, rates?.credit)
    return { ...endpoint, cost: costOf(rate, rates?.credit), ...(price === undefined ? {} : { price }) }
  })
  return { endpoints: priced, rated, unmet: keys.filter((key) => !matched.has(key)) }
}
