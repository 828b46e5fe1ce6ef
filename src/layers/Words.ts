/**
 * Puts the words of runs that have ended into segments, and joins small segments to larger ones. A moment after the run: nobody's answer waits
 * for it, and many runs together cost a fraction of what each would alone. Until then a question looks at the run itself.
 *
 * One process at a time does it, and each step is whole.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "./Columns.ts"
import { addRun, docOf, type RunText, runTextColumns } from "./RunWords.ts"
import { type Draft, draftOf, type SegmentRow, wordSegments } from "./WordSegments.ts"
import type { Doc } from "../schema/words/Docs.ts"
import { Gathered } from "../schema/words/Gathered.ts"
import { seedOf, termRules } from "../schema/words/Term.ts"

/** Runs of one step. */
const stepMax = 1_024
/** Texts that are read in one go: a hundred megabytes, were they all of the longest. */
const pageMax = 256
/** Terms of a new segment, were its runs all of the longest. */
const termsMax = 500_000
/** Segments of one size are joined when there are so many: a question looks at a few dozen. */
const joinedMin = 16
/** As large as a segment needs to be. Without one of its runs it is written anew in a quarter of a second. */
const runsMax = 16_384
/** Joins after one step: the rest has time. */
const joinsMax = 8

/** Sizes from 1, from 16, from 256, from 4,096 runs. */
const tierOf = (runs: number): number => (runs < joinedMin ? 0 : 1 + tierOf(Math.floor(runs / joinedMin)))

/** Those to be joined next, if any: the oldest of a size of which there are many. */
export const joinable = (segments: ReadonlyArray<SegmentRow>): ReadonlyArray<SegmentRow> => {
  const small = segments.filter(({ runs }) => runs < runsMax)
  for (const same of Map.groupBy(small, ({ runs }) => tierOf(runs)).values()) {
    let runs = 0
    const oldest = same.filter((one) => (runs += one.runs) - one.runs < runsMax)
    if (oldest.length > 1 && (same.length >= joinedMin || runs >= runsMax)) return oldest
  }
  return []
}

