/**
 * Looks terms up in the segments of an organization: in which runs of which segments a subject or a phrase is, how those runs are to be counted, and
 * who they are. The caller says which segments there are, as they stood at one moment.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, texts } from "../../postgres/Columns.ts"
import { cutsOf, type SegmentMatches, nothingKnown, traitsOf } from "./SubjectSummary.ts"
import type { NoLookups } from "./Lookups.ts"
import { placesIn, type RunText, runTextColumns, shortJson } from "./IndexedRun.ts"
import type { SegmentRow } from "./Segments.ts"
import {
  classesOf,
  type Doc,
  docAt,
  docPageOf,
  docRuns,
  kindsOf,
  type Kind,
  kindsPage
} from "../../../schema/segments/Docs.ts"
import { flagsIn, inAll, inAny, postingOf, postingsIn, runIn, termSpace } from "../../../schema/segments/Segment.ts"
import { type Phrase, seedOf } from "../../../schema/words/Term.ts"

/** Runs that are read in one go. */
const pageMax = 256

/** Segments whose kinds are remembered: they never change, and a question needs those of dozens. Some megabytes. */
const rememberedMax = 512

interface Row {
  readonly segment: bigint
  readonly n: number
  readonly bytes: Uint8Array
}
/** Segments were joined, or written anew without a run, since the caller saw which there are. */
export class Moved extends Schema.TaggedError<Moved>()("Moved", {}) {}

/** In which runs of which segments something is, as postings. */
export type Lists = ReadonlyArray<{ readonly row: SegmentRow; readonly list: ReadonlyArray<number> }>

const blockOf = (term: number, blocks: number) => Math.floor(term / (termSpace / blocks))
/** Of a block or a page of a segment; no segment has as many. */
const placeOf = (segment: bigint, n: number) => Number(segment) * 1_048_576 + n
const found = (lists: Lists): Lists => lists.filter(({ list }) => list.length > 0)

const noDoc: Doc = { run_id: "", created_at: 0 }

/** Places of segments, each once. */
class Places {
  private readonly known = new Set<number>()
  readonly segments: Array<bigint> = []
  readonly numbers: Array<bigint> = []
  add(segment: bigint, n: number) {
    const place = placeOf(segment, n)
    if (this.known.has(place)) return
    this.known.add(place)
    this.segments.push(segment)
    this.numbers.push(BigInt(n))
  }
}

