/**
 * The rules of what the operator's accounts at providers have left: units, and use per day. Pure. The state that follows from them is beside
 * its noun (nouns/operator/Credits.ts).
 *
 * Amounts are millionths of the account's unit: of a credit of the provider, or of a US dollar.
 */
import * as Decimal from "../money/Decimal.ts"
import type { MicroUsd } from "../money/Money.ts"
import type { Unit } from "../money/Rates.ts"
import { dayMillis } from "../money/SpendDay.ts"

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
