/**
 * Sums the rollups that are older than the table of sums (migration 0067), as a background migration. Until it has finished, questions read the
 * rollups themselves.
 *
 * Each day is summed anew under the lock of the rollups, so it does not matter what the triggers have added to it before.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../postgres/Columns.ts"
import { dimensions, sumsOf } from "../postgres/migrations/0067_usage_sums.ts"
import type { BackgroundMigration } from "../postgres/migrations/background.ts"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"
import { usageLock } from "./UsageRollups.ts"

/** Name of the background migration. */
export const sumOldUsage = "sums_of_old_usage"
/** Rollup rows per batch. Days are never split, so a batch may have a day more. */
const batchMax = 2_000

const totalRow = oneRowOf({ total: Schema.Number })
const dayRows = rowsOf({ org_id: Schema.String, day: Schema.String, groups: Schema.Number })

/** The cursor is an organization and a day, such as "org_1 2026-11-22". */
const placeOf = (cursor: string): readonly [string, string] => {
  const [org_id = "", day = "-infinity"] = cursor === "" ? [] : cursor.split(" ")
  return [org_id, day]
}

export const sumsOfOldUsage: BackgroundMigration = {
  total: Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(totalRow(sql`SELECT count(*)::int AS total FROM usage_days WHERE name = ''`), ({ total }) => total)
  ),
  batch: Effect.fnUntraced(function* (cursor: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT pg_advisory_xact_lock(${usageLock})`
    const [org_id, day] = placeOf(cursor)
    const rows = yield* dayRows(sql`
      SELECT org_id, day::text AS day, count(*)::int AS groups FROM (
        SELECT org_id, day FROM usage_days WHERE name = '' AND (org_id, name, day) > (${org_id}, '', ${day}::date)
        ORDER BY org_id, name, day LIMIT ${batchMax}
      ) d GROUP BY org_id, d.day ORDER BY org_id, d.day`)
    const last = rows.at(-1)
    if (last === undefined) return null
    const days = sql`
      WITH days AS (
        SELECT * FROM unnest(${texts(rows.map((row) => row.org_id))}, ${texts(rows.map((row) => row.day))}::date[]) AS a (org_id, day)
      )`
    yield* sql`
      ${days} DELETE FROM usage_sums s USING days a CROSS JOIN unnest(${texts(dimensions)}) AS x (dimension)
      WHERE s.org_id = a.org_id AND s.dimension = x.dimension AND s.day = a.day`
    yield* sql`
      ${days} INSERT INTO usage_sums (org_id, dimension, day, value, status, runs, charged)
      ${sql.literal(sumsOf("SELECT d.org_id, d.day, d.group_id, d.runs, d.charged FROM days a JOIN usage_days d ON d.org_id = a.org_id AND d.name = '' AND d.day = a.day"))}`
    return { cursor: `${last.org_id} ${last.day}`, rows: rows.reduce((sum, { groups }) => sum + groups, 0) }
  })
}