export const segmentLists = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Fails when one of the segments is no more: all of it is there for as long as a segment is, and never changes. */
  const read = Effect.fnUntraced(function* (table: string, column: "page" | "block", { segments, numbers }: Places) {
    if (segments.length === 0) return []
    const different = [...new Set(segments)]
    const rows = yield* sql<{ readonly segment: bigint | null; readonly n: number; readonly bytes: Uint8Array | null }>`
      SELECT t.segment, t.${sql.literal(column)} AS n, t.bytes FROM unnest(${bigints(segments)}, ${bigints(numbers)}) AS n(segment, n)
      JOIN ${sql.literal(table)} t ON t.segment = n.segment AND t.${sql.literal(column)} = n.n::int
      UNION ALL SELECT NULL, count(*)::int, NULL FROM history_segments WHERE segment = ANY(${bigints(different)})`
    if (rows.some(({ segment, n }) => segment === null && n !== different.length)) return yield* new Moved()
    return rows.flatMap(
      ({ segment, n, bytes }): ReadonlyArray<Row> => (segment === null || bytes === null ? [] : [{ segment, n, bytes }])
    )
  })

  const known = new Map<bigint, ReadonlyArray<Kind>>()
  const remember = (segment: bigint, kinds: ReadonlyArray<Kind>) => {
    known.set(segment, kinds)
    const [oldest] = known.keys()
    if (known.size > rememberedMax && oldest !== undefined) known.delete(oldest)
  }

  /** The postings of terms in segments, as far as they are asked for. */
  const postings = Effect.fnUntraced(function* (
    asked: ReadonlyArray<{ readonly row: SegmentRow; readonly terms: ReadonlyArray<number> }>
  ) {
    const places = new Places()
    for (const { row, terms } of asked) for (const term of terms) places.add(row.segment, blockOf(term, row.blocks))
    const rows = yield* read("history_blocks", "block", places)
    const blocks = new Map(rows.map((block) => [placeOf(block.segment, block.n), block.bytes]))
    return ({ segment, blocks: count }: SegmentRow, term: number) => {
      const block = blockOf(term, count)
      const bytes = blocks.get(placeOf(segment, block))
      return bytes === undefined ? null : postingsIn(bytes, { term, block, blocks: count })
    }
  })

  const bySubject = Effect.fnUntraced(function* (
    rows: ReadonlyArray<SegmentRow>,
    subjects: ReadonlyArray<ReadonlyArray<number>>
  ) {
    const terms = [...new Set(subjects.flat())]
    const of = yield* postings(rows.map((row) => ({ row, terms })))
    return subjects.map(
      (any): Lists => found(rows.map((row) => ({ row, list: inAny(any.map((term) => of(row, term))) })))
    )
  })

  /** A phrase's rarest term is looked for first: the others matter where that one is. */
  const byPhrase = Effect.fnUntraced(function* (
    org_id: string,
    rows: ReadonlyArray<SegmentRow>,
    phrases: ReadonlyArray<Phrase | null>
  ) {
    const rarest = [...new Set(phrases.flatMap((phrase) => phrase?.terms.slice(0, 1) ?? []))]
    const first = yield* postings(rows.map((row) => ({ row, terms: rarest })))
    const hopeful = phrases.map((phrase) =>
      rows.flatMap((row) => {
        const [term, ...terms] = phrase?.terms ?? []
        const list = term === undefined ? null : first(row, term)
        return list === null ? [] : [{ row, list, terms }]
      })
    )
    const other = yield* postings(hopeful.flat())
    const lists = hopeful.map((of) =>
      found(of.map(({ row, list, terms }) => ({ row, list: inAll([list, ...terms.map((term) => other(row, term))]) })))
    )
    return yield* certain(org_id, phrases, lists)
  })

  const docs = Effect.fnUntraced(function* (wanted: ReadonlyArray<{ row: SegmentRow; number: number }>) {
    const places = new Places()
    for (const { row, number } of wanted) places.add(row.segment, docPageOf(number))
    const rows = yield* read("history_docs", "page", places)
    const pages = new Map(rows.map((page) => [placeOf(page.segment, page.n), page.bytes]))
    return ({ segment }: SegmentRow, number: number): Doc => {
      const page = pages.get(placeOf(segment, docPageOf(number)))
      return (page === undefined ? null : docAt(page, number % docRuns)) ?? noDoc
    }
  })

  /** A phrase of three words and more may have its pairs in two places: those are seen in the run. */
  const certain = Effect.fnUntraced(function* (
    org_id: string,
    phrases: ReadonlyArray<Phrase | null>,
    all: ReadonlyArray<Lists>
  ) {
    const unsure = phrases.flatMap((phrase, n) =>
      phrase === null || phrase.exact ? [] : [{ phrase, lists: all[n] ?? [], flags: new Map<string, number>() }]
    )
    const hits = unsure.flatMap(({ lists }) =>
      lists.flatMap(({ row, list }) => list.map((hit) => ({ row, number: runIn(hit) })))
    )
    if (hits.length === 0) return all
    const seed = seedOf(org_id)
    const known = yield* docs(hits)
    const words = unsure.map(({ phrase }) => phrase.words)
    const run_ids = [...new Set(hits.map(({ row, number }) => known(row, number).run_id))]
    for (let from = 0; from < run_ids.length; from += pageMax) {
      const rows = yield* sql<RunText>`
        SELECT ${runTextColumns(sql, "ended")} FROM runs r
        WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids.slice(from, from + pageMax))})`
      for (const row of rows)
        placesIn(shortJson(row), words, seed).forEach((where, n) => unsure[n]?.flags.set(row.run_id, where))
    }
    const seen = new Map(unsure.map((one) => [one.phrase, one.flags]))
    return all.map((lists, n): Lists => {
      const phrase = phrases[n] ?? null
      const flags = phrase === null ? undefined : seen.get(phrase)
      if (flags === undefined) return lists
      const where = (row: SegmentRow, hit: number) =>
        postingOf(runIn(hit), flags.get(known(row, runIn(hit)).run_id) ?? 0)
      return found(
        lists.map(({ row, list }) => ({
          row,
          list: list.map((hit) => where(row, hit)).filter((hit) => flagsIn(hit) !== 0)
        }))
      )
    })
  })

  const withClasses = Effect.fnUntraced(function* (all: ReadonlyArray<Lists>, not: NoLookups) {
    const traits = traitsOf(not)
    const cut = all.map((lists) => lists.map((one) => ({ ...one, cuts: cutsOf(one.list) })))
    const places = new Places()
    const before = new Map<bigint, ReadonlyArray<Kind>>()
    for (const { row, cuts } of cut.flat()) {
      const kinds = known.get(row.segment)
      if (kinds === undefined) places.add(row.segment, kindsPage)
      else before.set(row.segment, kinds)
      for (const { number } of cuts) places.add(row.segment, number)
    }
    const rows = Map.groupBy(yield* read("history_classes", "page", places), (page) => page.segment)
    const pages = new Map(
      rows.entries().map(([segment, of]) => {
        const [first] = of.filter(({ n }) => n === kindsPage)
        const kinds = first === undefined ? (before.get(segment) ?? []) : kindsOf(first.bytes)
        if (first !== undefined) remember(segment, kinds)
        const classes = of
          .filter(({ n }) => n !== kindsPage)
          .map(({ n, bytes }) => [n, traits(classesOf(bytes, kinds))] as const)
        return [segment, new Map(classes)]
      })
    )
    return cut.map(
      (lists): ReadonlyArray<SegmentMatches> =>
        lists.map(({ row, list, cuts }) => {
          const of = pages.get(row.segment)
          return {
            row,
            list,
            stretches: cuts.map(({ number, from, to }) => ({ page: of?.get(number) ?? nothingKnown, from, to }))
          }
        })
    )
  })

  return { bySubject, byPhrase, withClasses, docs }
})
