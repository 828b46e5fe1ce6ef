/** `rungate usage`: counts and charges of runs in groups, with bars at a terminal: each as long as its share of the largest. */
import { Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"
import { sum, usd, Usd } from "../../../schema/money/Money.ts"
import { UsageItem, UsagePage } from "../../../schema/nouns/Usage.ts"
import { UsageApi } from "../../api/Usage.ts"
import { drawn, nounColumns, tableLines } from "../answers/draw.ts"
import { rowWith, type Shown } from "../answers/row.ts"
import type { Lines } from "../answers/show.ts"
import { bad } from "../terminal/exits.ts"
import { between, required, optional } from "../terminal/flags.ts"
import { dollars } from "../terminal/values.ts"

const dayMillis = 86_400_000
/** The longest period of the API. */
const daysMost = 400
const barWidth = 24
/** Ids of keys that were created on one day begin alike, so they are not truncated. */
const keyIdWidth = 30
/** Eighths of a character. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** A bar of up to `barWidth` characters. Every amount above zero is visible. */
export const barOf = (part: number, most: number): string => {
  if (part <= 0 || most <= 0) return ""
  const units = Math.max(1, Math.round((part / most) * barWidth * 8))
  return "█".repeat(Math.floor(units / 8)) + (eighths[units % 8] ?? "")
}

type Item = typeof UsageItem.Encoded
const decodeUsd = Schema.decodeUnknownOption(Usd)
const microsOf = (item: Item) => Option.getOrThrow(decodeUsd(item.charged))

const without: Readonly<Record<string, string>> = { key: "(session)" }
const groupOf = (item: Item, group: string): string => {
  const value: unknown = Reflect.get(item, group)
  if (typeof value === "string") return value === "" ? '""' : value
  return item.others === true && group.startsWith("metadata.") ? "(others)" : (without[group] ?? "(none)")
}

const usageLines = ({ items, reused }: typeof UsagePage.Encoded, shown: Shown): Lines => {
  if (items.length === 0) return ["No runs."]
  const by = String(shown.fields["group_by"])
  const groups = by === "" ? [] : by.split(",").map((one) => one.trim())
  const charged = sum(items.map(microsOf))
  /** Bars show money, or runs where nothing was charged. */
  const sizeOf = (item: Item) => (charged > 0n ? Number(microsOf(item)) : item.runs)
  const most = Math.max(...items.map(sizeOf))
  // Days stay in their order; other groups begin with the largest.
  const rows = groups.includes("day") ? items : [...items].sort((a, b) => sizeOf(b) - sizeOf(a))
  const table = tableLines(
    rows,
    [
      ...groups.map((group) => ({
        title: group.toUpperCase(),
        of: (item: Item) => groupOf(item, group),
        least: group === "key" ? keyIdWidth : 10
      })),
      ...nounColumns(UsageItem, {}, shown.now),
      { title: " ".repeat(barWidth), of: (item) => barOf(sizeOf(item), most) || " ", dropped: 4 }
    ],
    shown
  )
  const runs = items.reduce((all, item) => all + item.runs, 0)
  const total = `${runs} ${runs === 1 ? "run" : "runs"}, ${dollars(usd(charged))} charged`
  const saved = reused === undefined ? [] : [`${reused.runs} of them reused a result, ${dollars(reused.saved)} saved`]
  return [...table, "", ...[total, ...saved].map((line) => shown.screen.paint("dim", line))]
}

export const usage = rowWith(
  UsageApi.endpoints.get,
  {
    days: optional(between("days", 1, daysMost, `the last days up to today, 1 to ${daysMost}; default: 30`))
  },
  Effect.fnUntraced(function* ({ days }, { fields: { from, to }, now }) {
    if (days === null) return {}
    if (from !== undefined || to !== undefined) return yield* bad("Give either --days, or --from and --to.")
    // A time, because the service knows in whose time zone its day is.
    return { from: new Date(now - (days - 1) * dayMillis).toISOString() }
  }),
  {
    about: "Show how many runs there were and what they cost, in groups",
    lists: "whole",
    csv: true,
    fields: {
      group_by: required(
        "by",
        "up to two of day, capability, provider, key, endpoint, status and metadata.<name>, separated by a comma; default: day"
      ).pipe(Flag.withDefault("day")),
      from: "the first day, such as 2026-11-01",
      to: "the last day"
    },
    examples: {
      "rungate usage --days 7": "The last week, day by day",
      "rungate usage --by capability,status": "What was run, and how it ended",
      "rungate usage --by metadata.campaign --csv": "For a spreadsheet"
    },
    show: drawn(UsagePage, usageLines)
  }
)
