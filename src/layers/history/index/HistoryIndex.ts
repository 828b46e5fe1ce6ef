/**
 * Indexes finished runs in batches: writes their subjects and words into new segments, and merges small segments into larger ones.
 *
 * A run is indexed shortly after it ends, because a batch costs a fraction of indexing each run alone. Until then queries read the run itself. One
 * process at a time changes the index of an organization, and each step is one transaction. Damaged segments are rebuilt.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { tableOf, texts } from "../../postgres/Rows.ts"
import { damageReports } from "./Damage.ts"
import { byPlace, rules, segmentDrafts } from "./Drafts.ts"
import { historyLocks } from "./Locks.ts"
import { segmentRepair } from "./Repair.ts"
import { rowsAs } from "./Rows.ts"
import type { SegmentDamaged } from "./SegmentDamaged.ts"
import { families, type Family, historySegments, isFamily } from "./Segments.ts"
import { segmentFields, type SegmentRow } from "./SegmentRow.ts"
import { touchCapabilities } from "../../../schema/runs/History.ts"
import { segmentFormat } from "../../../schema/segments/Checksum.ts"

/** Runs per step. One turn's runs are never split, so a step may have that many more. */
export const stepMax = 1_024
/** Segments of one size that are merged, so that a query reads a few dozen segments. */
const mergeMin = 16
/** Runs per segment. Rewriting a segment of this size, to remove a run, takes a quarter to half a second. */
export const runsMax: Readonly<Record<Family, number>> = { subjects: 131_072, words: 16_384 }
/** Merges after one step. The next step continues. */
const mergesMax = 8

/** The size class of a segment: from 1, 16, 256, 4,096 or 65,536 runs. */
const tierOf = (runs: number): number => (runs < mergeMin ? 0 : 1 + tierOf(Math.floor(runs / mergeMin)))

/** The segments of a family to be merged next: the oldest of a size class that has enough of them. */
export const joinable = (segments: ReadonlyArray<SegmentRow>, family: Family): ReadonlyArray<SegmentRow> => {
  const most = runsMax[family]
  const small = segments.filter((one) => one.runs < most && one.rules === rules[family] && one.format === segmentFormat)
  for (const same of Map.groupBy(small, ({ runs }) => tierOf(runs)).values()) {
    let runs = 0
    const oldest = same.filter((one) => (runs += one.runs) - one.runs < most)
    if (oldest.length > 1 && (same.length >= mergeMin || runs >= most)) return oldest
  }
  return []
}

/** The key of a row of the queue. */
const QueueKey = Schema.Struct({ org_id: Schema.String, turn: Schema.BigInt })
type Place = typeof QueueKey.Type

const lastRows = rowsAs("the last row of a step", QueueKey)
const deletedRows = rowsAs(
  "rows of the history queue",
  Schema.Struct({ org_id: Schema.String, run_ids: Schema.Array(Schema.String) })
)
const waitingRows = rowsAs("organizations of a step", Schema.Struct({ org_id: Schema.String }))
const crowdedRows = rowsAs("organizations with segments to merge", Schema.Struct({ org_id: Schema.String }))
const outdatedRows = rowsAs("outdated segments", Schema.Struct({ ...segmentFields, org_id: Schema.String }))
const queuedRows = rowsAs("queued runs", Schema.Struct({ runs: Schema.Int }))

const start: Place = { org_id: "", turn: 0n }
/** After all rows of an organization. */
const lastTurn = 9_223_372_036_854_775_807n

export class HistoryIndex extends Context.Service<
  HistoryIndex,
  {
    /** Indexes a batch of waiting runs, or rebuilds a damaged or outdated segment. Returns the number of runs; 0 when nothing is left to do here. */
    readonly index: Effect.Effect<number>
    /** Whether `index` may have something to do, as an SQL condition. */
    readonly due: () => string
    /** Indexes a batch of waiting runs. Rebuilds no segments. */
    readonly gather: Effect.Effect<number>
    /** Rebuilds one outdated segment. Returns its number of runs: 0 if it changed meanwhile, null if there is none. */
    readonly renew: Effect.Effect<number | null>
    /** Rebuilds the segments that are reported as damaged, of one organization. Returns the number of runs; null if there are none. */
    readonly repair: Effect.Effect<number | null>
    /** Queues the finished runs among these that are not in the index. Ids must ascend. Runs in the caller's transaction. */
    readonly restore: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<number, SegmentDamaged>
    /** Removes erased runs from all segments, in the caller's transaction. Waiting runs that are erased are skipped by indexing. */
    readonly forget: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<void, SegmentDamaged>
  }