interface QueueRow {
  readonly org_id: string
  readonly run_id: string
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const start: QueueRow = { org_id: "", run_id: "" }

export class Words extends Context.Service<
  Words,
  {
    /** Indexes some of what waits. Answers how many runs that was; 0 as well while another process is at it. */
    readonly index: Effect.Effect<number>
    /** Has those of the runs indexed that are in no segment, though they have ended. In the transaction of the caller. */
    readonly restore: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<void>
    /** Removes runs from wherever their words are, in the transaction of the caller. */
    readonly forget: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("rungate/layers/Words") {
  static readonly layer = Layer.effect(
    Words,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const segments = yield* wordSegments
      // Where the last step ended, so that every organization's turn comes.
      let after = start
      let outdated = true

      const textsOf = (rows: ReadonlyArray<QueueRow>) => sql<RunText>`
        SELECT ${runTextColumns(sql, "ended")}
        FROM unnest(${texts(rows.map((row) => row.org_id))}, ${texts(rows.map((row) => row.run_id))}) WITH ORDINALITY AS n(org_id, run_id, place)
        JOIN runs r USING (org_id, run_id) WHERE r.erased_at IS NULL ORDER BY n.place`

      /** Rows by organization; a new segment where one becomes too large. */
      const draftsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<QueueRow>) {
        const drafts: Array<Draft> = []
        let org = ""
        let docs: Array<Doc> = []
        let terms = new Gathered()
        const close = () => {
          if (docs.length > 0) drafts.push(draftOf(org, docs, terms.postings()))
          docs = []
          terms = new Gathered()
        }
        for (let from = 0; from < rows.length; from += pageMax) {
          for (const row of yield* textsOf(rows.slice(from, from + pageMax))) {
            if (org !== row.org_id || terms.size > termsMax) close()
            org = row.org_id
            addRun(terms, row, seedOf(org), docs.length)
            docs.push(docOf(row))
          }
        }
        close()
        return drafts
      })

      const step = Effect.gen(function* () {
        if (!(yield* segments.lockIfFree)) return []
        const [last] = yield* sql<QueueRow>`
          SELECT org_id, run_id FROM word_queue WHERE (org_id, run_id) > (${after.org_id}, ${after.run_id})
          ORDER BY org_id, run_id OFFSET ${stepMax - 1} LIMIT 1`
        const deleted = yield* sql<QueueRow>`
          DELETE FROM word_queue WHERE (org_id, run_id) > (${after.org_id}, ${after.run_id})
          ${last === undefined ? sql`` : sql`AND (org_id, run_id) <= (${last.org_id}, ${last.run_id})`} RETURNING org_id, run_id`
        const taken = deleted.toSorted((a, b) => order(a.org_id, b.org_id) || order(a.run_id, b.run_id))
        const drafts = yield* draftsOf(taken)
        if (drafts.length > 0) yield* segments.write(drafts)
        return taken
      })

      /** One organization's, until none of its segments are many of a size. */
      const join = (org_id: string) =>
        Effect.gen(function* () {
          if (!(yield* segments.lockIfFree)) return false
          const rows = joinable(yield* segments.list(org_id))
          if (rows.length > 0) yield* segments.join(org_id, rows)
          return rows.length > 0
        })

      const crowded = (org_ids: ReadonlyArray<string>) => sql<{ org_id: string }>`
        SELECT DISTINCT org_id FROM (
          SELECT org_id FROM word_segments WHERE org_id = ANY(${texts(org_ids)}) AND runs < ${runsMax}
          GROUP BY org_id, floor(ln(runs) / ln(${joinedMin}::int) + 1e-9) HAVING count(*) >= ${joinedMin} OR sum(runs) >= ${runsMax} AND count(*) > 1
        ) o LIMIT ${joinsMax}`

      const wait = (org_id: string, run_ids: ReadonlyArray<string>) => sql`
        INSERT INTO word_queue (org_id, run_id)
        SELECT r.org_id, r.run_id FROM unnest(${texts(run_ids)}) AS n(run_id) JOIN runs r ON r.org_id = ${org_id} AND r.run_id = n.run_id
        WHERE r.finished_at IS NOT NULL AND r.erased_at IS NULL ON CONFLICT DO NOTHING`

      /** One that was cut up by other rules: its runs wait again. */
      const renew = Effect.gen(function* () {
        if (!(yield* segments.lockIfFree)) return
        const [old] = yield* sql<SegmentRow & { org_id: string }>`
          SELECT org_id, segment, kinds FROM word_segments WHERE rules <> ${termRules} LIMIT 1`
        outdated = old !== undefined
        if (old === undefined) return
        yield* wait(
          old.org_id,
          (yield* segments.docs(old)).map((doc) => doc.run_id)
        )
        yield* segments.drop([old.segment])
      })

      const index = Effect.gen(function* () {
        const taken = yield* sql.withTransaction(step)
        after = taken.length < stepMax ? start : (taken.at(-1) ?? start)
        const orgs = yield* crowded([...new Set(taken.map((row) => row.org_id))])
        for (const { org_id } of orgs) while (yield* sql.withTransaction(join(org_id)));
        if (taken.length === 0 && outdated) yield* sql.withTransaction(renew)
        return taken.length
      })

      const restore = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        yield* segments.lock
        const held = yield* segments.holding(org_id, run_ids)
        const lost = run_ids.filter((run_id) => !held.has(run_id))
        if (lost.length > 0) yield* wait(org_id, lost)
      })

      return Words.of({
        index: Effect.orDie(index),
        restore: (org_id, run_ids) => Effect.orDie(restore(org_id, run_ids)),
        forget: Effect.fnUntraced(function* (org_id, run_ids) {
          yield* segments.lock
          yield* sql`DELETE FROM word_queue WHERE org_id = ${org_id} AND run_id = ANY(${texts(run_ids)})`
          yield* segments.forget(org_id, run_ids)
        }, Effect.orDie)
      })
    })
  )
}
