/** The books of all wallets: audits, suspended wallets, and signed heads of the ledger. */
import { Schema } from "effect"
import { withColumns } from "../../Columns.ts"
import { component, amount, count, dayAs, org_id, organization, time } from "../Noun.ts"

/** A full audit that was recorded, with the number of its violations. */
export const BooksCheck = component("BooksCheck", {
  checked_at: time,
  wallets: count,
  entries: count,
  runs: count,
  violations: count
}).pipe(
  withColumns({ list: ["checked_at", "violations", "wallets", "entries", "runs"], titles: { checked_at: "When" } })
)
export type BooksCheck = typeof BooksCheck.Type

export const Books = component("OperatorBooks", {
  checks: Schema.Array(BooksCheck).annotate({ description: "The newest ten audits that were recorded." }),
  suspended: Schema.Array(Schema.Struct({ org_id, organization, since: time })).annotate({
    description: "Organizations whose wallets are suspended, the longest first, 50 at most."
  }),
  heads: Schema.Struct({
    complete_day: Schema.NullOr(dayAs("The newest day (UTC) of which every wallet has its signed head.")),
    due_day: Schema.NullOr(dayAs("The oldest day whose heads are still to be made. Null if there is none."))
  })
})

export const Sheet = Schema.Struct({
  topups: amount,
  /** Refunds and disputes of payments, minus those that were returned to us. */
  clawed_back: amount,
  /** Operators' bonuses, and all credits and corrections from referrals. */
  bonuses: amount,
  refunds: amount,
  charged: amount,
  balances: amount,
  /** The known provider costs of all runs. */
  provider_cost: amount,
  /** By how much runs cost more than they were charged, and the number of such runs. */
  losses: amount,
  loss_runs: count,
  cost_unknown: count
}).annotate({ description: "Sums over all wallets, signed as in the ledger. cost_unknown counts charged runs." })
export type Sheet = typeof Sheet.Type

export const BooksAudit = component("BooksAudit", {
  checked_at: time,
  wallets: Schema.Number,
  entries: Schema.Number,
  runs: Schema.Number,
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
})
