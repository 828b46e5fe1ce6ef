/** Events of a wallet, from its ledger entries. */
import { usd } from "../money/Money.ts"
import type { EntryType } from "../wallet/Wallet.ts"
import type { NewEvent } from "./Event.ts"

export interface EntryFacts {
  readonly txn_id: string
  readonly type: EntryType
  readonly amount: bigint
  readonly balance_after: bigint
  readonly reserved_after: bigint
  readonly reference: string
  readonly created_at: Date
}

/**
 * Null for a hold and its release: they leave the balance as it is, and every paid run has them. `next` is the entry after this one. If it
 * releases the rest of this run's hold, the amounts after it are shown.
 */
export const walletChanged = (entry: EntryFacts, next: EntryFacts | undefined): NewEvent | null => {
  const { txn_id, type, amount, reference, created_at } = entry
  const isRest = type === "settle" && next?.type === "release" && next.reference === reference
  const { balance_after, reserved_after } = isRest ? next : entry
  if (type === "reserve" || type === "release") return null
  return {
    kind: "wallet.changed",
    run_id: null,
    step: null,
    happened_at: created_at,
    data: {
      balance: usd(balance_after),
      reserved: usd(reserved_after),
      available: usd(balance_after - reserved_after),
      transaction: { id: txn_id, type, amount: usd(amount), reference }
    }
  }
}
