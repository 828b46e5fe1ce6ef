/**
 * Counts the finished runs of older releases into the rollups, as a background migration.
 *
 * Runs that end after the upgrade reach the rollups through a queue, which keeps them until this migration has finished. So a run that is in a
 * queue is left to it, and every other finished run is counted here.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"
import { countRuns, usageLock } from "./UsageRollups.ts"

const batchMax = 1_000

const totalRow = oneRowOf({ total: Schema.Number })
const runRows = rowsOf({ org_id: Schema.String, run_id: Schema.String, finished: Schema.Boolean })
const queuedRows = rowsOf({ run_id: Schema.String })

export const usageOfOldRuns = {
  total: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return (yield* totalRow(sql`SELECT count(*)::int AS total FROM runs`)).total
  }),
  batch: Effect.fnUntraced(function* (cursor: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT pg_advisory_xact_lock(${usageLock})`
    const [org_id = "", run_id = ""] = cursor.split(" ")
    const rows = yield* runRows(sql`
      SELECT org_id, run_id, finished_at IS NOT NULL AS finished FROM runs
      WHERE (org_id, run_id) > (${org_id}, ${run_id}) ORDER BY org_id, run_id LIMIT ${batchMax}`)
    const last = rows.at(-1)
    if (last === undefined) return null
    // Read after the runs: what has ended meanwhile is in a queue by now.
    const queued = new Set<string>()
    for (const org of new Set(rows.map((row) => row.org_id))) {
      for (const row of yield* queuedRows(sql`
        SELECT unnest(run_ids) AS run_id FROM history_queue WHERE org_id = ${org} AND NOT counted
        UNION SELECT unnest(run_ids) FROM usage_queue WHERE org_id = ${org}`))
        queued.add(row.run_id)
    }
    yield* countRuns(rows.filter((row) => row.finished && !queued.has(row.run_id)))
    return { cursor: `${last.org_id} ${last.run_id}`, rows: rows.length }
  })
}
