/**
 * Stores the segments of the history index in Postgres. A segment is written as a whole, never changed, and deleted when a larger one
 * replaces it.
 *
 * Subjects and words are two families of segments, because a run has fifteen times as many words as subjects. Segments of subjects can therefore
 * hold more runs, so that a query for two hundred subjects reads few of them. Every change of an organization's list of segments holds its lock
 * (Locks.ts) and is one transaction, so an indexed run is in exactly one segment of each family. Readers detect deleted segments
 * (SegmentLists.ts) and damaged ones (Places.ts, SegmentDamaged.ts).
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, byteas, ints, tableOf, texts } from "../../postgres/Rows.ts"
import { intact, intactRows, Places, type StoredPart } from "./Places.ts"
import { missing, rowsAs } from "./Rows.ts"
import { SegmentRow } from "./SegmentRow.ts"
import { damagedIn, decodedIn, failOnDamage } from "./SegmentDamaged.ts"
import { headerChecksum, partChecksum, type PartTable, segmentFormat } from "../../../schema/segments/Checksum.ts"
import { classPageOf, docPageOf, docsOf, type Pages, pagesOf, type Run, runsOf } from "../../../schema/segments/Docs.ts"
import { Writer } from "../../../schema/segments/Bytes.ts"
import { blocksOf, type Part } from "../../../schema/segments/Merge.ts"
import { blocksFor, decoded, type Postings } from "../../../schema/segments/Segment.ts"

export const families = ["subjects", "words"] as const
export type Family = (typeof families)[number]
export const isFamily = (text: string): text is Family => text === "subjects" || text === "words"

const listRows = rowsAs("segments of an organization", SegmentRow)
const touchingRows = rowsAs("segments of runs", SegmentRow)
const PartRow = Schema.Struct({
  segment: Schema.BigInt,
  n: Schema.Int,
  bytes: Schema.Uint8Array,
  checksum: Schema.NullOr(Schema.Int)
})
const partRows = {
  history_blocks: rowsAs("blocks of a segment", PartRow),
  history_docs: rowsAs("pages of docs", PartRow),
  history_classes: rowsAs("pages of classes", PartRow)
}
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

/** Runs of segments that are read by the same statements. */
const runsAtOnce = 2_048

/** Small segments are read together: a statement for each would cost more than its few rows. */
const readTogether = (rows: ReadonlyArray<SegmentRow>): ReadonlyArray<ReadonlyArray<SegmentRow>> => {
  let before = 0
  const groups = Map.groupBy(rows, ({ runs }) => Math.floor((before += runs) / runsAtOnce))
  return [...groups.values()]
}

/** The postings of runs that were just read. */
export const partOf = (postings: Postings, runs: number): Part => ({
  from: postings,
  runs: Int32Array.from({ length: runs }, (_, n) => n)
})

interface Bytes {
  readonly segment: bigint
  readonly n: number
  readonly bytes: Uint8Array
}
const numbered = (segment: bigint, pages: ReadonlyArray<Uint8Array>): ReadonlyArray<Bytes> =>
  pages.map((bytes, n) => ({ segment, n, bytes }))

/** How many parts a segment has in a table. */
const partsIn = (table: PartTable, { runs, blocks }: SegmentRow): number =>
  table === "history_blocks" ? blocks : (table === "history_docs" ? docPageOf(runs - 1) : classPageOf(runs - 1)) + 1

/** Segments of format 1 have no checksums, so a lost page of theirs is noticed by the number of runs. */
const allRuns = <A>({ segment, runs }: SegmentRow, read: ReadonlyArray<A>): ReadonlyArray<A> =>
  read.length === runs ? read : damagedIn(segment, `it has ${read.length} instead of ${runs} runs`)

const order = ({ run: a }: { readonly run: Run }, { run: b }: { readonly run: Run }) =>
  a.run_id < b.run_id ? -1 : a.run_id > b.run_id ? 1 : 0

