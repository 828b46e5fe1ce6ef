/** Decides the refund of a run that the warranty covers, and has its wallet's turn book it. A lost wake-up is harmless: the sweeper repeats it. */
import { Effect } from "effect"
import { WarrantyRefunds } from "../../layers/warranty/WarrantyRefunds.ts"
import { type Covered, warrantyReference } from "../../schema/wallet/Warranty.ts"
import { encodeCredit } from "../mailbox/Commands.ts"

export interface Bounced {
  readonly org_id: string
  readonly run_id: string
  readonly cover: Covered
  readonly send_run: string | null
  readonly note: string
}

export const makeDecideRefund = Effect.map(
  WarrantyRefunds,
  (refunds) =>
    ({ org_id, run_id, cover: { amount }, send_run, note }: Bounced) => {
      const reference = warrantyReference(run_id)
      const payload = encodeCredit({
        type: "refund",
        amount,
        reference,
        note: `outcome warranty: an address bounced that ${run_id} called valid`
      })
      return refunds.decide({ org_id, run_id, amount, send_run, note, command_id: reference, payload })
    }
)
