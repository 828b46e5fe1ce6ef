/**
 * Looks up terms in an organization's segments: which runs contain a subject or a phrase, their classes for counting, and their ids.
 *
 * The caller passes the list of segments as of one moment. If one of them was deleted since, the lookup fails with `Moved`. If a part of one is
 * damaged, it fails with `SegmentDamaged`, or throws it while it decodes.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, texts } from "../../postgres/Rows.ts"
import { cutsOf, type SegmentMatches, traitsOf } from "./SubjectSummary.ts"
import type { NoLookups } from "./Lookups.ts"
import { placesIn, runTextColumns, runTextRows, shortJson } from "./IndexedRun.ts"
import { intact, placeOf, Places, type StoredPart } from "./Places.ts"
import { rowsAs } from "./Rows.ts"
import { damagedIn, decodedIn } from "./SegmentDamaged.ts"
import type { SegmentRow } from "./SegmentRow.ts"
import type { PartTable } from "../../../schema/segments/Checksum.ts"
import {
  classesOf,
  type Doc,
  docAt,
  docPageOf,
  docRuns,
  kindsOf,
  type RunKind,
  kindsPage
} from "../../../schema/segments/Docs.ts"
import { flagsIn, inAll, inAny, postingOf, postingsIn, runIn, termSpace } from "../../../schema/segments/Segment.ts"
import { type Phrase, seedOf } from "../../../schema/words/Term.ts"

/** Runs per read. */
const pageMax = 256

/** Segments whose kinds are cached. They never change, and a query needs those of dozens of segments. Some megabytes. */
const cachedMax = 512

const PageRow = Schema.Struct({
  segment: Schema.NullOr(Schema.BigInt),
  n: Schema.Int,
  bytes: Schema.NullOr(Schema.Uint8Array),
  checksum: Schema.NullOr(Schema.Int)
})
const pageRows = {
  history_blocks: rowsAs("blocks", PageRow),
  history_docs: rowsAs("pages of docs", PageRow),
  history_classes: rowsAs("pages of classes", PageRow)
}
const phraseTextRows = runTextRows("runs to be searched for a phrase")

/** Segments were merged or rewritten after the caller read the list of segments. */
export class Moved extends Schema.TaggedError<Moved>()("Moved", {}) {}

/** The matching runs of each segment, as postings. */
export type Lists = ReadonlyArray<{ readonly row: SegmentRow; readonly list: ReadonlyArray<number> }>

const blockOf = (term: number, blocks: number) => Math.floor(term / (termSpace / blocks))
const nonEmpty = (lists: Lists): Lists => lists.filter(({ list }) => list.length > 0)

