/**
 * Counts the finished runs of older releases into the rollups, as a background migration.
 *
 * Runs that end after the upgrade reach the rollups through a queue, which keeps them until this migration has finished. So a run that is in a
 * queue is left to it, and every other finished run is counted here.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"
import { runsAfter } from "../postgres/partitions/runsAfter.ts"
import { countRuns, usageLock } from "./UsageRollups.ts"

const totalRow = oneRowOf({ total: Schema.Number })
const queuedRows = rowsOf({ run_id: Schema.String })

export const usageOfOldRuns = {
  total: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return (yield* totalRow(sql`SELECT count(*)::int AS total FROM runs`)).total
  }),
  batch: Effect.fnUntraced(function* (cursor: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT pg_advisory_xact_lock(${usageLock})`
    const next = yield* runsAfter(cursor)
    if (next === null) return null
    const rows = next.runs
    // Read after the runs: what has ended meanwhile is in a queue by now.
    const queued = new Set<string>()
    for (const org of new Set(rows.map((row) => row.org_id))) {
      for (const row of yield* queuedRows(sql`
        SELECT unnest(run_ids) AS run_id FROM history_queue WHERE org_id = ${org} AND NOT counted
        UNION SELECT unnest(run_ids) FROM usage_queue WHERE org_id = ${org}`))
        queued.add(row.run_id)
    }
    yield* countRuns(rows.filter((row) => row.finished && !queued.has(row.run_id)))
    return { cursor: next.cursor, rows: rows.length }
  })
}
