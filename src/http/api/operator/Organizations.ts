/** The contract of what an operator sees and changes of organizations: wallet, limits, people, keys, credits and refunds. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { Usd } from "../../../schema/money/Money.ts"
import { RemovedFactors } from "../../../schema/nouns/Member.ts"
import { component, org_id, withExample } from "../../../schema/nouns/Noun.ts"
import {
  OperatorCredit,
  OperatorKey,
  OperatorOrganization,
  OperatorOrganizationDetail,
  OperatorSpendGuard
} from "../../../schema/nouns/operator/Organization.ts"
import { optional, pagesWith } from "../shapes/Common.ts"
import { WalletAudit } from "../../../schema/nouns/Wallet.ts"
import { Note, Word } from "./Fields.ts"
import { forOperators } from "./OperatorAuth.ts"

const CreditRequest = component("OperatorCreditRequest", {
  type: OperatorCredit.fields.type,
  amount: Usd,
  note: Note.annotate({
    description: "The reason. The organization sees it in its ledger."
  }),
  // Signals and log lines contain it, so it is a short word.
  reference: Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9._:/-]{1,100}$/u, {
      message: "must be 1 to 100 characters: letters, digits or any of . _ : / -"
    }).abort(),
    Schema.isMaxLength(100)
  ).annotate({ description: "The same type and reference are booked once for an organization." })
}).pipe(withExample({ type: "refund", amount: "5.00", note: "Two runs failed on our side.", reference: "ticket-1842" }))

export const ResumedWallet = component("OperatorResumedWallet", {
  org_id,
  suspended: Schema.Literal(false),
  already: Schema.Boolean.annotate({ description: "True if the wallet was not suspended, so nothing was changed." })
})

export class OperatorOrganizationsApi extends HttpApiGroup.make("operatorOrganizations").add(
  forOperators(
    "List organizations",
    "Newest first, with their wallets and what they did today: charges on the day of their time zone, runs on that of UTC.",
    "admin orgs"
  ).get("list", "/operator/organizations", {
    ...pagesWith(OperatorOrganization, { search: Schema.optionalKey(Word) })
  }),
  forOperators(
    "Read an organization",
    "Wallet, limits, people, keys, payments, ledger and open runs, of one moment.",
    "admin show"
  ).get("get", "/operator/organizations/:org_id", { success: OperatorOrganizationDetail, error: [Wire.not_found] }),
  forOperators(
    "Audit an organization's wallet",
    "What its members get from GET /v1/wallet/audit, and why commands were dead-lettered.",
    "admin show"
  ).get("audit", "/operator/organizations/:org_id/audit", { success: WalletAudit, error: [Wire.not_found] }),
  forOperators(
    "Credit or refund an organization",
    "Adds money to the wallet. A repeated request with the same reference books nothing again.",
    "admin credit"
  ).post("credit", "/operator/organizations/:org_id/credits", {
    payload: CreditRequest,
    success: OperatorCredit,
    error: [Wire.not_found, Wire.service_unavailable]
  }),
  forOperators(
    "Set an organization's spend guard",
    "A field that is left out does not change; null removes the limit."
  ).post("setGuard", "/operator/organizations/:org_id/spend-guard", {
    payload: component("OperatorSpendGuardRequest", {
      per_run_limit: optional(Usd),
      daily_limit: optional(Usd)
    }),
    success: OperatorSpendGuard,
    error: [Wire.not_found, Wire.service_unavailable]
  }),
  forOperators(
    "Resume an organization's suspended wallet",
    "Checks its books. If they add up, the wallet takes new runs at once. Otherwise the answer names violations, and the wallet stays suspended.",
    "admin resume"
  ).post("resume", "/operator/organizations/:org_id/resume", {
    success: ResumedWallet,
    error: [Wire.not_found, Wire.wallet_suspended]
  }),
  forOperators(
    "Remove any person's second factors",
    "The second factor and all passkeys, of somebody who has lost them. Ends all sessions, and the person gets a mail. The password stays.",
    "admin second-factors remove"
  ).delete("removeFactors", "/operator/users/:user_id/second-factors", {
    success: RemovedFactors,
    error: [Wire.not_found]
  }),
  forOperators("Revoke any API key", "At once and for good.", "admin keys revoke").delete(
    "revokeKey",
    "/operator/api-keys/:key_id",
    { success: OperatorKey, error: [Wire.not_found] }
  )
) {}
