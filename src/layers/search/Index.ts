/**
 * The search engine of discover: an inverted index in typed arrays. A search takes well under a millisecond per 50,000 documents.
 *
 * No measured library is fast enough at this size (docs/benchmarks.md). Building yields to the event loop. A search is synchronous, and its
 * result depends only on the documents and the query.
 */
import { Effect } from "effect"
import { inSlices } from "../platform/inSlices.ts"
import { phrasesByTerm } from "./Concepts.ts"
import type { SearchDocument } from "./Document.ts"
import { postingsOf } from "./Postings.ts"
import { type Lexicon, type Slot, slotsOf } from "./Query.ts"
import { best, bestFitShare, orderOf, type Ranked, type RankingData, rankingDataOf, wrappedFactor } from "./Ranking.ts"
import { queryWords } from "./Tokens.ts"
import { type Concept, synonyms } from "./synonyms.ts"

export interface SearchIndex extends Lexicon, RankingData {
  readonly documents: ReadonlyArray<SearchDocument>
  /** The score of each document. Zero between searches. */
  readonly scores: Float32Array
  /** Documents with a score in the current search. */
  readonly touched: Uint32Array
  /** What a document's best alternative of a slot adds to its score. Valid if `rounds` has the current slot's round. */
  readonly slotScores: Float32Array
  readonly rounds: Uint8Array
}

export interface SearchRequest {
  readonly query: string
  readonly limit: number
  readonly kind?: SearchDocument["kind"]
  /** A slug. Capabilities that it serves count. */
  readonly provider?: string
}

export interface Hit {
  /** Position of the document. */
  readonly id: number
  /** 1 for the first. */
  readonly score: number
}

/** Documents indexed between two pauses: a tenth of a millisecond. */
const documentsPerPause = 4
/** Reading the fixed fields of this many documents takes as long as indexing the texts of one. */
const passesPerReading = 16

function* indexOf(
  documents: ReadonlyArray<SearchDocument>,
  concepts: ReadonlyArray<Concept>,
  yieldEvery: number
): Generator<void, SearchIndex> {
  const phrases = phrasesByTerm(concepts)
  const postings = yield* postingsOf(documents, phrases, yieldEvery)
  const rankingData = yield* rankingDataOf(documents, yieldEvery * passesPerReading)
  return {
    documents,
    phrases,
    postings,
    ...rankingData,
    scores: new Float32Array(documents.length),
    touched: new Uint32Array(documents.length),
    slotScores: new Float32Array(documents.length),
    rounds: new Uint8Array(documents.length)
  }
}

export const buildIndex = (
  documents: ReadonlyArray<SearchDocument>,
  options: { readonly yieldEvery?: number; readonly synonyms?: ReadonlyArray<Concept> } = {}
): Effect.Effect<SearchIndex> =>
  Effect.suspend(() =>
    inSlices(indexOf(documents, options.synonyms ?? synonyms, options.yieldEvery ?? documentsPerPause))
  )

/** Adds the best alternative of a slot to the score of each document that has one. Returns how many documents have a score. */
const addSlot = (index: SearchIndex, slot: Slot, round: number, before: number): number => {
  const { postings, scores, slotScores, rounds, touched } = index
  const { starts, documents, impacts } = postings
  let count = before
  for (const { term, weight } of slot.alternatives) {
    const end = starts[term + 1] ?? 0
    for (let at = starts[term] ?? 0; at < end; at += 1) {
      const document = documents[at] ?? 0
      const score = scores[document] ?? 0
      if (score === 0) {
        if (slot.weak) continue
        touched[count] = document
        count += 1
      }
      const gain = weight * (impacts[at] ?? 0)
      const other = rounds[document] === round ? (slotScores[document] ?? 0) : 0
      if (gain <= other) continue
      rounds[document] = round
      slotScores[document] = gain
      scores[document] = score + gain - other
    }
  }
  return count
}

const serves = ({ provider, providers }: SearchDocument, wanted: string): boolean =>
  provider === null ? providers.includes(wanted) : provider === wanted

