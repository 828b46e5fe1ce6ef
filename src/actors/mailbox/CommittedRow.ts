/** The row of a run that this process admitted, and with the end that it committed. So an answer needs no look-up. Pure. */
import type { NewRun } from "../../layers/runs/NewRuns.ts"
import type { CommittedEnd } from "./Places.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"

/** Without the run's input and most plans, so that a client that waits does not keep them in memory. */
export const admittedRow = (run: NewRun, created_at: Date): RunRow => ({
  org_id: run.org_id,
  run_id: run.run_id,
  request_id: run.request_id,
  key_id: run.key_id,
  kind: run.kind,
  capability: run.capability,
  endpoint: run.endpoint,
  provider: null,
  status: "created",
  quoted: run.quoted,
  charged: null,
  routing_reason: run.routing_reason,
  attempts: null,
  hints: null,
  plan: run.plan.own === undefined ? null : JSON.stringify(run.plan),
  result: null,
  metadata: run.metadata,
  error_code: null,
  error_message: null,
  control: null,
  reused_from: null,
  created_at,
  finished_at: null,
  erased_at: null,
  available: null
})

/** As `servedBy` of layers/usage/servedBy.ts reads it. */
const servedBy = ({ status, provider, attempts }: CommittedEnd["ending"]) =>
  status === "succeeded" || (status === "no_match" && (attempts ?? "[]") !== "[]") ? provider : null

/** The look-up would return the same row. */
export const endedRow = (run: RunRow, { ending, finished_at, available, result }: CommittedEnd): RunRow => ({
  ...run,
  provider: servedBy(ending),
  status: ending.status,
  charged: ending.charged,
  attempts: ending.attempts,
  hints: ending.hints,
  plan: null,
  result,
  error_code: ending.error_code,
  error_message: ending.error_message,
  control: ending.control,
  reused_from: ending.reuse?.reused_from ?? null,
  finished_at,
  available
})
