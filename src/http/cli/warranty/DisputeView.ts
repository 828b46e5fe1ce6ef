/** Says how a dispute stands, for a terminal. Loaded on demand, because it imports the API contract. */
import { Dispute } from "../../api/control/Disputes.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { harmless } from "../terminal/text.ts"

const stateWords: Readonly<Record<Dispute["state"], string>> = {
  refunded: "refunded",
  pending: "not decided yet",
  not_bounced: "not refunded",
  refused: "refused by the operator"
}

export const disputeLines = (text: string): Lines | null => {
  const found = decoded(Dispute, text)
  if (found === null) return null
  const amount = found.refund === null ? "" : ` $${found.refund} (ledger entry ${harmless(found.reference ?? "")})`
  const later =
    found.ask_after === null ? [] : [`The provider is asked again if you dispute the run after ${found.ask_after}.`]
  return [`${harmless(found.run_id)}: ${stateWords[found.state]}${amount}`, harmless(found.note), ...later]
}
