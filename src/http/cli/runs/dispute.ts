/** `rungate runs dispute`: asks for the refund of a run whose address bounced, or shows how that stands. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { disputeReason } from "../../../schema/wallet/Warranty.ts"
import { columnsOf } from "../../../schema/Columns.ts"
import { Dispute } from "../../../schema/nouns/Dispute.ts"
import { DisputesApi } from "../../api/Disputes.ts"
import { drawn } from "../answers/draw.ts"
import { call } from "../answers/operation.ts"
import { shownAs } from "../answers/row.ts"
import { json } from "../answers/show.ts"
import { argument, oneOf, text, withExamples } from "../terminal/flags.ts"
import { harmless } from "../terminal/text.ts"

const words = columnsOf(Dispute).words["state"]

const show = drawn(Dispute, ({ run_id, state, refund, reference, note, ask_after }) => {
  const amount = refund === null ? "" : ` $${refund} (ledger entry ${harmless(reference ?? "")})`
  const later = ask_after === null ? [] : [`The provider is asked again if you dispute the run after ${ask_after}.`]
  return [`${harmless(run_id)}: ${words?.[state]}${amount}`, harmless(note), ...later]
})

export const dispute = Command.make(
  "dispute",
  {
    run_id: argument("run_id", "the run of email.find or email.verify that called the address valid"),
    reason: oneOf("reason", [disputeReason], "what went wrong").pipe(Flag.withDefault("bounced")),
    evidence: text(
      "evidence",
      "your run that sent the message which bounced; or a text, and then the operator decides. Without it: how the dispute stands"
    ),
    json
  },
  Effect.fnUntraced(function* ({ run_id, reason, evidence, json }) {
    const { get, dispute } = DisputesApi.endpoints
    const params = { run_id }
    const answer = evidence === null ? call(get, { params }) : call(dispute, { params, payload: { reason, evidence } })
    yield* shownAs(show, yield* answer, { json })
  })
).pipe(
  Command.withDescription("Ask for the refund of a run whose address bounced (outcome warranty)"),
  withExamples({
    "rungate runs dispute run_… --reason bounced --evidence run_…":
      "The second run is the e-mail to the address that the first one called valid",
    "rungate runs dispute run_…": "How the dispute stands"
  })
)
