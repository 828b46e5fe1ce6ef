/** Formats runs for a terminal. Loaded on demand, because it imports the API contract. */
import type { Schema } from "effect"
import { isFinal } from "../../../schema/runs/Run.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { type Column, facts, table } from "../terminal/table.ts"
import { cliHints } from "../answers/commands.ts"
import { sentenceFor } from "../answers/problems.ts"
import { harmless, harmlessLines } from "../terminal/text.ts"
import { agoOf, dollars, durationOf, timeOf } from "../terminal/values.ts"
import { ListedRun, Run } from "../../../schema/nouns/Run.ts"
import { pageOf } from "../../../schema/nouns/Noun.ts"

type ListedRun = typeof ListedRun.Type

export const targetOf = (run: ListedRun): string =>
  run.capability ?? `${run.provider ?? run.attempts[0]?.provider ?? ""} ${run.endpoint ?? ""}`.trim()

const isScalar = (value: Schema.Json): value is string | number | boolean | null =>
  value === null || typeof value !== "object"

/** A result: scalar values as lines, nested values as JSON. */
const resultLines = (result: Schema.Json, screen: ScreenShape): Lines => {
  const bold = (text: string) => screen.paint("bold", text)
  const nested = (value: Schema.Json) => harmlessLines(JSON.stringify(value, null, 2)).split("\n")
  if (isScalar(result)) return [String(result)]
  if (Array.isArray(result)) return nested(result)
  const entries = Object.entries(result)
  const short = entries.filter(([, value]) => isScalar(value))
  const long = entries.filter(([, value]) => !isScalar(value))
  return [
    ...facts(
      short.map(([name, value]) => [name, value === null ? null : String(value)] as const),
      // Paid results are never truncated.
      Number.POSITIVE_INFINITY,
      bold
    ),
    ...long.flatMap(([name, value]) => [bold(name), ...nested(value)])
  ]
}

/** One run with its result. `quiet` prints only the result. */
export const runLines = (text: string, screen: ScreenShape, quiet: boolean): Lines | null => {
  const run = decoded(Run, text)
  if (run === null) return null
  const result = run.result === undefined ? [] : resultLines(run.result, screen)
  if (quiet) return result
  const head = facts(
    [
      ["run", run.run_id],
      ["status", run.status],
      [run.kind, targetOf(run)],
      ["provider", run.provider],
      ["charged", dollars(run.billing.charged)],
      ["quoted", dollars(run.billing.quoted)],
      ...(run.reused_from === undefined ? [] : [["reused from", run.reused_from] as const]),
      ...Object.entries(run.metadata ?? {}).map(([name, value]) => [name, value] as const),
      ["created", timeOf(run.created_at)],
      ["took", durationOf(run.timing.duration_ms)],
      ["routing", run.routing_reason],
      ...(run.error === undefined ? [] : [["error", `${run.error.code}: ${sentenceFor(run.error)}`] as const])
    ],
    screen.width,
    (name) => screen.paint("dim", name)
  )
  const attempts =
    run.attempts.length === 0
      ? []
      : [
          "",
          ...table(
            run.attempts,
            [
              { title: "ATTEMPT", of: (one) => one.provider },
              { title: "OUTCOME", of: (one) => one.outcome },
              { title: "TOOK", of: (one) => durationOf(one.duration_ms), right: true },
              { title: "DETAIL", of: (one) => one.detail, least: 10 }
            ],
            screen.width,
            (line) => screen.paint("bold", line)
          )
        ]
  const hints = cliHints(run).map(harmless)
  return [
    ...head,
    ...attempts,
    ...(result.length === 0 ? [] : ["", ...result]),
    ...(hints.length === 0 ? [] : ["", ...hints])
  ]
}

/** Whether `receipt` needs the hold from the ledger: a raw run holds more than its quote. */
export const needsHold = (text: string): string | null => {
  const run = decoded(Run, text)
  return run === null || run.kind !== "endpoint" || (run.billing.charged === null && isFinal(run.status))
    ? null
    : run.run_id
}

/**
 * The receipt: outcome, charge, hold, duration and run id in one line. `hold` is the amount that the ledger reserved for a raw
 * run; null when it is unknown. The hold of a capability run is its quote.
 */
export const receipt = (text: string, hold: string | null): string | null => {
  const run = decoded(Run, text)
  if (run === null) return null
  const held =
    hold !== null
      ? `${dollars(hold)} held`
      : `${dollars(run.billing.quoted)} ${run.kind === "endpoint" ? "quoted" : "held"}`
  const parts = [
    `${run.status}${run.provider === null ? "" : ` by ${run.provider}`}`,
    run.billing.charged === null
      ? isFinal(run.status)
        ? "nothing charged"
        : held
      : `charged ${dollars(run.billing.charged)} of ${held}`,
    durationOf(run.timing.duration_ms),
    run.run_id
  ]
  return parts.join("  ·  ")
}

const columns = (now: number): ReadonlyArray<Column<ListedRun>> => [
  { title: "RUN", of: (run) => run.run_id },
  { title: "STATUS", of: (run) => run.status },
  { title: "WHAT", of: targetOf, least: 12 },
  { title: "PROVIDER", of: (run) => run.provider, least: 8, dropped: 2 },
  { title: "CHARGED", of: (run) => dollars(run.billing.charged), right: true },
  { title: "TOOK", of: (run) => durationOf(run.timing.duration_ms), right: true, dropped: 1 },
  { title: "AGO", of: (run) => agoOf(new Date(run.created_at).getTime(), now), right: true }
]

const Page = pageOf(ListedRun)

/** `now` in milliseconds since 1970. */
export const listLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(Page, text)
  if (page === null) return null
  if (page.items.length === 0) return ["No runs."]
  const rows = table(page.items, columns(now), screen.width, (line) => screen.paint("bold", line))
  return page.next_cursor === null ? rows : [...rows, screen.paint("dim", `More: --cursor ${page.next_cursor}`)]
}
