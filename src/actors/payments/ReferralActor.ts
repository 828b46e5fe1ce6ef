/**
 * Credits referrers with their share of the net revenue from runs of the organizations that they referred.
 *
 * Any number of workers may do this at once. Each step is a compare-and-set that also stores the credit as a command in the
 * referrer's mailbox. So a crash at any point neither loses nor repeats a credit.
 */
import { Effect } from "effect"
import { inWords } from "../../layers/postgres/Batch.ts"
import { type MovedReferral, ReferralShares, type ShareStep } from "../../layers/accounts/ReferralShares.ts"
import * as Money from "../../schema/money/Money.ts"
import { due, earned, netRevenue, shareReference, unpaidOf } from "../../schema/wallet/Referral.ts"
import { encodeCredit } from "../mailbox/Commands.ts"
import { Lanes } from "../mailbox/Lanes.ts"

/** Referrals read by one statement. */
const referralsMax = 200
/** Ledger entries counted in one step. A wallet with more entries takes several steps. */
const entriesMax = 5_000n

const creditOf = (referral: MovedReferral, amount: Money.MicroUsd): ShareStep["credit"] => {
  if (amount === 0n) return null
  const n = referral.credits + 1
  const reference = shareReference(referral.referral_id, n)
  const payload =
    amount > 0n
      ? encodeCredit({ type: "bonus", amount, reference, note: "referral: share of net revenue" })
      : encodeCredit({ type: "refund", amount, reference, note: "referral: correction for revenue that was refunded" })
  return { n, amount, command_id: reference, payload }
}

/** Processes all ledger entries up to now. Returns the number of credits sent to referrers' wallets. */
export const makeAccrueShares = Effect.gen(function* () {
  const shares = yield* ReferralShares
  const lanes = yield* Lanes

  /** Processes one referral, up to the ledger entry that was newest when it was read. */
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
      // The balance belongs to the newest entry, so `unpaid` is known only after all entries before it are counted.
      const isLastStep = to_seq === entry_seq
      // What the warranty paid back was not earned either.
      const unpaid = isLastStep ? Money.plus(unpaidOf(referral.balance), referral.refunded) : at.unpaid
      const amount = isLastStep ? due(earned({ share_bps, net_revenue, unpaid }), at.credited) : Money.zero
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
        // A failed referral must not stop the others.
        credits += yield* accrueOne(referral).pipe(
          Effect.catchDefect((defect) =>
            Effect.as(
              Effect.logError(
                `Computing the share of ${referral.referral_id} failed; the next pass retries: ${inWords(defect)}`
              ),
              0
            )
          )
        )
      }
      if (moved.length < referralsMax) return credits
      after = moved.at(-1)?.referral_id ?? after
    }
  })

  return accrue
})
