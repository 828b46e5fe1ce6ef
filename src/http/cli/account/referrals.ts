/** `rungate referrals`: the organization's referral code and its earnings. */
import { Referral, ReferralProgram } from "../../../schema/nouns/Referral.ts"
import { ReferralsApi } from "../../api/Referrals.ts"
import { drawn, nounFacts, nounTable, wholeFacts } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { harmless, wrap } from "../terminal/text.ts"
import { dollars } from "../terminal/values.ts"

export const referrals = row(ReferralsApi.endpoints.program, {
  show: drawn(ReferralProgram, (program, shown) => [
    ...wholeFacts(
      nounFacts(ReferralProgram, program, shown, {
        referred_by: ({ referred_by: one }) =>
          one === null ? null : `${dollars(one.deposit_bonus)}, ${one.bonus_state}`
      }),
      shown
    ),
    "",
    ...wrap(harmless(program.terms.description), shown.screen.width),
    ...(program.referred.items.length === 0 ? [] : ["", ...nounTable(Referral, program.referred.items, shown)])
  ])
})
