/**
 * Builds the inverted index: for every term, the documents that contain it and its BM25F score in each.
 *
 * Only the query's weights are unknown when the index is built. So a posting is a document and one precomputed number, its impact:
 *
 *   tf     = Σ over fields of weight · count / (1 - b + b · length / average length)
 *   impact = ln(1 + (N - df + ½) / (df + ½)) · (k1 + 1) · tf / (k1 + tf)
 *
 * The build is a generator that pauses after every bounded piece of work, so that its caller can yield to the event loop.
 */
import type { Phrases } from "./Concepts.ts"
import { fields, type SearchDocument, textsMax } from "./Document.ts"
import { reading } from "./Reading.ts"
import { type Vocabulary, vocabularyOf } from "./Vocabulary.ts"

/** BM25's saturation: how little a second mention adds. */
export const k1 = 1.2
/** Bits per field in a packed count. Counts end at 63, because more mentions add almost nothing to the score. */
const countBits = 6
const countMax = 2 ** countBits - 1
/** The maximum of a Uint16Array, which holds the lengths. */
const lengthMax = 2 ** 16 - 1
/** Postings per array of the staging area. */
const chunkPostings = 2 ** 16
/** Handling this many postings, or sorting as many terms, takes as long as reading a document. So pauses come after equal work. */
const postingsPerDocument = 64

export interface Postings {
  readonly vocabulary: Vocabulary
  /** Where each term's postings begin; one more at the end. */
  readonly starts: Uint32Array
  readonly documents: Uint32Array
  readonly impacts: Float32Array
}

/** A list of numbers that grows without copying. */
const staging = () => {
  const chunks: Array<Uint32Array> = []
  let length = 0
  return {
    push: (value: number) => {
      if (length % chunkPostings === 0) chunks.push(new Uint32Array(chunkPostings))
      const chunk = chunks[chunks.length - 1]
      if (chunk !== undefined) chunk[length % chunkPostings] = value
      length += 1
    },
    at: (index: number) => chunks[(index / chunkPostings) | 0]?.[index % chunkPostings] ?? 0,
    size: () => length
  }
}

/** Sorts in pieces by first two letters, because one sort of all terms would block the event loop. */
function* sorted(words: ReadonlyArray<string>, pause: number): Generator<void, ReadonlyArray<string>> {
  const buckets = new Map<string, Array<string>>()
  for (const [at, word] of words.entries()) {
    const key = word.slice(0, 2)
    const bucket = buckets.get(key)
    if (bucket === undefined) buckets.set(key, [word])
    else bucket.push(word)
    if (at % pause === pause - 1) yield
  }
  const all: Array<string> = []
  let work = 0
  for (const key of Array.from(buckets.keys()).sort()) {
    const bucket = buckets.get(key) ?? []
    bucket.sort()
    for (const word of bucket) all.push(word)
    work += bucket.length
    if (work < pause) continue
    work = 0
    yield
  }
  return all
}

/** `yieldEvery`: documents between two pauses. */
export function* postingsOf(
  documents: ReadonlyArray<SearchDocument>,
  phrases: Phrases,
  yieldEvery: number
): Generator<void, Postings> {
  const pause = yieldEvery * postingsPerDocument
  const { words, spellings, sequence, read, conceptsAt } = reading(phrases)
  const stagedTerms = staging()
  const stagedCounts = staging()
  const ends = new Uint32Array(documents.length)
  const lengths = fields.map(() => new Uint16Array(documents.length))
  const totals = fields.map(() => 0)
  const frequencies: Array<number> = []

  // The terms of the current document and their counts. `places` has a term's index in `held`, valid if `seenIn` is this document.
  const seenIn: Array<number> = []
  const places: Array<number> = []
  const held: Array<number> = []
  const counts: Array<number> = []
  let current = 0
  let shift = 0
  const count = (term: number) => {
    while (seenIn.length <= term) {
      seenIn.push(-1)
      places.push(0)
      frequencies.push(0)
    }
    if (seenIn[term] !== current) {
      seenIn[term] = current
      places[term] = held.length
      held.push(term)
      counts.push(1 << shift)
      frequencies[term] = (frequencies[term] ?? 0) + 1
      return
    }
    const place = places[term] ?? 0
    const before = counts[place] ?? 0
    if (((before >>> shift) & countMax) < countMax) counts[place] = before + (1 << shift)
  }

  for (const [position, document] of documents.entries()) {
    held.length = 0
    counts.length = 0
    current = position
    for (const [field, { textsOf }] of fields.entries()) {
      shift = field * countBits
      let words = 0
      for (const text of textsOf(document).slice(0, textsMax)) {
        const length = read(text)
        words += length
        for (let at = 0; at < length; at += 1) {
          count(sequence[at] ?? 0)
          conceptsAt(at, length, count)
        }
      }
      const column = lengths[field]
      if (column !== undefined) column[position] = Math.min(words, lengthMax)
      totals[field] = (totals[field] ?? 0) + Math.min(words, lengthMax)
    }
    for (let at = 0; at < held.length; at += 1) {
      stagedTerms.push(held[at] ?? 0)
      stagedCounts.push(counts[at] ?? 0)
    }
    ends[position] = stagedTerms.size()
    if (position % yieldEvery === yieldEvery - 1) yield
  }

  const terms = yield* sorted(
    words.filter((_, id) => (frequencies[id] ?? 0) > 0),
    pause
  )
  const ids = new Map<string, number>()
  const spelt = terms.slice()
  const starts = new Uint32Array(terms.length + 1)
  const rarities = new Float64Array(terms.length)
  const renumbered = new Uint32Array(words.length)
  for (const [id, term] of terms.entries()) {
    ids.set(term, id)
    if (id % pause === pause - 1) yield
  }
  yield
  for (const [old, term] of words.entries()) {
    const frequency = frequencies[old] ?? 0
    const id = ids.get(term)
    if (id === undefined) continue
    renumbered[old] = id
    spelt[id] = spellings[old] ?? term
    starts[id + 1] = frequency
    rarities[id] = Math.log(1 + (documents.length - frequency + 0.5) / (frequency + 0.5))
    if (old % pause === pause - 1) yield
  }
  for (let id = 0; id < terms.length; id += 1) starts[id + 1] = (starts[id + 1] ?? 0) + (starts[id] ?? 0)
  const vocabulary = yield* vocabularyOf(terms, spelt, pause)
  yield

  const size = stagedTerms.size()
  const holders = new Uint32Array(size)
  const impacts = new Float32Array(size)
  const next = starts.slice()
  const shares = fields.map(() => 0)
  let at = 0
  let work = 0
  for (const [position, end] of ends.entries()) {
    for (const [field, { weight, dilution }] of fields.entries()) {
      const average = (totals[field] ?? 0) / documents.length
      const relative = average === 0 ? 1 : (lengths[field]?.[position] ?? 0) / average
      shares[field] = weight / (1 - dilution + dilution * relative)
    }
    work += end - at
    for (; at < end; at += 1) {
      const id = renumbered[stagedTerms.at(at)] ?? 0
      const packed = stagedCounts.at(at)
      let tf = 0
      for (let field = 0; field < shares.length; field += 1) {
        tf += (shares[field] ?? 0) * ((packed >>> (field * countBits)) & countMax)
      }
      const slot = next[id] ?? 0
      holders[slot] = position
      impacts[slot] = ((rarities[id] ?? 0) * (k1 + 1) * tf) / (k1 + tf)
      next[id] = slot + 1
    }
    if (work < pause) continue
    work = 0
    yield
  }
  return { vocabulary, starts, documents: holders, impacts }
}
