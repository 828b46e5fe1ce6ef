/**
 * Searches runs that are not indexed yet: runs in progress, runs that wait for their hold, and runs that ended a moment ago. The caller passes their
 * ids as of one moment.
 *
 * A batch of thousands of runs may be in progress for hours, so the subjects of their inputs, which don't change, are cached. Finished runs are
 * usually indexed within seconds, and don't change either. After an upgrade hundreds of thousands may wait. A query then fails with `IndexBehind`
 * instead of taking minutes.
 */
import { Clock, Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { texts } from "../postgres/Rows.ts"
import { recentRuns } from "../postgres/partitions/recentRuns.ts"
import type { Match } from "./index/SubjectSummary.ts"
import {
  placesIn,
  runOf,
  type RunText,
  runTextColumns,
  runTextRows,
  shortJson,
  subjectsIn,
  wholeJson,
  wholeText
} from "./index/IndexedRun.ts"
import { missing, rowsAs } from "./index/Rows.ts"
import { type Phrase, seedOf } from "../../schema/words/Term.ts"

/** Runs per read. */
const pageMax = 256
/** Finished runs that a query searches. That takes about a second for 20,000 on an idle machine, and less for the next query, which uses the cache. */
export const endedMax = 100_000
/** Approximate speed of indexing, in runs per second. */
const indexedPerSecond = 4_000
/** Cached subjects of runs, about twenty megabytes. An ordinary run in progress has seven, a finished one twenty. */
const cachedMax = 300_000

/** The index can't give a correct answer soon: too many finished runs wait to be indexed, or a part of it is being rebuilt. */
export class IndexBehind extends Schema.TaggedError<IndexBehind>()("IndexBehind", { message: Schema.String }) {}

/** For questions and erasures that need a damaged segment. */
export const beingRebuilt = new IndexBehind({
  message:
    "A part of this organization's history index was damaged and is being rebuilt from the runs. Retry in 10 seconds."
})

const behind = (waiting: number) =>
  new IndexBehind({
    message: `${waiting} runs of this organization wait to be indexed for history, as after an upgrade. Retry in ${Math.ceil(waiting / indexedPerSecond)} seconds.`
  })

/** A run that was in no segment at that moment. */
export interface Fresh {
  readonly run_id: string
  readonly ended: boolean
}

/** Returns the flags of a run's matching places, for each subject or phrase. */
type Search = (row: RunText) => Effect.Effect<ReadonlyArray<number>, SqlError.SqlError>
type Flags = ReadonlyMap<number, number>

const waitingRows = rowsAs("waiting runs", Schema.Struct({ n: Schema.NullOr(Schema.BigInt) }))
const unindexedTextRows = runTextRows("unindexed runs")

const flagsOf = (flags: Flags, subjects: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> =>
  subjects.map((terms) => terms.reduce((sum, term) => sum | (flags.get(term) ?? 0), 0))

export const freshRuns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /** By id and state of the run: a run that ends may get a result with more subjects. */
  const cache = new Map<string, Flags>()
  let room = cachedMax
  /** A run without subjects uses memory too. */
  const sizeOf = (flags: Flags) => 1 + flags.size
  const cacheKey = ({ run_id, ended }: Fresh) => (ended ? `${run_id} ended` : run_id)
  const cacheFlags = (run: Fresh, flags: Flags) => {
    const key = cacheKey(run)
    const before = cache.get(key)
    if (before !== undefined) room += sizeOf(before)
    cache.set(key, flags)
    room -= sizeOf(flags)
    for (const [oldest, oldestFlags] of cache) {
      if (room >= 0) break
      cache.delete(oldest)
      room += sizeOf(oldestFlags)
    }
  }

  /** Fails when more than `endedMax` of the rows have ended. */
  const timely = Effect.fnUntraced(function* (org_id: string, rows: ReadonlyArray<Fresh>) {
    if (rows.filter((row) => row.ended).length <= endedMax) return
    const [all] = yield* waitingRows(sql`SELECT sum(runs) AS n FROM history_queue WHERE org_id = ${org_id}`)
    return yield* behind(Number((all ?? missing("the sum of waiting runs")).n ?? 0n))
  })

  const textsOf = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const ids = run_ids.map((run_id) => ({ run_id }))
    const runs = recentRuns(sql, ids, yield* Clock.currentTimeMillis)
    return yield* unindexedTextRows(sql`
      SELECT ${runTextColumns(sql, "any")} FROM ${runs} r LEFT JOIN open_runs o ON o.run_id = r.run_id
      WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids)}) AND r.erased_at IS NULL`)
  })

  /** Returns the matching runs for each subject or phrase. */
  const searchRuns = Effect.fnUntraced(function* (
    org_id: string,
    run_ids: ReadonlyArray<string>,
    { count, search }: { readonly count: number; readonly search: Search }
  ) {
    const matches = Array.from({ length: count }, (): Array<Match> => [])
    for (let from = 0; from < run_ids.length; from += pageMax) {
      for (const row of yield* textsOf(org_id, run_ids.slice(from, from + pageMax))) {
        const run = runOf(row)
        const flags = yield* search(row)
        flags.forEach((where, n) => {
          if (where !== 0) matches[n]?.push({ run, flags: where })
        })
      }
    }
    return matches
  })

  const naming = Effect.fnUntraced(function* (
    org_id: string,
    fresh: ReadonlyArray<Fresh>,
    subjects: ReadonlyArray<ReadonlyArray<number>>
  ) {
    const byId = new Map(fresh.map((run) => [run.run_id, run]))
    const run_ids = fresh.flatMap((run) => {
      const flags = cache.get(cacheKey(run))
      return flags === undefined || flagsOf(flags, subjects).some((where) => where !== 0) ? [run.run_id] : []
    })
    const search: Search = Effect.fnUntraced(function* (row: RunText) {
      const run = byId.get(row.run_id)
      const before = run === undefined ? undefined : cache.get(cacheKey(run))
      const flags = before ?? subjectsIn(wholeJson(yield* wholeText(sql, row)), org_id)
      if (before === undefined && run !== undefined) cacheFlags(run, flags)
      return flagsOf(flags, subjects)
    })
    return yield* searchRuns(org_id, run_ids, { count: subjects.length, search })
  })

  const holding = Effect.fnUntraced(function* (
    org_id: string,
    fresh: ReadonlyArray<Fresh>,
    phrases: ReadonlyArray<Phrase | null>
  ) {
    const seed = seedOf(org_id)
    const words = phrases.map((phrase) => phrase?.words ?? [])
    const search: Search = (row) => Effect.sync(() => placesIn(shortJson(row), words, seed))
    const run_ids = fresh.map(({ run_id }) => run_id)
    return yield* searchRuns(org_id, run_ids, { count: phrases.length, search })
  })

  return { timely, naming, holding }
})
