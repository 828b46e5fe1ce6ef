/** The contract of the referral program (specification 2.10, 4.12). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Auth } from "./shapes/Common.ts"

const BonusState = Schema.Literals(["pending", "granted", "revoked"])
const Currency = Schema.Literal("USD")
const described = (description: string) => Schema.String.annotate({ description })

export const ReferralTerms = Schema.Struct({
  currency: Currency,
  deposit_min: described("The least deposit that earns a referred workspace its bonus."),
  deposit_bonus: described("What the referred workspace gets once, with its first such deposit."),
  share_percent: described("The referrer's part of net revenue, in percent."),
  months: Schema.Int.annotate({ description: "How long a referred workspace's runs count, from its sign-up." }),
  description: Schema.String
}).annotate({
  identifier: "ReferralTerms",
  description: "What a sign-up of today is promised; later changes do not touch it."
})

export const Referral = Schema.Struct({
  referral_id: Schema.String,
  organization: Schema.String,
  signed_up_at: Schema.String,
  ends_at: described("Runs that are settled before this count."),
  bonus: BonusState,
  earned: described("What its runs have earned you so far.")
}).annotate({ identifier: "Referral" })

export const ReferralProgram = Schema.Struct({
  code: Schema.String,
  link: Schema.String,
  terms: ReferralTerms,
  earnings: Schema.Struct({
    currency: Currency,
    credited: described("What is in your ledger, or on its way there: bonus entries less what was taken back."),
    pending: described("Earned, and less than the cent that makes an entry."),
    referred_count: Schema.Int
  }),
  referred: Schema.Struct({ items: Schema.Array(Referral) }).annotate({
    description: "Newest first, at most 200; referred_count counts all."
  }),
  referred_by: Schema.NullOr(
    Schema.Struct({ bonus_state: BonusState, deposit_bonus: Schema.String, deposit_min: Schema.String })
  ).annotate({ description: "Your own bonus, when you signed up with a code, on the terms of that day." }),
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
          "Your code and link, the terms, and what referrals have earned. The first call mints the code. Earnings are counted every minute or so."
      })
    )
  )
  .middleware(Auth) {}
