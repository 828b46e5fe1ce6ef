/** The contract of disputes of the outcome warranty, as the operator of the service sees and decides them. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { OperatorDispute } from "../../../schema/nouns/Dispute.ts"
import { pagesWith } from "../shapes/Common.ts"
import { Note, orgFilter } from "./Fields.ts"
import { forOperators } from "./OperatorAuth.ts"
import { component } from "../../../schema/nouns/Noun.ts"

const DisputeDecision = component("DisputeDecision", {
  note: Note.annotate({ description: "Why. The organization reads it." })
})

const decision = {
  payload: DisputeDecision,
  success: OperatorDispute,
  error: [Wire.not_found]
} as const

export class OperatorDisputesApi extends HttpApiGroup.make("operatorDisputes").add(
  forOperators(
    "List disputes of the outcome warranty",
    "Oldest first. Those that wait for a decision; with decided=true, all.",
    "admin disputes"
  ).get("list", "/operator/disputes", {
    ...pagesWith(OperatorDispute, {
      ...orgFilter,
      decided: Schema.optionalKey(Schema.Literals(["true", "false"]))
    })
  }),
  forOperators(
    "Refund a disputed run",
    "The whole charge, once, within the operator's share of revenue. A worker books it.",
    "admin disputes accept"
  ).post("accept", "/operator/disputes/:run_id/accept", decision),
  forOperators(
    "Refuse a dispute",
    "No provider is asked about it any more. It can still be accepted.",
    "admin disputes refuse"
  ).post("refuse", "/operator/disputes/:run_id/refuse", decision)
) {}
