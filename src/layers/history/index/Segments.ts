/**
 * Segments of the index of history in the database: written whole, never changed, taken away when larger ones hold their runs.
 *
 * Subjects and words have segments of their own, because a run has fifteen times as many words: those of subjects can hold more runs, so that a
 * question about two hundred of them looks at few. Whoever changes which there are holds the lock and does it in one transaction, so a run is always in
 * exactly one of each family; readers notice when one of theirs is gone (SegmentLists.ts).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, byteas, texts } from "../../postgres/Columns.ts"
import { type Pages, pagesOf, type Run, runsOf } from "../../../schema/segments/Docs.ts"
import { Writer } from "../../../schema/segments/Bytes.ts"
import { blocksOf, type Part } from "../../../schema/segments/Merge.ts"
import { blocksFor, decoded, type Postings } from "../../../schema/segments/Segment.ts"

/** Any number; nobody else's. */
export const segmentsLock = 7_411_008

export const families = ["subjects", "words"] as const
export type Family = (typeof families)[number]
export const isFamily = (text: string): text is Family => text === "subjects" || text === "words"

export interface SegmentRow {
  readonly segment: bigint
  readonly family: string
  /** By which rules its runs were read; see HistoryIndex.ts. */
  readonly rules: number
  readonly runs: number
  readonly blocks: number
  readonly first_run: string
  readonly last_run: string
}

/** Runs of one organization, numbered as they stand, the oldest first, and what they hold. */
export interface Draft {
  readonly org_id: string
  readonly family: Family
  readonly rules: number
  readonly runs: ReadonlyArray<Run>
  readonly parts: ReadonlyArray<Part>
}

/** So many bytes of blocks in one statement: a millisecond's work. Everything else in the process waits for it. */
const bytesAtOnce = 200_000

