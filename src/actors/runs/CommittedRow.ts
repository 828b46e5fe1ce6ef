/** The row of a run whose end this process committed, so that its answer needs no look-up. Pure. */
import type { NewRun, RunRow } from "../../layers/runs/RunStore.ts"
import type { CommittedEnd } from "../mailbox/Waiters.ts"

/** The look-up would return the same row. */
export const committedRow = (run: NewRun, created_at: Date, { ending, finished_at, result }: CommittedEnd): RunRow => ({
  org_id: run.org_id,
  run_id: run.run_id,
  request_id: run.request_id,
  key_id: run.key_id,
  kind: run.kind,
  capability: run.capability,
  endpoint: run.endpoint,
  provider: ending.provider ?? run.provider,
  status: ending.status,
  quoted: run.quoted,
  charged: ending.charged,
  routing_reason: run.routing_reason,
  attempts: ending.attempts,
  hints: ending.hints,
  result,
  metadata: run.metadata,
  error_code: ending.error_code,
  error_message: ending.error_message,
  control: ending.control,
  created_at,
  finished_at,
  erased_at: null
})
