/** The contract of calls whose outcome nobody knows, and of what an operator finds out about them. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { findings } from "../../../schema/catalog/Doubt.ts"
import { Wire } from "../../../schema/Errors.ts"
import { UnknownOutcome } from "../../../schema/nouns/operator/Outcome.ts"
import { pagesWith } from "../shapes/Common.ts"
import { Note, orgFilter } from "./Fields.ts"
import { forOperators } from "./OperatorAuth.ts"
import { component } from "../../../schema/nouns/Noun.ts"

export class OperatorOutcomesApi extends HttpApiGroup.make("operatorOutcomes").add(
  forOperators(
    "List calls with an unknown outcome",
    "Newest first. The service looks up those with next_look by itself.",
    "admin unknown"
  ).get("list", "/operator/unknown-outcomes", {
    ...pagesWith(UnknownOutcome, {
      ...orgFilter,
      resolved: Schema.optionalKey(Schema.Literals(["true", "false"]))
    })
  }),
  forOperators(
    "Record the outcome of a call",
    "The run's hints show it to the organization. No money moves, and the call is not repeated. A finding is recorded once.",
    "admin unknown resolve"
  ).post("resolve", "/operator/unknown-outcomes/:run_id/resolve", {
    payload: component("ResolveOutcomeRequest", {
      finding: Schema.Literals(findings),
      note: Note.annotate({ description: "How you found out." })
    }),
    success: UnknownOutcome,
    error: [Wire.not_found]
  })
) {}
