/**
 * Discover's search: an inverted index in typed arrays, built without holding up the event loop and asked in well under a
 * millisecond per 50,000 documents.
 *
 * It is written here because no library measured keeps up at this size. A search is synchronous and leaves its working arrays
 * as it found them; its result depends on the documents, the query and nothing else.
 */
import { Effect } from "effect"
import { phrasesByTerm } from "./Concepts.ts"
import type { SearchDocument } from "./Document.ts"
import { postingsOf } from "./Postings.ts"
import { type Lexicon, type Slot, slotsOf } from "./Query.ts"
import { best, factorOf, orderOf, type Ranked, type Wraps, wrapsOf } from "./Ranking.ts"
import { type Concept, synonyms } from "./synonyms.ts"

export interface SearchIndex extends Lexicon {
  readonly documents: ReadonlyArray<SearchDocument>
  readonly wraps: Wraps
  /** Zero between searches: a document's score, its best alternative of the slot at hand, and the documents that have one. */
  readonly scores: Float32Array
  readonly slotScores: Float32Array
  readonly touched: Uint32Array
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

/** Documents that are read between two turns of the event loop: a few milliseconds. */
const documentsPerTurn = 128

export const buildIndex = Effect.fnUntraced(function* (
  documents: ReadonlyArray<SearchDocument>,
  options: { readonly yieldEvery?: number; readonly synonyms?: ReadonlyArray<Concept> } = {}
) {
  const phrases = phrasesByTerm(options.synonyms ?? synonyms)
  const steps = postingsOf(documents, phrases, options.yieldEvery ?? documentsPerTurn)
  let step = steps.next()
  while (step.done !== true) {
    yield* Effect.yieldNow
    step = steps.next()
  }
  const index: SearchIndex = {
    documents,
    phrases,
    postings: step.value,
    wraps: wrapsOf(documents),
    scores: new Float32Array(documents.length),
    slotScores: new Float32Array(documents.length),
    touched: new Uint32Array(documents.length)
  }
  return index
})

/** Adds a slot to the scores: of each document's alternatives the best. Returns how many documents have a score. */
const addSlot = ({ postings, scores, slotScores, touched }: SearchIndex, slot: Slot, before: number): number => {
  const { starts, documents, impacts } = postings
  let count = before
  const single = slot.alternatives.length === 1
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
      if (single) {
        scores[document] = score + gain
        continue
      }
      const other = slotScores[document] ?? 0
      if (gain <= other) continue
      scores[document] = score + gain - other
      slotScores[document] = gain
    }
  }
  if (single) return count
  for (const { term } of slot.alternatives) {
    const end = starts[term + 1] ?? 0
    for (let at = starts[term] ?? 0; at < end; at += 1) slotScores[documents[at] ?? 0] = 0
  }
  return count
}

const serves = ({ provider, providers }: SearchDocument, wanted: string): boolean =>
  provider === null ? providers.includes(wanted) : provider === wanted

const rank = (index: SearchIndex, request: SearchRequest, count: number): ReadonlyArray<Ranked> => {
  const { documents, scores, touched, wraps } = index
  const { kind, provider } = request
  const top = best(request.limit, orderOf(documents))
  /** Own score and lifted score of every capability that is in question; they join last, when both are known. */
  const capabilities = new Map<number, { own: number; lifted: number }>()
  const entryOf = (id: number) => {
    const known = capabilities.get(id)
    if (known !== undefined) return known
    const entry = { own: 0, lifted: 0 }
    capabilities.set(id, entry)
    return entry
  }
  for (let at = 0; at < count; at += 1) {
    const id = touched[at] ?? 0
    const base = scores[id] ?? 0
    // No factor of an endpoint raises its score, and a capability's is applied below.
    const document = documents[id]
    if (document === undefined) continue
    if (document.kind === "capability") {
      entryOf(id).own = base * factorOf(document)
      continue
    }
    if (base < top.floor() || kind === "capability") continue
    if (provider !== undefined && document.provider !== provider) continue
    const score = base * factorOf(document)
    if (score < top.floor()) continue
    top.add({ id, score, own: score })
    if (kind === "endpoint") continue
    for (let wrap = wraps.starts[id] ?? 0; wrap < (wraps.starts[id + 1] ?? 0); wrap += 1) {
      const entry = entryOf(wraps.capabilities[wrap] ?? 0)
      entry.lifted = Math.max(entry.lifted, score)
    }
  }
  if (kind === "endpoint") return top.kept()
  for (const [id, { own, lifted }] of capabilities) {
    const document = documents[id]
    if (document === undefined || (provider !== undefined && !serves(document, provider))) continue
    top.add({ id, score: Math.max(own, lifted), own })
  }
  return top.kept()
}

const decimals = 10_000

/** The best documents for a query, best first. Empty when nothing matched. */
export const search = (index: SearchIndex, request: SearchRequest): ReadonlyArray<Hit> => {
  const { scores, touched } = index
  const slots = slotsOf(index, request.query)
  let count = 0
  for (const slot of slots) if (!slot.weak) count = addSlot(index, slot, count)
  for (const slot of slots) if (slot.weak) count = addSlot(index, slot, count)
  const ranked = rank(index, request, count)
  for (let at = 0; at < count; at += 1) scores[touched[at] ?? 0] = 0
  const first = ranked[0]?.score ?? 1
  return ranked.map(({ id, score }) => ({ id, score: Math.max(1, Math.round((score / first) * decimals)) / decimals }))
}
