/** Formats runs for a terminal. Loaded on demand, because it imports the API contract. */
import type { Schema } from "effect"
import { Attempt, isFinal } from "../../../schema/runs/Run.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { facts } from "../terminal/table.ts"
import { cliHints } from "../answers/commands.ts"
import { factLines, nounFacts, nounTable, type Paper } from "../answers/draw.ts"
import { sentenceFor } from "../answers/problems.ts"
import { harmless, harmlessLines } from "../terminal/text.ts"
import { dollars, durationOf } from "../terminal/values.ts"
import { Run } from "../../../schema/nouns/Run.ts"

type Run = typeof Run.Type

export const targetOf = (run: Pick<Run, "capability" | "endpoint" | "provider" | "attempts">): string =>
  run.capability ?? `${run.provider ?? run.attempts[0]?.provider ?? ""} ${run.endpoint ?? ""}`.trim()

const isScalar = (value: Schema.Json): value is string | number | boolean | null =>
  value === null || typeof value !== "object"

/** A result: scalar values as lines, nested values as JSON. */
const resultLines = (result: Schema.Json, screen: Paper["screen"]): Lines => {
  const bold = (text: string) => screen.paint("bold", text)
  const nested = (value: Schema.Json) => harmlessLines(JSON.stringify(value, null, 2)).split("\n")
  if (isScalar(result)) return harmlessLines(String(result)).split("\n")
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
    ...long.flatMap(([name, value]) => [bold(harmless(name)), ...nested(value)])
  ]
}

/** One run with its result. `quiet` prints only the result. */
export const runLines = (text: string, screen: Paper["screen"], quiet: boolean): Lines | null => {
  const run = decoded(Run, text)
  if (run === null) return null
  const result = run.result === undefined ? [] : resultLines(run.result, screen)
  if (quiet) return result
  const cells = {
    capability: targetOf,
    metadata: ({ metadata = {} }: Run) =>
      Object.entries(metadata)
        .map((pair) => pair.join("="))
        .join(", "),
    error: ({ error }: Run) => (error === undefined ? null : `${error.code}: ${sentenceFor(error)}`)
  }
  const head = factLines(nounFacts(Run, run, { now: 0 }, cells), { screen })
  const attempts = run.attempts.length === 0 ? [] : ["", ...nounTable(Attempt, run.attempts, { screen, now: 0 })]
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
