/**
 * What a configuration changes. Pure: both sides are JSON as the contract has it, in the form that the service would store.
 *
 * A field that an entry leaves out stays as it is. What is in no entry stays too, unless the caller prunes.
 */
import { canonicalJson } from "../json/CanonicalJson.ts"
import type { ConfigurationChange } from "./Configuration.ts"

/** An object as the file has it. `name` tells it from the others of its section. */
interface Wanted {
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** An object of the organization. */
export interface Existing extends Wanted {
  readonly id: string
}

type Step<W extends Wanted> = Pick<ConfigurationChange, "action" | "fields"> &
  (
    | { readonly wanted: W; readonly existing: Existing | null; readonly names: ReadonlySet<string> }
    | { readonly wanted: null; readonly existing: Existing }
  )

const sameJson = (one: unknown, other: unknown): boolean =>
  JSON.stringify(canonicalJson(one ?? null)) === JSON.stringify(canonicalJson(other ?? null))

const amounts: ReadonlyArray<string> = ["limit", "per_run_limit", "daily_limit", "low_balance", "max_cost", "min_hold"]

/** A value for people. Null is the absence of a rule. */
const shownValue = (field: string, value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (typeof value === "string") return amounts.includes(field) ? `$${value}` : value
  if (Array.isArray(value)) return value.map((one) => shownValue(field, one)).join(", ")
  if (typeof value !== "object") return String(value)
  return Object.entries(value)
    .flatMap(([name, one]) => (one === null ? [] : [`${name} ${shownValue(name, one)}`]))
    .join(", ")
}

export const stepsOf = <W extends Wanted>(
  existing: ReadonlyArray<Existing>,
  wanted: ReadonlyArray<W>,
  prune: boolean
): ReadonlyArray<Step<W>> => {
  const byName = new Map(existing.map((one) => [one.name, one]))
  const kept = new Set(wanted.map(({ name }) => name))
  const written = wanted.flatMap((one): ReadonlyArray<Step<W>> => {
    const before = byName.get(one.name) ?? null
    const names = Object.keys(one.fields).filter(
      (name) => before === null || !sameJson(one.fields[name], before.fields[name])
    )
    const fields = names
      .map((field) => ({
        field,
        before: shownValue(field, before?.fields[field]),
        after: shownValue(field, one.fields[field])
      }))
      .filter((shown) => shown.before !== shown.after)
    const step = { wanted: one, existing: before, names: new Set(names), fields }
    if (before === null) return [{ action: "create", ...step }]
    return names.length === 0 ? [] : [{ action: "change", ...step }]
  })
  const removed = prune ? existing.filter(({ name }) => !kept.has(name)) : []
  return [...written, ...removed.map((one) => ({ action: "remove", wanted: null, existing: one, fields: [] }) as const)]
}
