/** A dispute as the API and the operator's commands show it, and the warranty of a run. */
import type { Standing } from "../../actors/warranty/Warranties.ts"
import type { DisputeRow } from "../../layers/warranty/Disputes.ts"
import { MicroUsd, usd } from "../../schema/money/Money.ts"
import { warrantyReference } from "../../schema/wallet/Warranty.ts"
import type { Dispute, RunWarranty } from "../api/control/Disputes.ts"

export const disputeView = (row: DisputeRow): Dispute => ({
  run_id: row.run_id,
  reason: "bounced",
  evidence: row.evidence,
  state: row.state,
  note: row.note,
  refund: row.amount === null ? null : usd(MicroUsd(row.amount)),
  reference: row.amount === null ? null : warrantyReference(row.run_id),
  ask_after: row.ask_after?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  decided_at: row.decided_at?.toISOString() ?? null
})

export const warrantyView = (standing: Standing | null): typeof RunWarranty.Type | null =>
  standing === null
    ? null
    : {
        until: standing.until?.toISOString() ?? null,
        dispute: standing.dispute === null ? null : disputeView(standing.dispute)
      }
