/** The migrations in order. An old one is never edited; a new one is a file and a line. */
import { accounts } from "./0001_accounts.ts"
import { money } from "./0002_money.ts"
import { runs } from "./0003_runs.ts"
import { health } from "./0004_health.ts"
import { catalog } from "./0005_catalog.ts"
import { jobs } from "./0006_jobs.ts"
import { ownership } from "./0007_ownership.ts"
import { chain } from "./0008_chain.ts"
import { payments } from "./0009_payments.ts"
import { referrals } from "./0010_referrals.ts"
import { history } from "./0011_history.ts"
import { contacts } from "./0012_contacts.ts"
import { words } from "./0013_words.ts"
import { segments } from "./0014_segments.ts"
import { queue } from "./0015_queue.ts"
import { verification } from "./0016_verification.ts"
import { owners } from "./0017_owners.ts"
import { outcomes } from "./0018_outcomes.ts"
import { lanes } from "./0019_lanes.ts"
import { hold } from "./0020_hold.ts"
import { doors } from "./0021_doors.ts"
import { liveKeys } from "./0022_live_keys.ts"
import { lookups } from "./0023_lookups.ts"
import { damage } from "./0024_damage.ts"
import { room } from "./0025_room.ts"
import { laneCount } from "./0028_lane_count.ts"
import { upgrades } from "./0029_upgrades.ts"
import { providerChecks } from "./0030_provider_checks.ts"
import { costDrifts } from "./0031_cost_drifts.ts"
import { months } from "./0032_months.ts"
import { ledgerMonths } from "./0033_ledger_months.ts"
import { keyBudgets } from "./0034_key_budgets.ts"
import { runMetadata } from "./0035_run_metadata.ts"
import { usage } from "./0036_usage.ts"
import { events } from "./0037_events.ts"
import { members } from "./0038_members.ts"
import { auditLog } from "./0039_audit_log.ts"
import { offerOutcomes } from "./0040_offer_outcomes.ts"
import { alerts } from "./0042_alerts.ts"
import { webhooks } from "./0043_webhooks.ts"
import { batches } from "./0044_batches.ts"
import { keyBudgetAlerts } from "./0046_key_budget_alerts.ts"
import { webhookMails } from "./0047_webhook_mails.ts"
import { runLabels } from "./0048_run_labels.ts"
import { batchRetries } from "./0049_batch_retries.ts"
import { receiptKeys } from "./0050_receipt_keys.ts"
import { walletHeads } from "./0051_wallet_heads.ts"
import { firstRunKeys } from "./0053_first_run_keys.ts"
import { repeatGuard } from "./0054_repeat_guard.ts"
import { contactGuard } from "./0055_contact_guard.ts"
import { reuse } from "./0056_reuse.ts"
import { providerAccounts } from "./0057_provider_accounts.ts"
import { operatorSessions } from "./0060_operator_sessions.ts"
import { operatorChanges } from "./0061_operator_changes.ts"
import { oauth } from "./0064_oauth.ts"
import { usageSums } from "./0067_usage_sums.ts"
import { booksWatch } from "./0068_books_watch.ts"
import { warranty } from "./0069_warranty.ts"
import { allowances } from "./0070_allowances.ts"
import { allowanceChecks } from "./0071_allowance_checks.ts"
import { disputeAsks } from "./0072_dispute_asks.ts"
import { freeStorage } from "./0073_free_storage.ts"
import { keysFollowRole } from "./0075_keys_follow_role.ts"
import { ownersOfWrites } from "./0076_owners_of_writes.ts"
import { keyReads } from "./0077_key_reads.ts"
import { webhookProbes } from "./0078_webhook_probes.ts"
import { webhookSecrets } from "./0079_webhook_secrets.ts"
import { warrantyOwnShare } from "./0080_warranty_own_share.ts"
import { freeWithHold } from "./0081_free_with_hold.ts"
import { rowRules } from "./0083_row_rules.ts"

export const migrations = {
  "0001_accounts": accounts,
  "0002_money": money,
  "0003_runs": runs,
  "0004_health": health,
  "0005_catalog": catalog,
  "0006_jobs": jobs,
  "0007_ownership": ownership,
  "0008_chain": chain,
  "0009_payments": payments,
  "0010_referrals": referrals,
  "0011_history": history,
  "0012_contacts": contacts,
  "0013_words": words,
  "0014_segments": segments,
  "0015_queue": queue,
  "0016_verification": verification,
  "0017_owners": owners,
  "0018_outcomes": outcomes,
  "0019_lanes": lanes,
  "0020_hold": hold,
  "0021_doors": doors,
  "0022_live_keys": liveKeys,
  "0023_lookups": lookups,
  "0024_damage": damage,
  "0025_room": room,
  "0028_lane_count": laneCount,
  "0029_upgrades": upgrades,
  "0030_provider_checks": providerChecks,
  "0031_cost_drifts": costDrifts,
  "0032_months": months,
  "0033_ledger_months": ledgerMonths,
  "0034_key_budgets": keyBudgets,
  "0035_run_metadata": runMetadata,
  "0036_usage": usage,
  "0037_events": events,
  "0038_members": members,
  "0039_audit_log": auditLog,
  "0040_offer_outcomes": offerOutcomes,
  "0042_alerts": alerts,
  "0043_webhooks": webhooks,
  "0044_batches": batches,
  "0046_key_budget_alerts": keyBudgetAlerts,
  "0047_webhook_mails": webhookMails,
  "0048_run_labels": runLabels,
  "0049_batch_retries": batchRetries,
  "0050_receipt_keys": receiptKeys,
  "0051_wallet_heads": walletHeads,
  "0053_first_run_keys": firstRunKeys,
  "0054_repeat_guard": repeatGuard,
  "0055_contact_guard": contactGuard,
  "0056_reuse": reuse,
  "0057_provider_accounts": providerAccounts,
  "0060_operator_sessions": operatorSessions,
  "0061_operator_changes": operatorChanges,
  "0064_oauth": oauth,
  "0067_usage_sums": usageSums,
  "0068_books_watch": booksWatch,
  "0069_warranty": warranty,
  "0070_allowances": allowances,
  "0071_allowance_checks": allowanceChecks,
  "0072_dispute_asks": disputeAsks,
  "0073_free_storage": freeStorage,
  "0075_keys_follow_role": keysFollowRole,
  "0076_owners_of_writes": ownersOfWrites,
  "0077_key_reads": keyReads,
  "0078_webhook_probes": webhookProbes,
  "0079_webhook_secrets": webhookSecrets,
  "0080_warranty_own_share": warrantyOwnShare,
  "0081_free_with_hold": freeWithHold,
  "0083_row_rules": rowRules
}
