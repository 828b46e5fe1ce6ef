/**
 * Referrals: the terms under which an organization signs up, and what its referrer has earned.
 *
 * Earnings are computed over the referral's whole life. A fraction that one computation leaves over is carried to the next, and computing
 * twice gives the same result. The wallet's turn credits the referred organization's own bonus.
 */
import * as Money from "../money/Money.ts"
import { estimatedCost } from "../money/Pricing.ts"

export interface Terms {
  /** The minimum first deposit for the bonus of the referred organization, and the bonus. */
  readonly deposit_min: Money.MicroUsd
  readonly deposit_bonus: Money.MicroUsd
  /** The referrer's share of net revenue in basis points: 1000 are 10%. */
  readonly share_bps: number
  /** Months after sign-up in which runs count. */
  readonly months: number
}

const bpsOfOne = 10_000n
/** Prices are cost × 1.2, so the platform keeps a sixth of what is spent. */
const marginOfOne = 6n

/**
 * The highest bonus that the deposit itself pays for: what the platform keeps of the deposit when it is spent, less the referrer's share.
 *
 * With this limit, bonus and shares together never exceed the net revenue from the organizations that got them, whatever they deposit, spend
 * and take back. The database enforces it for every referral.
 */
export const bonusMax = (deposit_min: Money.MicroUsd, share_bps: number): Money.MicroUsd =>
  Money.MicroUsd((deposit_min * (bpsOfOne - BigInt(share_bps))) / (marginOfOne * bpsOfOne))

/** Basis points of a percentage such as "12.5". Null unless it is from 0 to 100 with at most two decimals. */
export const bpsOf = (percent: string): number | null => {
  const [, whole, fraction = ""] = /^(0|[1-9]\d{0,2})(?:\.(\d{1,2}))?$/.exec(percent) ?? []
  if (whole === undefined) return null
  const bps = Number(whole) * 100 + Number(fraction.padEnd(2, "0"))
  return bps <= Number(bpsOfOne) ? bps : null
}

/** The percentage of basis points: "12.5" for 1250. */
export const percentOf = (bps: number): string => {
  const cents = String(bps % 100)
    .padStart(2, "0")
    .replace(/0+$/, "")
  return cents === "" ? String(Math.floor(bps / 100)) : `${Math.floor(bps / 100)}.${cents}`
}

/** What the platform keeps of a run's charge. `provider_cost` is null for old runs without a recorded cost, and is then estimated. */
export const netRevenue = (charged: Money.MicroUsd, provider_cost: Money.MicroUsd | null): Money.MicroUsd =>
  Money.max(Money.zero, Money.minus(charged, provider_cost ?? estimatedCost(charged)))

/** The part of a wallet's charges that was never paid, because a deposit that was taken back left the balance below zero. */
export const unpaidOf = (balance: Money.MicroUsd): Money.MicroUsd => Money.max(Money.zero, Money.negate(balance))

export interface Earnings {
  readonly share_bps: number
  readonly net_revenue: Money.MicroUsd
  readonly unpaid: Money.MicroUsd
}

/** The referrer's earnings from a referral so far, rounded down. Revenue that was never paid does not count. */
export const earned = ({ share_bps, net_revenue, unpaid }: Earnings): Money.MicroUsd => {
  const paid = Money.max(Money.zero, Money.minus(net_revenue, unpaid))
  return Money.MicroUsd((BigInt(share_bps) * paid) / bpsOfOne)
}

/** The minimum of a ledger entry. Smaller amounts wait for the next one. */
const creditMin = Money.dollars("0.01")

/** The amount to credit to the referrer now: zero until a cent is due, and negative at once if too much was credited. */
export const due = (earnedSoFar: Money.MicroUsd, credited: Money.MicroUsd): Money.MicroUsd => {
  const open = Money.minus(earnedSoFar, credited)
  return open < 0n || open >= creditMin ? open : Money.zero
}

/** The ledger's reference of a referral's n-th share. */
export const shareReference = (referral_id: string, n: number): string => `${referral_id}:share:${n}`

/** Letters and digits that are hard to confuse, in writing and on the phone. */
export const codeAlphabet = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
export const codeLength = 8

/** The stored form of a code that somebody typed. Null if it can't be a code. */
export const codeOf = (typed: string): string | null => {
  const code = typed.trim().toUpperCase()
  return code.length === codeLength && [...code].every((letter) => codeAlphabet.includes(letter)) ? code : null
}

/** The terms as sentences, for the referred organization and for the referrer. */
export const describeTerms = ({ deposit_min, deposit_bonus, share_bps, months }: Terms) => ({
  referred:
    deposit_bonus === 0n
      ? "Signing up with this code gives no bonus at present."
      : `An organization that signs up with this code gets $${Money.usd(deposit_bonus)} once, with its first deposit of at least $${Money.usd(deposit_min)}. A payment card earns this bonus for one organization only.`,
  referrer:
    share_bps === 0 || months === 0
      ? "Its referrer gets no share at present."
      : `Its referrer gets ${percentOf(share_bps)}% of the net revenue on its runs (their charges less provider costs, as far as they are paid) for ${months} month${months === 1 ? "" : "s"}.`
})
