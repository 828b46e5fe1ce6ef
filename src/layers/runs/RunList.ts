/**
 * Lists an organization's runs, newest first, by filters.
 *
 * Open runs are found in `open_runs`, and labelled ones in `run_labels`. The other filters have no index, because one would cost every run
 * (docs/decisions/storage.md): they are applied while the primary key is read from its newest entry. If many runs don't fill a page, the rollups of
 * usage say how many such runs there are and how old the newest is (usage/RareRuns.ts), so that no more is read than needed.
 */
import { Context, Effect, Schema } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { makeId } from "../../schema/Ids.ts"
import { runStatus } from "./runStatus.ts"
import { servedBy } from "../usage/servedBy.ts"
import type { Metadata } from "../../schema/runs/Metadata.ts"
import { oneBigint, oneRowOf, textValues, texts } from "../postgres/Rows.ts"
import { type RareRuns, rareRuns, type RunValues } from "../usage/RareRuns.ts"

export interface ListFilter extends RunValues {
  /** Only runs that were created at this time or later. */
  readonly from: Date | null
  /** Only runs that were created before this time. */
  readonly to: Date | null
  /** Only runs with all of these labels. */
  readonly metadata: Metadata | null
  /** Only runs that these API keys started. Null: all. */
  readonly keys: ReadonlyArray<string> | null
  /** Only runs older than this id. */
  readonly before: string | null
  readonly limit: number
}

/** Clocks of processes and of the database may differ by this much. */
const clockMillisMax = 3_600_000
/** Of several labels, the one with the fewest runs is looked up. Beyond this number they count as equal. */
const rareMax = 1_000

/** Runs that are compared with the filters before the rollups are asked: about 60 ms. Tests shorten it. */
export const ScannedRuns = Context.Reference("rungate/layers/runs/ScannedRuns", { defaultValue: () => 20_000 })

/** Sorts before all runs of a later millisecond. */
const idOf = (millis: number) => makeId("run", Math.max(0, millis)).slice(0, -16)

const dayMillis = 86_400_000
/** A larger input is stored apart from its row, unless it is compressed: a page of such inputs would be many megabytes. */
const inputBytesMax = 2_000

/** Exclusive. */
interface Ends {
  readonly after: string
  readonly end: string
}

/** The states of open runs that may have a status, by the status: see runStatus.ts. */
const openStates: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["queued", ["queued", "waiting"]],
  ["running", ["running", "queued"]]
])
const rarestRow = oneRowOf({ name: Schema.String, value: Schema.String })

