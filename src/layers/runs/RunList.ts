/**
 * Lists an organization's runs, newest first, by filters.
 *
 * Open runs are found in `open_runs`, and labelled ones in `run_labels`. The other filters have no index, because one would cost every run
 * (docs/decisions.md): they are applied while the primary key is read from its newest entry.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { makeId } from "../../schema/Ids.ts"
import type { Metadata } from "../../schema/runs/Metadata.ts"
import { texts } from "../postgres/Columns.ts"
import { oneRowOf } from "../postgres/Rows.ts"
import { labelOldRuns } from "./LabelsOfOldRuns.ts"

export interface ListFilter {
  readonly org_id: string
  readonly status: string | null
  readonly capability: string | null
  readonly provider: string | null
  readonly endpoint: string | null
  readonly key_id: string | null
  /** Only runs that were created at this time or later. */
  readonly from: Date | null
  /** Only runs that were created before this time. */
  readonly to: Date | null
  /** Only runs with all of these labels. */
  readonly metadata: Metadata | null
  /** Only runs older than this id. */
  readonly before: string | null
  readonly limit: number
}

/** Clocks of processes and of the database may differ by this much. */
const clockMillisMax = 3_600_000
/** Of several labels, the one with the fewest runs is looked up. Beyond this number they count as equal. */
const rareMax = 1_000

/** Sorts before all runs of a later millisecond. */
const idOf = (millis: number) => makeId("run", Math.max(0, millis)).slice(0, -16)

const openStates: ReadonlyArray<string> = ["queued", "running"]
const finishedRow = oneRowOf({ finished: Schema.Boolean })
const rarestRow = oneRowOf({ name: Schema.String, value: Schema.String })

/** The statement that lists runs. Its rows have the `columns`, of `r` (runs) and `o` (open_runs). */
export const runList = (sql: SqlClient.SqlClient, columns: ReturnType<SqlClient.SqlClient["literal"]>) => {
  let oldAreLabelled = false
  const labelled = Effect.gen(function* () {
    if (oldAreLabelled) return true
    const { finished } = yield* finishedRow(sql`
      SELECT EXISTS (SELECT FROM background_migrations WHERE name = ${labelOldRuns} AND finished_at IS NOT NULL) AS finished`)
    oldAreLabelled = finished
    return finished
  })

  const rarest = (org_id: string, labels: ReadonlyArray<readonly [name: string, value: string]>) =>
    rarestRow(sql`
      SELECT a.name, a.value FROM unnest(${texts(labels.map(([name]) => name))}, ${texts(labels.map(([, value]) => value))}) AS a (name, value),
        LATERAL (SELECT count(*) AS runs FROM (
          SELECT FROM run_labels WHERE org_id = ${org_id} AND label = run_label(a.name, a.value) LIMIT ${rareMax}::int) found) n
      ORDER BY n.runs LIMIT 1`)

  /** Ids of the runs that the other filters are applied to, newest first; null for all. */
  const candidates = Effect.fnUntraced(function* (filter: ListFilter, after: string, before: string) {
    const { org_id, status } = filter
    if (status !== null && openStates.includes(status))
      return sql`
        SELECT run_id FROM open_runs WHERE org_id = ${org_id} AND state = ${status} AND run_id > ${after} AND run_id < ${before}
        ORDER BY run_id DESC`
    const labels = Object.entries(filter.metadata ?? {})
    if (labels.length === 0 || !(yield* labelled)) return null
    const { name, value } = yield* rarest(org_id, labels)
    return sql`
      SELECT run_id FROM run_labels
      WHERE org_id = ${org_id} AND label = run_label(${name}, ${value}) AND run_id > ${after} AND run_id < ${before}
      ORDER BY run_id DESC`
  })

  return Effect.fnUntraced(function* (filter: ListFilter) {
    const { org_id, status, capability, provider, endpoint, key_id, from, to, before, limit } = filter
    const metadata = filter.metadata === null ? null : JSON.stringify(filter.metadata)
    // Ids sort by creation time, so they bound what an index reads.
    const after = from === null ? "" : idOf(from.getTime() - clockMillisMax)
    const newest = to === null ? "run_~" : idOf(to.getTime() + clockMillisMax)
    const end = before !== null && before < newest ? before : newest
    const ids = yield* candidates(filter, after, end)
    const conditions = sql`
      (${capability}::text IS NULL OR r.capability = ${capability})
      AND (${provider}::text IS NULL OR r.provider = ${provider})
      AND (${endpoint}::text IS NULL OR r.endpoint = ${endpoint})
      AND (${key_id}::text IS NULL OR r.key_id = ${key_id})
      AND (${metadata}::jsonb IS NULL OR r.metadata @> ${metadata}::jsonb)
      AND (${from}::timestamptz IS NULL OR r.created_at >= ${from})
      AND (${to}::timestamptz IS NULL OR r.created_at < ${to})
      -- A final run is not open, so most runs are left out before they are looked up in open_runs.
      AND (${status}::text IS NULL OR r.status = ${status} OR r.status = 'created')`
    const source =
      ids === null
        ? sql`runs r`
        : // As a condition of a plain join, the planner could read all runs since the oldest one.
          sql`(${ids}) c CROSS JOIN LATERAL (SELECT * FROM runs WHERE org_id = ${org_id} AND run_id = c.run_id LIMIT 1) r`
    return sql`
      SELECT ${columns}, NULL AS result FROM ${source} LEFT JOIN open_runs o ON o.run_id = r.run_id
      WHERE r.org_id = ${org_id} AND ${conditions} AND (${status}::text IS NULL OR coalesce(o.state, r.status) = ${status})
        AND r.run_id > ${after} AND r.run_id < ${end}
      ORDER BY ${sql.literal(ids === null ? "r" : "c")}.run_id DESC LIMIT ${limit}`
  })
}
