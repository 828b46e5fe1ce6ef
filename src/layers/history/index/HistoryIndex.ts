/**
 * Indexes finished runs in batches: writes their subjects and words into new segments, and merges small segments into larger ones.
 *
 * A run is indexed shortly after it ends, because a batch costs a fraction of indexing each run alone. Until then queries read the run itself. Only
 * one process indexes at a time, and each step is one transaction.
 */
import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { texts } from "../../postgres/Columns.ts"
import {
  addSubjects,
  addWords,
  runOf,
  type RunText,
  runTextColumns,
  runTextRows,
  shortJson,
  wholeJson,
  wholeText
} from "./IndexedRun.ts"
import { rowsAs } from "./Rows.ts"
import {
  type Draft,
  families,
  type Family,
  historySegments,
  isFamily,
  partOf,
  segmentFields,
  type SegmentRow
} from "./Segments.ts"
import { subjectRules } from "./Subjects.ts"
import type { RunKind, Run } from "../../../schema/segments/Docs.ts"
import { PostingsBuilder } from "../../../schema/segments/PostingsBuilder.ts"
import { seedOf, termRules } from "../../../schema/words/Term.ts"

/** Runs per step. One turn's runs are never split, so a step may have that many more. */
const stepMax = 1_024
/** Runs per read: at most two hundred megabytes of text. */
const pageMax = 256
/** Runs after which the event loop continues: a millisecond or two. */
const yieldEvery = 32
/** Terms after which a new segment is closed, in case its runs are very long. */
const termsMax = 500_000
/** Segments of one size that are merged, so that a query reads a few dozen segments. */
const mergeMin = 16
/** Runs per segment. Rewriting a segment of this size, to remove a run, takes a quarter to half a second. */
export const runsMax: Readonly<Record<Family, number>> = { subjects: 131_072, words: 16_384 }
/** Merges after one step. The next step continues. */
const mergesMax = 8

export const rules: Readonly<Record<Family, number>> = { subjects: subjectRules, words: termRules }

/** The size class of a segment: from 1, 16, 256, 4,096 or 65,536 runs. */
const tierOf = (runs: number): number => (runs < mergeMin ? 0 : 1 + tierOf(Math.floor(runs / mergeMin)))

/** The segments of a family to be merged next: the oldest of a size class that has enough of them. */
export const joinable = (segments: ReadonlyArray<SegmentRow>, family: Family): ReadonlyArray<SegmentRow> => {
  const most = runsMax[family]
  const small = segments.filter((one) => one.runs < most && one.rules === rules[family])
  for (const same of Map.groupBy(small, ({ runs }) => tierOf(runs)).values()) {
    let runs = 0
    const oldest = same.filter((one) => (runs += one.runs) - one.runs < most)
    if (oldest.length > 1 && (same.length >= mergeMin || runs >= most)) return oldest
  }
  return []
}

interface RunId {
  readonly org_id: string
  readonly run_id: string
}
/** The key of a row of the queue. */
const QueueKey = Schema.Struct({ org_id: Schema.String, turn: Schema.BigInt })
type Place = typeof QueueKey.Type

const queuedTextRows = runTextRows("runs to be indexed")
const lastRows = rowsAs("the last row of a step", QueueKey)
const deletedRows = rowsAs(
  "rows of the history queue",
  Schema.Struct({ org_id: Schema.String, run_ids: Schema.Array(Schema.String) })
)
const crowdedRows = rowsAs("organizations with segments to merge", Schema.Struct({ org_id: Schema.String }))
const outdatedRows = rowsAs("outdated segments", Schema.Struct({ ...segmentFields, org_id: Schema.String }))
const queuedRows = rowsAs("queued runs", Schema.Struct({ runs: Schema.Int }))

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const byPlace = (a: RunId, b: RunId) => order(a.org_id, b.org_id) || order(a.run_id, b.run_id)
const start: Place = { org_id: "", turn: 0n }
/** The runs of a step, and the row after which the next step begins. */
interface StepResult {
  readonly taken: ReadonlyArray<RunId>
  readonly last: Place
}
const emptyStep: StepResult = { taken: [], last: start }