type Read<Row> = (statement: Statement.Statement<object>) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** Lists runs. `read` reads rows with the `columns`, of `r` (runs) and `o` (open_runs). */
export const runList = <Row>(sql: SqlClient.SqlClient, columns: Statement.Fragment, read: Read<Row>) => {
  const rarest = (org_id: string, labels: ReadonlyArray<readonly [name: string, value: string]>) =>
    rarestRow(sql`
      SELECT a.name, a.value FROM unnest(${texts(labels.map(([name]) => name))}, ${texts(labels.map(([, value]) => value))}) AS a (name, value),
        LATERAL (SELECT count(*) AS runs FROM (
          SELECT FROM run_labels WHERE org_id = ${org_id} AND label = run_label(a.name, a.value) LIMIT ${rareMax}::int) found) n
      ORDER BY n.runs LIMIT 1`)

  /** Ids of the runs that the other filters are applied to, newest first; null for all. */
  const candidates = Effect.fnUntraced(function* (filter: ListFilter, after: string, before: string) {
    const { org_id, status } = filter
    const states = openStates.get(status ?? "")
    if (states !== undefined)
      return sql`
        SELECT run_id FROM open_runs
        WHERE org_id = ${org_id} AND state = ANY(${texts(states)}) AND run_id > ${after} AND run_id < ${before}
        ORDER BY run_id DESC`
    const labels = Object.entries(filter.metadata ?? {})
    if (labels.length === 0) return null
    const { name, value } = yield* rarest(org_id, labels)
    return sql`
      SELECT run_id FROM run_labels
      WHERE org_id = ${org_id} AND label = run_label(${name}, ${value}) AND run_id > ${after} AND run_id < ${before}
      ORDER BY run_id DESC`
  })

  /** What a run must have beside its status. */
  const conditionsOf = (filter: ListFilter) => {
    const { capability, provider, endpoint, key_id, keys, from, to } = filter
    const metadata = filter.metadata === null ? null : JSON.stringify(filter.metadata)
    return sql`
      (${capability}::text IS NULL OR r.capability = ${capability})
      AND (${provider}::text IS NULL OR ${sql.literal(servedBy)} = ${provider})
      AND (${endpoint}::text IS NULL OR r.endpoint = ${endpoint})
      AND (${key_id}::text IS NULL OR r.key_id = ${key_id})
      AND (${keys === null} OR r.key_id = ANY(${texts(keys ?? [])}))
      AND (${metadata}::jsonb IS NULL OR r.metadata @> ${metadata}::jsonb)
      AND (${from}::timestamptz IS NULL OR r.created_at >= ${from})
      AND (${to}::timestamptz IS NULL OR r.created_at < ${to})`
  }

  /** A page of the runs of a source. `order` is the table of the source whose ids are in order. */
  const pageOf = (filter: ListFilter, order: "r" | "c", source: Statement.Fragment, ends: Ends) => {
    const { org_id, status, limit } = filter
    return sql`
      SELECT ${columns}, NULL AS result, NULL::bigint AS available,
             CASE WHEN pg_column_size(r.input) <= ${inputBytesMax}::int AND octet_length(r.input::text) <= ${inputBytesMax}::int
                  THEN r.input::text END AS input FROM ${source} LEFT JOIN open_runs o ON o.run_id = r.run_id
      WHERE r.org_id = ${org_id} AND ${conditionsOf(filter)}
        -- A final run is not open, so most runs are left out before they are looked up in open_runs.
        AND (${status}::text IS NULL OR r.status = ${status} OR r.status = 'created')
        AND (${status}::text IS NULL OR ${sql.literal(runStatus)} = ${status})
        AND r.run_id > ${ends.after} AND r.run_id < ${ends.end}
      ORDER BY ${sql.literal(order)}.run_id DESC LIMIT ${limit}`
  }

  const pageOfAll = (filter: ListFilter, source: Statement.Fragment, ends: Ends) => pageOf(filter, "r", source, ends)

  const pageOfIds = (filter: ListFilter, ids: Statement.Fragment, ends: Ends) =>
    pageOf(
      filter,
      "c",
      // As a condition of a plain join, the planner could read all runs since the oldest one.
      sql`(${ids}) c CROSS JOIN LATERAL (SELECT * FROM runs WHERE org_id = ${filter.org_id} AND run_id = c.run_id LIMIT 1) r`,
      ends
    )

  const rareOf = rareRuns(sql)

  /** Counted runs are read until all of them were found, and uncounted ones by their ids. */
  const rarePageOf = Effect.fnUntraced(function* (filter: ListFilter, rare: RareRuns, ends: Ends) {
    const { org_id, status, limit } = filter
    const uncounted = texts(rare.uncounted)
    const open = sql`SELECT run_id FROM unnest(${uncounted}) AS u(run_id)`
    const counted = sql`
      r.org_id = ${org_id} AND ${conditionsOf(filter)}
      AND (${status}::text IS NULL OR r.status = ${status}) AND r.run_id <> ALL (${uncounted})`
    // A run ends after it was created.
    const newest = rare.newest === null ? "" : idOf(Date.parse(rare.newest) + dayMillis + clockMillisMax)
    const newer =
      newest > ends.end
        ? yield* oneBigint(sql`
            SELECT count(*) AS count FROM runs r WHERE ${counted} AND r.run_id >= ${ends.end} AND r.run_id < ${newest}`)
        : 0n
    const left = rare.counted - newer
    const most = left < BigInt(limit) ? Number(left) : limit
    if (most <= 0) return pageOfIds(filter, sql`${open} ORDER BY run_id DESC`, ends)
    const end = newest < ends.end ? newest : ends.end
    const older = sql`
      SELECT r.run_id FROM runs r WHERE ${counted} AND r.run_id > ${ends.after} AND r.run_id < ${end}
      ORDER BY r.run_id DESC LIMIT ${most}`
    return pageOfIds(filter, sql`SELECT run_id FROM (${open} UNION ALL (${older})) u ORDER BY run_id DESC`, ends)
  })

  /** A page of a filter that few runs pass. One snapshot: what is counted when is read together. */
  const rarePage = (filter: ListFilter, ends: Ends) =>
    Effect.gen(function* () {
      yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
      const rare = yield* rareOf(filter)
      return yield* read(rare === null ? pageOfAll(filter, sql`runs r`, ends) : yield* rarePageOf(filter, rare, ends))
    }).pipe(sql.withTransaction)

  return Effect.fnUntraced(function* (requested: ListFilter) {
    if (requested.keys !== null && requested.key_id !== null && !requested.keys.includes(requested.key_id)) return []
    const [only, ...others] = requested.keys ?? []
    // One key is a filter like any other, which the rollups know.
    const isOne = only !== undefined && others.length === 0
    const filter = isOne ? { ...requested, key_id: only, keys: null } : requested
    const { org_id, from, to, before, limit, metadata } = filter
    // Ids sort by creation time, so they bound what an index reads.
    const after = from === null ? "" : idOf(from.getTime() - clockMillisMax)
    const newest = to === null ? "run_~" : idOf(to.getTime() + clockMillisMax)
    const ends = { after, end: before !== null && before < newest ? before : newest }
    const ids = yield* candidates(filter, ends.after, ends.end)
    if (ids !== null) return yield* read(pageOfIds(filter, ids, ends))
    const values = [filter.status, filter.capability, filter.provider, filter.endpoint, filter.key_id]
    if (metadata !== null || filter.keys !== null || values.every((value) => value === null))
      return yield* read(pageOfAll(filter, sql`runs r`, ends))
    const scanned = yield* ScannedRuns
    const all = sql`
      SELECT * FROM runs WHERE org_id = ${org_id} AND run_id > ${ends.after} AND run_id < ${ends.end} ORDER BY run_id DESC`
    const rows = yield* read(pageOfAll(filter, sql`(${all} LIMIT ${scanned}) r`, ends))
    if (rows.length >= limit) return rows
    const further = yield* textValues(sql`SELECT run_id FROM (${all} OFFSET ${scanned} LIMIT 1) r`)
    return further.length === 0 ? rows : yield* rarePage(filter, ends)
  })
}
