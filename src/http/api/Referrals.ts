/** The contract of the referral program (specification 2.10, 4.12). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Auth } from "./shapes/Common.ts"

const BonusState = Schema.Literals(["pending", "granted", "revoked"])
const Currency = Schema.Literal("USD")
const described = (description: string) => Schema.String.annotate({ description })

export const ReferralTerms = Schema.Struct({
  currency: Currency,
  deposit_min: described("Minimum deposit for the bonus of a referred workspace."),
  deposit_bonus: described("Bonus of the referred workspace, granted once, with its first such deposit."),
  share_percent: described("The referrer's share of net revenue, in percent."),
  months: Schema.Int.annotate({ description: "Months after sign-up in which the runs of a referred workspace count." }),
  description: Schema.String
}).annotate({
  identifier: "ReferralTerms",
  description: "The terms for a workspace that signs up today. Later changes do not affect it."
})

export const Referral = Schema.Struct({
  referral_id: Schema.String,
  organization: Schema.String,
  signed_up_at: Schema.String,
  ends_at: described("Runs that are settled before this time count."),
  bonus: BonusState,
  earned: described("Your share of the revenue from its runs so far.")
}).annotate({ identifier: "Referral" })

export const ReferralProgram = Schema.Struct({
  code: Schema.String,
  link: Schema.String,
  terms: ReferralTerms,
  earnings: Schema.Struct({
    currency: Currency,
    credited: described("Shares that are credited to your ledger or about to be, less what was taken back."),
    pending: described("Earned but not credited, because it is less than one cent."),
    referred_count: Schema.Int
  }),
  referred: Schema.Struct({ items: Schema.Array(Referral) }).annotate({
    description: "Newest first, at most 200; referred_count counts all."
  }),
  referred_by: Schema.NullOr(
    Schema.Struct({ bonus_state: BonusState, deposit_bonus: Schema.String, deposit_min: Schema.String })
  ).annotate({ description: "Your own bonus if you signed up with a code, on the terms of that day." }),
  credits: Schema.Array(
    Schema.Struct({
      amount: described("Negative when revenue was taken back, as by a refund of the deposit that had paid for it."),
      created_at: Schema.String,
      reference: described("The reference of the entry in your ledger.")
    })
  ).annotate({ description: "Newest first, at most 50." })
}).annotate({ identifier: "ReferralProgram" })

export class ReferralsApi extends HttpApiGroup.make("referrals")
  .add(
    HttpApiEndpoint.get("program", "/referrals", { success: ReferralProgram }).annotateMerge(
      OpenApi.annotations({
        summary: "Read the referral program",
        description:
          "Returns your code and link, the terms and your earnings. The first call creates the code. Earnings are updated about once a minute."
      })
    )
  )
  .middleware(Auth) {}
