/** Runs that cost more than they were charged, in the operator console and with `rungate admin losses --json`. */
import type { LossRow, LossTotal } from "../../../layers/ledger/Losses.ts"
import { usd } from "../../../schema/money/Money.ts"

const basisOf = ({ measured }: LossRow): "unknown" | "measured" | "partly_estimated" =>
  measured === null ? "unknown" : measured ? "measured" : "partly_estimated"

export const lossRowView = (row: LossRow) => ({
  run_id: row.run_id,
  org_id: row.org_id,
  capability: row.capability,
  endpoint: row.endpoint,
  provider: row.provider,
  reason: row.reason,
  charge: usd(row.charge),
  cost: usd(row.cost),
  loss: usd(row.loss),
  cost_basis: basisOf(row),
  at: row.at.toISOString()
})

export const lossTotalView = ({ provider, reason, runs, loss }: LossTotal) => ({
  provider,
  reason,
  runs: Number(runs),
  loss: usd(loss)
})
