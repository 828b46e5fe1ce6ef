/**
 * Acceptance: what a request adds to the capability's own meaning of a match. Pure.
 *
 * A refused answer is no match. It costs what a no-match of the capability costs, and the next provider is called. Of a list, only the items
 * that have the wanted fields are delivered and charged.
 */
import { type JsonSchema, Schema } from "effect"
import type { MicroUsd } from "../money/Money.ts"
import * as Money from "../money/Money.ts"
import { isRecord } from "../json/Json.ts"
import { fieldOf } from "../subjects/Field.ts"
import { readNetwork } from "../subjects/Network.ts"
import { readValue } from "../subjects/Subject.ts"
import { searchable } from "../subjects/Text.ts"
import { optional } from "../optional.ts"
import { didYouMean } from "../suggestion.ts"
import type { Issue } from "./Contract.ts"

export const phoneTypes = ["mobile", "direct", "landline", "voip", "toll_free"] as const
const PhoneType = Schema.Literals(phoneTypes)
/** More than any output has. */
const fieldsMax = 30
/** Ten years. */
export const ageDaysMax = 3_650

const Fields = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(100)))
const AgeDays = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: ageDaysMax }))
/** As many providers have to give the same. */
const Agree = Schema.Literal(2)

/** `accept` of a request. */
export const AcceptRequest = Schema.Struct({
  fields: optional(Fields.check(Schema.isMinLength(1), Schema.isMaxLength(fieldsMax))),
  phone_type: optional(PhoneType),
  max_age_days: optional(AgeDays),
  agree: optional(Agree)
}).annotate({
  identifier: "Accept",
  description:
    "lookups only: what counts as a match, by accept of inspect; agree: 2 charges two providers that give the same"
})
export type AcceptRequest = typeof AcceptRequest.Type

/** What a plan keeps of `accept`. */
export const Accept = Schema.Struct({
  /** Sorted. */
  fields: Fields,
  phone_type: Schema.optionalKey(PhoneType),
  max_age_days: Schema.optionalKey(AgeDays),
  agree: Schema.optionalKey(Agree)
})
export type Accept = typeof Accept.Type

/** Null if the request accepts what the capability calls a match. */
export const acceptOf = (request: AcceptRequest | null | undefined): Accept | null => {
  if (request === null || request === undefined) return null
  const { fields, phone_type, max_age_days, agree } = request
  const accept: Accept = {
    fields: [...new Set(fields ?? [])].sort(),
    ...(phone_type === null || phone_type === undefined ? {} : { phone_type }),
    ...(max_age_days === null || max_age_days === undefined ? {} : { max_age_days }),
    ...(agree === null || agree === undefined ? {} : { agree })
  }
  return accept.fields.length === 0 && Object.keys(accept).length === 1 ? null : accept
}

/** The member of a plan. */
export const planned = (accept: Accept | null | undefined) =>
  accept === null || accept === undefined ? {} : { accept }

/** How many answers a run charges. */
export const chargedAnswers = (accept: Accept | null | undefined): number => accept?.agree ?? 1

/** What may be accepted of a capability's output. */
export interface Acceptable {
  readonly fields: ReadonlyArray<string>
  /** The field with the type of the phone. */
  readonly phone_type: string | null
  /** The field with the date of the data. */
  readonly dated: string | null
  readonly agree: boolean
}

/** The name of a list of results. Its items are accepted one by one. */
const items = "items."
const dates = ["posted_at", "published_at", "created_at", "filed_at", "detected_at", "received_at", "started_at"]
const types = ["phone_type", "line_type"]