export const historySegments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal("segment, family, rules, runs, blocks, format, checksum, first_run, last_run")

  /** Segments of an organization, the oldest first, whose rows may be damaged. */
  const listUnchecked = (org_id: string, family: Family) =>
    listRows(sql`
      SELECT ${columns} FROM history_segments WHERE org_id = ${org_id} AND family = ${family} ORDER BY first_run, segment`)
  /** Segments of an organization, the oldest first. */
  const list = (org_id: string, family: Family) =>
    Effect.flatMap(listUnchecked(org_id, family), (rows) => intactRows(org_id, rows))

  /** All blocks or pages of segments, each segment's in order. */
  const parts = Effect.fnUntraced(function* (table: PartTable, segments: ReadonlyArray<SegmentRow>) {
    const column = table === "history_blocks" ? "block" : "page"
    const places = new Places()
    for (const row of segments) for (let n = 0; n < partsIn(table, row); n++) places.add(row, n)
    const rows = yield* partRows[table](sql`
      SELECT segment, ${sql.literal(column)} AS n, bytes, checksum FROM ${sql.literal(table)}
      WHERE segment = ANY(${bigints(segments.map((row) => row.segment))}) ORDER BY 1, 2`)
    const of = Map.groupBy(yield* intact(table, rows, places), (part) => part.segment)
    return (row: SegmentRow) => of.get(row.segment) ?? []
  })
  const bytesOf = (parts: ReadonlyArray<StoredPart>) => parts.map((part) => part.bytes)

  const runsIn = Effect.fnUntraced(function* (segments: ReadonlyArray<SegmentRow>) {
    const classes = yield* parts("history_classes", segments)
    const docs = yield* parts("history_docs", segments)
    return segments.map((row) => {
      const pages: Pages = { classes: bytesOf(classes(row)), docs: bytesOf(docs(row)) }
      return allRuns(
        row,
        decodedIn(row.segment, () => runsOf(pages))
      )
    })
  }, failOnDamage)

  /** For a row that was not listed: checks it as well. */
  const checkedRuns = (org_id: string, row: SegmentRow) =>
    Effect.andThen(
      intactRows(org_id, [row]),
      Effect.map(runsIn([row]), (all) => all.flat())
    )

  const postingsIn = Effect.fnUntraced(function* (segments: ReadonlyArray<SegmentRow>) {
    const blocks = yield* parts("history_blocks", segments)
    return segments.map((row) => {
      const numbered = blocks(row).map(({ n, bytes }) => ({ block: n, bytes }))
      return decodedIn(row.segment, () => decoded(numbered, row))
    })
  }, failOnDamage)

  /** Reads all parts of a segment, and fails if one of them is damaged. */
  const verify = (org_id: string, row: SegmentRow) => Effect.andThen(checkedRuns(org_id, row), postingsIn([row]))

  const drop = Effect.fnUntraced(function* (segments: ReadonlyArray<bigint>) {
    for (const table of ["history_segments", "history_blocks", "history_docs", "history_classes"])
      yield* sql`DELETE FROM ${sql.literal(table)} WHERE segment = ANY(${bigints(segments)})`
  })

  const insert = (table: PartTable, column: "page" | "block", all: ReadonlyArray<Bytes>) => sql`
    INSERT INTO ${sql.literal(table)} (segment, ${sql.literal(column)}, bytes, checksum)
    SELECT * FROM ${tableOf("a", all, { segment: bigints, n: ints, bytes: byteas }, { checksum: ints(all.map((one) => partChecksum(table, one.segment, one))) })}`

  /** Writes one segment for each draft. The number of statements does not depend on the number of drafts. */
  const write = Effect.fnUntraced(function* (drafts: ReadonlyArray<Draft>) {
    // Segments of both families with the same runs have the same pages.
    const pagesByRuns = new Map<ReadonlyArray<Run>, Pages>()
    for (const { runs } of drafts) if (!pagesByRuns.has(runs)) pagesByRuns.set(runs, pagesOf(runs))
    const newSegments = drafts.map((draft) => ({
      ...draft,
      ...(pagesByRuns.get(draft.runs) ?? missing("pages of a new segment")),
      // Terms in several parts are counted for each part, which makes blocks a little smaller.
      blocks: blocksFor(
        draft.parts.reduce((sum, part) => sum + part.from.terms.length, 0),
        draft.runs.length
      ),
      first_run: (draft.runs[0] ?? missing("the first run of a new segment")).run_id,
      last_run: (draft.runs.at(-1) ?? missing("the last run of a new segment")).run_id
    }))
    const rows = yield* writtenRows(sql`
      INSERT INTO history_segments (org_id, family, rules, runs, blocks, format, checksum, first_run, last_run)
      SELECT org_id, family, rules, runs, blocks, ${segmentFormat}, checksum, first_run, last_run
      FROM unnest(${texts(newSegments.map((m) => m.org_id))}, ${texts(newSegments.map((m) => m.family))}, ${ints(newSegments.map((m) => m.rules))},
                  ${ints(newSegments.map((m) => m.runs.length))}, ${ints(newSegments.map((m) => m.blocks))}, ${texts(newSegments.map((m) => m.first_run))},
                  ${texts(newSegments.map((m) => m.last_run))}, ${ints(newSegments.map((m) => headerChecksum(m.org_id, { ...m, runs: m.runs.length })))})
           WITH ORDINALITY AS n(org_id, family, rules, runs, blocks, first_run, last_run, checksum, place) ORDER BY place
      RETURNING segment`)
    // Postgres assigns identities in the order of the rows.
    const segments = rows.map((row) => row.segment).toSorted((a, b) => (a < b ? -1 : 1))
    const segmentAt = (n: number) => segments[n] ?? missing("the number of a new segment")
    const all = (pick: (pages: Pages) => ReadonlyArray<Uint8Array>) =>
      newSegments.flatMap((m, n) => numbered(segmentAt(n), pick(m)))
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
    for (const [n, { parts, blocks }] of newSegments.entries()) {
      for (const { block, bytes } of blocksOf(parts, blocks, writer)) {
        waiting.push({ segment: segmentAt(n), n: block, bytes })
        size += bytes.length
        if (size >= bytesAtOnce) yield* flush
      }
    }
    if (waiting.length > 0) yield* flush
  })

  /** Merges segments of one family into one, without the given runs. The caller must hold the organization's lock. */
  const join = Effect.fnUntraced(function* (
    org_id: string,
    rows: ReadonlyArray<SegmentRow>,
    without: ReadonlySet<string> = new Set()
  ) {
    const [{ family, rules } = { family: "", rules: 0 }] = rows
    if (!isFamily(family)) return
    const kept: Array<{ readonly run: Run; readonly part: number; readonly n: number }> = []
    const parts: Array<Part> = []
    for (const some of readTogether(rows)) {
      const runs = yield* runsIn(some)
      for (const [at, from] of (yield* postingsIn(some)).entries()) {
        const of = runs[at] ?? []
        of.forEach((run, n) => {
          if (!without.has(run.run_id)) kept.push({ run, part: parts.length, n })
        })
        parts.push({ from, runs: new Int32Array(of.length).fill(-1) })
      }
    }
    kept.sort(order)
    kept.forEach(({ part, n }, number) => {
      const numbers = parts[part]?.runs
      if (numbers !== undefined) numbers[n] = number
    })
    yield* drop(rows.map((row) => row.segment))
    if (kept.length > 0) yield* write([{ org_id, family, rules, runs: kept.map(({ run }) => run), parts }])
  })

  /** Reads the rows of all of its segments, because the range of a damaged one may be wrong. */
  const touching = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const rows = yield* intactRows(
      org_id,
      yield* touchingRows(sql`SELECT ${columns} FROM history_segments WHERE org_id = ${org_id}`)
    )
    return rows.filter(({ first_run, last_run }) => run_ids.some((run_id) => first_run <= run_id && run_id <= last_run))
  })

  const runIdsOf = Effect.fnUntraced(function* (row: SegmentRow) {
    const pages = bytesOf((yield* parts("history_docs", [row]))(row))
    const docs = allRuns(
      row,
      decodedIn(row.segment, () => pages.flatMap(docsOf))
    )
    return docs.map((run) => run.run_id)
  }, failOnDamage)

  /** Removes runs from all segments completely. The caller must hold the organization's lock. */
  const forget = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const without = new Set(run_ids)
    for (const row of yield* touching(org_id, run_ids)) {
      if ((yield* runIdsOf(row)).some((run_id) => without.has(run_id))) yield* join(org_id, [row], without)
    }
  })

  /** The given runs that are in a segment of each family. */
  const holding = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const indexed = { subjects: new Set<string>(), words: new Set<string>() }
    for (const row of yield* touching(org_id, run_ids))
      if (isFamily(row.family)) for (const run_id of yield* runIdsOf(row)) indexed[row.family].add(run_id)
    return new Set(run_ids.filter((run_id) => families.every((family) => indexed[family].has(run_id))))
  })

  return { list, listUnchecked, checkedRuns, verify, runIdsOf, write, join, drop, forget, holding }
})
