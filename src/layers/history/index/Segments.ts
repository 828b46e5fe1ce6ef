/**
 * Stores the segments of the history index in Postgres. A segment is written as a whole, never changed, and deleted when a larger one
 * replaces it.
 *
 * Subjects and words are two families of segments, because a run has fifteen times as many words as subjects. Segments of subjects can therefore
 * hold more runs, so that a query for two hundred subjects reads few of them. Every change of the list of segments holds the lock and is one
 * transaction, so an indexed run is in exactly one segment of each family. Readers detect deleted segments (SegmentLists.ts).
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, byteas, texts } from "../../postgres/Columns.ts"
import { missing, rowsAs } from "./Rows.ts"
import { docsOf, type Pages, pagesOf, type Run, runsOf } from "../../../schema/segments/Docs.ts"
import { Writer } from "../../../schema/segments/Bytes.ts"
import { DamagedIndex } from "../../../schema/segments/damaged.ts"
import { blocksOf, type Part } from "../../../schema/segments/Merge.ts"
import { blocksFor, decoded, type Postings } from "../../../schema/segments/Segment.ts"

/** Id of the advisory lock; it must be unique in the database. */
export const segmentsLock = 7_411_008

export const families = ["subjects", "words"] as const
export type Family = (typeof families)[number]
export const isFamily = (text: string): text is Family => text === "subjects" || text === "words"

export const segmentFields = {
  segment: Schema.BigInt,
  family: Schema.String,
  /** Version of the rules by which its runs were indexed; see HistoryIndex.ts. */
  rules: Schema.Int,
  runs: Schema.Int,
  blocks: Schema.Int,
  first_run: Schema.String,
  last_run: Schema.String
}
const SegmentRow = Schema.Struct(segmentFields)
export type SegmentRow = typeof SegmentRow.Type

const lockRows = rowsAs("the lock of segments", Schema.Struct({ free: Schema.Boolean }))
const listRows = rowsAs("segments of an organization", SegmentRow)
const touchingRows = rowsAs("segments of runs", SegmentRow)
const pageRows = {
  history_docs: rowsAs("pages of docs", Schema.Struct({ bytes: Schema.Uint8Array })),
  history_classes: rowsAs("pages of classes", Schema.Struct({ bytes: Schema.Uint8Array }))
}
const blockRows = rowsAs("blocks of a segment", Schema.Struct({ block: Schema.Int, bytes: Schema.Uint8Array }))
const writtenRows = rowsAs("new segments", Schema.Struct({ segment: Schema.BigInt }))

/** A segment to be written: runs of one organization, the oldest first, and their postings by number of the run. */
export interface Draft {
  readonly org_id: string
  readonly family: Family
  readonly rules: number
  readonly runs: ReadonlyArray<Run>
  readonly parts: ReadonlyArray<Part>
}

/** Bytes of blocks per statement. They take about a millisecond, in which they block the event loop. */
const bytesAtOnce = 200_000

/** The postings of runs that were just read. */
export const partOf = (postings: Postings, runs: number): Part => ({
  from: postings,
  runs: Int32Array.from({ length: runs }, (_, n) => n)
})

const ints = (values: ReadonlyArray<number>) => bigints(values.map(BigInt))

interface Bytes {
  readonly segment: bigint
  readonly n: number
  readonly bytes: Uint8Array
}
const numbered = (segment: bigint, pages: ReadonlyArray<Uint8Array>): ReadonlyArray<Bytes> =>
  pages.map((bytes, n) => ({ segment, n, bytes }))

const order = ({ run: a }: { readonly run: Run }, { run: b }: { readonly run: Run }) =>
  a.run_id < b.run_id ? -1 : a.run_id > b.run_id ? 1 : 0

