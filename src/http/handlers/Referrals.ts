/** The referral program of an organization: names of the referred organizations and the earnings, and nothing else about them. */
import { Effect, Schema } from "effect"
import { Referrals } from "../../layers/accounts/Referrals.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { cellQuery } from "../../schema/accounts/TokenText.ts"
import { ReferralProgram } from "../../schema/nouns/Referral.ts"
import { MicroUsd } from "../../schema/money/Money.ts"
import { describeTerms, earned, percentOf, shareReference } from "../../schema/wallet/Referral.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"

const programJson = Schema.encodeSync(ReferralProgram)

const referredMax = 200
const creditsMax = 50

export const ReferralsHandlers = group(
  "referrals",
  Effect.fnUntraced(function* (handlers) {
    const referrals = yield* Referrals
    const settings = yield* Settings
    const terms = settings.referral
    const sentences = describeTerms(terms)
    const currency = "USD" as const
    const shownTerms = {
      currency,
      ...terms,
      share_percent: percentOf(terms.share_bps),
      description: `${sentences.referred} ${sentences.referrer}`
    }

    return handlers.handleAll({
      program: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        const code = yield* referrals.code(org_id)
        const earnings = yield* referrals.earnings(org_id)
        const referred = yield* referrals.referred(org_id, referredMax)
        const by = yield* referrals.referredBy(org_id)
        const credits = yield* referrals.credits(org_id, creditsMax)
        return programJson({
          code,
          link: `${addressOf(settings)}/join/${code}${cellQuery(settings.cell, org_id)}`,
          terms: shownTerms,
          earnings: { ...earnings, currency, referred_count: Number(earnings.referred_count) },
          referred: {
            items: referred.map((one) => ({
              ...one,
              signed_up_at: one.created_at,
              bonus: one.bonus_state,
              earned: earned({
                share_bps: one.share_bps,
                net_revenue: MicroUsd(one.net_revenue),
                unpaid: MicroUsd(one.unpaid)
              })
            }))
          },
          referred_by: by,
          credits: credits.map((one) => ({ ...one, reference: shareReference(one.referral_id, one.n) }))
        })
      })
    })
  })
)
