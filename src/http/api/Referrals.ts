/** The contract of the referral program (specification 2.10, 4.12). */
import { HttpApiGroup } from "effect/http-api"
import { reads } from "./shapes/Common.ts"
import { ReferralProgram } from "../../schema/nouns/Referral.ts"

export class ReferralsApi extends HttpApiGroup.make("referrals").add(
  reads(
    "Read the referral program",
    "Returns your code and link, the terms and your earnings. The first call creates the code. Earnings are updated about once a minute.",
    "referrals"
  ).get("program", "/referrals", { success: ReferralProgram })
) {}
