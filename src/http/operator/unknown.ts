/**
 * Handlers of `rungate admin unknown`: list calls with an unknown outcome, and record an operator's finding.
 *
 * A finding is information only. It moves no money and never repeats the call.
 */
import { Console, Effect } from "effect"
import { asOperator, bad, firstOf, orgOf, onDatabase, plain, print, table, unknown as absent, when } from "./output.ts"
import { UnknownOutcomes } from "../../layers/runs/UnknownOutcomes.ts"
import type { Finding } from "../../schema/catalog/Doubt.ts"
import { outcomeView } from "../views/operator/OutcomeView.ts"

const noteLengthMax = 500

export interface UnknownFlags {
  readonly org: string | null
  readonly all: boolean
  readonly limit: number
  readonly json: boolean
}

export const unknownOutcomes = ({ org, all, limit, json }: UnknownFlags) =>
  Effect.gen(function* () {
    if (org !== null) yield* orgOf(org)
    const store = yield* UnknownOutcomes
    const { rows, more } = yield* firstOf(limit, (most) => store.list({ org_id: org, resolved: all }, most))
    if (json) return yield* print({ items: rows.map(outcomeView), more })
    if (rows.length === 0) return yield* Console.log("No call has an unknown outcome.")
    const cells = rows.map((row) => [
      when(row.at),
      row.run_id,
      row.org_id,
      row.provider,
      row.capability ?? row.endpoint ?? "",
      row.why,
      row.provider_state ?? "",
      row.finding ?? "",
      row.next_look === null ? "" : when(row.next_look)
    ])
    const head = [
      "at",
      "run",
      "organization",
      "provider",
      "of",
      "why",
      "job at the provider",
      "finding",
      "next look-up"
    ]
    yield* Console.log(table(head, cells).join("\n"))
    if (more) yield* Console.error(`More calls exist. Raise --limit (now ${limit}).`)
    yield* Console.error(
      'The service checks calls with a next look-up by itself. Check the others in the provider\'s account, then run: rungate admin unknown resolve <run_id> --delivered|--not-delivered --note "…"'
    )
  }).pipe(onDatabase)

export interface ResolveFlags {
  readonly run_id: string
  readonly delivered: boolean
  readonly not_delivered: boolean
  readonly note: string
  readonly json: boolean
}

export const resolve = ({ run_id, delivered, not_delivered, note, json }: ResolveFlags) =>
  Effect.gen(function* () {
    if (delivered === not_delivered) return yield* bad("Give exactly one of --delivered and --not-delivered.")
    if (note.trim() === "" || note.length > noteLengthMax)
      return yield* bad(`--note must say how you found out, in 1 to ${noteLengthMax} characters.`)
    const store = yield* UnknownOutcomes
    const finding: Finding = delivered ? "delivered" : "not_delivered"
    const done = yield* asOperator(store.resolve(run_id, finding, note.trim()))
    const row = yield* store.find(run_id)
    if (row === null)
      return yield* absent(`No run "${run_id}" has an unknown outcome. List those with: rungate admin unknown`)
    if (!done && row.finding !== finding)
      return yield* bad(
        `${run_id} was already recorded as ${row.finding} on ${when(row.found_at)} (${plain(row.note ?? "")}). Nothing was changed.`
      )
    yield* json
      ? print(outcomeView(row))
      : Console.log(
          `${done ? "recorded" : "already recorded"}: ${run_id} of ${row.org_id} was ${finding}; no money moved`
        )
  }).pipe(onDatabase)
