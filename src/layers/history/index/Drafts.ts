/**
 * Builds new segments from the runs themselves: for runs that just ended, and for segments that must be rebuilt.
 */
import { Clock, Effect, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../../postgres/Rows.ts"
import { recentRuns } from "../../postgres/partitions/recentRuns.ts"
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
import { type Draft, type Family, partOf } from "./Segments.ts"
import { subjectRules } from "./Subjects.ts"
import type { Run, RunKind } from "../../../schema/segments/Docs.ts"
import { PostingsBuilder } from "../../../schema/segments/PostingsBuilder.ts"
import { seedOf, termRules } from "../../../schema/words/Term.ts"

/** Runs per read: at most two hundred megabytes of text. */
const pageMax = 256
/** Runs after which the event loop continues: a millisecond or two. */
const yieldEvery = 32
/** Terms after which a new segment is closed, in case its runs are very long. */
const termsMax = 500_000

export const rules: Readonly<Record<Family, number>> = { subjects: subjectRules, words: termRules }

export interface RunId {
  readonly org_id: string
  readonly run_id: string
}

const queuedTextRows = runTextRows("runs to be indexed")

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
export const byPlace = (a: RunId, b: RunId) => order(a.org_id, b.org_id) || order(a.run_id, b.run_id)

/** Builds segments from runs in order: one per organization and family, or several if it would become too large. */
class SegmentBuilders {
  readonly drafts: Array<Draft> = []
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
        this.drafts.push({ org_id, family, rules: rules[family], runs, parts })
      }
    }
    this.runs = []
    for (const terms of this.terms.values()) terms.clear()
  }
}

export const segmentDrafts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const room = { subjects: new PostingsBuilder(), words: new PostingsBuilder() }
  // One fiber at a time uses the builders.
  const buildersLock = Semaphore.makeUnsafe(1)

  /** The texts of runs, in order. Reading an organization's runs together takes half as long as reading each alone. */
  const textsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<RunId>) {
    const runs = recentRuns(sql, rows, yield* Clock.currentTimeMillis)
    const of = [...Map.groupBy(rows, (row) => row.org_id)]
    const ids = of.map(([, runs]) => runs.map((run) => run.run_id).join(" "))
    const unordered = yield* queuedTextRows(sql`
      SELECT ${runTextColumns(sql, "ended")} FROM unnest(${texts(of.map(([org_id]) => org_id))}, ${texts(ids)}) AS n(org_id, run_ids)
      JOIN ${runs} r ON r.org_id = n.org_id AND r.run_id = ANY(string_to_array(n.run_ids, ' ')) WHERE r.erased_at IS NULL`)
    return unordered.toSorted(byPlace)
  })

  /** Builds segments from runs that are ordered by organization and id. */
  const draftsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<RunId>, of: ReadonlyArray<Family>) {
    const builders = new SegmentBuilders(room, of)
    for (let from = 0; from < rows.length; from += pageMax) {
      for (const [n, row] of (yield* textsOf(rows.slice(from, from + pageMax))).entries()) {
        builders.add(row, of.includes("subjects") ? yield* wholeText(sql, row) : row)
        if (n % yieldEvery === yieldEvery - 1) yield* Effect.yieldNow
      }
    }
    builders.close()
    return builders.drafts
  }, buildersLock.withPermits(1))

  return { draftsOf }
})
