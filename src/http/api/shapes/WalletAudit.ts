/** The contract of a wallet's audit: the caller's balance and holds, recomputed from the ledger. */
import { Schema } from "effect"

const Sums = Schema.Struct({
  topup: Schema.String,
  bonus: Schema.String,
  refund: Schema.String,
  settle: Schema.String,
  reserve: Schema.String,
  release: Schema.String
})

export const WalletAudit = Schema.Struct({
  currency: Schema.Literal("USD"),
  adds_up: Schema.Boolean,
  entries: Schema.Number,
  /** Signed sums by type of entry. */
  sums: Sums,
  balance: Schema.String,
  balance_from_ledger: Schema.String,
  reserved: Schema.String,
  reserved_from_ledger: Schema.String,
  head: Schema.NullOr(Schema.Struct({ seq: Schema.Number, hash: Schema.String })),
  chain_verified: Schema.Boolean,
  violations: Schema.Array(
    Schema.Struct({ equation: Schema.String, subject: Schema.String, detail: Schema.String }).annotate({
      identifier: "Violation"
    })
  ),
  checked_at: Schema.String,
  last_full_check: Schema.NullOr(Schema.Struct({ checked_at: Schema.String, adds_up: Schema.Boolean }))
}).annotate({ identifier: "WalletAudit" })

export const walletAuditDescription =
  "Recomputed from the ledger, not read from the wallet: balance_from_ledger is the sum of topup, bonus, refund and settle; reserved_from_ledger is settle - reserve - release. Each entry's hash covers the entry and the hash before it; chain_verified says that all hashes were computed again and match. Keep head: while later audits show the same hash for that entry, no entry up to it was changed. violations lists what does not add up, with amounts in microdollars. All values are as of checked_at, which for a very long ledger is at most a few minutes ago. last_full_check is the operator's own audit of all wallets; null before the first."
