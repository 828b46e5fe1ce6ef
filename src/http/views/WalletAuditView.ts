/** Shows the audit of a wallet to its owner. */
import type { LastCheck } from "../../layers/audit/Audit.ts"
import type { WalletAudit } from "../../layers/audit/wallet.ts"
import { usd } from "../../schema/money/Money.ts"

export const walletAuditView = (audited: WalletAudit, last: LastCheck | null) => ({
  currency: "USD" as const,
  adds_up: audited.violations.length === 0,
  entries: audited.entries,
  sums: {
    topup: usd(audited.topup),
    bonus: usd(audited.bonus),
    refund: usd(audited.refund),
    settle: usd(audited.settle),
    reserve: usd(audited.reserve),
    release: usd(audited.release)
  },
  balance: usd(audited.balance),
  balance_from_ledger: usd(audited.balance_from_ledger),
  reserved: usd(audited.reserved),
  reserved_from_ledger: usd(audited.reserved_from_ledger),
  head: audited.head === null ? null : { seq: Number(audited.head.seq), hash: audited.head.hash },
  chain_verified: audited.chain_verified,
  violations: audited.violations,
  checked_at: audited.checked_at.toISOString(),
  last_full_check: last === null ? null : { checked_at: last.checked_at.toISOString(), adds_up: last.adds_up }
})
