/**
 * The rules of what the operator's accounts at providers have left: units, use per day, and when an account is low or empty. Pure.
 *
 * Amounts are millionths of the account's unit: of a credit of the provider, or of a US dollar.
 */
import * as Decimal from "../money/Decimal.ts"
import type { MicroUsd } from "../money/Money.ts"
import type { Unit } from "../money/Rates.ts"

/** What an account has left. Amounts are in the provider's credits or in USD. */
export interface CreditsLeft {
  readonly _tag: "CreditsLeft"
  readonly unit: Unit
  readonly balance: number
  /** When it lapses. Absent: the answer does not say. */
  readonly expires_at?: Date
  /** The plan gives new credits then. */
  readonly renews?: boolean
}

/** Below so many calls each attempt reserves its cost before it is made. Above, processes only count what they spend. */
export const headRoomCalls = 1_000n
/** After a provider said that the account is empty, its offers are left out for this long, unless a reading says otherwise before. */
export const emptyMinutes = 15

/** An older reading says nothing: what was spent since is only added up, and would end above any balance. */
const staleHours = 6

const lowDays = 3
const expiringDays = 7
const dayMillis = 86_400_000

/** No account has more. The database's numbers end at 9,223,372,036,854 units. */
const unitsMax = 1e12

/** What a provider reports, rounded down. */
export const microsOf = (amount: number): bigint => BigInt(Math.floor(Math.min(amount, unitsMax) * 1e6))

/** A cost in the account's unit, rounded up. Zero if the provider bills credits and no price of a credit says how many. */
export const costIn = (unit: Unit, credit: string | null, cost: MicroUsd): bigint => {
  if (unit === "USD") return cost
  if (credit === null) return 0n
  return Decimal.scaledUp(Decimal.integer(cost), Decimal.one, Decimal.parse(credit), 0).digits
}

/** A day's use counts for a day and then fades, so that a weekend without runs does not hide Monday's use. */
const fadeMillis = 3 * dayMillis

/** The use per day after another reading. A balance that rose was topped up, so it says nothing about use. */
export const burnAfter = (burn_per_day: bigint, before: bigint, after: bigint, millis: number): bigint => {
  if (after > before || millis <= 0) return burn_per_day
  const rate = (Number(before - after) * dayMillis) / millis
  const weight = 1 - Math.exp(-millis / fadeMillis)
  const next = Number(burn_per_day) + (rate - Number(burn_per_day)) * weight
  return BigInt(Math.round(Math.min(next, Number.MAX_SAFE_INTEGER)))
}

export interface CreditsAccount {
  readonly source: "read" | "set"
  /** Null before the first reading. */
  readonly balance: bigint | null
  /** When the balance was read or set. */
  readonly read_at: Date | null
  readonly reserved: bigint
  readonly burn_per_day: bigint
  readonly low_below: bigint | null
  readonly expires_at: Date | null
  readonly renews: boolean
  readonly empty_until: Date | null
}

export const creditsStates = ["unknown", "empty", "low", "expiring", "ok"] as const
export type CreditsState = (typeof creditsStates)[number]

/** What calls can still reserve. Null if that is unknown. Nothing of a prepaid package that has expired. */
export const availableOf = (account: CreditsAccount, now: number): bigint | null => {
  const { balance, read_at, reserved, expires_at, source } = account
  if (account.empty_until !== null && account.empty_until.getTime() > now) return 0n
  if (source === "set" && expires_at !== null && expires_at.getTime() <= now) return 0n
  const isStale = source === "read" && (read_at === null || now - read_at.getTime() > staleHours * 3_600_000)
  if (balance === null || isStale) return null
  return balance > reserved ? balance - reserved : 0n
}

/** No date is further away than this. */
const daysMax = 36_500

/** `days_left` and `runs_out_at`: until nothing is left at the present use. Null if nothing is used. */
export const outlookOf = (account: CreditsAccount, now: number) => {
  const available = availableOf(account, now)
  const burn = Number(account.burn_per_day)
  const days_left = available === null || burn === 0 ? null : Math.round((Number(available) * 10) / burn) / 10
  const end = days_left === null || days_left > daysMax ? null : now + days_left * dayMillis
  const lapses = account.expires_at?.getTime() ?? Infinity
  // A plan that gives new credits before the old ones are used up is not low.
  const short = days_left !== null && days_left < lowDays && !(account.renews && lapses < (end ?? 0))
  const below = available !== null && account.low_below !== null && available < account.low_below
  const state: CreditsState =
    available === 0n
      ? "empty"
      : below || short
        ? "low"
        : !account.renews && lapses - now < expiringDays * dayMillis
          ? "expiring"
          : available === null
            ? "unknown"
            : "ok"
  return { available, days_left, runs_out_at: end === null ? null : new Date(end), state }
}
