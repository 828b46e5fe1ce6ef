/**
 * Segments of the index of phrases in the database: written whole, never changed, taken away when larger ones hold their runs.
 *
 * Whoever changes which there are holds the lock, and readers see one state of them all (a snapshot), so a run is always in exactly one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, byteas, texts } from "./Columns.ts"
import { type Doc, docsOf, kindsOf, pagesOf } from "../schema/words/Docs.ts"
import { blocksFor, blocksOf, decoded, type Part, type Postings } from "../schema/words/Segment.ts"
import { termRules } from "../schema/words/Term.ts"

/** Any number; nobody else's. */
export const wordsLock = 7_411_008

export interface SegmentRow {
  readonly segment: bigint
  readonly runs: number
  readonly blocks: number
  readonly kinds: string
  readonly first_run: string
  readonly last_run: string
}

/** Runs of one organization, numbered as they stand, and what they hold. */
export interface Draft {
  readonly org_id: string
  readonly docs: ReadonlyArray<Doc>
  readonly parts: ReadonlyArray<Part>
}

/** So many blocks in one statement: a millisecond's work. Everything else in the process waits for it. */
const blocksAtOnce = 256

const alone = (postings: Postings, runs: number): Part => ({
  from: postings,
  runs: Int32Array.from({ length: runs }, (_, n) => n)
})
/** Of runs that have just been cut up. */
export const draftOf = (org_id: string, docs: ReadonlyArray<Doc>, postings: Postings): Draft => ({
  ...{ org_id, docs, parts: [alone(postings, docs.length)] }
})

const ints = (values: ReadonlyArray<number>) => bigints(values.map(BigInt))

