/**
 * The rules of the outcome warranty: which runs it covers, how long, and how much it pays back. Pure.
 *
 * A run is refunded at most once and never more than its charge. All refunds of 30 days together are at most a share of the charges of
 * these days, and half of that is for organizations within their own share. The database enforces all a second time (schema/warranty.sql).
 */
import type * as Money from "../money/Money.ts"
import { plainAddress } from "../mail/Bounce.ts"

/** Days after a run's end in which a bounce counts. */
export const warrantyDays = 7
const dayMillis = 86_400_000
const bpsOfOne = 10_000n

/** The warranty as inspect shows it. */
export const warrantyTerms = {
  days: warrantyDays,
  refund: "charge",
  description: `If mail to an address that a run called valid bounces within ${warrantyDays} days, dispute the run and get its charge back. Once per run, while the operator's limit of refunds lasts.`
} as const

/** The reason that a dispute gives: the address bounced. */
export const disputeReason = "bounced"

/** `pending`: the operator decides, or a provider is being asked. `not_bounced`: the provider reports no bounce so far. */
export const disputeStates = ["pending", "not_bounced", "refunded", "refused"] as const

/**
 * Minutes to wait before a provider is asked about the same dispute again; the last one is repeated. Providers report most bounces within
 * minutes, and mail servers retry for days. At most 31 questions in seven days for a run that was charged.
 */
export const askWaitMinutes = [1, 10, 60, 360] as const

/**
 * Runs of one organization about which providers are asked in an hour. Each run is asked about at most three times in an hour, so this is
 * at most 300 requests: one in twelve seconds, far below the rate limits of the operator's accounts.
 */
export const asksPerHourMax = 100

/** What the warranty needs to know of a run. */
export interface ClosedRun {
  readonly status: string
  readonly charged: Money.MicroUsd | null
  readonly reused_from: string | null
  /** Whether the organization's own account at the provider delivered the result. */
  readonly own_account: boolean
  readonly erased: boolean
  readonly finished_at: Date | null
  /** The address that the run called valid. Null if it called none valid. */
  readonly address: string | null
  /** Whether the run's capability has a warranty. */
  readonly warranted: boolean
}

export interface Covered {
  readonly _tag: "Covered"
  /** In lower case. */
  readonly address: string
  /** The refund: the whole charge. */
  readonly amount: Money.MicroUsd
  /** Bounces count until then. */
  readonly until: Date
}

/** `why` continues the sentence "The warranty does not cover this run: …". */
export interface NotCovered {
  readonly _tag: "NotCovered"
  readonly why: string
}

const not = (why: string): NotCovered => ({ _tag: "NotCovered", why })

/** Whether the warranty covers a run at all, whenever it ended. */
export const coverOf = (run: ClosedRun): Covered | NotCovered => {
  const { charged, finished_at } = run
  if (!run.warranted) return not("only runs of email.find and email.verify have a warranty")
  if (run.erased) return not("its result was erased")
  if (finished_at === null) return not("it has not ended")
  if (run.reused_from !== null)
    return not("it reused an earlier result and cost nothing; dispute the run in reused_from")
  if (run.own_account) return not("your own account at the provider delivered its result")
  if (run.status !== "succeeded" || run.address === null) return not("it did not say that an address is valid")
  if (charged === null || charged <= 0n) return not("it cost nothing")
  const until = new Date(finished_at.getTime() + warrantyDays * dayMillis)
  return { _tag: "Covered", address: plainAddress(run.address), amount: charged, until }
}

/** What was charged and refunded in the last 30 days. */
interface Sums {
  readonly revenue: Money.MicroUsd
  readonly refunded: Money.MicroUsd
}

/** Of all organizations together. */
export interface Fund extends Sums {
  readonly share_bps: number
  /** Of the organization that asks. */
  readonly own: Sums
}

/**
 * Whether the fund still has the whole amount. A refund is never paid in part. When half of the fund is used up, an organization gets at most
 * the share of its own charges, so that one with many bounces leaves something to the others.
 */
export const isWithinShare = ({ share_bps, own, ...all }: Fund, amount: Money.MicroUsd): boolean => {
  const within = ({ revenue, refunded }: Sums, parts: bigint) =>
    (refunded + amount) * bpsOfOne * parts <= revenue * BigInt(share_bps)
  return amount > 0n && within(all, 1n) && (within(all, 2n) || within(own, 1n))
}

/** The reference of the ledger entry, and the id of the command that books it. The database relies on this form. */
export const warrantyReference = (run_id: string): string => `warranty:${run_id}`
