/**
 * How the price of a raw endpoint depends on its input, as the catalog stores it.
 *
 * A call costs (base + the sum of all prices) × all factors; for `task` endpoints that is computed for each task and summed.
 * Every amount is in USD, is exact, and contains the platform's rate.
 */
import { Schema } from "effect"
import { isRecord } from "../json/Json.ts"

/** Enough digits for the exact product of a price, the price of a credit and the platform's rate. */
const Exact = Schema.String.annotate({ format: "decimal" }).check(Schema.isPattern(/^\d{1,20}(\.\d{1,24})?$/u))
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

/**
 * A field that is filled in where the caller left it out, because the provider's own default would leave the price open. A nested field is
 * filled in only if its object is there. A field that the caller set is never changed.
 */
export const Filled = Schema.Struct({
  /** A dotted path into the input, as in a cost driver. */
  field: Schema.NonEmptyString,
  value: Schema.Json,
  /** A sentence. */
  why: Schema.NonEmptyString
})
export type Filled = typeof Filled.Type

export const offeredSentence = ({ field, value, why }: Filled): string =>
  `If ${field} is left out, Rungate sends ${JSON.stringify(value)}. ${why}`

const sentSentence = ({ field, value, why }: Filled): string =>
  `${field} was left out, so Rungate sent ${JSON.stringify(value)}. ${why} Set ${field} to choose yourself.`

/** The object with the value at the path. Null if the path has a value, or its object is missing. */
const placed = (
  object: unknown,
  [name = "", ...rest]: ReadonlyArray<string>,
  value: unknown
): Readonly<Record<string, unknown>> | null => {
  if (!isRecord(object)) return null
  if (rest.length === 0) return Object.hasOwn(object, name) ? null : { ...object, [name]: value }
  const inner = placed(object[name], rest, value)
  return inner === null ? null : { ...object, [name]: inner }
}

/** The request as it is sent, and a sentence about each field that was filled in. */
export const filledIn = <R extends { readonly query: Readonly<Record<string, unknown>>; readonly input: unknown }>(
  { method, filled = [] }: { readonly method: string; readonly filled?: ReadonlyArray<Filled> },
  given: R
): { readonly request: R; readonly sentences: ReadonlyArray<string> } => {
  const sentences: Array<string> = []
  let { input } = given
  for (const one of filled) {
    const path = one.field.split(".")
    if (method === "GET" && Object.hasOwn(given.query, path[0] ?? "")) continue
    const whole = placed(input, path, one.value)
    if (whole === null) continue
    input = whole
    sentences.push(sentSentence(one))
  }
  return { request: sentences.length === 0 ? given : { ...given, input, input_text: JSON.stringify(input) }, sentences }
}
