/** The contract of the wallet: balance, ledger, top-up, spend guard (specification 2.8, 2.9, 4.12). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Wire } from "../../schema/Errors.ts"
import { contactDaysMax } from "../../schema/guards/ContactGuard.ts"
import { Usd } from "../../schema/money/Money.ts"
import { entryTypes } from "../../schema/wallet/Wallet.ts"
import { periodQuery } from "./shapes/RunQuery.ts"
import { Auth, listQuery, optional } from "./shapes/Common.ts"
import { WalletAudit, walletAuditDescription } from "./shapes/WalletAudit.ts"

export const Wallet = Schema.Struct({
  currency: Schema.Literal("USD"),
  balance: Schema.String,
  reserved: Schema.String,
  available: Schema.String
}).annotate({ identifier: "Wallet" })

export const Transaction = Schema.Struct({
  id: Schema.String,
  type: Schema.Literals(entryTypes),
  amount: Schema.String,
  balance_after: Schema.String,
  reference: Schema.String,
  note: Schema.NullOr(Schema.String),
  created_at: Schema.String
}).annotate({ identifier: "Transaction" })

export const SpendGuard = Schema.Struct({
  per_run_limit: Schema.NullOr(Schema.String),
  daily_limit: Schema.NullOr(Schema.String),
  low_balance: Schema.NullOr(Schema.String),
  contact_guard_days: Schema.NullOr(Schema.Int),
  repeat_guard: Schema.Int.annotate({
    description: "failures of one input within ten minutes after which a key may not repeat it; 0: any number"
  }),
  spent_today: Schema.String,
  resets_at: Schema.String
}).annotate({ identifier: "SpendGuard" })

export class WalletApi extends HttpApiGroup.make("wallet")
  .add(
    HttpApiEndpoint.get("get", "/wallet", { success: Wallet }).annotateMerge(
      OpenApi.annotations({
        summary: "Read the wallet",
        description:
          "balance is the organization's money, reserved the part that unfinished runs hold, available the rest. A key that reads its own runs only, and the key of an allowance, get their budget instead."
      })
    ),
    HttpApiEndpoint.get("transactions", "/wallet/transactions", {
      query: {
        ...listQuery,
        ...periodQuery,
        type: Schema.optionalKey(Schema.Literals(entryTypes)),
        run_id: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
      },
      success: Schema.Struct({ items: Schema.Array(Transaction), next_cursor: Schema.NullOr(Schema.String) }),
      error: [Wire.invalid_request]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List ledger entries",
        description:
          "Newest first, of one type, one run or one time if you ask for that. balance_after is the balance after each entry. With `Accept: text/csv` the answer is CSV: all rows up to 10,000 or `limit`, and a `Link` header if there are more."
      })
    ),
    HttpApiEndpoint.get("audit", "/wallet/audit", { success: WalletAudit }).annotateMerge(
      OpenApi.annotations({ summary: "Audit the wallet", description: walletAuditDescription })
    ),
    HttpApiEndpoint.get("guard", "/spend-guard", { success: SpendGuard }).annotateMerge(
      OpenApi.annotations({
        summary: "Read the spend guard",
        description:
          "Returns the limit per run and per day, what was spent today, and the balance below which you are told. null means no limit, and no alert."
      })
    ),
    HttpApiEndpoint.post("setGuard", "/spend-guard", {
      payload: Schema.Struct({
        // Null removes the limit. Leaving the field out changes nothing.
        per_run_limit: optional(Usd),
        daily_limit: optional(Usd),
        low_balance: optional(Usd),
        contact_guard_days: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: contactDaysMax })))
      }).annotate({ identifier: "SpendGuardRequest" }),
      success: SpendGuard,
      error: [Wire.invalid_request, Wire.forbidden, Wire.service_unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Set the spend guard",
        description:
          "A field that is left out does not change; null removes the limit. An API key may set a missing limit or lower one. Raising or removing one needs a session token. A balance below low_balance causes the event wallet.low and an e-mail. A run that would contact somebody whom the organization has contacted within contact_guard_days is blocked."
      })
    )
  )
  .middleware(Auth) {}
