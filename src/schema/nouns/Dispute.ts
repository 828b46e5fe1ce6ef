/** A dispute of the outcome warranty, and what the warranty says of a run. */
import { Schema } from "effect"
import { disputeReason, disputeStates } from "../wallet/Warranty.ts"
import { withColumns } from "../Columns.ts"
import { component, amount, org_id, run_id, time, withExample } from "./Noun.ts"

export const Dispute = component("Dispute", {
  run_id,
  reason: Schema.Literal(disputeReason),
  evidence: Schema.NullOr(Schema.String),
  state: Schema.Literals(disputeStates),
  note: Schema.String.annotate({ description: "how it stands, or what the provider or the operator said" }),
  refund: Schema.NullOr(amount).annotate({
    description: "USD that the wallet gets back; null unless state is refunded"
  }),
  reference: Schema.NullOr(Schema.String).annotate({ description: "the reference of the ledger's refund entry" }),
  ask_after: Schema.NullOr(time).annotate({
    description: "no provider is asked before this time; null if none was asked, or the dispute is decided"
  }),
  created_at: time,
  decided_at: Schema.NullOr(time)
}).pipe(
  withColumns({
    words: {
      state: {
        refunded: "Refunded",
        pending: "Not decided yet",
        not_bounced: "Not refunded: no bounce so far",
        refused: "Refused by the operator"
      }
    }
  }),
  withExample({
    run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
    reason: "bounced",
    evidence: "run_01m81pa2v3kx0m7ys3x5d4w9aq",
    state: "refunded",
    note: "Postmark reports HardBounce",
    refund: "0.003",
    reference: "warranty:run_01m81nzk95mq351g8pvrxgm8m4",
    ask_after: null,
    created_at: "2026-11-23T10:12:00.000Z",
    decided_at: "2026-11-23T10:12:01.000Z"
  })
)
export const disputeJson = Schema.encodeSync(Dispute)

export const OperatorDispute = component("OperatorDispute", { org_id, ...Dispute.fields }).pipe(
  withColumns({
    list: ["created_at", "run_id", "org_id", "state", "refund", "evidence", "note"],
    titles: { created_at: "When", org_id: "Organization" }
  })
)

/** What details of a run say of the warranty. */
export const RunWarranty = component("RunWarranty", {
  until: Schema.NullOr(time).annotate({
    description: "the run can be disputed until then; null if it can't be, or can't any more"
  }),
  dispute: Schema.NullOr(Dispute)
}).pipe(withExample({ until: "2026-11-29T09:30:00.215Z", dispute: null }))
export type RunWarranty = typeof RunWarranty.Type
