/**
 * Writes the labels of runs that are older than the table of labels (migration 0048), as a background migration. Until it has finished, the
 * filter by labels reads runs.
 *
 * Labelled runs are locked, so one that is erased meanwhile leaves no label.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../postgres/Columns.ts"
import type { BackgroundMigration } from "../postgres/migrations/background.ts"
import { oneRowOf } from "../postgres/Rows.ts"
import { runsAfter } from "../postgres/partitions/runsAfter.ts"

/** Name of the background migration. */
export const labelOldRuns = "labels_of_old_runs"

const totalRow = oneRowOf({ total: Schema.Number })

export const labelsOfOldRuns: BackgroundMigration = {
  total: Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(totalRow(sql`SELECT count(*)::int AS total FROM runs`), ({ total }) => total)
  ),
  batch: Effect.fnUntraced(function* (cursor: string) {
    const sql = yield* SqlClient.SqlClient
    const next = yield* runsAfter(cursor)
    if (next === null) return null
    const runs = next.runs.filter(({ labelled }) => labelled)
    if (runs.length > 0)
      yield* sql`
        INSERT INTO run_labels (org_id, label, run_id)
        SELECT r.org_id, run_label(one.key, one.value), r.run_id
        FROM unnest(${texts(runs.map((run) => run.org_id))}, ${texts(runs.map((run) => run.run_id))}) AS a (org_id, run_id)
        CROSS JOIN LATERAL (SELECT * FROM runs WHERE org_id = a.org_id AND run_id = a.run_id LIMIT 1 FOR SHARE) r,
          jsonb_each_text(r.metadata) AS one
        ON CONFLICT DO NOTHING`
    return { cursor: next.cursor, rows: next.runs.length }
  })
}
