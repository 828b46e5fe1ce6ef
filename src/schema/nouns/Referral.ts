/** The referral program of an organization: its code and terms, who signed up with it, and what that earned. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { component, amount, amountAs, text, time, timeAs, withExample } from "./Noun.ts"

const BonusState = Schema.Literals(["pending", "granted", "revoked"])
const Currency = Schema.Literal("USD")

const ReferralTerms = Schema.Struct({
  currency: Currency,
  deposit_min: amountAs("Minimum deposit for the bonus of a referred organization."),
  deposit_bonus: amountAs("Bonus of the referred organization, granted once, with its first such deposit."),
  share_percent: text("The referrer's share of net revenue, in percent."),
  months: Schema.Int.annotate({
    description: "Months after sign-up in which the runs of a referred organization count."
  }),
  description: Schema.String
}).annotate({
  identifier: "ReferralTerms",
  description: "The terms for an organization that signs up today. Later changes do not affect it."
})

export const Referral = component("Referral", {
  referral_id: Schema.String,
  organization: Schema.String,
  signed_up_at: time,
  ends_at: timeAs("Runs that are settled before this time count."),
  bonus: BonusState,
  earned: amountAs("Your share of the revenue from its runs so far.")
}).pipe(
  withColumns({
    list: ["organization", "bonus", "signed_up_at", "ends_at", "earned"],
    wide: ["ends_at", "signed_up_at"],
    titles: { bonus: "Its bonus", signed_up_at: "Signed up", ends_at: "Counts until", earned: "You earned" }
  })
)

export const ReferralCredit = Schema.Struct({
  amount: amountAs("Negative when revenue was taken back, as by a refund of the deposit that had paid for it."),
  created_at: time,
  reference: text("The reference of the entry in your ledger.")
}).pipe(
  withColumns({
    list: ["created_at", "reference", "amount"],
    wide: ["reference"],
    titles: { created_at: "Credited", reference: "Reference in the ledger" },
    kinds: { reference: "id" }
  })
)

export const ReferralProgram = component("ReferralProgram", {
  code: Schema.String,
  link: Schema.String,
  terms: ReferralTerms,
  earnings: Schema.Struct({
    currency: Currency,
    credited: amountAs("Shares that are credited to your ledger or about to be, less what was taken back."),
    pending: amountAs("Earned but not credited, because it is less than one cent."),
    referred_count: Schema.Int
  }),
  referred: Schema.Struct({ items: Schema.Array(Referral) }).annotate({
    description: "Newest first, at most 200; referred_count counts all."
  }),
  referred_by: Schema.NullOr(
    Schema.Struct({ bonus_state: BonusState, deposit_bonus: amount, deposit_min: amount })
  ).annotate({ description: "Your own bonus if you signed up with a code, on the terms of that day." }),
  credits: Schema.Array(ReferralCredit).annotate({ description: "Newest first, at most 50." })
}).pipe(
  withColumns({
    facts: ["code", "link", "earnings.credited", "earnings.pending", "earnings.referred_count", "referred_by"],
    titles: { "earnings.referred_count": "Organizations", referred_by: "Your own bonus" },
    kinds: { code: "id", link: "id" }
  }),
  withExample({
    code: "GHBQSHER",
    link: "https://rungate.example/join/GHBQSHER",
    terms: {
      currency: "USD",
      deposit_min: "10.00",
      deposit_bonus: "1.00",
      share_percent: "10",
      months: 12,
      description:
        "An organization that signs up with this code gets $1.00 once, with its first deposit of at least $10.00. Its referrer gets 10% of the net revenue on its runs for 12 months."
    },
    earnings: { currency: "USD", credited: "0.00", pending: "0.00", referred_count: 0 },
    referred: { items: [] },
    referred_by: null,
    credits: []
  })
)
