/** Draws usage for a terminal: a bar for each group, as long as its share of the largest. Loaded on demand, because it imports the API contract. */
import { type UsageItem, UsagePage } from "../../api/Usage.ts"
import { sum, usd, Usd } from "../../../schema/money/Money.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { type Column, table } from "../terminal/table.ts"
import { dollars } from "../terminal/values.ts"
import { Option, Schema } from "effect"

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

const decodeUsd = Schema.decodeUnknownOption(Usd)
const microsOf = (item: UsageItem) => Option.getOrThrow(decodeUsd(item.charged))

const without: Readonly<Record<string, string>> = { key: "(session)" }
const groupOf = (item: UsageItem, group: string): string => {
  const value: unknown = Reflect.get(item, group)
  if (typeof value === "string") return value === "" ? '""' : value
  return item.others === true && group.startsWith("metadata.") ? "(others)" : (without[group] ?? "(none)")
}

/** `by` is the value of `--by`. */
export const usageLines = (text: string, by: string, screen: ScreenShape): Lines | null => {
  const page = decoded(UsagePage, text)
  if (page === null) return null
  if (page.items.length === 0) return ["No runs."]
  const groups = by === "" ? [] : by.split(",").map((one) => one.trim())
  const charged = sum(page.items.map(microsOf))
  /** Bars show money, or runs where nothing was charged. */
  const sizeOf = (item: UsageItem) => (charged > 0n ? Number(microsOf(item)) : item.runs)
  const most = Math.max(...page.items.map(sizeOf))
  // Days stay in their order; other groups begin with the largest.
  const rows = groups.includes("day") ? page.items : [...page.items].sort((a, b) => sizeOf(b) - sizeOf(a))
  const columns: ReadonlyArray<Column<UsageItem>> = [
    ...groups.map((group) => ({
      title: group.toUpperCase(),
      of: (item: UsageItem) => groupOf(item, group),
      least: group === "key" ? keyIdWidth : 10
    })),
    { title: "RUNS", of: (item) => item.runs, right: true },
    { title: "SUCCEEDED", of: (item) => item.succeeded, right: true, dropped: 2 },
    { title: "NO MATCH", of: (item) => item.no_match, right: true, dropped: 1 },
    { title: "FAILED", of: (item) => item.failed, right: true, dropped: 3 },
    { title: "CHARGED", of: (item) => dollars(item.charged), right: true },
    { title: " ".repeat(barWidth), of: (item) => barOf(sizeOf(item), most) || " ", dropped: 4 }
  ]
  const runs = page.items.reduce((all, item) => all + item.runs, 0)
  const total = `${runs} ${runs === 1 ? "run" : "runs"}, ${dollars(usd(charged))} charged`
  const { reused } = page
  const saved =
    reused === undefined
      ? []
      : [screen.paint("dim", `${reused.runs} of them reused a result, ${dollars(reused.saved)} saved`)]
  const drawn = table(rows, columns, screen.width, (line) => screen.paint("bold", line))
  return [...drawn, "", screen.paint("dim", total), ...saved]
}