export const historySegments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal("segment, family, rules, runs, blocks, first_run, last_run")

  /** Takes the lock until the transaction ends. */
  const lock = sql`SELECT pg_advisory_xact_lock(${segmentsLock})`
  /**
   * Takes the lock unless another process holds it, and turns synchronous commit off for the transaction. Only for transactions that move runs: after
   * a crash the runs are either in the new place or still in the old one.
   */
  const lockIfFree = Effect.map(
    lockRows(
      sql`SELECT pg_try_advisory_xact_lock(${segmentsLock}) AS free, set_config('synchronous_commit', 'off', true)`
    ),
    ([row]) => (row ?? missing("the lock of segments")).free
  )

  /** Segments of an organization, the oldest first. */
  const list = (org_id: string, family: Family) =>
    listRows(sql`
      SELECT ${columns} FROM history_segments WHERE org_id = ${org_id} AND family = ${family} ORDER BY first_run, segment`)

  const pages = (table: "history_docs" | "history_classes", segment: bigint) =>
    Effect.map(
      pageRows[table](sql`SELECT bytes FROM ${sql.literal(table)} WHERE segment = ${segment} ORDER BY page`),
      (rows) => rows.map((row) => row.bytes)
    )
  const runs = Effect.fnUntraced(function* (segment: bigint) {
    const segmentPages: Pages = {
      classes: yield* pages("history_classes", segment),
      docs: yield* pages("history_docs", segment)
    }
    return runsOf(segmentPages)
  })

  const postings = Effect.fnUntraced(function* ({ segment, blocks }: Pick<SegmentRow, "segment" | "blocks">) {
    const rows = yield* blockRows(sql`
      SELECT block, bytes FROM history_blocks WHERE segment = ${segment} ORDER BY block`)
    return decoded(rows, blocks)
  })

  const drop = Effect.fnUntraced(function* (segments: ReadonlyArray<bigint>) {
    for (const table of ["history_segments", "history_blocks", "history_docs", "history_classes"])
      yield* sql`DELETE FROM ${sql.literal(table)} WHERE segment = ANY(${bigints(segments)})`
  })

  const insert = (table: string, column: "page" | "block", all: ReadonlyArray<Bytes>) => sql`
    INSERT INTO ${sql.literal(table)} (segment, ${sql.literal(column)}, bytes)
    SELECT * FROM unnest(${bigints(all.map((one) => one.segment))}, ${ints(all.map((one) => one.n))}, ${byteas(all.map((one) => one.bytes))})`

  /** Writes one segment for each draft. The number of statements does not depend on the number of drafts. */
  const write = Effect.fnUntraced(function* (drafts: ReadonlyArray<Draft>) {
    // Segments of both families with the same runs have the same pages.
    const pagesByRuns = new Map<ReadonlyArray<Run>, Pages>()
    for (const { runs } of drafts) if (!pagesByRuns.has(runs)) pagesByRuns.set(runs, pagesOf(runs))
    const made = drafts.map((draft) => ({
      ...draft,
      ...(pagesByRuns.get(draft.runs) ?? missing("pages of a new segment")),
      // Terms in several parts are counted for each part, which makes blocks a little smaller.
      blocks: blocksFor(
        draft.parts.reduce((sum, part) => sum + part.from.terms.length, 0),
        draft.runs.length
      ),
      first: (draft.runs[0] ?? missing("the first run of a new segment")).run_id,
      last: (draft.runs.at(-1) ?? missing("the last run of a new segment")).run_id
    }))
    const rows = yield* writtenRows(sql`
      INSERT INTO history_segments (org_id, family, rules, runs, blocks, first_run, last_run)
      SELECT org_id, family, rules, runs, blocks, first_run, last_run
      FROM unnest(${texts(made.map((m) => m.org_id))}, ${texts(made.map((m) => m.family))}, ${ints(made.map((m) => m.rules))},
                  ${ints(made.map((m) => m.runs.length))}, ${ints(made.map((m) => m.blocks))}, ${texts(made.map((m) => m.first))},
                  ${texts(made.map((m) => m.last))})
           WITH ORDINALITY AS n(org_id, family, rules, runs, blocks, first_run, last_run, place) ORDER BY place
      RETURNING segment`)
    // Postgres assigns identities in the order of the rows.
    const segments = rows.map((row) => row.segment).toSorted((a, b) => (a < b ? -1 : 1))
    const segmentAt = (n: number) => segments[n] ?? missing("the number of a new segment")
    const all = (pick: (pages: Pages) => ReadonlyArray<Uint8Array>) =>
      made.flatMap((m, n) => numbered(segmentAt(n), pick(m)))
    yield* insert(
      "history_docs",
      "page",
      all((m) => m.docs)
    )
    yield* insert(
      "history_classes",
      "page",
      all((m) => m.classes)
    )
    const writer = new Writer(bytesAtOnce * 1.25)
    let waiting: Array<Bytes> = []
    let size = 0
    const flush = Effect.suspend(() => {
      const full = waiting
      waiting = []
      size = 0
      // After the statement the bytes are copied, so that the writer's memory is used again. Allocating it anew would take most of a merge's time.
      return Effect.map(insert("history_blocks", "block", full), () => writer.clear())
    })
    for (const [n, { parts, blocks }] of made.entries()) {
      for (const { block, bytes } of blocksOf(parts, blocks, writer)) {
        waiting.push({ segment: segmentAt(n), n: block, bytes })
        size += bytes.length
        if (size >= bytesAtOnce) yield* flush
      }
    }
    if (waiting.length > 0) yield* flush
  })

  /** Merges segments of one family into one, without the given runs. The caller must hold the lock. */
  const join = Effect.fnUntraced(function* (
    org_id: string,
    rows: ReadonlyArray<SegmentRow>,
    without: ReadonlySet<string> = new Set()
  ) {
    const [{ family, rules } = { family: "", rules: 0 }] = rows
    if (!isFamily(family)) return
    const kept: Array<{ readonly run: Run; readonly part: number; readonly n: number }> = []
    const parts: Array<Part> = []
    for (const [part, row] of rows.entries()) {
      const all = yield* runs(row.segment)
      all.forEach((run, n) => {
        if (!without.has(run.run_id)) kept.push({ run, part, n })
      })
      parts.push({ from: yield* postings(row), runs: new Int32Array(all.length).fill(-1) })
    }
    kept.sort(order)
    kept.forEach(({ part, n }, number) => {
      const numbers = parts[part]?.runs
      if (numbers !== undefined) numbers[n] = number
    })
    yield* drop(rows.map((row) => row.segment))
    if (kept.length > 0) yield* write([{ org_id, family, rules, runs: kept.map(({ run }) => run), parts }])
  })

  const touching = (org_id: string, run_ids: ReadonlyArray<string>) =>
    touchingRows(sql`
      SELECT ${columns} FROM history_segments
      WHERE org_id = ${org_id} AND EXISTS (SELECT FROM unnest(${texts(run_ids)}) AS n(run_id) WHERE run_id BETWEEN first_run AND last_run)`)

  const runIdsOf = (segment: bigint) =>
    Effect.map(pages("history_docs", segment), (docs) => docs.flatMap(docsOf).map((run) => run.run_id))

  /** Removes runs from all segments completely. The caller must hold the lock. */
  const forget = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const without = new Set(run_ids)
    for (const row of yield* touching(org_id, run_ids)) {
      if ((yield* runIdsOf(row.segment)).some((run_id) => without.has(run_id))) yield* join(org_id, [row], without)
    }
  })

  /** Deletes a damaged segment, which then has no runs. */
  const runsOrDrop = (segment: bigint) =>
    Effect.catchDefect(runs(segment), (defect) =>
      defect instanceof DamagedIndex
        ? drop([segment]).pipe(
            Effect.andThen(
              Effect.logWarning(
                `history index: segment ${segment} is damaged and is deleted. Its runs are indexed again: ${defect.what}`
              )
            ),
            Effect.as([])
          )
        : Effect.die(defect)
    )

  /**
   * The given runs that are in a segment of each family. Deletes damaged segments, so that a rebuild indexes their runs again. The
   * caller must hold the lock.
   */
  const holding = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const indexed = { subjects: new Set<string>(), words: new Set<string>() }
    for (const { segment, family } of yield* touching(org_id, run_ids))
      if (isFamily(family)) for (const { run_id } of yield* runsOrDrop(segment)) indexed[family].add(run_id)
    return new Set(run_ids.filter((run_id) => families.every((family) => indexed[family].has(run_id))))
  })

  return { lock, lockIfFree, list, runs, write, join, drop, forget, holding }
})
