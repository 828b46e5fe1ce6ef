/**
 * Puts runs that have ended into segments, their subjects and their words, and joins small segments to larger ones. A moment after the run: nobody's
 * answer waits for it, and many runs together cost a fraction of what each would alone. Until then a question looks at the run itself.
 *
 * One process at a time does it, and each step is whole.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { texts } from "../../postgres/Columns.ts"
import {
  addSubjects,
  addWords,
  runOf,
  type RunText,
  runTextColumns,
  shortJson,
  wholeJson,
  wholeText
} from "./IndexedRun.ts"
import { type Draft, families, type Family, historySegments, isFamily, partOf, type SegmentRow } from "./Segments.ts"
import { subjectRules } from "./Subjects.ts"
import type { Kind, Run } from "../../../schema/segments/Docs.ts"
import { PostingsBuilder } from "../../../schema/segments/PostingsBuilder.ts"
import { seedOf, termRules } from "../../../schema/words/Term.ts"

/** Runs of one step, and as many more as one turn may have ended. */
const stepMax = 1_024
/** Texts that are read in one go: two hundred megabytes, were they all of the longest. */
const pageMax = 256
/** Reading so many runs takes a millisecond or two; then whoever else has work in the process has a turn. */
const breathEvery = 32
/** Terms of a new segment, were its runs all of the longest. */
const termsMax = 500_000
/** Segments of one size are joined when there are so many: a question looks at a few dozen. */
const joinedMin = 16
/** As large as a segment needs to be. Without one of its runs it is written anew in a quarter to half a second. */
export const runsMax: Readonly<Record<Family, number>> = { subjects: 131_072, words: 16_384 }
/** Joins after one step: the rest has time. */
const joinsMax = 8

export const rules: Readonly<Record<Family, number>> = { subjects: subjectRules, words: termRules }

/** Sizes from 1, from 16, from 256, from 4,096, from 65,536 runs. */
const tierOf = (runs: number): number => (runs < joinedMin ? 0 : 1 + tierOf(Math.floor(runs / joinedMin)))

/** Those of a family to be joined next, if any: the oldest of a size of which there are many. */
export const joinable = (segments: ReadonlyArray<SegmentRow>, family: Family): ReadonlyArray<SegmentRow> => {
  const most = runsMax[family]
  const small = segments.filter((one) => one.runs < most && one.rules === rules[family])
  for (const same of Map.groupBy(small, ({ runs }) => tierOf(runs)).values()) {
    let runs = 0
    const oldest = same.filter((one) => (runs += one.runs) - one.runs < most)
    if (oldest.length > 1 && (same.length >= joinedMin || runs >= most)) return oldest
  }
  return []
}

interface RunId {
  readonly org_id: string
  readonly run_id: string
}
/** Of a row of the queue. */
interface Place {
  readonly org_id: string
  readonly turn: bigint
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const byPlace = (a: RunId, b: RunId) => order(a.org_id, b.org_id) || order(a.run_id, b.run_id)
const start: Place = { org_id: "", turn: 0n }
/** What a step took, and behind which row the next one begins. */
interface Taken {
  readonly taken: ReadonlyArray<RunId>
  readonly last: Place
}
const none: Taken = { taken: [], last: start }

/** Runs as they come, to become segments: of an organization one for each family, more where they would become too large. */
class SegmentBuilders {
  readonly made: Array<Draft> = []
  private org = ""
  private runs: Array<Run> = []
  private readonly kinds = new Map<string, Kind>()
  private readonly terms: ReadonlyMap<Family, PostingsBuilder>
  /** Terms are collected where others were before: making room takes longer than clearing it. */
  constructor(room: Readonly<Record<Family, PostingsBuilder>>, of: ReadonlyArray<Family>) {
    this.terms = new Map(of.map((family) => [family, room[family]]))
    for (const terms of this.terms.values()) terms.clear()
  }
  /** One object for all runs of a kind, so that nobody compares what it says. */
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
    /** Indexes some of what waits. Answers how many runs that was; 0 as well while another process is at it. */
    readonly index: Effect.Effect<number>
    /** The same, but makes no segment anew when there is nothing else to do. */
    readonly gather: Effect.Effect<number>
    /** Makes one segment anew that was made by other rules. Answers how many runs that was: 0 when somebody else had changed it meanwhile, null when there is none. */
    readonly renew: Effect.Effect<number | null>
    /** Has those of the runs, whose ids ascend, indexed that are not in the index, though they have ended. In the transaction of the caller. */
    readonly restore: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<number>
    /** Removes runs that are erased from all segments, in the transaction of the caller. Where they wait, they are passed over. */
    readonly forget: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("rungate/layers/history/index/HistoryIndex") {
  static readonly layer = Layer.effect(
    HistoryIndex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const segments = yield* historySegments
      // Where the last step ended, so that every organization's turn comes.
      let after = start
      let outdated = true
      const room = { subjects: new PostingsBuilder(), words: new PostingsBuilder() }
      // Whoever cuts up runs has the room for himself.
      const alone = Semaphore.makeUnsafe(1)

      /** In the order of the rows. Looking for an organization's runs together takes half as long as for one after the other. */
      const textsOf = (rows: ReadonlyArray<RunId>) => {
        const of = [...Map.groupBy(rows, (row) => row.org_id)]
        const ids = of.map(([, runs]) => runs.map((run) => run.run_id).join(" "))
        return Effect.map(
          sql<RunText>`
            SELECT ${runTextColumns(sql, "ended")} FROM unnest(${texts(of.map(([org_id]) => org_id))}, ${texts(ids)}) AS n(org_id, run_ids)
            JOIN runs r ON r.org_id = n.org_id AND r.run_id = ANY(string_to_array(n.run_ids, ' ')) WHERE r.erased_at IS NULL`,
          (found) => found.toSorted(byPlace)
        )
      }

      /** Rows are by organization and ascend, as they are written. */
      const draftsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<RunId>, of: ReadonlyArray<Family>) {
        const drafts = new SegmentBuilders(room, of)
        for (let from = 0; from < rows.length; from += pageMax) {
          for (const [n, row] of (yield* textsOf(rows.slice(from, from + pageMax))).entries()) {
            drafts.add(row, of.includes("subjects") ? yield* wholeText(sql, row) : row)
            if (n % breathEvery === breathEvery - 1) yield* Effect.yieldNow
          }
        }
        drafts.close()
        return drafts.made
      }, alone.withPermits(1))