/** What wrapped endpoints gain from the best-fitting capabilities (ranking rule 5), by position. */
const gainsOf = ({ capabilities, wrapped, scores, factors }: SearchIndex): ReadonlyMap<number, number> => {
  const fit = capabilities.map((id) => ({ id, score: (scores[id] ?? 0) * (factors[id] ?? 0) }))
  const least = bestFitShare * fit.reduce((most, { score }) => Math.max(most, score), 0)
  const gains = new Map<number, number>()
  for (const { id, score } of fit) {
    if (score === 0 || score < least) continue
    for (const endpoint of wrapped.get(id) ?? [])
      gains.set(endpoint, Math.max(gains.get(endpoint) ?? 0, score * wrappedFactor))
  }
  return gains
}

/** A shown score is a whole number of these parts of the first one. */
const parts = 10_000

/** `part`: scores are compared as they are shown, as multiples of it. Null: as they are. */
const rank = (
  index: SearchIndex,
  request: SearchRequest,
  count: number,
  part: number | null
): ReadonlyArray<Ranked> => {
  const { documents, factors, scores, touched, wrapStarts, wrappers } = index
  const { kind, provider } = request
  const top = best(request.limit, orderOf(documents))
  /** For each capability, the best score of an endpoint that it wraps (ranking rule 4). */
  const lifts = new Map<number, number>()
  const shown = (score: number) => (part === null ? score : Math.max(1, Math.round(score / part)))
  let floor = 0
  const consider = (id: number, score: number) => {
    const document = documents[id]
    if (document === undefined || document.kind === "capability") return
    if (provider !== undefined && document.provider !== provider) return
    top.add({ id, score: shown(score), own: score })
    // A lower score may be shown as the same number.
    floor = part === null ? top.floor() : (top.floor() - 1) * part
    for (let wrap = wrapStarts[id] ?? 0; wrap < (wrapStarts[id + 1] ?? 0); wrap += 1) {
      const capability = wrappers[wrap] ?? 0
      lifts.set(capability, Math.max(lifts.get(capability) ?? 0, score))
    }
  }
  const namesProvider = queryWords(request.query).some(({ word }) => index.providers.has(word))
  const gains: ReadonlyMap<number, number> = kind === "capability" || namesProvider ? new Map() : gainsOf(index)
  for (const [id, gain] of gains) consider(id, (scores[id] ?? 0) * (factors[id] ?? 0) + gain)
  for (let at = 0; at < count && kind !== "capability"; at += 1) {
    const id = touched[at] ?? 0
    const score = (scores[id] ?? 0) * (factors[id] ?? 0)
    // Most documents are skipped here, after reading only the arrays.
    if (score < floor || gains.has(id)) continue
    consider(id, score)
  }
  if (kind === "endpoint") return top.kept()
  for (const id of index.capabilities) {
    const own = (scores[id] ?? 0) * (factors[id] ?? 0)
    const score = Math.max(own, lifts.get(id) ?? 0)
    const document = documents[id]
    if (score === 0 || document === undefined || (provider !== undefined && !serves(document, provider))) continue
    top.add({ id, score: shown(score), own })
  }
  return top.kept()
}

/** The documents that match a query, best first. Empty if none matches. */
export const search = (index: SearchIndex, request: SearchRequest): ReadonlyArray<Hit> => {
  const { scores, rounds, touched } = index
  const slots = slotsOf(index, request.query)
  let count = 0
  let round = 0
  for (const weak of [false, true]) {
    for (const slot of slots) {
      if (slot.weak !== weak) continue
      round += 1
      count = addSlot(index, slot, round, count)
    }
  }
  const first = rank(index, { ...request, limit: 1 }, count, null)[0]?.score ?? parts
  const ranked = rank(index, request, count, first / parts)
  for (let at = 0; at < count; at += 1) {
    const document = touched[at] ?? 0
    scores[document] = 0
    rounds[document] = 0
  }
  return ranked.map(({ id, score }) => ({ id, score: score / parts }))
}
