/** What usage is grouped by, as the address and the API write it, and the days and lines of its charts. */
import { useMemo } from "react"
import type { AnswerOf } from "../../data/api.ts"
import { type Search, setOnly, useFilters } from "../../data/address.ts"
import { useKeyNames } from "../../data/lists.ts"
import { exactDollars, heightOf, sumOf } from "../../data/money.ts"
import { present, utcDay, zoneDay } from "../../data/time.ts"
import type { Line } from "../../parts/Chart.tsx"
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

const dayMillis = 86_400_000
const daysDefault = 30
const daysMax = 400

/** The days of the period, as the API widens it. */
export const daysOf = ({ from, to }: Days, zone: string): ReadonlyArray<string> => {
  const last = Date.parse((to ?? zoneDay(zone, present())).slice(0, 10))
  const first = from === undefined ? last - (daysDefault - 1) * dayMillis : Date.parse(from.slice(0, 10))
  const count = Math.floor((last - first) / dayMillis) + 1
  // Dates that are none, or the wrong way round, are refused by the table's own question.
  if (!Number.isFinite(count) || count < 1) return []
  return Array.from({ length: Math.min(daysMax, count) }, (_, index) => utcDay(first + index * dayMillis))
}

export const chargedIn = (items: ReadonlyArray<Item>): string => sumOf(items.map(({ charged }) => charged))

/** What was charged on each of the days. The line alone has bars, and needs no name in words. */
export const lineOf = (
  name: string,
  token: string,
  items: ReadonlyArray<Item>,
  days: ReadonlyArray<string>,
  isAlone: boolean
): Line => {
  const byDay = Map.groupBy(items, (item) => item.day ?? "")
  const amounts = days.map((day) => chargedIn(byDay.get(day) ?? []))
  return {
    name,
    token,
    values: amounts.map(heightOf),
    words: (index) => `${isAlone ? "" : `${name} `}${exactDollars(amounts[index] ?? "0")}`,
    bars: isAlone
  }
}
