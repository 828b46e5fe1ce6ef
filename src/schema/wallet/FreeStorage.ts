/**
 * How much the runs and batch rows of an organization that cost nothing may store in a UTC day. Pure.
 *
 * A run that holds nothing, or that an own account may deliver at no charge, counts what it may store while it is open, and what it stored
 * afterwards. So runs that are admitted at once can't exceed the limit together. The turn's statement counts a second time
 * (layers/guards/FreeTurn.ts).
 */
import { dollars } from "../money/Money.ts"
import { ownOffer, type OwnOffer } from "../accounts/OwnAccount.ts"
import { problem, type Problem } from "../Errors.ts"
import { withCommands } from "../Hints.ts"
import { topUp } from "../Steps.ts"
import { midnight } from "../money/SpendDay.ts"

const mebibyte = 1024n * 1024n
/** `RUNGATE_FREE_DAILY_MB` in bytes. 0: no limit. */
export const freeLimitOf = (megabytes: number): bigint => BigInt(megabytes) * mebibyte

/** The largest answer through an own account, whose address and answers the customer chooses. */
const ownRunBytes = 2n * mebibyte
/** More than free endpoints of the service's accounts answer: the operator chose them. */
const platformRunBytes = 8n * mebibyte

/** What an open run may store at no charge. Null for a run with a hold, unless an own account without a fee may deliver its result. */
export const freeBytesOf = (run: {
  readonly hold: bigint
  readonly owns?: boolean
  readonly plan: () => { readonly providers: ReadonlyArray<string>; readonly own?: ReadonlyArray<OwnOffer> }
}): bigint | null => {
  if (run.hold > 0n && run.owns !== true) return null
  const plan = run.plan()
  if (run.hold > 0n) return plan.own?.some(({ fee }) => dollars(fee) === 0n) === true ? ownRunBytes : null
  const isOwn = (provider: string) => ownOffer(plan, provider)?.fallback === false
  return plan.providers.length > 0 && plan.providers.every(isOwn) ? ownRunBytes : platformRunBytes
}

/** Of a run beside its request: the other columns and the entries in indexes. */
export const runRowBytes = 1_024n

/**
 * Whether an organization's next run or batch is not stored at all, because those that were refused or charged nothing have filled the day's
 * limit. For one that the wallet can pay the limit is higher, because only a guard would refuse it: twice as high for a key with a scope or a
 * budget, three times otherwise. So no such key stops the work of others.
 */
export const storesNothing = (stored: bigint, limit: bigint, payable: boolean, limitedKey: boolean): boolean =>
  limit > 0n && stored >= limit * (payable ? (limitedKey ? 2n : 3n) : 1n)

/** All in bytes. */
export interface FreeUse {
  /** Stored today. */
  readonly stored: bigint
  /** What open runs may store. */
  readonly reserved: bigint
  /** What the next run may store. */
  readonly requested: bigint
  readonly limit: bigint
}

const setting = "RUNGATE_FREE_DAILY_MB"
const inMiB = (bytes: bigint): bigint => bytes / mebibyte

/** Why a free run is not admitted. Null if it is. */
export const freeExceeded = ({ stored, reserved, requested, limit }: FreeUse): string | null =>
  stored + reserved + requested <= limit
    ? null
    : `runs that are charged nothing may store ${inMiB(limit)} MiB per day for your organization: ${inMiB(stored)} MiB are stored today, and open runs may store ${inMiB(reserved)} MiB; the limit resets at ${midnight}. Wait until then${reserved > 0n ? ", or until open runs have ended" : ""}; the operator of the service sets it as ${setting}`

/** The refusal of a run or batch of which `storesNothing` is true. */
export const storageFull = (limit: bigint) =>
  problem(
    "rate_limited",
    withCommands`Runs and batch rows that were refused or charged nothing have stored ${String(inMiB(limit))} MiB for your organization today, which is its limit, so this was not stored. What the wallet can pay is stored up to twice the limit, and without a key, or with one that has no scope and no budget, up to three times: top up with ${topUp}, or wait until ${midnight}. The operator of the service sets the limit as ${setting}.`
  )

export const isStorageFull = ({ error }: Problem): boolean =>
  error.code === "rate_limited" && error.message.includes(setting)