const propertiesIn = (node: unknown, root: JsonSchema.JsonSchema, name: string): ReadonlyArray<[string, unknown]> => {
  if (!isRecord(node)) return []
  const { $ref, anyOf, type, properties, items: item } = node
  if (typeof $ref === "string") {
    const definitions = root["$defs"]
    return propertiesIn(isRecord(definitions) ? definitions[$ref.split("/").at(-1) ?? ""] : undefined, root, name)
  }
  if (Array.isArray(anyOf)) return anyOf.flatMap((one) => propertiesIn(one, root, name))
  if (type === "array") return name === "items" ? propertiesIn(item, root, "") : []
  return isRecord(properties) ? Object.entries(properties) : []
}

/** What may be accepted of an output with this schema. A member of an object is written with a dot, such as `location.city`. */
export const acceptableOf = (output: JsonSchema.JsonSchema): Acceptable => {
  const fields = propertiesIn(output, output, "")
    .filter(([name]) => name !== "next_cursor")
    .flatMap(([name, node]) => [name, ...propertiesIn(node, output, name).map(([member]) => `${name}.${member}`)])
  const named = (names: ReadonlyArray<string>) =>
    names.flatMap((name) => [name, `${items}${name}`]).find((name) => fields.includes(name)) ?? null
  return { fields, phone_type: named(types), dated: named(dates), agree: !fields.includes("items") }
}

/** What a request may not accept of this capability. `null` stands for a capability that acts. */
export const acceptIssues = (
  slug: string,
  { fields, phone_type, max_age_days, agree }: Accept,
  acceptable: Acceptable | null
): ReadonlyArray<Issue> => {
  if (acceptable === null)
    return [{ path: "accept", message: `is for lookups: ${slug} acts outside, and what it did can't be refused` }]
  const unknown = fields.filter((name) => !acceptable.fields.includes(name))
  return [
    ...unknown.map((name) => ({
      path: "accept.fields",
      message: `has "${name}", which ${slug} does not return.${didYouMean(name, acceptable.fields)} Use some of: ${acceptable.fields.join(", ")}`
    })),
    ...(phone_type !== undefined && acceptable.phone_type === null
      ? [{ path: "accept.phone_type", message: `is for answers that say the type of a phone, which ${slug} does not` }]
      : []),
    ...(max_age_days !== undefined && acceptable.dated === null
      ? [{ path: "accept.max_age_days", message: `is for answers that have a date, and those of ${slug} have none` }]
      : []),
    ...(agree === undefined || (acceptable.agree && fields.length > 0)
      ? []
      : [
          {
            path: "accept.agree",
            message: acceptable.agree
              ? "needs accept.fields: the values that two providers must give alike"
              : `compares single values, and ${slug} returns a list`
          }
        ])
  ]
}

const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value)

const hasValue = (value: unknown): boolean =>
  typeof value === "string"
    ? value.trim() !== ""
    : Array.isArray(value)
      ? value.length > 0
      : isRecord(value)
        ? Object.values(value).some(hasValue)
        : value !== undefined && value !== null

/** The type in a provider's words, such as `nonFixedVoip` or `Cell`. */
const phoneTypeOf = (words: unknown): (typeof phoneTypes)[number] | null => {
  const text = typeof words === "string" ? words.toLowerCase() : ""
  if (/mobile|cell/.test(text)) return "mobile"
  if (text.includes("voip")) return "voip"
  if (text.includes("toll")) return "toll_free"
  if (/direct|dial/.test(text)) return "direct"
  return /land|fixed/.test(text) ? "landline" : null
}

const dayMillis = 86_400_000
const daysOf: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 }

/** The age of a date, or of words such as "3 days ago". Infinite if it can't be read. */
const ageDaysOf = (value: unknown, now: number): number => {
  const text = typeof value === "string" ? value.trim().toLowerCase() : ""
  if (/^(today|just now|(a|an|\d+) (second|minute|hour)s? ago)$/.test(text)) return 0
  if (text === "yesterday") return 1
  const ago = /^(a|\d+) (day|week|month|year)s? ago$/.exec(text)
  if (ago !== null) return (ago[1] === "a" ? 1 : Number(ago[1])) * (daysOf[ago[2] ?? ""] ?? 1)
  // Without a year, a number would be read as one.
  const millis = /\d{4}-?\d\d|\b\d{4}\b/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(millis) ? Number.POSITIVE_INFINITY : (now - millis) / dayMillis
}

