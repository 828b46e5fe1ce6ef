/** What usage is grouped by, as the address and the API write it. */
import { useMemo } from "react"
import type { AnswerOf } from "../../data/api.ts"
import { type Search, setOnly, useFilters } from "../../data/address.ts"
import { useKeyNames } from "../../data/lists.ts"
import { statusWord } from "../../parts/Values.tsx"

export type Item = AnswerOf<"usage", "get">["items"][number]

/** Names of groups, in words, and what stands for no value. */
const words = {
  day: ["Day", ""],
  capability: ["Capability", "raw endpoints"],
  provider: ["Provider", "no provider"],
  key: ["Key", "without a key"],
  endpoint: ["Raw endpoint", "capabilities"],
  status: ["Status", ""]
} as const
type Named = keyof typeof words
/** One of the names, or a label such as `metadata.campaign`. */
export type Grouping = Named | `metadata.${string}`

const labelForm = /^metadata\.[^,\s]{1,100}$/
const isLabel = (text: string): text is `metadata.${string}` => labelForm.test(text)

const isNamed = (text: string): text is Named => Object.hasOwn(words, text)
const groupingOf = (text: string): Grouping | null => (isNamed(text) || isLabel(text) ? text : null)

export const wordOf = (grouping: Grouping): string =>
  isNamed(grouping) ? words[grouping][0] : `Label ${grouping.slice("metadata.".length)}`

export const namedGroupings = Object.entries(words).map(([name, [word]]) => [name, word] as const)

/** What `null` means in a group. */
const noneOf = (grouping: Grouping): string => (isNamed(grouping) ? words[grouping][1] : "without this label")

/** The address has the groups as `by` and `and`. Without them, usage is by day. `by=total` is one total. */
export const groupingsIn = (search: Search): ReadonlyArray<Grouping> => {
  if (search["by"] === "total") return []
  const first = groupingOf(search["by"] ?? "day") ?? "day"
  const second = groupingOf(search["and"] ?? "")
  // The API takes a name once, and one label.
  if (second === null || second === first || (isLabel(first) && isLabel(second))) return [first]
  return [first, second]
}

/** Days of the address. Without them, the API takes the last 30. */
export interface Days {
  readonly from?: string
  readonly to?: string
}
export const periodIn = ({ from = "", to = "" }: Search): Days => setOnly({ from, to })

/** What the address says: the groups and the period, and the names of keys if they are grouped. */
export const useGrouped = () => {
  const [search] = useFilters()
  const groupings = useMemo(() => groupingsIn(search), [search])
  const period = useMemo(() => periodIn(search), [search])
  return { groupings, group_by: groupings.join(","), period, names: useKeyNames(groupings.includes("key")) }
}

/** The value of an item in a group. Null for "no such value". */
export const valueOf = (item: Item, grouping: Grouping): string | null => {
  const value: unknown = Reflect.get(item, grouping)
  return typeof value === "string" ? value : null
}

/** A group's value in words. Labels with too many values have one group for the rest. */
export const valueWords = (item: Item, grouping: Grouping, names: ReadonlyMap<string, string>): string => {
  const value = valueOf(item, grouping)
  if (value === null) return item.others === true && !isNamed(grouping) ? "all other values" : noneOf(grouping)
  if (grouping === "status") return statusWord(value)
  return grouping === "key" ? (names.get(value) ?? value) : value
}

/** The runs of an item in Activity. Null where Activity has no such filter. */
export const activityOf = (item: Item, groupings: ReadonlyArray<Grouping>, period: Days): string | null => {
  const query = new URLSearchParams({ ...period })
  for (const grouping of groupings) {
    const value = valueOf(item, grouping)
    if (value === null) return null
    if (grouping === "day") {
      query.set("from", value)
      query.set("to", value)
    } else query.set(grouping, value)
  }
  return `/activity?${query}`
}