>()("rungate/layers/history/index/HistoryIndex") {
  static readonly layer = Layer.effect(
    HistoryIndex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const segments = yield* historySegments
      const locks = yield* historyLocks
      const drafts = yield* segmentDrafts
      const reports = yield* damageReports
      const repair = yield* segmentRepair(drafts.draftsOf)
      // Where the last step ended, so that every organization is indexed in turn.
      let after = start
      let outdated = true

      /** Lists the results that later runs may reuse. What a run bought itself counts, and not what it reused. */
      const listReusable = (taken: ReadonlyArray<{ readonly org_id: string; readonly run_id: string }>) => sql`
        INSERT INTO reusable_results (org_id, input_hash, run_id, finished_at)
        SELECT r.org_id, r.input_hash, r.run_id, r.finished_at
        FROM ${tableOf("n", taken, { org_id: texts, run_id: texts })}
        JOIN runs r ON r.org_id = n.org_id AND r.run_id = n.run_id
        WHERE r.status = 'succeeded' AND r.input_hash IS NOT NULL AND r.reused_from IS NULL AND r.result IS NOT NULL AND r.erased_at IS NULL
          AND (r.capability IS NULL OR r.capability <> ALL(${texts(touchCapabilities)}))
        ON CONFLICT DO NOTHING`

      /** Takes the next waiting runs of organizations that no other process indexes. */
      const step = Effect.gen(function* () {
        const [last] = yield* lastRows(sql`
          SELECT org_id, turn FROM (
            SELECT org_id, turn, sum(runs) OVER (ORDER BY org_id, turn) AS runs FROM (
              SELECT org_id, turn, runs FROM history_queue WHERE (org_id, turn) > (${after.org_id}, ${after.turn}) ORDER BY org_id, turn LIMIT ${stepMax}
            ) first
          ) q WHERE runs >= ${stepMax}::int ORDER BY runs LIMIT 1`)
        const rows = sql`(org_id, turn) > (${after.org_id}, ${after.turn})
          ${last === undefined ? sql`` : sql`AND (org_id, turn) <= (${last.org_id}, ${last.turn})`}`
        const waiting = yield* waitingRows(sql`SELECT DISTINCT org_id FROM history_queue WHERE ${rows}`)
        if (waiting.length === 0) return { taken: [], last: start }
        const free = yield* locks.lockFree(waiting.map((row) => row.org_id))
        const deleted = yield* deletedRows(
          sql`DELETE FROM history_queue WHERE ${rows} AND org_id = ANY(${texts(free)}) RETURNING org_id, run_ids`
        )
        const taken = deleted
          .flatMap(({ org_id, run_ids }) => run_ids.map((run_id) => ({ org_id, run_id })))
          .sort(byPlace)
        const newDrafts = yield* drafts.draftsOf(taken, families)
        if (newDrafts.length > 0) yield* segments.write(newDrafts)
        if (taken.length > 0) yield* listReusable(taken)
        if (last === undefined) return { taken, last: start }
        // The rest of an organization that another process indexes is skipped.
        return { taken, last: free.includes(last.org_id) ? last : { org_id: last.org_id, turn: lastTurn } }
      })

      /** Merges segments of one organization once; false when nothing was left to merge. */
      const mergeOnce = (org_id: string, family: Family) =>
        Effect.gen(function* () {
          if ((yield* locks.lockFree([org_id])).length === 0) return false
          const rows = joinable(yield* segments.list(org_id, family), family)
          if (rows.length > 0) yield* segments.join(org_id, rows)
          return rows.length > 0
        })

      const organizationsToMerge = (org_ids: ReadonlyArray<string>, family: Family) =>
        crowdedRows(sql`
        SELECT DISTINCT org_id FROM (
          SELECT org_id FROM history_segments
          WHERE org_id = ANY(${texts(org_ids)}) AND family = ${family} AND runs < ${runsMax[family]} AND rules = ${rules[family]} AND format = ${segmentFormat}
          GROUP BY org_id, floor(ln(runs) / ln(${mergeMin}::int) + 1e-9)
          HAVING count(*) >= ${mergeMin} OR sum(runs) >= ${runsMax[family]} AND count(*) > 1
        ) o LIMIT ${mergesMax}`)

      const old = outdatedRows(sql`
        SELECT s.* FROM history_segments s
        WHERE (family, rules) NOT IN ((${"subjects"}, ${rules.subjects}), (${"words"}, ${rules.words})) OR format <> ${segmentFormat} LIMIT 1`)

      /** Builds the new segment without the lock, and replaces the old one if it still exists. */
      const renew = Effect.gen(function* () {
        const [row] = yield* old
        outdated = row !== undefined
        if (row === undefined || !isFamily(row.family)) return null
        const runs = yield* segments.checkedRuns(row.org_id, row)
        return yield* repair.replace(
          { org_id: row.org_id, family: row.family, segments: [row.segment] },
          runs.map((run) => run.run_id)
        )
      }).pipe(
        Effect.catchTag("SegmentDamaged", (damage) =>
          Effect.andThen(
            reports.report(damage),
            Effect.map(repair.next, (runs): number | null => runs ?? 0)
          )
        )
      )

      const mergeAll = (org_id: string, family: Family) =>
        Effect.gen(function* () {
          while (yield* sql.withTransaction(mergeOnce(org_id, family)));
        }).pipe(Effect.catchTag("SegmentDamaged", reports.report))

      const gather: Effect.Effect<number, SqlError.SqlError> = Effect.gen(function* () {
        // The search ends where the rows end, but only after it began at the first row.
        let fromStart = after === start
        for (;;) {
          const { taken, last } = yield* sql.withTransaction(step)
          after = last
          if (taken.length > 0) {
            const orgs = [...new Set(taken.map((row) => row.org_id))]
            for (const family of families)
              for (const { org_id } of yield* organizationsToMerge(orgs, family)) yield* mergeAll(org_id, family)
            return taken.length
          }
          if (last !== start) continue
          if (fromStart) return 0
          fromStart = true
        }
      })
      const index = Effect.gen(function* () {
        const runs = yield* gather
        const repaired = yield* repair.next
        if (runs === 0 && repaired === null && outdated) yield* renew
        return runs + (repaired ?? 0)
      })

      const restore = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        yield* locks.lock([org_id])
        const indexed = yield* segments.holding(org_id, run_ids)
        const unindexed = run_ids.filter((run_id) => !indexed.has(run_id))
        if (unindexed.length === 0) return 0
        yield* segments.forget(org_id, unindexed)
        const waiting = yield* queuedRows(sql`
          INSERT INTO history_queue (org_id, run_ids, counted)
          SELECT ${org_id}, array_agg(run_id ORDER BY run_id), true FROM (
            SELECT r.run_id FROM unnest(${texts(unindexed)}) AS n(run_id) JOIN runs r ON r.org_id = ${org_id} AND r.run_id = n.run_id
            WHERE r.finished_at IS NOT NULL AND r.erased_at IS NULL
            EXCEPT SELECT n.run_id FROM history_queue q, unnest(q.run_ids) AS n(run_id)
            WHERE q.org_id = ${org_id} AND n.run_id BETWEEN ${unindexed[0]} AND ${unindexed.at(-1)}
          ) missing HAVING count(*) > 0 RETURNING runs`)
        return waiting[0]?.runs ?? 0
      })

      return HistoryIndex.of({
        index: Effect.orDie(index),
        due: () => (outdated ? "true" : "EXISTS (SELECT FROM history_queue) OR EXISTS (SELECT FROM history_damage)"),
        gather: Effect.orDie(gather),
        renew: Effect.orDie(renew),
        repair: Effect.orDie(repair.next),
        restore: (org_id, run_ids) =>
          Effect.catchTag(restore(org_id, run_ids), "SqlError", (error) => Effect.die(error)),
        forget: Effect.fnUntraced(
          function* (org_id, run_ids) {
            yield* locks.lock([org_id])
            yield* segments.forget(org_id, run_ids)
          },
          Effect.catchTag("SqlError", (error) => Effect.die(error))
        )
      })
    })
  )
}
