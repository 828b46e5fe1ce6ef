/** `rungate admin unknown` and `disputes`: outcomes that the operator finds out or decides. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { OperatorDispute } from "../../schema/nouns/Dispute.ts"
import { UnknownOutcome } from "../../schema/nouns/operator/Outcome.ts"
import { OperatorDisputesApi } from "../api/operator/Disputes.ts"
import { OperatorOutcomesApi } from "../api/operator/Outcomes.ts"
import { drawn, listed } from "../cli/answers/draw.ts"
import { row, rowWith } from "../cli/answers/row.ts"
import { boolean, text } from "../cli/terminal/flags.ts"
import { bad } from "../cli/terminal/exits.ts"
import { when } from "./output.ts"
import { shortened } from "../../schema/json/StorableText.ts"

const { endpoints: outcomes } = OperatorOutcomesApi
const { endpoints: disputed } = OperatorDisputesApi

const org_id = text("org", "only runs of this organization")
/** `--all` lists what is done too, so these lists have no flag for all pages. */
const all = (description: string) => boolean("all", description).pipe(Flag.map((all) => (all ? "true" : null)))
const limited = { lists: "limited", items: "runs" } as const
const more = "a higher --limit"

const resolve = rowWith(
  outcomes.resolve,
  {
    delivered: boolean("delivered", "the provider executed the call"),
    not_delivered: boolean("not-delivered", "the provider did not execute the call")
  },
  ({ delivered, not_delivered }) =>
    delivered === not_delivered
      ? bad("Give exactly one of --delivered and --not-delivered.")
      : Effect.succeed({ finding: delivered ? "delivered" : "not_delivered" }),
  {
    about: "Record the outcome of a call. The run's hints show it to the organization; no money moves",
    fields: { run_id: "run id, as admin unknown lists it", note: "how you found out", finding: false },
    show: drawn(UnknownOutcome, ({ run_id, org_id, finding, found_at }) => [
      `recorded: ${run_id} of ${org_id} was ${finding} (${when(found_at)}); no money moved`
    ])
  }
)

export const unknown = row(outcomes.list, {
  ...limited,
  about: "List calls with an unknown outcome, newest first",
  fields: { org_id, resolved: all("include resolved ones") },
  show: listed(UnknownOutcome, "No call has an unknown outcome.", undefined, {
    more,
    next: 'The service checks calls with a next look-up by itself. Check the others in the provider\'s account, then run: rungate admin unknown resolve <run_id> --delivered|--not-delivered --note "…"'
  })
}).pipe(Command.withSubcommands([resolve]))

/** A table cell. `--json` shows the whole text. */
const cellLengthMax = 60
const cell = (given: string | null) => (given === null ? null : shortened(given, cellLengthMax))

const deciding = (operation: typeof disputed.accept | typeof disputed.refuse, about: string) =>
  row(operation, {
    about,
    fields: { run_id: "run id, as admin disputes lists it", note: "reason; the organization sees it in its dispute" },
    show: drawn(OperatorDispute, ({ state, run_id, org_id, refund }) => [
      `${state}: ${run_id} of ${org_id}, refund ${refund ?? "0.00"} USD`
    ])
  })

export const disputes = row(disputed.list, {
  ...limited,
  about: "List disputes of the outcome warranty that wait for your decision, oldest first",
  fields: { org_id, decided: all("include those that were decided") },
  show: listed(
    OperatorDispute,
    "There are no such disputes.",
    { evidence: (row) => cell(row.evidence), note: (row) => cell(row.note) },
    { more, next: 'Decide one with: rungate admin disputes accept|refuse <run_id> --note "…"' }
  )
}).pipe(
  Command.withSubcommands([
    deciding(disputed.accept, "Refund a disputed run, within RUNGATE_WARRANTY_SHARE"),
    deciding(disputed.refuse, "Refuse a dispute. A bounce that a provider confirms later is refunded all the same")
  ])
)