/** The wanted fields of the whole output, or of its items. */
const partOf = (names: ReadonlyArray<string | null>, ofItems: boolean): ReadonlyArray<string> =>
  names.flatMap((name) =>
    name !== null && name.startsWith(items) === ofItems ? [ofItems ? name.slice(items.length) : name] : []
  )

export type Accepted =
  | { readonly _tag: "Accepted"; readonly output: unknown }
  /** `why` names the fields. */
  | { readonly _tag: "Refused"; readonly why: string }

/** The output as far as it is accepted. `now` in milliseconds since 1970. */
export const accepted = (accept: Accept, acceptable: Acceptable, output: unknown, now: number): Accepted => {
  const { fields, phone_type, max_age_days } = accept
  const typed = phone_type === undefined ? null : acceptable.phone_type
  const dated = max_age_days === undefined ? null : acceptable.dated
  const lacking = (value: unknown, ofItems: boolean): ReadonlyArray<string> => [
    ...partOf(fields, ofItems).filter((name) => !hasValue(at(value, name))),
    ...partOf([typed], ofItems).filter((name) => phoneTypeOf(at(value, name)) !== phone_type),
    ...partOf([dated], ofItems).filter((name) => ageDaysOf(at(value, name), now) > (max_age_days ?? 0))
  ]
  const lacks = lacking(output, false)
  if (lacks.length > 0) return { _tag: "Refused", why: `accept refused the answer for its ${lacks.join(", ")}` }
  if (partOf([...fields, typed, dated], true).length === 0) return { _tag: "Accepted", output }
  const all = at(output, "items")
  const kept = Array.isArray(all) ? all.filter((item) => lacking(item, true).length === 0) : []
  if (kept.length === 0 || !isRecord(output)) return { _tag: "Refused", why: "accept refused every item of the answer" }
  return { _tag: "Accepted", output: { ...output, items: kept } }
}

/** A value in the form in which two providers may be compared. */
const comparable = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(comparable(one, name))).sort()
  if (isRecord(value))
    return Object.keys(value)
      .sort()
      .map((member) => [member, comparable(value[member], member)])
  if (typeof value !== "string") return value
  const { phone, host, slug } = fieldOf(name)
  const profile = slug === null ? null : readNetwork(value)
  return profile ?? readValue(value, { phone, host, place: null })?.subject.normalized ?? searchable(value)
}

/** Two answers agree if they have the same key. */
export const agreementKey = ({ fields }: Accept, output: unknown): string =>
  JSON.stringify(fields.map((path) => comparable(at(output, path), path.split(".").at(-1) ?? path)))

/** The highest sum of prices that a run may charge for so many answers. It is what the wallet must hold. */
export const holdOfAnswers = (prices: ReadonlyArray<MicroUsd>, answers: number): MicroUsd =>
  Money.sum(prices.toSorted((a, b) => Number(b - a)).slice(0, answers))

/** How a refused answer is charged, for inspect. */
export const acceptTerms = (bills_no_match: boolean, { agree, fields }: Acceptable): string =>
  [
    bills_no_match
      ? "After an answer that accept refuses the next provider is called, and only the accepted answer is charged. If none is accepted, the run is a no_match and costs its first answer, as without accept."
      : "An answer that accept refuses is no match: it costs nothing, and the next provider is called.",
    ...(fields.some((name) => name.startsWith(items))
      ? ["Of a list, only items that have the fields named items.… are delivered and charged."]
      : []),
    ...(agree
      ? [
          "With agree: 2, both answers that agree are charged, each at its provider's price, so the two highest prices are held, and max_cost bounds their sum."
        ]
      : [])
  ].join(" ")
