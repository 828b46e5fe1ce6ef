/** `rungate admin unknown` and `disputes`: outcomes that the operator finds out or decides. */
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorDispute } from "../../schema/nouns/Dispute.ts"
import { UnknownOutcome } from "../../schema/nouns/operator/Outcome.ts"
import { boolean, text } from "../cli/terminal/flags.ts"
import { ask, list, setOnly } from "./ask.ts"
import { json, limitOf } from "./flags.ts"
import { bad, print, when } from "./output.ts"

const org = text("org", "only runs of this organization")
const limit = limitOf("runs", 50)
const runId = (command: string) =>
  Argument.String("run_id").pipe(Argument.withDescription(`run id, as admin ${command} lists it`))

const resolve = Command.make(
  "resolve",
  {
    run_id: runId("unknown"),
    delivered: boolean("delivered", "the provider executed the call"),
    not_delivered: boolean("not-delivered", "the provider did not execute the call"),
    note: Flag.String("note").pipe(Flag.withDescription("how you found out")),
    json
  },
  Effect.fnUntraced(function* ({ run_id, delivered, not_delivered, note, json }) {
    if (delivered === not_delivered) return yield* bad("Give exactly one of --delivered and --not-delivered.")
    const payload = { finding: delivered ? "delivered" : "not_delivered", note } as const
    const row = yield* ask("operatorOutcomes", (outcomes) => outcomes.resolve({ params: { run_id }, payload }))
    yield* json
      ? print(row)
      : Console.log(`recorded: ${run_id} of ${row.org_id} was ${row.finding} (${when(row.found_at)}); no money moved`)
  })
).pipe(
  Command.withDescription("Record the outcome of a call. The run's hints show it to the organization; no money moves")
)

export const unknown = Command.make(
  "unknown",
  { org, all: boolean("all", "include resolved ones"), limit, json },
  ({ org, all, ...shown }) =>
    list(
      "operatorOutcomes",
      shown,
      (outcomes, page) =>
        outcomes.list({ query: { ...page, ...setOnly({ org_id: org }), resolved: all ? "true" : "false" } }),
      {
        none: "No call has an unknown outcome.",
        noun: UnknownOutcome,
        more: "More calls exist. Raise --limit",
        next: 'The service checks calls with a next look-up by itself. Check the others in the provider\'s account, then run: rungate admin unknown resolve <run_id> --delivered|--not-delivered --note "…"'
      }
    )
).pipe(Command.withDescription("List calls with an unknown outcome, newest first"), Command.withSubcommands([resolve]))

/** A table cell. `--json` shows the whole text. */
const cellLengthMax = 60
const cell = (given: string | null) =>
  given !== null && given.length > cellLengthMax ? `${given.slice(0, cellLengthMax - 1)}…` : given

const deciding = (decision: "accept" | "refuse", description: string) =>
  Command.make(
    decision,
    {
      run_id: runId("disputes"),
      note: Flag.String("note").pipe(Flag.withDescription("reason; the organization sees it in its dispute")),
      json
    },
    Effect.fnUntraced(function* ({ run_id, note, json }) {
      const row = yield* ask("operatorDisputes", (disputes) =>
        disputes[decision]({ params: { run_id }, payload: { note } })
      )
      yield* json
        ? print(row)
        : Console.log(`${row.state}: ${row.run_id} of ${row.org_id}, refund ${row.refund ?? "0.00"} USD`)
    })
  ).pipe(Command.withDescription(description))

export const disputes = Command.make(
  "disputes",
  { org, all: boolean("all", "include those that were decided"), limit, json },
  ({ org, all, ...shown }) =>
    list(
      "operatorDisputes",
      shown,
      (disputes, page) =>
        disputes.list({ query: { ...page, ...setOnly({ org_id: org }), decided: all ? "true" : "false" } }),
      {
        none: all ? "There is no dispute." : "No dispute waits for a decision.",
        noun: OperatorDispute,
        cells: { evidence: (row) => cell(row.evidence), note: (row) => cell(row.note) },
        more: "More disputes exist. Raise --limit",
        next: 'Decide one with: rungate admin disputes accept|refuse <run_id> --note "…"'
      }
    )
).pipe(
  Command.withDescription("List disputes of the outcome warranty that wait for your decision, oldest first"),
  Command.withSubcommands([
    deciding("accept", "Refund a disputed run, within RUNGATE_WARRANTY_SHARE"),
    deciding("refuse", "Refuse a dispute. A bounce that a provider confirms later is refunded all the same")
  ])
)
