/**
 * A run that cost the platform more than it charged, and why. Pure; the database holds the same rule (`loss_is_one`).
 *
 * Only what providers report can make a loss: an estimated cost is always a part of the charge.
 */
import * as Money from "../money/Money.ts"

/**
 * `failed_attempts`: attempts that nothing was charged for, an ordinary cost of asking several providers. `clipped_by_hold`: the delivering
 * provider took more than the run held. `below_cost`: it took more than the price, though the hold would have covered it.
 */
export const lossReasons = ["failed_attempts", "clipped_by_hold", "below_cost"] as const
export type LossReason = (typeof lossReasons)[number]

/** What one attempt's provider reported to have taken. */
export interface ReportedCost {
  readonly provider: string
  readonly cost: Money.MicroUsd
  /** The attempt that is charged for. */
  readonly delivering: boolean
}

export interface Loss {
  readonly provider: string | null
  readonly reason: LossReason
  /** Every attempt that is charged for reported its cost: nothing in `cost` is an estimate. */
  readonly measured: boolean
  readonly charge: Money.MicroUsd
  readonly cost: Money.MicroUsd
}

export interface Settled {
  readonly charge: Money.MicroUsd
  readonly hold: Money.MicroUsd
  /** As it is stored with the run; null when no provider was called. */
  readonly cost: Money.MicroUsd | null
  readonly reported: ReadonlyArray<ReportedCost>
}

const dearest = (reports: ReadonlyArray<ReportedCost>): ReportedCost | undefined =>
  reports.reduce<ReportedCost | undefined>(
    (most, one) => (most === undefined || one.cost > most.cost ? one : most),
    undefined
  )

export const lossOf = ({ charge, hold, cost, reported }: Settled): Loss | null => {
  if (cost === null || cost <= charge) return null
  const delivering = reported.find((one) => one.delivering)
  const others = reported.filter((one) => !one.delivering)
  const measured = delivering !== undefined || charge === Money.zero
  if (delivering !== undefined && delivering.cost > charge) {
    const reason = charge === hold ? "clipped_by_hold" : "below_cost"
    return { provider: delivering.provider, reason, measured, charge, cost }
  }
  return { provider: dearest(others)?.provider ?? null, reason: "failed_attempts", measured, charge, cost }
}
