/** What the reports of ended runs say to the operator during a turn: provider health, losses, and unknown outcomes. */
import type { RunLoss, UnknownOutcome } from "../../layers/ledger/Turn.ts"
import type { AttemptCount, TurnRun } from "../../layers/ledger/Turn.ts"
import { outcomeUnknown } from "../../schema/catalog/Doubt.ts"
import { MicroUsd } from "../../schema/money/Money.ts"
import { endpointSubject, latencyBucket, offerSubject, providerWorked } from "../../schema/runs/Health.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import { lossOf } from "../../schema/wallet/Loss.ts"

const subjectOf = (run: TurnRun, provider: string): string =>
  run.capability === null
    ? endpointSubject(provider, run.method ?? "-", run.endpoint ?? "")
    : offerSubject(run.capability, provider)

export const turnReports = () => {
  const counts = new Map<string, AttemptCount>()
  const losses: Array<RunLoss> = []
  const unknowns: Array<UnknownOutcome> = []

  /** Counts an attempt for its provider's health. */
  const count = (run: TurnRun, { provider, outcome, duration_ms, account }: SettleReport["attempts"][number]) => {
    const ok = providerWorked(outcome)
    // A call through a customer's own account says nothing about the service's account.
    if (ok === null || account !== undefined) return
    const subject = subjectOf(run, provider)
    const latency_bucket = ok ? latencyBucket(duration_ms) : 0
    const key = `${subject} ${ok} ${latency_bucket}`
    counts.set(key, { subject, ok, latency_bucket, count: (counts.get(key)?.count ?? 0) + 1 })
  }

  return {
    settled: (run: TurnRun, report: SettleReport, charge: bigint) => {
      const { org_id, run_id, hold } = run
      const { costs: reported = [], provider_cost: cost = null, unknown, provider } = report
      // If the worker died during the call, the attempt says nothing about its provider.
      const died = unknown?.why === "worker_lost"
      const counted = report.rehearsed === true ? [] : report.attempts
      for (const attempt of counted) if (!died || attempt.outcome !== outcomeUnknown) count(run, attempt)
      const loss = lossOf({ charge: MicroUsd(charge), hold, cost, reported })
      if (loss !== null) losses.push({ ...loss, org_id, run_id, provider: loss.provider ?? provider })
      if (unknown !== undefined) {
        const { why, provider_state, look = false } = unknown
        const state = provider_state === null ? null : JSON.stringify(provider_state)
        unknowns.push({ org_id, run_id, provider: provider ?? "", why, provider_state: state, look })
      }
    },
    effects: () => ({ attempts: [...counts.values()], records: { losses, unknowns } })
  }
}
