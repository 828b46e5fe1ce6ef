/** The contract of what an operator sees and changes of organizations: wallet, limits, people, keys, credits and refunds. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { Usd } from "../../../schema/money/Money.ts"
import { listQuery, optional } from "../shapes/Common.ts"
import { WalletAudit } from "../../../schema/nouns/Wallet.ts"
import { Note, Word } from "./Fields.ts"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

const nullable = Schema.NullOr(Schema.String)

const Suspension = Schema.Struct({
  since: Schema.String,
  violations: Schema.Array(Schema.String).annotate({
    description: "Equation and subject of each violation that the check found, 20 at most."
  })
})

const organization = {
  org_id: Schema.String,
  name: Schema.String,
  created_at: Schema.String,
  balance: Schema.String,
  reserved: Schema.String,
  available: Schema.String,
  runs_today: Schema.Number,
  charged_today: Schema.String,
  suspension: Schema.NullOr(Suspension).annotate({
    description:
      "A check found that the wallet's books do not add up, so its new runs are blocked. Null while it takes runs."
  })
}
export const OperatorOrganization = Schema.Struct(organization).annotate({ identifier: "OperatorOrganization" })

const Guard = Schema.Struct({
  per_run_limit: nullable,
  daily_limit: nullable,
  spent_today: Schema.String,
  resets_at: Schema.String
})
const AutoTopup = Schema.Struct({
  enabled: Schema.Boolean,
  threshold: Schema.String,
  amount: Schema.String,
  last_error: nullable
})
const Payment = Schema.Struct({
  payment_id: Schema.String,
  kind: Schema.String,
  amount: Schema.String,
  state: Schema.String,
  session_id: nullable,
  payment_intent: nullable,
  clawed_back: Schema.String,
  failure: nullable,
  created_at: Schema.String,
  ended_at: nullable
})
const Person = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  role: Schema.String,
  created_at: Schema.String,
  verification: Schema.Literals(["pending", "not_asked", "verified"]),
  email_verified_at: nullable
})
const Key = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  environment: Schema.Literals(["test", "live"]),
  display: Schema.String,
  created_at: Schema.String,
  last_used_at: nullable,
  revoked_at: nullable
})
const Entry = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  amount: Schema.String,
  balance_after: Schema.String,
  reference: Schema.String,
  note: nullable,
  created_at: Schema.String
})
const OpenRun = Schema.Struct({
  run_id: Schema.String,
  capability: nullable,
  endpoint: nullable,
  status: Schema.String,
  hold: Schema.String,
  since: Schema.String
})

export const OperatorOrganizationDetail = Schema.Struct({
  ...organization,
  guard: Guard,
  auto_topup: Schema.NullOr(AutoTopup),
  payments: Schema.Array(Payment).annotate({ description: "The newest ten." }),
  people: Schema.Array(Person).annotate({ description: "The oldest twenty." }),
  keys: Schema.Array(Key).annotate({ description: "The newest hundred." }),
  entries: Schema.Array(Entry).annotate({ description: "The newest twenty entries of the ledger." }),
  open_runs: Schema.Array(OpenRun).annotate({ description: "The oldest fifty." }),
  losses: Schema.Struct({ runs: Schema.Number, loss: Schema.String }),
  unknown_outcomes: Schema.Number.annotate({ description: "Calls whose outcome nobody has found out yet." })
}).annotate({ identifier: "OperatorOrganizationDetail" })

const CreditRequest = Schema.Struct({
  type: Schema.Literals(["bonus", "refund"]),
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
}).annotate({ identifier: "OperatorCreditRequest" })

const Credit = Schema.Struct({
  org_id: Schema.String,
  type: Schema.Literals(["bonus", "refund"]),
  amount: Schema.String,
  reference: Schema.String,
  transaction_id: Schema.String,
  already: Schema.Boolean.annotate({ description: "True if it was booked before this request." }),
  balance: Schema.String,
  available: Schema.String
}).annotate({ identifier: "OperatorCredit" })

const Resumed = Schema.Struct({
  org_id: Schema.String,
  suspended: Schema.Literal(false),
  already: Schema.Boolean.annotate({ description: "True if the wallet was not suspended, so nothing was changed." })
}).annotate({ identifier: "OperatorResumedWallet" })

const one = { org_id: Schema.String }

export class OperatorOrganizationsApi extends HttpApiGroup.make("operatorOrganizations")
  .add(
    HttpApiEndpoint.get("list", "/operator/organizations", {
      query: { ...listQuery, search: Schema.optionalKey(Word) },
      success: Schema.Struct({ items: Schema.Array(OperatorOrganization), next_cursor: nullable }),
      error: [Wire.invalid_request]
    }).annotateMerge(
      forOperators(
        "List organizations",
        "Newest first, with their wallets and what they did today (UTC).",
        "admin orgs"
      )
    ),
    HttpApiEndpoint.get("get", "/operator/organizations/:org_id", {
      params: one,
      success: OperatorOrganizationDetail,
      error: [Wire.not_found]
    }).annotateMerge(
      forOperators(
        "Read an organization",
        "Wallet, limits, people, keys, payments, ledger and open runs, of one moment.",
        "admin show"
      )
    ),
    HttpApiEndpoint.get("audit", "/operator/organizations/:org_id/audit", {
      params: one,
      success: Schema.toEncoded(WalletAudit),
      error: [Wire.not_found]
    }).annotateMerge(
      forOperators(
        "Audit an organization's wallet",
        "What its members get from GET /v1/wallet/audit, and why commands were dead-lettered.",
        "admin show"
      )
    ),
    HttpApiEndpoint.post("credit", "/operator/organizations/:org_id/credits", {
      params: one,
      payload: CreditRequest,
      success: Credit,
      error: [Wire.invalid_request, Wire.not_found, Wire.service_unavailable]
    }).annotateMerge(
      forOperators(
        "Credit or refund an organization",
        "Adds money to the wallet. A repeated request with the same reference books nothing again.",
        "admin credit"
      )
    ),
    HttpApiEndpoint.post("setGuard", "/operator/organizations/:org_id/spend-guard", {
      params: one,
      payload: Schema.Struct({
        per_run_limit: optional(Usd),
        daily_limit: optional(Usd)
      }).annotate({ identifier: "OperatorSpendGuardRequest" }),
      success: Guard.annotate({ identifier: "OperatorSpendGuard" }),
      error: [Wire.invalid_request, Wire.not_found, Wire.service_unavailable]
    }).annotateMerge(
      forOperators(
        "Set an organization's spend guard",
        "A field that is left out does not change; null removes the limit."
      )
    ),
    HttpApiEndpoint.post("resume", "/operator/organizations/:org_id/resume", {
      params: one,
      success: Resumed,
      error: [Wire.not_found, Wire.wallet_suspended]
    }).annotateMerge(
      forOperators(
        "Resume an organization's suspended wallet",
        "Checks its books. If they add up, the wallet takes new runs at once. Otherwise the answer names violations, and the wallet stays suspended.",
        "admin resume"
      )
    ),
    HttpApiEndpoint.delete("revokeKey", "/operator/api-keys/:key_id", {
      params: { key_id: Schema.String },
      success: Schema.Struct({ org_id: Schema.String, ...Key.fields }).annotate({ identifier: "OperatorKey" }),
      error: [Wire.not_found]
    }).annotateMerge(forOperators("Revoke any API key", "At once and for good.", "admin keys revoke"))
  )
  .middleware(OperatorAuth) {}