/** Builds segments from runs in order: one per organization and family, or several if it would become too large. */
class SegmentBuilders {
  readonly made: Array<Draft> = []
  private org = ""
  private runs: Array<Run> = []
  private readonly kinds = new Map<string, RunKind>()
  private readonly terms: ReadonlyMap<Family, PostingsBuilder>
  /** The builders are used again, because allocating them takes longer than clearing them. */
  constructor(room: Readonly<Record<Family, PostingsBuilder>>, of: ReadonlyArray<Family>) {
    this.terms = new Map(of.map((family) => [family, room[family]]))
    for (const terms of this.terms.values()) terms.clear()
  }
  /** Returns the same object for all runs of a kind, so that kinds are compared by identity. */
  private runOf(row: RunText): Run {
    const run = runOf(row)
    const { status, capability, endpoint, provider } = run.kind
    const name = `${status} ${capability} ${endpoint} ${provider}`
    const kind = this.kinds.get(name)
    if (kind !== undefined) return { ...run, kind }
    this.kinds.set(name, run.kind)
    return run
  }
  add(row: RunText, whole: RunText) {
    let size = 0
    for (const terms of this.terms.values()) size += terms.size
    if (this.org !== row.org_id || size > termsMax) this.close()
    this.org = row.org_id
    const number = this.runs.push(this.runOf(row)) - 1
    const json = shortJson(row)
    const [words, subjects] = [this.terms.get("words"), this.terms.get("subjects")]
    if (words !== undefined) addWords(words, json, seedOf(row.org_id), number)
    if (subjects !== undefined) addSubjects(subjects, whole === row ? json : wholeJson(whole), row.org_id, number)
  }
  close() {
    const { org: org_id, runs } = this
    if (runs.length > 0) {
      for (const [family, terms] of this.terms) {
        const parts = [partOf(terms.postings(), runs.length)]
        this.made.push({ org_id, family, rules: rules[family], runs, parts })
      }
    }
    this.runs = []
    for (const terms of this.terms.values()) terms.clear()
  }
}

