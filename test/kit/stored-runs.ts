/** Runs that have ended, as a turn leaves them, by SQL: nothing was held or charged, and no index knows them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeId } from "../../src/schema/Ids.ts"

export interface StoredRun {
  readonly run_id: string
  readonly key_id: string | null
  readonly capability: string | null
  /** Of a raw run. */
  readonly endpoint: string | null
  readonly provider: string | null
  /** `created` for a run that has not ended. */
  readonly status: string
  readonly hold: bigint
  readonly charged: bigint | null
  readonly input_hash: string | null
  /** JSON texts. */
  readonly input: string
  readonly attempts: string | null
  readonly result: string | null
  readonly metadata: string | null
  readonly reused_from: string | null
  readonly created_at: Date
  readonly finished_at: Date
  readonly erased_at: Date | null
}

/** Stores a run and gives its id. Its id is of the time at which it was created. */
export const storeRun = Effect.fnUntraced(function* (org_id: string, changed: Partial<StoredRun> = {}) {
  const sql = yield* SqlClient.SqlClient
  const created_at = changed.created_at ?? new Date()
  const plain = {
    ...{ run_id: makeId("run", created_at.getTime()), key_id: null, capability: "email.find", endpoint: null },
    ...{ provider: "hunter", status: "succeeded", hold: 0n, charged: null, input_hash: "hash", input: "{}" },
    ...{ attempts: "[]", result: "{}", metadata: null, reused_from: null, finished_at: created_at, erased_at: null }
  }
  const run: StoredRun = { ...plain, created_at, ...changed }
  const kind = run.endpoint === null ? "capability" : "endpoint"
  yield* sql`
    INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, key_id, capability, endpoint, provider, status, hold, quoted, charged,
                      input_hash, input, plan, routing_reason, attempts, result, metadata, reused_from, created_at, finished_at, erased_at)
    VALUES (${org_id}, ${run.run_id}, 'req_test', '', ${kind}, ${run.key_id}, ${run.endpoint === null ? run.capability : null}, ${run.endpoint},
            ${run.provider}, ${run.status}, ${run.hold}, ${run.hold}, ${run.charged}, ${run.input_hash}, ${run.input}::text::json, '{}', 'test',
            ${run.attempts}::text::json, ${run.result}::text::json, ${run.metadata}::text::jsonb, ${run.reused_from}, ${created_at},
            ${run.status === "created" ? null : run.finished_at}, ${run.erased_at})`
  return run.run_id
})