/** Of runs that have just been read. */
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

  /** Until the transaction ends. */
  const lock = sql`SELECT pg_advisory_xact_lock(${segmentsLock})`
  /**
   * The same unless another has it; then what is written need not be on disk at once. Only for those who move what is elsewhere as well: it is
   * either in the new place after a crash or still in the old one.
   */
  const lockIfFree = Effect.map(
    sql<{ free: boolean }>`
      SELECT pg_try_advisory_xact_lock(${segmentsLock}) AS free, set_config('synchronous_commit', 'off', true)`,
    ([row]) => row?.free === true
  )

  /** The oldest first. */
  const list = (org_id: string, family: Family) => sql<SegmentRow>`
    SELECT ${columns} FROM history_segments WHERE org_id = ${org_id} AND family = ${family} ORDER BY first_run, segment`

  const pages = (table: "history_docs" | "history_classes", segment: bigint) =>
    Effect.map(
      sql<{
        bytes: Uint8Array
      }>`SELECT bytes FROM ${sql.literal(table)} WHERE segment = ${segment} ORDER BY page`,
      (rows) => rows.map((row) => row.bytes)
    )
  const runs = Effect.fnUntraced(function* (segment: bigint) {
    const held: Pages = {
      classes: yield* pages("history_classes", segment),
      docs: yield* pages("history_docs", segment)
    }
    return runsOf(held)
  })

  const postings = Effect.fnUntraced(function* ({ segment, blocks }: Pick<SegmentRow, "segment" | "blocks">) {
    const rows = yield* sql<{ block: number; bytes: Uint8Array }>`
      SELECT block, bytes FROM history_blocks WHERE segment = ${segment} ORDER BY block`
    return decoded(rows, blocks)
  })

  const drop = Effect.fnUntraced(function* (segments: ReadonlyArray<bigint>) {
    for (const table of ["history_segments", "history_blocks", "history_docs", "history_classes"])
      yield* sql`DELETE FROM ${sql.literal(table)} WHERE segment = ANY(${bigints(segments)})`
  })

  const insert = (table: string, column: "page" | "block", all: ReadonlyArray<Bytes>) => sql`
    INSERT INTO ${sql.literal(table)} (segment, ${sql.literal(column)}, bytes)
    SELECT * FROM unnest(${bigints(all.map((one) => one.segment))}, ${ints(all.map((one) => one.n))}, ${byteas(all.map((one) => one.bytes))})`

  /** One segment each; many small ones in as few statements as one. */
  const write = Effect.fnUntraced(function* (drafts: ReadonlyArray<Draft>) {
    // Two families of the same runs share their pages.
    const known = new Map<ReadonlyArray<Run>, Pages>()
    for (const { runs } of drafts) if (!known.has(runs)) known.set(runs, pagesOf(runs))
    const made = drafts.map((draft) => ({
      ...draft,
      ...(known.get(draft.runs) ?? { classes: [], docs: [] }),
      // Terms that parts share are counted for each, which makes blocks a little smaller.
      blocks: blocksFor(
        draft.parts.reduce((sum, part) => sum + part.from.terms.length, 0),
        draft.runs.length
      ),
      first: draft.runs[0]?.run_id ?? "",
      last: draft.runs.at(-1)?.run_id ?? ""
    }))
    const rows = yield* sql<{ segment: bigint }>`
      INSERT INTO history_segments (org_id, family, rules, runs, blocks, first_run, last_run)
      SELECT org_id, family, rules, runs, blocks, first_run, last_run
      FROM unnest(${texts(made.map((m) => m.org_id))}, ${texts(made.map((m) => m.family))}, ${ints(made.map((m) => m.rules))},
                  ${ints(made.map((m) => m.runs.length))}, ${ints(made.map((m) => m.blocks))}, ${texts(made.map((m) => m.first))},
                  ${texts(made.map((m) => m.last))})
           WITH ORDINALITY AS n(org_id, family, rules, runs, blocks, first_run, last_run, place) ORDER BY place
      RETURNING segment`
    // Identities are given in the order of the rows.
    const segments = rows.map((row) => row.segment).toSorted((a, b) => (a < b ? -1 : 1))
    const all = (pick: (pages: Pages) => ReadonlyArray<Uint8Array>) =>
      made.flatMap((m, n) => numbered(segments[n] ?? 0n, pick(m)))
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
      // The statement has them all, copied, when it is done; as much memory again for each would be most of a join's work.
      return Effect.map(insert("history_blocks", "block", full), () => writer.clear())
    })
    for (const [n, { parts, blocks }] of made.entries()) {
      for (const { block, bytes } of blocksOf(parts, blocks, writer)) {
        waiting.push({ segment: segments[n] ?? 0n, n: block, bytes })
        size += bytes.length
        if (size >= bytesAtOnce) yield* flush
      }
    }
    if (waiting.length > 0) yield* flush
  })

  /** One segment of several of one family, without some of their runs. Needs the lock. */
  const join = Effect.fnUntraced(function* (
    org_id: string,
    rows: ReadonlyArray<SegmentRow>,
    without: ReadonlySet<string> = new Set()
  ) {
    const [{ family, rules } = { family: "", rules: 0 }] = rows
    if (!isFamily(family)) return
    const held: Array<{ readonly run: Run; readonly part: number; readonly n: number }> = []
    const parts: Array<Part> = []
    for (const [part, row] of rows.entries()) {
      const all = yield* runs(row.segment)
      all.forEach((run, n) => {
        if (!without.has(run.run_id)) held.push({ run, part, n })
      })
      parts.push({ from: yield* postings(row), runs: new Int32Array(all.length).fill(-1) })
    }
    held.sort(order)
    held.forEach(({ part, n }, number) => {
      const numbers = parts[part]?.runs
      if (numbers !== undefined) numbers[n] = number
    })
    yield* drop(rows.map((row) => row.segment))
    if (held.length > 0) yield* write([{ org_id, family, rules, runs: held.map(({ run }) => run), parts }])
  })

  const touching = (org_id: string, run_ids: ReadonlyArray<string>) => sql<SegmentRow>`
    SELECT ${columns} FROM history_segments
    WHERE org_id = ${org_id} AND EXISTS (SELECT FROM unnest(${texts(run_ids)}) AS n(run_id) WHERE run_id BETWEEN first_run AND last_run)`

  const docsOf = (segment: bigint) =>
    Effect.map(pages("history_docs", segment), (docs) => runsOf({ classes: [], docs }).map((run) => run.run_id))

  /** Leaves runs out. Nothing of them is left behind. Needs the lock. */
  const forget = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const without = new Set(run_ids)
    for (const row of yield* touching(org_id, run_ids)) {
      if ((yield* docsOf(row.segment)).some((run_id) => without.has(run_id))) yield* join(org_id, [row], without)
    }
  })

  /** Those of the runs that are in a segment of each family. */
  const holding = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const held = { subjects: new Set<string>(), words: new Set<string>() }
    for (const { segment, family } of yield* touching(org_id, run_ids))
      if (isFamily(family)) for (const run_id of yield* docsOf(segment)) held[family].add(run_id)
    return new Set(run_ids.filter((run_id) => families.every((family) => held[family].has(run_id))))
  })

  return { lock, lockIfFree, list, runs, write, join, drop, forget, holding }
})
