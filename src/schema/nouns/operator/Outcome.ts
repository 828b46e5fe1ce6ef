/** A call whose outcome nobody knows, and what was found out about it. */
import { Schema } from "effect"
import { withColumns } from "../../Columns.ts"
import { doubts, findings } from "../../catalog/Doubt.ts"
import { component, capability, endpoint, nullableText, org_id, provider, run_id, text, time } from "../Noun.ts"

export const UnknownOutcome = component("UnknownOutcome", {
  run_id,
  org_id,
  provider,
  capability: Schema.NullOr(capability),
  endpoint: Schema.NullOr(endpoint),
  why: Schema.Literals(doubts),
  provider_state: Schema.NullOr(text("JSON text of the job at the provider, if one is known.")),
  at: time,
  finding: Schema.NullOr(Schema.Literals(findings)),
  note: nullableText,
  found_at: Schema.NullOr(time),
  next_look: Schema.NullOr(time)
}).pipe(
  withColumns({
    list: ["at", "run_id", "org_id", "provider", "capability", "why", "provider_state", "finding", "next_look"],
    titles: {
      ...{ at: "When", org_id: "Organization", capability: "Of", provider_state: "Job at the provider" },
      next_look: "Next look-up"
    },
    instead: { capability: "endpoint" }
  })
)
export type UnknownOutcome = typeof UnknownOutcome.Type
