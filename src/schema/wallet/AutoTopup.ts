/**
 * Auto top-up: charges the saved payment method when the balance falls below the threshold.
 *
 * At most one charge is open per wallet, a day's charges stay within the daily maximum, and a declined charge is retried only after a pause.
 * Pure; decided in the wallet's turn. Database constraints enforce the first two rules as well.
 */
import { zero } from "../money/Money.ts"
import * as Money from "../money/Money.ts"

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
  /** The UTC day that `day_total` counts, and what was charged (or is being) on it. */
  readonly day: string
  readonly day_total: Money.MicroUsd
}

export interface AutoTopupSetting {
  readonly enabled: boolean
  readonly threshold: Money.MicroUsd
  readonly amount: Money.MicroUsd
}

const hourMicros = 3_600_000_000n
/** Card networks frown on a card that is asked again and again: hours, then days, then no more. */
const waits = [1n, 6n, 24n, 72n].map((hours) => hours * hourMicros)
/** Also for one that was switched off: it may be switched on again, and then still waits. */
const waitLongest = 72n * hourMicros
const dayMicros = 24n * hourMicros

const calm = { state: "idle", failures: 0, last_error: null, retry_micros: null } as const

/**
 * A charge that is in flight stays the only one, and a card that was declined keeps its wait: switching off and on is no way to ask it
 * again and again. Saving a card with a checkout is (see `renew`).
 */
export const set = (auto: AutoTopup | null, { enabled, threshold, amount }: AutoTopupSetting): AutoTopup => {
  const setting = { enabled, threshold, amount }
  if (auto === null) return { day: "1970-01-01", day_total: zero, ...calm, ...setting }
  if (auto.failures > 0) return { ...auto, ...setting }
  return { ...auto, ...calm, ...setting, state: auto.state === "charging" ? "charging" : "idle" }
}

const totalOn = (auto: AutoTopup, day: string) => (auto.day === day ? auto.day_total : zero)

/** Whether this balance calls for a charge. A wallet that stays below is charged again, up to the day's maximum. */
export const isDue = (auto: AutoTopup, balance: Money.MicroUsd): boolean =>
  auto.enabled && auto.state === "idle" && balance < auto.threshold

/** The charge that is due, or why there is none today. */
export const begin = (
  auto: AutoTopup,
  day: string,
  nowMicros: bigint,
  dailyMax: Money.MicroUsd
): { readonly auto: AutoTopup; readonly charge: Money.MicroUsd | null } => {
  const total = Money.plus(totalOn(auto, day), auto.amount)
  if (total <= dailyMax) return { auto: { ...auto, state: "charging", day, day_total: total }, charge: auto.amount }
  const retry_micros = (nowMicros / dayMicros + 1n) * dayMicros
  const last_error = `The daily maximum of $${Money.usd(dailyMax)} for automatic top-ups is reached; the next is at 00:00 UTC.`
  return { auto: { ...auto, state: "waiting", retry_micros, last_error }, charge: null }
}

/** The charge arrived. One that was switched off meanwhile keeps saying why. */
export const succeed = (auto: AutoTopup): AutoTopup =>
  auto.enabled ? { ...auto, ...calm } : { ...auto, state: "idle", retry_micros: null }

/** A charge that had been given up arrived after all. If another one is in flight by now, that one must stay the only one. */
export const succeedLate = (auto: AutoTopup): AutoTopup => (auto.state === "charging" ? auto : succeed(auto))

/** The charge was declined: what it would have cost is open again today, and the next one waits. */
export const decline = (auto: AutoTopup, amount: Money.MicroUsd, reason: string, nowMicros: bigint): AutoTopup => {
  const failures = auto.failures + 1
  const day_total = Money.max(zero, Money.minus(auto.day_total, amount))
  if (!auto.enabled) return { ...auto, state: "idle", retry_micros: null, day_total }
  const wait = waits[failures - 1]
  const waiting = {
    ...auto,
    state: "waiting" as const,
    failures,
    day_total,
    retry_micros: nowMicros + (wait ?? waitLongest)
  }
  if (wait !== undefined) return { ...waiting, last_error: reason }
  const off = `Automatic top-up was switched off after ${failures} declines in a row; pay a checkout with another card to save it.`
  return { ...waiting, enabled: false, last_error: `${reason} ${off}` }
}

/** A payment went back to its payer: what that takes from the balance must not be charged to the card again before somebody says so. */
export const reverse = (auto: AutoTopup, kind: "refund" | "dispute"): AutoTopup => ({
  ...auto,
  enabled: false,
  last_error: `Automatic top-up was switched off because a payment was ${kind === "refund" ? "refunded" : "disputed"}; switch it on again to use the card.`
})

/** Another method was saved: what the old one was declined for no longer counts. What was switched off stays off, and says why. */
export const renew = (auto: AutoTopup): AutoTopup =>
  auto.failures > 0
    ? {
        ...auto,
        ...calm,
        state: auto.state === "charging" ? "charging" : "idle",
        last_error: auto.enabled ? null : auto.last_error
      }
    : auto

/** It has waited long enough. A decline is shown until a charge arrives; that yesterday's maximum was reached is over today. */
export const wake = (auto: AutoTopup, nowMicros: bigint): AutoTopup =>
  auto.state === "waiting" && (auto.retry_micros ?? 0n) <= nowMicros
    ? { ...auto, state: "idle", retry_micros: null, last_error: auto.failures === 0 ? null : auto.last_error }
    : auto