export const segmentLists = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Reads blocks or pages. Fails when a segment no longer exists or is damaged. An existing segment is complete and never changes. */
  const read = Effect.fnUntraced(function* (table: PartTable, column: "page" | "block", places: Places) {
    const { segments, numbers } = places
    if (segments.length === 0) return []
    const different = [...new Set(segments)]
    const rows = yield* pageRows[table](sql`
      SELECT t.segment, t.${sql.literal(column)} AS n, t.bytes, t.checksum FROM unnest(${bigints(segments)}, ${bigints(numbers)}) AS n(segment, n)
      JOIN ${sql.literal(table)} t ON t.segment = n.segment AND t.${sql.literal(column)} = n.n::int
      UNION ALL SELECT NULL, count(*)::int, NULL, NULL FROM history_segments WHERE segment = ANY(${bigints(different)})`)
    if (rows.some(({ segment, n }) => segment === null && n !== different.length)) return yield* new Moved()
    const parts = rows.flatMap(
      ({ segment, n, bytes, checksum }): ReadonlyArray<StoredPart> =>
        segment === null || bytes === null ? [] : [{ segment, n, bytes, checksum }]
    )
    return yield* intact(table, parts, places)
  })

  const kindsCache = new Map<bigint, ReadonlyArray<RunKind>>()
  const cacheKinds = (segment: bigint, kinds: ReadonlyArray<RunKind>) => {
    kindsCache.set(segment, kinds)
    const [oldest] = kindsCache.keys()
    if (kindsCache.size > cachedMax && oldest !== undefined) kindsCache.delete(oldest)
  }

  /** Reads the postings of terms in segments. */
  const postings = Effect.fnUntraced(function* (
    termsByRow: ReadonlyArray<{ readonly row: SegmentRow; readonly terms: ReadonlyArray<number> }>
  ) {
    const places = new Places()
    for (const { row, terms } of termsByRow) for (const term of terms) places.add(row, blockOf(term, row.blocks))
    const rows = yield* read("history_blocks", "block", places)
    const blocks = new Map(rows.map((block) => [placeOf(block.segment, block.n), block.bytes]))
    return (row: SegmentRow, term: number) => {
      const block = blockOf(term, row.blocks)
      const bytes = blocks.get(placeOf(row.segment, block))
      if (bytes === undefined) return null
      return decodedIn(row.segment, () => postingsIn(bytes, { term, block, blocks: row.blocks, runs: row.runs }))
    }
  })

  const bySubject = Effect.fnUntraced(function* (
    rows: ReadonlyArray<SegmentRow>,
    subjects: ReadonlyArray<ReadonlyArray<number>>
  ) {
    const terms = [...new Set(subjects.flat())]
    const of = yield* postings(rows.map((row) => ({ row, terms })))
    return subjects.map(
      (any): Lists => nonEmpty(rows.map((row) => ({ row, list: inAny(any.map((term) => of(row, term))) })))
    )
  })

  /** Looks up a phrase's rarest term first, and the others only in segments that contain it. */
  const byPhrase = Effect.fnUntraced(function* (
    org_id: string,
    rows: ReadonlyArray<SegmentRow>,
    phrases: ReadonlyArray<Phrase | null>
  ) {
    const rarest = [...new Set(phrases.flatMap((phrase) => phrase?.terms.slice(0, 1) ?? []))]
    const first = yield* postings(rows.map((row) => ({ row, terms: rarest })))
    const possible = phrases.map((phrase) =>
      rows.flatMap((row) => {
        const [term, ...terms] = phrase?.terms ?? []
        const list = term === undefined ? null : first(row, term)
        return list === null ? [] : [{ row, list, terms }]
      })
    )
    const other = yield* postings(possible.flat())
    const lists = possible.map((of) =>
      nonEmpty(
        of.map(({ row, list, terms }) => ({ row, list: inAll([list, ...terms.map((term) => other(row, term))]) }))
      )
    )
    return yield* confirmPhrases(org_id, phrases, lists)
  })

  const docs = Effect.fnUntraced(function* (wanted: ReadonlyArray<{ row: SegmentRow; number: number }>) {
    const places = new Places()
    for (const { row, number } of wanted) places.add(row, docPageOf(number))
    const rows = yield* read("history_docs", "page", places)
    const pages = new Map(rows.map((page) => [placeOf(page.segment, page.n), page.bytes]))
    return ({ segment }: SegmentRow, number: number): Doc => {
      const page = pages.get(placeOf(segment, docPageOf(number)))
      const doc = page === undefined ? null : decodedIn(segment, () => docAt(page, number % docRuns))
      return doc ?? damagedIn(segment, `the id of run ${number} is missing`)
    }
  })

  /** Pairs of a phrase of three or more words may match in different places, so these runs are read and searched. */
  const confirmPhrases = Effect.fnUntraced(function* (
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
    const docOf = yield* docs(hits)
    const words = unsure.map(({ phrase }) => phrase.words)
    const run_ids = [...new Set(hits.map(({ row, number }) => docOf(row, number).run_id))]
    for (let from = 0; from < run_ids.length; from += pageMax) {
      const rows = yield* phraseTextRows(sql`
        SELECT ${runTextColumns(sql, "ended")} FROM runs r
        WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids.slice(from, from + pageMax))})`)
      for (const row of rows)
        placesIn(shortJson(row), words, seed).forEach((where, n) => unsure[n]?.flags.set(row.run_id, where))
    }
    const flagsByPhrase = new Map(unsure.map((one) => [one.phrase, one.flags]))
    return all.map((lists, n): Lists => {
      const phrase = phrases[n] ?? null
      const flags = phrase === null ? undefined : flagsByPhrase.get(phrase)
      if (flags === undefined) return lists
      const where = (row: SegmentRow, hit: number) =>
        postingOf(runIn(hit), flags.get(docOf(row, runIn(hit)).run_id) ?? 0)
      return nonEmpty(
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
    const cached = new Map<bigint, ReadonlyArray<RunKind>>()
    for (const { row, cuts } of cut.flat()) {
      const kinds = kindsCache.get(row.segment)
      if (kinds === undefined) places.add(row, kindsPage)
      else cached.set(row.segment, kinds)
      for (const { number } of cuts) places.add(row, number)
    }
    const rows = Map.groupBy(yield* read("history_classes", "page", places), (page) => page.segment)
    const pages = new Map(
      rows.entries().map(([segment, of]) => {
        const [first] = of.filter(({ n }) => n === kindsPage)
        const kinds =
          first === undefined
            ? (cached.get(segment) ?? damagedIn(segment, "the list of kinds is missing"))
            : decodedIn(segment, () => kindsOf(first.bytes))
        if (first !== undefined) cacheKinds(segment, kinds)
        const classes = of.filter(({ n }) => n !== kindsPage)
        const pageOf = ({ bytes }: StoredPart) => decodedIn(segment, () => classesOf(bytes, kinds))
        return [segment, new Map(classes.map((part) => [part.n, traits(segment, pageOf(part))]))]
      })
    )
    return cut.map(
      (lists): ReadonlyArray<SegmentMatches> =>
        lists.map(({ row, list, cuts }) => {
          const of = pages.get(row.segment)
          return {
            row,
            list,
            stretches: cuts.map(({ number, from, to }) => ({
              page: of?.get(number) ?? damagedIn(row.segment, `page ${number} of classes is missing`),
              from,
              to
            }))
          }
        })
    )
  })

  return { bySubject, byPhrase, withClasses, docs }
})
