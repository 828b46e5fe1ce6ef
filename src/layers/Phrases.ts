/**
 * Questions about phrases: which runs of an organization hold one, as whole words in their order, in any case. Reads only.
 *
 * Runs in segments are found by their terms, those that are under way or ended a moment ago by looking at them. Both are read in one snapshot, so
 * a run is found once, wherever it is on its way.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, texts } from "./Columns.ts"
import { docOf, placesIn, type RunText, runTextColumns } from "./RunWords.ts"
import { type SegmentRow, wordSegments } from "./WordSegments.ts"
import { type Doc, docsOf, type Kind, kindsOf, pageRuns } from "../schema/words/Docs.ts"
import { flagsIn, inAll, postingsIn, runIn } from "../schema/words/Segment.ts"
import { type Phrase, phraseOf, type Seed, seedOf } from "../schema/words/Term.ts"

export interface PhraseHit extends Doc {
  /** Where it stands, as in schema/words/Segment.ts. */
  readonly flags: number
}

/** Questions of one process at once: each holds a connection, and one about the commonest words takes half a second. */
const questionsMax = 2
/** Runs that are read in one go. */
const pageMax = 256

interface BlockRow {
  readonly segment: bigint
  readonly term: bigint
  readonly block: number
  readonly bytes: Uint8Array
}

type Sought = ReadonlyArray<Phrase | null>

/** The runs of a segment that hold each phrase. */
const hitsIn = ({ blocks }: SegmentRow, rows: ReadonlyArray<BlockRow>, sought: Sought) => {
  const lists = new Map(
    rows.map(({ term, block, bytes }) => [Number(term), postingsIn(bytes, { term: Number(term), block, blocks })])
  )
  return sought.map((phrase) => (phrase === null ? [] : inAll(phrase.terms.map((term) => lists.get(term) ?? null))))
}

interface PageRow {
  readonly segment: bigint
  readonly page: number
  readonly bytes: Uint8Array
}

const newestFirst = (a: Doc, b: Doc) => (a.run_id < b.run_id ? 1 : a.run_id > b.run_id ? -1 : 0)
const pageOf = (run: number) => Math.floor(run / pageRuns)

/** A segment as a question has read it: for each phrase the runs that hold it, and the pages that know them. */
interface Read {
  readonly lists: ReadonlyArray<ReadonlyArray<number>>
  readonly kinds: ReadonlyArray<Kind>
  readonly pages: ReadonlyMap<number, Uint8Array>
}

const hitsOf = ({ lists, kinds, pages }: Read, phrase: number) => {
  const list = lists[phrase] ?? []
  const hits: Array<PhraseHit> = []
  for (let from = 0, to = 0; from < list.length; from = to) {
    const page = pageOf(runIn(list[from] ?? 0))
    while (to < list.length && pageOf(runIn(list[to] ?? 0)) === page) to++
    const wanted = list.slice(from, to)
    const docs = docsOf(
      pages.get(page) ?? new Uint8Array(),
      kinds,
      wanted.map((hit) => runIn(hit) % pageRuns)
    )
    docs.forEach(({ run_id, kind, charged, created_at }, n) =>
      hits.push({ run_id, kind, charged, created_at, flags: flagsIn(wanted[n] ?? 0) })
    )
  }
  return hits
}

export class Phrases extends Context.Service<
  Phrases,
  {
    /** What is made of the runs of the organization that hold each phrase, newest first. */
    readonly hits: <A>(
      org_id: string,
      phrases: ReadonlyArray<string>,
      use: (hits: ReadonlyArray<PhraseHit>) => A
    ) => Effect.Effect<ReadonlyArray<A>>
  }
