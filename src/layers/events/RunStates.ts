/** Reads the states of runs, from which their events follow. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf, texts } from "../postgres/Rows.ts"
import { runStatus } from "../runs/runStatus.ts"
import { servedBy } from "../usage/servedBy.ts"
import type { RunState } from "../../schema/events/RunEvents.ts"
import { Attempt, RunStatus } from "../../schema/runs/Run.ts"

const stateRows = rowsOf({
  run_id: Schema.String,
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  status: RunStatus,
  quoted: Schema.BigInt,
  charged: Schema.NullOr(Schema.BigInt),
  attempts: Schema.NullOr(Schema.String),
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  since: Schema.NullOr(Schema.Date),
  finished_at: Schema.NullOr(Schema.Date)
})
const decodeAttempts = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Attempt)))

/** In any order; without runs that the organization does not have. */
export const runStates = (sql: SqlClient.SqlClient) => (org_id: string, run_ids: ReadonlyArray<string>) =>
  Effect.map(
    stateRows(sql`
      SELECT r.run_id, r.capability, r.endpoint, ${sql.literal(servedBy)} AS provider, ${sql.literal(runStatus)} AS status, r.quoted, r.charged,
             coalesce(r.attempts, o.attempts)::text AS attempts, r.error_code, r.error_message, r.created_at, o.since, r.finished_at
      FROM runs r LEFT JOIN open_runs o ON o.run_id = r.run_id
      WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids)})`),
    (rows) =>
      rows.map((row): RunState => ({ ...row, attempts: row.attempts === null ? [] : decodeAttempts(row.attempts) }))
  )