      const step = Effect.gen(function* () {
        if (!(yield* segments.lockIfFree)) return none
        const [last] = yield* sql<Place>`
          SELECT org_id, turn FROM (
            SELECT org_id, turn, sum(runs) OVER (ORDER BY org_id, turn) AS runs FROM (
              SELECT org_id, turn, runs FROM history_queue WHERE (org_id, turn) > (${after.org_id}, ${after.turn}) ORDER BY org_id, turn LIMIT ${stepMax}
            ) first
          ) q WHERE runs >= ${stepMax}::int ORDER BY runs LIMIT 1`
        const deleted = yield* sql<{ org_id: string; run_ids: ReadonlyArray<string> }>`
          DELETE FROM history_queue WHERE (org_id, turn) > (${after.org_id}, ${after.turn})
          ${last === undefined ? sql`` : sql`AND (org_id, turn) <= (${last.org_id}, ${last.turn})`} RETURNING org_id, run_ids`
        const taken = deleted
          .flatMap(({ org_id, run_ids }) => run_ids.map((run_id) => ({ org_id, run_id })))
          .sort(byPlace)
        const drafts = yield* draftsOf(taken, families)
        if (drafts.length > 0) yield* segments.write(drafts)
        return { taken, last: last ?? start }
      })

      /** One organization's, until none of its segments are many of a size. */
      const join = (org_id: string, family: Family) =>
        Effect.gen(function* () {
          if (!(yield* segments.lockIfFree)) return false
          const rows = joinable(yield* segments.list(org_id, family), family)
          if (rows.length > 0) yield* segments.join(org_id, rows)
          return rows.length > 0
        })

      const crowded = (org_ids: ReadonlyArray<string>, family: Family) => sql<{ org_id: string; family: Family }>`
        SELECT DISTINCT org_id, ${family}::text AS family FROM (
          SELECT org_id FROM history_segments
          WHERE org_id = ANY(${texts(org_ids)}) AND family = ${family} AND runs < ${runsMax[family]} AND rules = ${rules[family]}
          GROUP BY org_id, floor(ln(runs) / ln(${joinedMin}::int) + 1e-9)
          HAVING count(*) >= ${joinedMin} OR sum(runs) >= ${runsMax[family]} AND count(*) > 1
        ) o LIMIT ${joinsMax}`

      const old = sql<SegmentRow & { org_id: string }>`
        SELECT * FROM history_segments WHERE (family, rules) NOT IN ((${"subjects"}, ${rules.subjects}), (${"words"}, ${rules.words})) LIMIT 1`

      /** Read and cut up beside everything else; put in the old one's place when that is still what it was. */
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
        // Nothing waits behind the last step's: what waits before it has its turn now.
        if (taken.length === 0) return began === start ? 0 : yield* gather
        const orgs = [...new Set(taken.map((row) => row.org_id))]
        for (const family of families)
          for (const { org_id } of yield* crowded(orgs, family))
            while (yield* sql.withTransaction(join(org_id, family)));
        return taken.length
      })
      const index = Effect.gen(function* () {
        const runs = yield* gather
        if (runs === 0 && outdated) yield* renew
        return runs
      })

      const restore = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        yield* segments.lock
        const held = yield* segments.holding(org_id, run_ids)
        const lost = run_ids.filter((run_id) => !held.has(run_id))
        if (lost.length === 0) return 0
        yield* segments.forget(org_id, lost)
        const waiting = yield* sql<{ runs: number }>`
          INSERT INTO history_queue (org_id, run_ids)
          SELECT ${org_id}, array_agg(run_id ORDER BY run_id) FROM (
            SELECT r.run_id FROM unnest(${texts(lost)}) AS n(run_id) JOIN runs r ON r.org_id = ${org_id} AND r.run_id = n.run_id
            WHERE r.finished_at IS NOT NULL AND r.erased_at IS NULL
            EXCEPT SELECT n.run_id FROM history_queue q, unnest(q.run_ids) AS n(run_id)
            WHERE q.org_id = ${org_id} AND n.run_id BETWEEN ${lost[0]} AND ${lost.at(-1)}
          ) missing HAVING count(*) > 0 RETURNING runs`
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
