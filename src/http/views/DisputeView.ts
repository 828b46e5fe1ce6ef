/** A dispute as the API and the operator's commands show it. */
import type { DisputeRow } from "../../layers/warranty/Disputes.ts"
import { MicroUsd, usd } from "../../schema/money/Money.ts"
import { warrantyReference } from "../../schema/wallet/Warranty.ts"
import type { Dispute } from "../api/control/Disputes.ts"

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
