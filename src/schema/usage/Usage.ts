/**
 * What usage is grouped by, and how a value of a group is written as one text that sorts and pages. Pure.
 *
 * The day of a run is the UTC day of its settlement in the ledger, so the usage of a past day changes no more.
 */
import { isMetadataName, metadataPrefix } from "../runs/Metadata.ts"

export const groupings = ["day", "capability", "provider", "key", "endpoint", "status"] as const
export type Grouping = (typeof groupings)[number] | `metadata.${string}`

export const groupingsMax = 2

export const isMetadataGrouping = (grouping: Grouping): grouping is `metadata.${string}` =>
  grouping.startsWith(metadataPrefix)

const groupingOf = (text: string): Grouping | null => {
  const grouping = groupings.find((one) => one === text)
  if (grouping !== undefined) return grouping
  const name = text.startsWith(metadataPrefix) ? text.slice(metadataPrefix.length) : ""
  return isMetadataName(name) ? `metadata.${name}` : null
}

/** The groupings of `group_by`, or a sentence that says what is wrong. Empty text: none, so usage is one total. */
export const groupingsOf = (text: string): ReadonlyArray<Grouping> | string => {
  const names = text === "" ? [] : text.split(",").map((one) => one.trim())
  const groupBy: Array<Grouping> = []
  for (const name of names) {
    const grouping = groupingOf(name)
    if (grouping === null)
      return `can't be "${name.slice(0, 100)}": use ${groupings.join(", ")} or ${metadataPrefix}<name>`
    if (groupBy.includes(grouping)) return `names ${grouping} twice`
    groupBy.push(grouping)
  }
  if (groupBy.length > groupingsMax) return `takes at most ${groupingsMax} names, separated by a comma`
  if (groupBy.filter(isMetadataGrouping).length > 1) return `takes at most one ${metadataPrefix}<name>`
  return groupBy
}

/** Values beyond the limit of a day, which are counted together. */
const others = "~"
/** A value, null (no such value), or "others". */
export type Cell = { readonly value: string | null; readonly others: boolean }

/** The text of a value is "=" and the value; the empty text stands for null. The statement of UsageStore.ts writes the same. */
export const cellOf = (text: string): Cell =>
  text === others ? { value: null, others: true } : { value: text === "" ? null : text.slice(1), others: false }
