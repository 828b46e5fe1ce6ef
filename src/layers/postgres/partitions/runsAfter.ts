/**
 * Reads all runs in the order of organizations and ids, for background migrations: a batch after a cursor.
 *
 * One organization at a time. With a condition on both columns, the planner may read and sort all runs for each batch.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../Rows.ts"

const batchMax = 1_000
/** Organizations without runs cost a look-up each. */
const orgsMax = 200

const VisitedRun = Schema.Struct({
  org_id: Schema.String,
  run_id: Schema.String,
  finished: Schema.Boolean,
  labelled: Schema.Boolean
})
export type VisitedRun = typeof VisitedRun.Type
const runRows = rowsOf(VisitedRun.fields)
const orgRows = rowsOf({ org_id: Schema.String })

/** The next runs and the cursor after them. Null when there are none. The cursor is empty at the start. */
export const runsAfter = Effect.fnUntraced(function* (cursor: string) {
  const sql = yield* SqlClient.SqlClient
  let [org_id = "", run_id = ""] = cursor.split(" ")
  const runs: Array<VisitedRun> = []
  for (let orgs = 0; orgs < orgsMax && runs.length < batchMax; orgs++) {
    const rows = yield* runRows(sql`
      SELECT org_id, run_id, finished_at IS NOT NULL AS finished, metadata IS NOT NULL AS labelled FROM runs
      WHERE org_id = ${org_id} AND run_id > ${run_id} ORDER BY run_id LIMIT ${batchMax - runs.length}`)
    runs.push(...rows)
    run_id = rows.at(-1)?.run_id ?? run_id
    if (runs.length === batchMax) break
    const [next] = yield* orgRows(sql`SELECT org_id FROM orgs WHERE org_id > ${org_id} ORDER BY org_id LIMIT 1`)
    if (next === undefined) return runs.length === 0 ? null : { runs, cursor: `${org_id} ${run_id}` }
    ;[org_id, run_id] = [next.org_id, ""]
  }
  return { runs, cursor: `${org_id} ${run_id}` }
})
