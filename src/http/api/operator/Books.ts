/** The contract of the books of all wallets: audits now and before, and signed heads of the ledger. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

const described = (description: string) => Schema.String.annotate({ description })

const counted = {
  checked_at: Schema.String,
  wallets: Schema.Number,
  entries: Schema.Number,
  runs: Schema.Number
}

export const BooksCheck = Schema.Struct({ ...counted, violations: Schema.Number }).annotate({
  identifier: "BooksCheck"
})

export const Books = Schema.Struct({
  checks: Schema.Array(BooksCheck).annotate({ description: "The newest ten audits that were recorded." }),
  suspended: Schema.Array(
    Schema.Struct({ org_id: Schema.String, organization: Schema.String, since: Schema.String })
  ).annotate({ description: "Organizations whose wallets are suspended, the longest first, 50 at most." }),
  heads: Schema.Struct({
    complete_day: Schema.NullOr(described("The newest day (UTC) of which every wallet has its signed head.")),
    due_day: Schema.NullOr(described("The oldest day whose heads are still to be made. Null if there is none."))
  })
}).annotate({ identifier: "OperatorBooks" })

const Sheet = Schema.Struct({
  topups: Schema.String,
  clawed_back: Schema.String,
  bonuses: Schema.String,
  refunds: Schema.String,
  charged: Schema.String,
  balances: Schema.String,
  provider_cost: Schema.String,
  losses: Schema.String,
  loss_runs: Schema.Number,
  cost_unknown: Schema.Number
}).annotate({ description: "Sums over all wallets, signed as in the ledger. cost_unknown counts charged runs." })

export const BooksAudit = Schema.Struct({
  ...counted,
  adds_up: Schema.Boolean,
  sheet: Sheet,
  equations: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      title: Schema.String,
      violations: Schema.Array(Schema.Struct({ subject: Schema.String, detail: Schema.String })).annotate({
        description: "The first fifty or so, with amounts in microdollars. Empty if the equation holds."
      })
    })
  )
}).annotate({ identifier: "BooksAudit" })

export class OperatorBooksApi extends HttpApiGroup.make("operatorBooks")
  .add(
    HttpApiEndpoint.get("get", "/operator/books", { success: Books }).annotateMerge(
      forOperators(
        "Read recorded audits",
        "The last audits of all wallets, the wallets that are suspended, and up to which day the ledger's heads are signed."
      )
    ),
    HttpApiEndpoint.get("audit", "/operator/books/audit", { success: BooksAudit }).annotateMerge(
      forOperators(
        "Audit all wallets now",
        "Recomputes every wallet from the ledger in one snapshot. Large books take minutes, and the answer is kept for twenty times as long. It records nothing."
      )
    ),
    HttpApiEndpoint.post("check", "/operator/books/checks", { success: BooksCheck }).annotateMerge(
      forOperators(
        "Record an audit of all wallets",
        "Audits all wallets, or takes the answer that is kept, and records the result. Every customer reads it as last_full_check. rungate audit also compares with the payment processor."
      )
    )
  )
  .middleware(OperatorAuth) {}
