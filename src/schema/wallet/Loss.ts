/**
 * Finds runs that cost the platform more than they charged, and the reason. Pure. The database enforces the same rule (`loss_is_one`).
 *
 * Only reported costs can make a loss, because an estimated cost is always below the charge.
 */
import * as Money from "../money/Money.ts"

/**
 * `failed_attempts`: the cost of attempts that delivered nothing, an ordinary cost of calling several providers. `clipped_by_hold`: the
 * delivering provider charged more than the run held. `below_cost`: it charged more than the price, although the hold would have covered it.
 */
export const lossReasons = ["failed_attempts", "clipped_by_hold", "below_cost"] as const
export type LossReason = (typeof lossReasons)[number]

/** The cost that the provider of an attempt reported. */
export interface ReportedCost {
  readonly provider: string
  readonly cost: Money.MicroUsd
  /** Whether this attempt delivered the result that is charged. */
  readonly delivering: boolean
}

export interface Loss {
  readonly provider: string | null
  readonly reason: LossReason
  /** Whether no part of `cost` is an estimate. */
  readonly measured: boolean
  readonly charge: Money.MicroUsd
  readonly cost: Money.MicroUsd
}

export interface Settled {
  readonly charge: Money.MicroUsd
  readonly hold: Money.MicroUsd
  /** The provider cost as it is stored with the run. Null if no provider was called. */
  readonly cost: Money.MicroUsd | null
  readonly reported: ReadonlyArray<ReportedCost>
}

const mostExpensive = (reports: ReadonlyArray<ReportedCost>): ReportedCost | undefined =>
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
  return { provider: mostExpensive(others)?.provider ?? null, reason: "failed_attempts", measured, charge, cost }
}
