/**
 * What a configuration changes. Pure: both sides are JSON as the contract has it, in the form that the service would store.
 *
 * A field that an entry leaves out stays as it is. What is in no entry stays too, unless the caller prunes.
 */
import { canonicalJson } from "../json/CanonicalJson.ts"

export const sections = ["keys", "spend_guard", "webhooks", "label_budgets", "approval_rules"] as const
export type Section = (typeof sections)[number]
export type Fields = Readonly<Record<string, unknown>>

/** An object of the organization. `name` tells it from the others of its section. */
export interface Existing {
  readonly id: string
  readonly name: string
  readonly fields: Fields
}

/** An object as the file has it. */
export interface Wanted {
  readonly name: string
  readonly fields: Fields
}

export type Step<W extends Wanted> =
  | { readonly action: "create"; readonly wanted: W }
  | { readonly action: "change"; readonly wanted: W; readonly existing: Existing; readonly names: ReadonlySet<string> }
  | { readonly action: "remove"; readonly existing: Existing }

export const sameJson = (one: unknown, other: unknown): boolean =>
  JSON.stringify(canonicalJson(one ?? null)) === JSON.stringify(canonicalJson(other ?? null))

export const stepsOf = <W extends Wanted>(
  existing: ReadonlyArray<Existing>,
  wanted: ReadonlyArray<W>,
  prune: boolean
): ReadonlyArray<Step<W>> => {
  const byName = new Map(existing.map((one) => [one.name, one]))
  const kept = new Set(wanted.map(({ name }) => name))
  const written = wanted.flatMap((one): ReadonlyArray<Step<W>> => {
    const before = byName.get(one.name)
    if (before === undefined) return [{ action: "create", wanted: one }]
    const names = Object.keys(one.fields).filter((name) => !sameJson(one.fields[name], before.fields[name]))
    return names.length === 0 ? [] : [{ action: "change", wanted: one, existing: before, names: new Set(names) }]
  })
  const removed = prune ? existing.filter(({ name }) => !kept.has(name)) : []
  return [...written, ...removed.map((one) => ({ action: "remove", existing: one }) as const)]
}

const amounts: ReadonlyArray<string> = ["limit", "per_run_limit", "daily_limit", "low_balance", "max_cost", "min_hold"]

/** A value for people. Null is the absence of a rule. */
export const shownValue = (field: string, value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (typeof value === "string") return amounts.includes(field) ? `$${value}` : value
  if (Array.isArray(value)) return value.map((one) => shownValue(field, one)).join(", ")
  if (typeof value !== "object") return String(value)
  return Object.entries(value)
    .flatMap(([name, one]) => (one === null ? [] : [`${name} ${shownValue(name, one)}`]))
    .join(", ")
}