export class HistoryIndex extends Context.Service<
  HistoryIndex,
  {
    /** Indexes a batch of waiting runs, or rebuilds an outdated segment. Returns the number of indexed runs; 0 while another process indexes. */
    readonly index: Effect.Effect<number>
    /** Indexes a batch of waiting runs. Rebuilds no segments. */
    readonly gather: Effect.Effect<number>
    /** Rebuilds one segment with an outdated rules version. Returns its number of runs: 0 if it changed meanwhile, null if there is emptyStep. */
    readonly renew: Effect.Effect<number | null>
    /** Queues the finished runs among these that are not in the index. Ids must ascend. Runs in the caller's transaction. */
    readonly restore: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<number>
    /** Removes erased runs from all segments, in the caller's transaction. Waiting runs that are erased are skipped by indexing. */
    readonly forget: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("rungate/layers/history/index/HistoryIndex") {
  static readonly layer = Layer.effect(
    HistoryIndex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const segments = yield* historySegments
      // Where the last step ended, so that every organization is indexed in turn.
      let after = start
      let outdated = true
      const room = { subjects: new PostingsBuilder(), words: new PostingsBuilder() }
      // One fiber at a time uses the builders.
      const buildersLock = Semaphore.makeUnsafe(1)

      /** The texts of runs, in order. Reading an organization's runs together takes half as long as reading each alone. */
      const textsOf = (rows: ReadonlyArray<RunId>) => {
        const of = [...Map.groupBy(rows, (row) => row.org_id)]
        const ids = of.map(([, runs]) => runs.map((run) => run.run_id).join(" "))
        return Effect.map(
          queuedTextRows(sql`
            SELECT ${runTextColumns(sql, "ended")} FROM unnest(${texts(of.map(([org_id]) => org_id))}, ${texts(ids)}) AS n(org_id, run_ids)
            JOIN runs r ON r.org_id = n.org_id AND r.run_id = ANY(string_to_array(n.run_ids, ' ')) WHERE r.erased_at IS NULL`),
          (unordered) => unordered.toSorted(byPlace)
        )
      }

      /** Builds segments from runs that are ordered by organization and id. */
      const draftsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<RunId>, of: ReadonlyArray<Family>) {
        const drafts = new SegmentBuilders(room, of)
        for (let from = 0; from < rows.length; from += pageMax) {
          for (const [n, row] of (yield* textsOf(rows.slice(from, from + pageMax))).entries()) {
            drafts.add(row, of.includes("subjects") ? yield* wholeText(sql, row) : row)
            if (n % yieldEvery === yieldEvery - 1) yield* Effect.yieldNow
          }
        }
        drafts.close()
        return drafts.made
      }, buildersLock.withPermits(1))

      const step = Effect.gen(function* () {
        if (!(yield* segments.lockIfFree)) return emptyStep
        const [last] = yield* lastRows(sql`
          SELECT org_id, turn FROM (
            SELECT org_id, turn, sum(runs) OVER (ORDER BY org_id, turn) AS runs FROM (
              SELECT org_id, turn, runs FROM history_queue WHERE (org_id, turn) > (${after.org_id}, ${after.turn}) ORDER BY org_id, turn LIMIT ${stepMax}
            ) first
          ) q WHERE runs >= ${stepMax}::int ORDER BY runs LIMIT 1`)
        const deleted = yield* deletedRows(sql`
          DELETE FROM history_queue WHERE (org_id, turn) > (${after.org_id}, ${after.turn})
          ${last === undefined ? sql`` : sql`AND (org_id, turn) <= (${last.org_id}, ${last.turn})`} RETURNING org_id, run_ids`)
        const taken = deleted
          .flatMap(({ org_id, run_ids }) => run_ids.map((run_id) => ({ org_id, run_id })))
          .sort(byPlace)
        const drafts = yield* draftsOf(taken, families)
        if (drafts.length > 0) yield* segments.write(drafts)
        return { taken, last: last ?? start }
      })

      /** Merges segments of one organization once; false when nothing was left to merge. */
      const mergeOnce = (org_id: string, family: Family) =>
        Effect.gen(function* () {
          if (!(yield* segments.lockIfFree)) return false
          const rows = joinable(yield* segments.list(org_id, family), family)
          if (rows.length > 0) yield* segments.join(org_id, rows)
          return rows.length > 0
        })

      const organizationsToMerge = (org_ids: ReadonlyArray<string>, family: Family) =>
        crowdedRows(sql`
        SELECT DISTINCT org_id FROM (
          SELECT org_id FROM history_segments
          WHERE org_id = ANY(${texts(org_ids)}) AND family = ${family} AND runs < ${runsMax[family]} AND rules = ${rules[family]}
          GROUP BY org_id, floor(ln(runs) / ln(${mergeMin}::int) + 1e-9)
          HAVING count(*) >= ${mergeMin} OR sum(runs) >= ${runsMax[family]} AND count(*) > 1
        ) o LIMIT ${mergesMax}`)

      const old = outdatedRows(sql`
        SELECT segment, family, rules, runs, blocks, first_run, last_run, org_id FROM history_segments WHERE (family, rules) NOT IN ((${"subjects"}, ${rules.subjects}), (${"words"}, ${rules.words})) LIMIT 1`)

      /** Builds the new segment without the lock, and replaces the old one if it still exists. */
      const renew = Effect.gen(function* () {
        const [row] = yield* old
        outdated = row !== undefined
        if (row === undefined || !isFamily(row.family)) return null
        const runs = yield* segments.runs(row.segment)
        const drafts = yield* draftsOf(
          runs.map(({ run_id }) => ({ org_id: row.org_id, run_id })),
          [row.family]
        )
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* segments.lock
            const [same] = yield* sql`SELECT 1 FROM history_segments WHERE segment = ${row.segment}`
            if (same === undefined) return 0
            yield* segments.drop([row.segment])
            if (drafts.length > 0) yield* segments.write(drafts)
            return runs.length
          })
        )
      })

      const gather: Effect.Effect<number, SqlError.SqlError> = Effect.gen(function* () {
        const began = after
        const { taken, last } = yield* sql.withTransaction(step)
        after = last
        // Nothing waits behind the last step's row, so the next step begins at the first row.
        if (taken.length === 0) return began === start ? 0 : yield* gather
        const orgs = [...new Set(taken.map((row) => row.org_id))]
        for (const family of families)
          for (const { org_id } of yield* organizationsToMerge(orgs, family))
            while (yield* sql.withTransaction(mergeOnce(org_id, family)));
        return taken.length
      })
      const index = Effect.gen(function* () {
        const runs = yield* gather
        if (runs === 0 && outdated) yield* renew
        return runs
      })

      const restore = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        yield* segments.lock
        const indexed = yield* segments.holding(org_id, run_ids)
        const unindexed = run_ids.filter((run_id) => !indexed.has(run_id))
        if (unindexed.length === 0) return 0
        yield* segments.forget(org_id, unindexed)
        const waiting = yield* queuedRows(sql`
          INSERT INTO history_queue (org_id, run_ids)
          SELECT ${org_id}, array_agg(run_id ORDER BY run_id) FROM (
            SELECT r.run_id FROM unnest(${texts(unindexed)}) AS n(run_id) JOIN runs r ON r.org_id = ${org_id} AND r.run_id = n.run_id
            WHERE r.finished_at IS NOT NULL AND r.erased_at IS NULL
            EXCEPT SELECT n.run_id FROM history_queue q, unnest(q.run_ids) AS n(run_id)
            WHERE q.org_id = ${org_id} AND n.run_id BETWEEN ${unindexed[0]} AND ${unindexed.at(-1)}
          ) missing HAVING count(*) > 0 RETURNING runs`)
        return waiting[0]?.runs ?? 0
      })

      return HistoryIndex.of({
        index: Effect.orDie(index),
        gather: Effect.orDie(gather),
        renew: Effect.orDie(renew),
        restore: (org_id, run_ids) => Effect.orDie(restore(org_id, run_ids)),
        forget: Effect.fnUntraced(function* (org_id, run_ids) {
          yield* segments.lock
          yield* segments.forget(org_id, run_ids)
        }, Effect.orDie)
      })
    })
  )
}
