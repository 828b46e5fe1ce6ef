/** The referral program of a workspace: names of the referred workspaces and the earnings, and nothing else about them. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Referrals } from "../../layers/accounts/Referrals.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { MicroUsd, usd } from "../../schema/money/Money.ts"
import { describeTerms, earned, percentOf, shareReference } from "../../schema/wallet/Referral.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"

const referredMax = 200
const creditsMax = 50

export const ReferralsHandlers = HttpApiBuilder.group(
  Api,
  "referrals",
  Effect.fnUntraced(function* (handlers) {
    const referrals = yield* Referrals
    const settings = yield* Settings
    const terms = settings.referral
    const sentences = describeTerms(terms)
    const currency = "USD" as const
    const shownTerms = {
      currency,
      deposit_min: usd(terms.deposit_min),
      deposit_bonus: usd(terms.deposit_bonus),
      share_percent: percentOf(terms.share_bps),
      months: terms.months,
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
        return {
          code,
          link: `${addressOf(settings)}/join/${code}`,
          terms: shownTerms,
          earnings: {
            currency,
            credited: usd(earnings.credited),
            pending: usd(earnings.pending),
            referred_count: Number(earnings.referred_count)
          },
          referred: {
            items: referred.map((one) => ({
              referral_id: one.referral_id,
              organization: one.organization,
              signed_up_at: one.created_at.toISOString(),
              ends_at: one.ends_at.toISOString(),
              bonus: one.bonus_state,
              earned: usd(
                earned({
                  share_bps: one.share_bps,
                  net_revenue: MicroUsd(one.net_revenue),
                  unpaid: MicroUsd(one.unpaid)
                })
              )
            }))
          },
          referred_by:
            by === null
              ? null
              : {
                  bonus_state: by.bonus_state,
                  deposit_bonus: usd(by.deposit_bonus),
                  deposit_min: usd(by.deposit_min)
                },
          credits: credits.map(({ amount, created_at, referral_id, n }) => ({
            amount: usd(amount),
            created_at: created_at.toISOString(),
            reference: shareReference(referral_id, n)
          }))
        }
      })
    })
  })
)
