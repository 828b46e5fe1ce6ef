/**
 * Auto top-up: charges the saved payment method when the balance falls below the threshold.
 *
 * At most one charge is open per wallet, a day's charges stay within the daily maximum, and a declined charge is retried only after a pause.
 * Pure; decided in the wallet's turn. Database constraints enforce the first two rules as well.
 */
import { zero } from "../money/Money.ts"
import * as Money from "../money/Money.ts"
import { dayEnd, midnight } from "../money/SpendDay.ts"

export interface AutoTopup {
  readonly enabled: boolean
  readonly threshold: Money.MicroUsd
  readonly amount: Money.MicroUsd
  /** `charging` while a charge is in flight; `waiting` until `retry_micros`. */
  readonly state: "idle" | "charging" | "waiting"
  /** Declines in a row. */
  readonly failures: number
  readonly last_error: string | null
  /** Microseconds since 1970, on the database's clock. */
  readonly retry_micros: bigint | null
  /** The day of `day_total`, which is the sum of that day's charges, including one in flight. */
  readonly day: string
  readonly day_total: Money.MicroUsd
}

export interface AutoTopupSetting {
  readonly enabled: boolean
  readonly threshold: Money.MicroUsd
  readonly amount: Money.MicroUsd
}

const hourMicros = 3_600_000_000n
/** Pauses after declines in a row. One more decline switches automatic top-up off, because card networks object to repeated charges. */
const waits = [1n, 6n, 24n, 72n].map((hours) => hours * hourMicros)
/** The pause after the decline that switches it off, in case somebody switches it on again. */
const waitLongest = 72n * hourMicros

const noFailure = { state: "idle", failures: 0, last_error: null, retry_micros: null } as const

/**
 * Changes the setting. A charge in flight stays the only one. A declined card keeps its pause, so switching off and on does not charge it again.
 * A checkout that saves a card ends the pause (see `renew`).
 */
export const set = (auto: AutoTopup | null, { enabled, threshold, amount }: AutoTopupSetting): AutoTopup => {
  const setting = { enabled, threshold, amount }
  if (auto === null) return { day: "1970-01-01", day_total: zero, ...noFailure, ...setting }
  if (auto.failures > 0) return { ...auto, ...setting }
  return { ...auto, ...noFailure, ...setting, state: auto.state === "charging" ? "charging" : "idle" }
}

const totalOn = (auto: AutoTopup, day: string) => (auto.day === day ? auto.day_total : zero)

/** Whether a charge is due at this balance. A wallet that stays below the threshold is charged again, up to the daily maximum. */
export const isDue = (auto: AutoTopup, balance: Money.MicroUsd): boolean =>
  auto.enabled && auto.state === "idle" && balance < auto.threshold

/** Begins the charge that is due, or notes that the daily maximum is reached. */
export const begin = (
  auto: AutoTopup,
  day: string,
  dailyMax: Money.MicroUsd
): { readonly auto: AutoTopup; readonly charge: Money.MicroUsd | null } => {
  const total = Money.plus(totalOn(auto, day), auto.amount)
  if (total <= dailyMax) return { auto: { ...auto, state: "charging", day, day_total: total }, charge: auto.amount }
  const retry_micros = BigInt(dayEnd(day).getTime()) * 1_000n
  const last_error = `The daily maximum of $${Money.usd(dailyMax)} for automatic top-ups is reached; the next is at ${midnight}.`
  return { auto: { ...auto, state: "waiting", retry_micros, last_error }, charge: null }
}

/** The charge succeeded. If automatic top-up was switched off meanwhile, the reason stays in `last_error`. */
export const succeed = (auto: AutoTopup): AutoTopup =>
  auto.enabled ? { ...auto, ...noFailure } : { ...auto, state: "idle", retry_micros: null }

/**
 * A charge that had counted as failed succeeded after all. Its amount counts again, on the day of the newest charge. That day may pass its
 * maximum then, because the share was free for other charges. If another charge is in flight, the state does not change.
 */
export const succeedLate = (auto: AutoTopup, amount: Money.MicroUsd): AutoTopup => ({
  ...(auto.state === "charging" ? auto : succeed(auto)),
  day_total: Money.plus(auto.day_total, amount)
})

/** The charge was declined. Its amount no longer counts towards the daily maximum, and the next charge waits. */
export const decline = (auto: AutoTopup, amount: Money.MicroUsd, reason: string, nowMicros: bigint): AutoTopup => {
  const failures = auto.failures + 1
  const day_total = Money.max(zero, Money.minus(auto.day_total, amount))
  const wait = waits[failures - 1]
  const waiting = {
    ...auto,
    state: "waiting" as const,
    failures,
    day_total,
    retry_micros: nowMicros + (wait ?? waitLongest)
  }
  // Switched off while the charge was under way: the pause counts all the same, in case somebody switches it on again.
  if (!auto.enabled) return { ...waiting, last_error: auto.last_error ?? reason }
  if (wait !== undefined) return { ...waiting, last_error: reason }
  const off = `Automatic top-up was switched off after ${failures} declines in a row; pay a checkout with another card to save it.`
  return { ...waiting, enabled: false, last_error: `${reason} ${off}` }
}

/** A payment was refunded or disputed. It is switched off, so the amount is not charged to the card again without the customer's consent. */
export const reverse = (auto: AutoTopup, kind: "refund" | "dispute"): AutoTopup => ({
  ...auto,
  enabled: false,
  last_error: `Automatic top-up was switched off because a payment was ${kind === "refund" ? "refunded" : "disputed"}; switch it on again to use the card.`
})

/** Another payment method was saved, so earlier declines no longer count. If it was switched off, it stays off with its reason. */
export const renew = (auto: AutoTopup): AutoTopup =>
  auto.failures > 0
    ? {
        ...auto,
        ...noFailure,
        state: auto.state === "charging" ? "charging" : "idle",
        last_error: auto.enabled ? null : auto.last_error
      }
    : auto

/** Ends the pause when its time is over. The error of a decline stays until a charge succeeds. The error of the daily maximum goes. */
export const wake = (auto: AutoTopup, nowMicros: bigint): AutoTopup =>
  auto.state === "waiting" && (auto.retry_micros ?? 0n) <= nowMicros
    ? { ...auto, state: "idle", retry_micros: null, last_error: auto.failures === 0 ? null : auto.last_error }
    : auto
