/**
 * Runs that no segment holds yet: those that ended a moment ago, are under way, or wait for their money. A question looks at the runs themselves. The
 * caller says which they are, as they stood at one moment.
 *
 * What somebody queued by the thousand may be under way for hours: the subjects of its inputs, which don't change, are remembered. Runs that have ended
 * wait for seconds, and only after an upgrade or without a worker for longer; then nobody is kept waiting for an answer that takes minutes.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { texts } from "../postgres/Columns.ts"
import type { Found } from "./index/SubjectSummary.ts"
import {
  placesIn,
  runOf,
  type RunText,
  runTextColumns,
  shortJson,
  subjectsIn,
  wholeJson,
  wholeText
} from "./index/IndexedRun.ts"
import { type Phrase, seedOf } from "../../schema/words/Term.ts"

/** Runs that are read in one go. */
const pageMax = 256
/** Looking at so many takes about a second. */
export const endedMax = 20_000
/** About as many a second are indexed. */
const indexedASecond = 4_000
/** Subjects of runs under way, seven of an ordinary run: twenty megabytes. */
const rememberedMax = 300_000

/** So many runs have ended that are not in the index: a right answer would take too long. */
export class IndexBehind extends Schema.TaggedError<IndexBehind>()("IndexBehind", { message: Schema.String }) {}

const behind = (waiting: number) =>
  new IndexBehind({
    message: `${waiting} runs of this organization wait to be put into the index of history, as after an upgrade; ask again in ${Math.ceil(waiting / indexedASecond)} seconds.`
  })

/** One that no segment held at that moment. */
export interface Fresh {
  readonly run_id: string
  readonly ended: boolean
}

/** Of each of what is sought the flags of where it is in a run. */
type Look = (row: RunText) => Effect.Effect<ReadonlyArray<number>, SqlError.SqlError>
type Flags = ReadonlyMap<number, number>

const flagsOf = (flags: Flags, subjects: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> =>
  subjects.map((terms) => terms.reduce((sum, term) => sum | (flags.get(term) ?? 0), 0))

export const freshRuns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const remembered = new Map<string, Flags>()
  let room = rememberedMax
  /** A run without subjects takes room as well. */
  const sizeOf = (flags: Flags) => 1 + flags.size
  const remember = (run_id: string, flags: Flags) => {
    const before = remembered.get(run_id)
    if (before !== undefined) room += sizeOf(before)
    remembered.set(run_id, flags)
    room -= sizeOf(flags)
    for (const [oldest, kept] of remembered) {
      if (room >= 0) break
      remembered.delete(oldest)
      room += sizeOf(kept)
    }
  }

  /** `rows`: of those that have ended one more than `endedMax` when there are more. */
  const timely = Effect.fnUntraced(function* (org_id: string, rows: ReadonlyArray<Fresh>) {
    if (rows.filter((row) => row.ended).length <= endedMax) return
    const [all] = yield* sql<{ n: bigint }>`SELECT sum(runs) AS n FROM history_queue WHERE org_id = ${org_id}`
    return yield* behind(Number(all?.n ?? 0n))
  })

  const textsOf = (org_id: string, run_ids: ReadonlyArray<string>) => sql<RunText>`
    SELECT ${runTextColumns(sql, "any")} FROM runs r LEFT JOIN open_runs o ON o.run_id = r.run_id
    WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids)})`

  /** Of each of what is sought those that have it. */
  const looked = Effect.fnUntraced(function* (
    org_id: string,
    run_ids: ReadonlyArray<string>,
    { count, look }: { readonly count: number; readonly look: Look }
  ) {
    const young = Array.from({ length: count }, (): Array<Found> => [])
    for (let from = 0; from < run_ids.length; from += pageMax) {
      for (const row of yield* textsOf(org_id, run_ids.slice(from, from + pageMax))) {
        const run = runOf(row)
        const flags = yield* look(row)
        flags.forEach((where, n) => {
          if (where !== 0) young[n]?.push({ run, flags: where })
        })
      }
    }
    return young
  })

  const naming = Effect.fnUntraced(function* (
    org_id: string,
    fresh: ReadonlyArray<Fresh>,
    subjects: ReadonlyArray<ReadonlyArray<number>>
  ) {
    const open = new Set(fresh.flatMap(({ run_id, ended }) => (ended ? [] : [run_id])))
    const known = (run_id: string) => (open.has(run_id) ? remembered.get(run_id) : undefined)
    const run_ids = fresh.flatMap(({ run_id }) => {
      const flags = known(run_id)
      return flags === undefined || flagsOf(flags, subjects).some((where) => where !== 0) ? [run_id] : []
    })
    const look: Look = Effect.fnUntraced(function* (row: RunText) {
      const before = known(row.run_id)
      const flags = before ?? subjectsIn(wholeJson(yield* wholeText(sql, row)), org_id)
      if (before === undefined && open.has(row.run_id)) remember(row.run_id, flags)
      return flagsOf(flags, subjects)
    })
    return yield* looked(org_id, run_ids, { count: subjects.length, look })
  })

  const holding = Effect.fnUntraced(function* (
    org_id: string,
    fresh: ReadonlyArray<Fresh>,
    phrases: ReadonlyArray<Phrase | null>
  ) {
    const seed = seedOf(org_id)
    const words = phrases.map((phrase) => phrase?.words ?? [])
    const look: Look = (row) => Effect.sync(() => placesIn(shortJson(row), words, seed))
    const run_ids = fresh.map(({ run_id }) => run_id)
    return yield* looked(org_id, run_ids, { count: phrases.length, look })
  })

  return { timely, naming, holding }
})
