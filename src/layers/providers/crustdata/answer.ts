/**
 * Shared parts of the Crustdata adapter: conditions on columns, and the credits that a header reports.
 *
 * Crustdata has its own operators: `(.)` means "contains these words", `=>` and `=<` mean "at least" and "at most".
 */
import type { Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { cost, noMatch } from "../kit/outcome.ts"
import { at, isRecord, list, text } from "../kit/read.ts"

export const note =
  "Published credits per operation, at an assumed price of $0.10 per credit, which is high on purpose."

export const used = (reply: Reply) => cost("credit", reply.headers["x-credits-used"])

/** True for a 404 with the error type `not_found`, which is a miss. Any other 404 means a wrong path. */
export const isMiss = (reply: Reply): boolean =>
  reply.status === 404 && text(reply.body, "error", "type") === "not_found"

export const missed = (reply: Reply): Outcome<never> | undefined =>
  isMiss(reply) ? noMatch("nothing on record") : undefined

/** One condition, or several joined by and/or. */
export type Filter =
  | { readonly field: string; readonly type: string; readonly value: unknown }
  | { readonly op: "and" | "or"; readonly conditions: ReadonlyArray<Filter> }

/** Joins conditions. A single condition stays as it is. */
const joined = (op: "and" | "or", conditions: ReadonlyArray<Filter>): Filter => {
  const [only, ...more] = conditions
  return only !== undefined && more.length === 0 ? only : { op, conditions }
}

export const all = (conditions: ReadonlyArray<Filter>): Filter => joined("and", conditions)

/** A condition that matches any of the values, as words, in any of the columns. */
export const contains = (
  fields: ReadonlyArray<string>,
  values: ReadonlyArray<string> | undefined
): ReadonlyArray<Filter> =>
  values === undefined
    ? []
    : [
        joined(
          "or",
          values.flatMap((value) => fields.map((field) => ({ field, type: "(.)", value })))
        )
      ]

export const within = (field: string, values: ReadonlyArray<string> | undefined): ReadonlyArray<Filter> =>
  values === undefined ? [] : [{ field, type: "in", value: values }]

/** The bounds of an employee range such as "51-200" or "10001+". Null for any other text. */
const bounds = (band: string): { readonly least: number; readonly most: number | null } | null => {
  const [, least, , most] = /^(\d{1,7})(\+|-(\d{1,7}))$/.exec(band.trim()) ?? []
  return least === undefined ? null : { least: Number(least), most: most === undefined ? null : Number(most) }
}

export const isBand = (band: string | undefined): boolean => band === undefined || bounds(band) !== null

/** A condition on the employee count, because the provider's own ranges may differ from ours. */
export const inBands = (field: string, bands: ReadonlyArray<string> | undefined): ReadonlyArray<Filter> => {
  if (bands === undefined) return []
  const ranges = bands.flatMap((band) => {
    const range = bounds(band)
    if (range === null) return []
    const least: Filter = { field, type: "=>", value: range.least }
    return [range.most === null ? least : all([least, { field, type: "=<", value: range.most }])]
  })
  return [joined("or", ranges)]
}

/** The best match of an enrichment. Null if there is none, undefined if the answer can't be read. */
export const bestMatch = (reply: Reply): unknown => {
  const results = list(reply.body) ?? list(reply.body, "results")
  if (results === null) return undefined
  const [result] = results
  if (result === undefined) return null
  const matches = list(result, "matches")
  if (matches === null) return undefined
  const [best] = matches
  return best === undefined ? null : isRecord(at(best, "person_data")) ? best : undefined
}
