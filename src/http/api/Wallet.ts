/** The contract of the wallet: balance, ledger, top-up, spend guard (specification 2.8, 2.9, 4.12). */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { operation, optional, pagesWith, reads, readsOwn } from "./shapes/Common.ts"
import { contactDaysMax } from "../../schema/guards/ContactGuard.ts"
import { Usd } from "../../schema/money/Money.ts"
import { ZoneName } from "../../schema/money/TimeZone.ts"
import { entryTypes } from "../../schema/wallet/Wallet.ts"
import { periodQuery } from "./shapes/RunQuery.ts"
import { SpendGuard, Transaction, Wallet, WalletAudit } from "../../schema/nouns/Wallet.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"

const walletAuditDescription =
  "Recomputed from the ledger, not read from the wallet: balance_from_ledger is the sum of topup, bonus, refund and settle; reserved_from_ledger is settle - reserve - release. Each entry's hash covers the entry and the hash before it; chain_verified says that all hashes were computed again and match. Keep head: while later audits show the same hash for that entry, no entry up to it was changed. violations lists what does not add up, with amounts in microdollars. All values are as of checked_at, which for a very long ledger is at most a few minutes ago. last_full_check is the operator's own audit of all wallets; null before the first."

export const SpendGuardRequest = component("SpendGuardRequest", {
  // Null removes the limit. Leaving the field out changes nothing.
  per_run_limit: optional(Usd),
  daily_limit: optional(Usd),
  low_balance: optional(Usd),
  time_zone: Schema.optionalKey(ZoneName),
  contact_guard_days: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: contactDaysMax })))
}).pipe(withExample({ per_run_limit: "1.00" }))

export class WalletApi extends HttpApiGroup.make("wallet").add(
  readsOwn(
    "Read the wallet",
    "balance is the organization's money, reserved the part that unfinished runs hold, available the rest. A key that reads its own runs only, and the key of an allowance, get their budget instead.",
    "wallet"
  ).get("get", "/wallet", { success: Wallet }),
  reads(
    "List ledger entries",
    "Newest first, of one type, one run or one time if you ask for that. balance_after is the balance after each entry. With `Accept: text/csv` the answer is CSV: all rows up to 10,000 or `limit`, and a `Link` header if there are more.",
    "wallet transactions"
  ).get("transactions", "/wallet/transactions", {
    ...pagesWith(Transaction, {
      ...periodQuery,
      type: Schema.optionalKey(Schema.Literals(entryTypes)),
      run_id: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
    })
  }),
  reads("Audit the wallet", walletAuditDescription, "wallet audit").get("audit", "/wallet/audit", {
    success: WalletAudit
  }),
  reads(
    "Read the spend guard",
    "Returns the limit per run and per day, what was spent today, and the balance below which you are told. null means no limit, and no alert.",
    "spend-guard"
  ).get("guard", "/spend-guard", { success: SpendGuard }),
  operation(
    { role: "admin", keys: "changes", command: "spend-guard set" },
    "Set the spend guard",
    "A field that is left out does not change; null removes the limit. An API key may set a missing limit or lower one. Raising or removing one needs a session token. A balance below low_balance causes the event wallet.low and an e-mail. A run that would contact somebody whom the organization has contacted within contact_guard_days is blocked. time_zone is a name of the IANA list. The day, week and month of the change keep their end, and the next ones are days of the new zone. A session changes it once a month, and may correct it on the same day."
  ).post("setGuard", "/spend-guard", {
    payload: SpendGuardRequest,
    success: SpendGuard
  })
) {}
