/** Formats run events for `logs tail`, one line each, with fixed column widths. */
import { Schema } from "effect"
import { ListedRun, type RunStatus } from "../../../schema/runs/Run.ts"
import { targetOf } from "./RunView.ts"
import type { ScreenShape, Style } from "../terminal/Screen.ts"
import type { Seen } from "./tail.ts"
import { cut, harmless, padEnd, padStart } from "../terminal/text.ts"
import { dollars, durationOf, timeOf } from "../terminal/values.ts"

const styles: Readonly<Record<RunStatus, Style>> = {
  created: "cyan",
  reserved: "cyan",
  queued: "cyan",
  running: "cyan",
  succeeded: "green",
  no_match: "yellow",
  failed: "red",
  timed_out: "red",
  blocked: "red",
  cancelled: "dim"
}

/** Columns of a terminal: the time of day, an id, the longest status, an amount such as $0.000012, 12.3 s. */
const widths = { time: 8, run: 30, status: 9, charged: 9, took: 7 }
const fixed = Object.values(widths).reduce((sum, width) => sum + width, 0)
const whatLeast = 12
const whatMost = 44
const providerLeast = 8
const providerMost = 16

/** The widths of target and provider. A narrow terminal omits the provider; ids are never truncated. */
const layoutOf = (columns: number) => {
  const room = columns - fixed - 2 * Object.keys(widths).length - 2
  if (room < whatLeast + providerLeast) {
    return { gap: 1, what: Math.max(whatLeast, columns - fixed - Object.keys(widths).length), provider: 0 }
  }
  const provider = Math.max(providerLeast, Math.min(providerMost, Math.floor(room / 3)))
  return { gap: 2, what: Math.min(whatMost, room - provider), provider }
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(ListedRun))

export const eventLine = ({ text, at }: Seen, screen: ScreenShape): string => {
  const event = decode(text)
  if (event._tag === "None") return harmless(text)
  const run = event.value
  const { gap, what, provider } = layoutOf(screen.width)
  const cell = (content: string | null, width: number) => padEnd(cut(harmless(content ?? "-"), width), width)
  return [
    screen.paint("dim", timeOf(new Date(at).toISOString()).slice(-widths.time)),
    padEnd(run.run_id, widths.run),
    screen.paint(styles[run.status], padEnd(run.status, widths.status)),
    cell(targetOf(run), what),
    ...(provider === 0 ? [] : [cell(run.provider, provider)]),
    padStart(dollars(run.billing.charged) ?? "-", widths.charged),
    padStart(run.done ? durationOf(run.timing.duration_ms) : "-", widths.took),
    ...(run.error === undefined || run.error.code === run.status ? [] : [harmless(run.error.code)])
  ].join(" ".repeat(gap))
}