>()("rungate/layers/Phrases") {
  static readonly layer = Layer.effect(
    Phrases,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const segments = yield* wordSegments
      const questions = Semaphore.makeUnsafe(questionsMax)

      const blocksOf = (org_id: string, terms: ReadonlyArray<number>) => sql<BlockRow>`
        SELECT b.segment, t.term, b.block, b.bytes FROM word_segments s CROSS JOIN unnest(${bigints(terms.map(BigInt))}) AS t(term)
        JOIN word_blocks b ON b.segment = s.segment AND b.block = ((t.term * s.blocks) >> 48)::int WHERE s.org_id = ${org_id}`

      const pagesOf = (wanted: ReadonlyArray<{ segment: bigint; page: number }>) => sql<PageRow>`
        SELECT w.segment, w.page, w.bytes
        FROM unnest(${bigints(wanted.map((w) => w.segment))}, ${bigints(wanted.map((w) => BigInt(w.page)))}) AS n(segment, page)
        JOIN word_runs w ON w.segment = n.segment AND w.page = n.page::int`

      const inSegments = Effect.fnUntraced(function* (org_id: string, sought: Sought) {
        const rows = yield* segments.list(org_id)
        const terms = new Set(sought.flatMap((phrase) => phrase?.terms ?? []))
        if (rows.length === 0 || terms.size === 0) return []
        const blocks = Map.groupBy(yield* blocksOf(org_id, [...terms]), (row) => row.segment)
        const found = rows.map((row) => ({ row, lists: hitsIn(row, blocks.get(row.segment) ?? [], sought) }))
        const wanted = found.flatMap(({ row: { segment }, lists }) =>
          Array.from(new Set(lists.flat().map((hit) => pageOf(runIn(hit)))), (page) => ({ segment, page }))
        )
        const pages = Map.groupBy(wanted.length === 0 ? [] : yield* pagesOf(wanted), (page) => page.segment)
        return found.flatMap(({ row, lists }): ReadonlyArray<Read> => {
          const known = pages.get(row.segment)
          if (known === undefined) return []
          return [{ lists, kinds: kindsOf(row.kinds), pages: new Map(known.map(({ page, bytes }) => [page, bytes])) }]
        })
      })

      /** A page of those that no segment holds yet. */
      const fresh = (org_id: string, after: string) => sql<RunText>`
        SELECT ${runTextColumns(sql, "any")} FROM (
          SELECT run_id FROM word_queue WHERE org_id = ${org_id} AND run_id > ${after}
          UNION SELECT run_id FROM open_runs WHERE org_id = ${org_id} AND run_id > ${after} ORDER BY run_id LIMIT ${pageMax}
        ) f JOIN runs r ON r.org_id = ${org_id} AND r.run_id = f.run_id LEFT JOIN open_runs o ON o.run_id = f.run_id
        ORDER BY r.run_id`

      const looked = (rows: ReadonlyArray<RunText>, sought: Sought, seed: Seed) => {
        const words = sought.map((phrase) => phrase?.words ?? [])
        return rows.map((row) => ({ doc: docOf(row), flags: placesIn(row, words, seed) }))
      }

      /**
       * A phrase of three words and more may have its pairs in two places: those are seen in the run. Of each such phrase, where it stands in
       * each of its candidates.
       */
      const certain = Effect.fnUntraced(function* (
        org_id: string,
        unsure: ReadonlyArray<{ readonly phrase: Phrase; readonly run_ids: ReadonlyArray<string> }>
      ) {
        const seed = seedOf(org_id)
        const flags = unsure.map(() => new Map<string, number>())
        const candidates = [...new Set(unsure.flatMap((one) => one.run_ids))]
        for (let from = 0; from < candidates.length; from += pageMax) {
          const rows = yield* sql<RunText>`
            SELECT ${runTextColumns(sql, "ended")} FROM unnest(${texts(candidates.slice(from, from + pageMax))}) AS n(run_id)
            JOIN runs r ON r.org_id = ${org_id} AND r.run_id = n.run_id`
          const seen = looked(
            rows,
            unsure.map((one) => one.phrase),
            seed
          )
          for (const { doc, flags: where } of seen) where.forEach((flag, n) => flags[n]?.set(doc.run_id, flag))
        }
        return new Map(unsure.map(({ phrase }, n) => [phrase, flags[n] ?? new Map<string, number>()]))
      })

      /** One state of it all. What is made of it is made afterwards: a transaction must not be kept waiting. */
      const snapshot = Effect.fnUntraced(function* (org_id: string, sought: Sought, seed: Seed) {
        yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
        const found = yield* inSegments(org_id, sought)
        const waiting: Array<ReturnType<typeof looked>[number]> = []
        for (let after = "", more = true; more; ) {
          const rows = yield* fresh(org_id, after)
          waiting.push(...looked(rows, sought, seed))
          after = rows.at(-1)?.run_id ?? ""
          more = rows.length === pageMax
        }
        return { found, waiting }
      })

      const hits = Effect.fnUntraced(function* <A>(
        org_id: string,
        phrases: ReadonlyArray<string>,
        use: (hits: ReadonlyArray<PhraseHit>) => A
      ) {
        const seed = seedOf(org_id)
        const sought = phrases.map((text) => phraseOf(text, seed))
        const { found, waiting } = yield* sql.withTransaction(snapshot(org_id, sought, seed))
        const heldOf = (n: number) => found.flatMap((segment) => hitsOf(segment, n))
        const unsure = sought.flatMap((phrase, n) =>
          phrase === null || phrase.exact ? [] : [{ phrase, run_ids: heldOf(n).map((hit) => hit.run_id) }]
        )
        const places = yield* certain(org_id, unsure)
        // A run that waits to be indexed anew is what it is, not what a segment says.
        const anew = new Set(waiting.map(({ doc }) => doc.run_id))
        // One phrase after the other: the hits of the one before are gone.
        return sought.map((phrase, n) => {
          const where = phrase === null ? undefined : places.get(phrase)
          const held = heldOf(n).filter((hit) => !anew.has(hit.run_id))
          const sure = where === undefined ? held : held.map((hit) => ({ ...hit, flags: where.get(hit.run_id) ?? 0 }))
          const young = waiting.map(({ doc, flags }) => ({ ...doc, flags: flags[n] ?? 0 }))
          const known = [...sure, ...young].filter((hit) => hit.flags !== 0).sort(newestFirst)
          // Nobody puts a run into two segments; if somebody did, it would still be one run.
          return use(known.filter((hit, at) => hit.run_id !== known[at - 1]?.run_id))
        })
      })

      return Phrases.of({
        hits: (org_id, phrases, use) =>
          phrases.length === 0 ? Effect.succeed([]) : questions.withPermits(1)(Effect.orDie(hits(org_id, phrases, use)))
      })
    })
  )
}