export const wordSegments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Until the transaction ends. */
  const lock = sql`SELECT pg_advisory_xact_lock(${wordsLock})`
  const lockIfFree = Effect.map(
    sql<{ free: boolean }>`SELECT pg_try_advisory_xact_lock(${wordsLock}) AS free`,
    ([row]) => row?.free === true
  )

  const list = (org_id: string) => sql<SegmentRow>`
    SELECT segment, runs, blocks, kinds, first_run, last_run FROM word_segments WHERE org_id = ${org_id} ORDER BY first_run, segment`

  const docs = Effect.fnUntraced(function* ({ segment, kinds }: Pick<SegmentRow, "segment" | "kinds">) {
    const pages = yield* sql<{
      bytes: Uint8Array
    }>`SELECT bytes FROM word_runs WHERE segment = ${segment} ORDER BY page`
    const known = kindsOf(kinds)
    return pages.flatMap(({ bytes }) => docsOf(bytes, known))
  })

  const postings = Effect.fnUntraced(function* ({ segment, blocks }: Pick<SegmentRow, "segment" | "blocks">) {
    const rows = yield* sql<{ block: number; bytes: Uint8Array }>`
      SELECT block, bytes FROM word_blocks WHERE segment = ${segment} ORDER BY block`
    return decoded(rows, blocks)
  })

  const drop = (segments: ReadonlyArray<bigint>) =>
    Effect.gen(function* () {
      yield* sql`DELETE FROM word_segments WHERE segment = ANY(${bigints(segments)})`
      yield* sql`DELETE FROM word_blocks WHERE segment = ANY(${bigints(segments)})`
      yield* sql`DELETE FROM word_runs WHERE segment = ANY(${bigints(segments)})`
    })

  /** One segment each; many small ones in as few statements as one. */
  const write = Effect.fnUntraced(function* (drafts: ReadonlyArray<Draft>) {
    const made = drafts.map((draft) => {
      const ids = draft.docs.map((doc) => doc.run_id)
      // Terms that parts share are counted for each, which makes blocks a little smaller.
      const blocks = blocksFor(draft.parts.reduce((sum, part) => sum + part.from.terms.length, 0))
      const first = ids.reduce((a, b) => (b < a ? b : a), ids[0] ?? "")
      const last = ids.reduce((a, b) => (b > a ? b : a), "")
      return { ...draft, ...pagesOf(draft.docs), blocks, first, last }
    })
    const rows = yield* sql<{ segment: bigint }>`
      INSERT INTO word_segments (org_id, rules, runs, blocks, first_run, last_run, kinds)
      SELECT org_id, ${termRules}, runs, blocks, first_run, last_run, kinds
      FROM unnest(${texts(made.map((m) => m.org_id))}, ${ints(made.map((m) => m.docs.length))}, ${ints(made.map((m) => m.blocks))},
                  ${texts(made.map((m) => m.first))}, ${texts(made.map((m) => m.last))}, ${texts(made.map((m) => m.kinds))})
           WITH ORDINALITY AS n(org_id, runs, blocks, first_run, last_run, kinds, place) ORDER BY place
      RETURNING segment`
    // Identities are given in the order of the rows.
    const segments = rows.map((row) => row.segment).toSorted((a, b) => (a < b ? -1 : 1))
    const pages = made.flatMap((m, n) => m.pages.map((bytes, page) => ({ segment: segments[n] ?? 0n, page, bytes })))
    yield* sql`
      INSERT INTO word_runs (segment, page, bytes)
      SELECT * FROM unnest(${bigints(pages.map((p) => p.segment))}, ${ints(pages.map((p) => p.page))}, ${byteas(pages.map((p) => p.bytes))})`
    let waiting: Array<{ readonly segment: bigint; readonly block: number; readonly bytes: Uint8Array }> = []
    const flush = Effect.suspend(() => {
      const all = waiting
      waiting = []
      return sql`
        INSERT INTO word_blocks (segment, block, bytes)
        SELECT * FROM unnest(${bigints(all.map((b) => b.segment))}, ${ints(all.map((b) => b.block))}, ${byteas(all.map((b) => b.bytes))})`
    })
    for (const [n, { parts, blocks }] of made.entries()) {
      for (const block of blocksOf(parts, blocks)) {
        waiting.push({ segment: segments[n] ?? 0n, ...block })
        if (waiting.length >= blocksAtOnce) yield* flush
      }
    }
    if (waiting.length > 0) yield* flush
  })

  /** One segment of several, in their order, without those runs. */
  const join = Effect.fnUntraced(function* (
    org_id: string,
    rows: ReadonlyArray<SegmentRow>,
    without: ReadonlySet<string> = new Set()
  ) {
    const kept: Array<Doc> = []
    const parts: Array<Part> = []
    for (const row of rows) {
      const runs = (yield* docs(row)).map((doc) => (without.has(doc.run_id) ? -1 : kept.push(doc) - 1))
      parts.push({ from: yield* postings(row), runs: Int32Array.from(runs) })
    }
    yield* drop(rows.map((row) => row.segment))
    if (kept.length > 0) yield* write([{ org_id, docs: kept, parts }])
  })

  const touching = (org_id: string, run_ids: ReadonlyArray<string>) => sql<SegmentRow>`
    SELECT segment, runs, blocks, kinds, first_run, last_run FROM word_segments
    WHERE org_id = ${org_id} AND EXISTS (SELECT FROM unnest(${texts(run_ids)}) AS n(run_id) WHERE run_id BETWEEN first_run AND last_run)`

  /** Leaves runs out. Nothing of them is left behind. Needs the lock. */
  const forget = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const gone = new Set(run_ids)
    for (const row of yield* touching(org_id, run_ids)) {
      if ((yield* docs(row)).some((doc) => gone.has(doc.run_id))) yield* join(org_id, [row], gone)
    }
  })

  /** Those of the runs that are in a segment. */
  const holding = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const held = new Set<string>()
    for (const row of yield* touching(org_id, run_ids)) for (const { run_id } of yield* docs(row)) held.add(run_id)
    return new Set(run_ids.filter((run_id) => held.has(run_id)))
  })

  return { lock, lockIfFree, list, docs, postings, write, join, drop, forget, holding }
})
