/** Says how a dispute stands, for a terminal. Loaded on demand, because it imports the API contract. */
import { Dispute } from "../../api/Disputes.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { harmless } from "../terminal/text.ts"

const stateWords: Readonly<Record<Dispute["state"], string>> = {
  refunded: "refunded",
  pending: "not decided yet",
  not_bounced: "not refunded",
  refused: "refused by the operator"
}

export const disputeLines = (text: string): Lines | null => {
  const dispute = decoded(Dispute, text)
  if (dispute === null) return null
  const amount =
    dispute.refund === null ? "" : ` $${dispute.refund} (ledger entry ${harmless(dispute.reference ?? "")})`
  const later =
    dispute.ask_after === null ? [] : [`The provider is asked again if you dispute the run after ${dispute.ask_after}.`]
  return [`${harmless(dispute.run_id)}: ${stateWords[dispute.state]}${amount}`, harmless(dispute.note), ...later]
}
