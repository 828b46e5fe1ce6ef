/**
 * Referrers' shares: counts what the runs of referred workspaces have brought, and credits each referrer its part.
 *
 * Any worker may do it at any time, several at once: each step stands on the state that it was computed from, and the credit is
 * a command in the referrer's mailbox, written with the step. It may be killed anywhere and loses and doubles nothing.
 */
import { Context, Effect, Layer } from "effect"
import { inWords } from "../../layers/postgres/Batch.ts"
import { type MovedReferral, ReferralShares, type ShareStep } from "../../layers/accounts/ReferralShares.ts"
import * as Money from "../../schema/money/Money.ts"
import { due, earned, netRevenue, shareReference, unpaidOf } from "../../schema/wallet/Referral.ts"
import { encodeCredit } from "../mailbox/Commands.ts"
import { Lanes } from "../mailbox/Lanes.ts"

/** Referrals looked at by one statement. */
const referralsMax = 200
/** Ledger entries counted in one step; a wallet with more of them takes several. */
const entriesMax = 5_000n

const creditOf = (referral: MovedReferral, amount: Money.MicroUsd): ShareStep["credit"] => {
  if (amount === 0n) return null
  const n = referral.credits + 1
  const reference = shareReference(referral.referral_id, n)
  const payload =
    amount > 0n
      ? encodeCredit({ type: "bonus", amount, reference, note: "referral: share of net revenue" })
      : encodeCredit({ type: "refund", amount, reference, note: "referral: a share of revenue that was taken back" })
  return { n, amount, command_id: reference, payload }
}

export class ReferralActor extends Context.Service<
  ReferralActor,
  {
    /** Counts everything that has happened up to now. Answers how many entries it sent to referrers' wallets. */
    readonly accrue: Effect.Effect<number>
  }
>()("rungate/actors/payments/ReferralActor") {
  static readonly layer = Layer.effect(
    ReferralActor,
    Effect.gen(function* () {
      const shares = yield* ReferralShares
      const lanes = yield* Lanes

      /** One referral, up to where its wallet was when it was looked at. */
      const accrueOne = Effect.fnUntraced(function* (referral: MovedReferral) {
        const { referral_id, share_bps, entry_seq } = referral
        let at = referral
        while (at.accrued_seq < entry_seq) {
          const to_seq = entry_seq - at.accrued_seq > entriesMax ? at.accrued_seq + entriesMax : entry_seq
          const runs = yield* shares.settled(referral_id, at.accrued_seq, to_seq)
          const net_revenue = Money.plus(
            at.net_revenue,
            Money.sum(runs.map(({ charged, provider_cost }) => netRevenue(charged, provider_cost)))
          )
          // The balance is that of the newest entry: what it says of payment is true once all before it is counted.
          const whole = to_seq === entry_seq
          const unpaid = whole ? unpaidOf(referral.balance) : at.unpaid
          const amount = whole ? due(earned({ share_bps, net_revenue, unpaid }), at.credited) : Money.zero
          const credit = creditOf(at, amount)
          const lane = yield* shares.step(at, { to_seq, net_revenue, unpaid, credit })
          if (lane === "overtaken") return 0
          if (lane !== null) yield* lanes.wake(lane)
          at = { ...at, accrued_seq: to_seq, net_revenue, unpaid }
          if (credit !== null) return 1
        }
        return 0
      })

      const accrue = Effect.gen(function* () {
        let credits = 0
        let after = ""
        while (true) {
          const moved = yield* shares.moved(after, referralsMax)
          for (const referral of moved) {
            // One that can't be counted must not keep the others from it; it is tried again next time.
            credits += yield* accrueOne(referral).pipe(
              Effect.catchDefect((defect) =>
                Effect.as(Effect.logError(`${referral.referral_id}: its share was not counted: ${inWords(defect)}`), 0)
              )
            )
          }
          if (moved.length < referralsMax) return credits
          after = moved.at(-1)?.referral_id ?? after
        }
      })

      return ReferralActor.of({ accrue })
    })
  )
}
