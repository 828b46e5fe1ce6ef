/**
 * Turns a query into slots: one per word, each with the terms that may replace it and their weights.
 *
 * A document gets the best alternative of each slot, not their sum, so three synonyms score no more than one. The number of expansions and
 * of the postings that they read is limited.
 */
import { type Phrases, phrasesIn } from "./Concepts.ts"
import type { Postings } from "./Postings.ts"
import { irregular, stem } from "./Stems.ts"
import { type QueryWord, queryWords } from "./Tokens.ts"
import { editsAllowed, editsBetween, idOf, type Near, nearTerms, prefixRange } from "./Vocabulary.ts"

export interface Alternative {
  readonly term: number
  readonly weight: number
}

export interface Slot {
  /** Orders what other slots found and finds nothing by itself. */
  readonly weak: boolean
  readonly alternatives: ReadonlyArray<Alternative>
}

/** Of a word that exists: longer words that begin like it are probably not meant. */
const prefixWeight = 0.3
/** Of a word that nobody knows: it is probably unfinished. */
const unfinishedWeight = 0.8
/** "verificat" has the stem "verifi" within. */
const withinWeight = 0.5
const compoundWeight = 0.8
const typoWeights = [1, 0.65, 0.4] as const
const weakWeight = 0.5

const prefixLengthMin = 3
/** Shorter halves are accidents: "back" and "lnk". */
const halfLengthMin = 4
const prefixesMax = 6
const unfinishedMax = 16
/** Terms of a prefix range that are looked at. */
const rangeMax = 2_000
const typosMax = 4
/** Unknown words of one query that are compared with the whole vocabulary. */
const typoWordsMax = 6
/** Postings that the expansions of one query may read; the words themselves are always read. */
const expandedPostingsMax = 150_000

export interface Lexicon {
  readonly postings: Postings
  readonly phrases: Phrases
}

export const frequencyOf = ({ starts }: Postings, term: number): number => (starts[term + 1] ?? 0) - (starts[term] ?? 0)

/** Longer words that begin like this one: the commonest, each by how much of it was typed. */
const longer = (postings: Postings, prefix: string, most: number, weight: number): ReadonlyArray<Alternative> => {
  const { vocabulary } = postings
  const [start, end] = prefixRange(vocabulary, prefix)
  const found: Array<Alternative> = []
  for (let term = start; term < Math.min(end, start + rangeMax); term += 1) {
    const length = vocabulary.terms[term]?.length ?? 0
    if (length > prefix.length) found.push({ term, weight: (weight * prefix.length) / length })
  }
  const gain = ({ term, weight }: Alternative) => frequencyOf(postings, term) * weight
  return found.sort((a, b) => gain(b) - gain(a) || a.term - b.term).slice(0, most)
}

/** The longest term that this unfinished form of a word begins with. */
const within = ({ vocabulary }: Postings, term: string): ReadonlyArray<Alternative> => {
  for (let length = term.length - 1; length >= Math.max(5, Math.ceil(term.length / 2)); length -= 1) {
    const id = idOf(vocabulary, term.slice(0, length))
    if (id !== undefined) return [{ term: id, weight: withinWeight }]
  }
  return []
}

/** Terms that a misspelt word may stand for: near its stem, near its stem had it been spelt right, or near a word of a family. */
const nearest = ({ vocabulary }: Postings, term: string, word: string): ReadonlyArray<Near> => {
  const found = new Map<number, number>()
  const take = ({ id, edits }: Near) => found.set(id, Math.min(found.get(id) ?? edits, edits))
  for (const one of nearTerms(vocabulary, term)) take(one)
  // "compnay" has no consonant before its y, and "company" has: their stems end otherwise.
  if (term.endsWith("y")) for (const one of nearTerms(vocabulary, `${term.slice(0, -1)}i`)) take(one)
  const most = editsAllowed(word)
  for (const [known, base] of irregular) {
    const id = most === 0 || known.charCodeAt(0) !== word.charCodeAt(0) ? undefined : idOf(vocabulary, base)
    const edits = id === undefined ? most + 1 : editsBetween(word, known, most)
    if (id !== undefined && edits <= most) take({ id, edits })
  }
  return Array.from(found, ([id, edits]) => ({ id, edits }))
}

const misspelt = (postings: Postings, term: string, word: string): ReadonlyArray<Alternative> =>
  nearest(postings, term, word)
    .map((near) => ({ ...near, frequency: frequencyOf(postings, near.id) }))
    .sort((a, b) => a.edits - b.edits || b.frequency - a.frequency || a.id - b.id)
    .slice(0, typosMax)
    .map(({ id, edits }) => ({ term: id, weight: typoWeights[edits] ?? 0 }))

/** "emailfinder" as two words that exist; of several ways the one whose rarer half is commonest. */
const compound = (postings: Postings, word: string): ReadonlyArray<number> => {
  let best: ReadonlyArray<number> = []
  let bestFrequency = 0
  for (let at = halfLengthMin; at <= word.length - halfLengthMin; at += 1) {
    const [head, tail] = [stem(word.slice(0, at)), stem(word.slice(at))]
    if (head.length < halfLengthMin || tail.length < halfLengthMin) continue
    const left = idOf(postings.vocabulary, head)
    const right = left === undefined ? undefined : idOf(postings.vocabulary, tail)
    if (left === undefined || right === undefined) continue
    const frequency = Math.min(frequencyOf(postings, left), frequencyOf(postings, right))
    if (frequency > bestFrequency) {
      best = [left, right]
      bestFrequency = frequency
    }
  }
  return best
}

interface Draft {
  readonly word: QueryWord
  /** Best weight by term. */
  readonly terms: Map<number, number>
}

const offer = ({ terms }: Draft, { term, weight }: Alternative) => {
  if ((terms.get(term) ?? 0) < weight) terms.set(term, weight)
}

/** The words of a query with every alternative that is not an expansion: themselves, joined neighbours, concepts. */
const drafts = (
  { postings: { vocabulary }, phrases }: Lexicon,
  words: ReadonlyArray<QueryWord>,
  affordable: (alternative: Alternative) => boolean
) => {
  const all = words.map((word): Draft => ({ word, terms: new Map() }))
  for (const [at, draft] of all.entries()) {
    const own = idOf(vocabulary, draft.word.term)
    if (own !== undefined && !draft.word.stop) offer(draft, { term: own, weight: 1 })
    const next = all[at + 1]
    if (next === undefined) continue
    const joined = draft.word.word + next.word.word
    const term = joined.length < 4 ? undefined : idOf(vocabulary, stem(joined))
    if (term === undefined) continue
    offer(draft, { term, weight: 1 })
    offer(next, { term, weight: 1 })
  }
  const content = all.filter(({ word }) => !word.stop)
  for (const { phrase, at } of phrasesIn(
    phrases,
    content.map(({ word }) => word.term)
  )) {
    const term = idOf(vocabulary, phrase.concept)
    if (term === undefined) continue
    // A concept answers all words of its phrase, but a long phrase is not more of it.
    const weight = phrase.weight * Math.min(1, 2 / phrase.terms.length)
    for (const draft of content.slice(at, at + phrase.terms.length)) {
      if (affordable({ term, weight })) offer(draft, { term, weight })
    }
  }
  return content
}

/** The meanings of a word that had to be guessed. */
const conceptsOf = ({ postings, phrases }: Lexicon, { term, weight }: Alternative): ReadonlyArray<Alternative> =>
  phrasesIn(phrases, [postings.vocabulary.terms[term] ?? ""]).flatMap(({ phrase }) => {
    const concept = idOf(postings.vocabulary, phrase.concept)
    return concept === undefined ? [] : [{ term: concept, weight: weight * phrase.weight }]
  })

/** What a query looks for. Empty when nothing that it says is in any document. */
export const slotsOf = (lexicon: Lexicon, query: string): ReadonlyArray<Slot> => {
  const { postings } = lexicon
  const { vocabulary } = postings
  let budget = expandedPostingsMax
  const affordable = ({ term }: Alternative) => {
    const cost = frequencyOf(postings, term)
    if (cost > budget) return false
    budget -= cost
    return true
  }
  const seen = new Set<string>()
  const content = drafts(lexicon, queryWords(query), affordable).filter(({ word }) => {
    const first = !seen.has(word.term)
    seen.add(word.term)
    return first
  })
  const onlyWeak = content.every(({ word }) => word.weak)
  let guesses = 0
  const slots: Array<Slot> = []
  const add = (word: QueryWord, terms: ReadonlyMap<number, number>) => {
    const weak = word.weak && !onlyWeak
    const alternatives = Array.from(terms, ([term, weight]) => ({ term, weight: weak ? weight * weakWeight : weight }))
    if (alternatives.length > 0) slots.push({ weak, alternatives })
  }
  for (const draft of content) {
    const { word, terms } = draft
    const { term } = word
    if (word.weak && !onlyWeak) {
      add(word, terms)
      continue
    }
    const parts = idOf(vocabulary, term) === undefined ? word.parts.flatMap((part) => idOf(vocabulary, part) ?? []) : []
    const halves = idOf(vocabulary, term) !== undefined || parts.length > 0 ? parts : compound(postings, word.word)
    for (const half of halves) add(word, new Map([[half, compoundWeight]]))
    if (terms.size > 0) {
      // Only the last word may still be growing under somebody's fingers.
      const growing = draft === content[content.length - 1] && term.length >= prefixLengthMin
      const expanded = growing ? longer(postings, term, prefixesMax, prefixWeight) : []
      for (const one of expanded.filter(affordable)) offer(draft, one)
      add(word, terms)
      continue
    }
    if (halves.length > 0) continue
    guesses += 1
    const guessed = [
      ...(term.length < prefixLengthMin ? [] : longer(postings, term, unfinishedMax, unfinishedWeight)),
      ...within(postings, term),
      ...(guesses > typoWordsMax ? [] : misspelt(postings, term, word.word))
    ]
    for (const one of guessed.filter(affordable)) {
      offer(draft, one)
      for (const concept of conceptsOf(lexicon, one).filter(affordable)) offer(draft, concept)
    }
    add(word, terms)
  }
  return slots
}

/** Words of a query that nobody knows, with words near them that somebody does: "did you mean". */
export const suggestionsOf = ({ postings }: Lexicon, query: string, most: number): ReadonlyArray<string> => {
  const { vocabulary } = postings
  const unknown = queryWords(query).filter(({ stop, term }) => !stop && idOf(vocabulary, term) === undefined)
  const near = unknown.slice(0, typoWordsMax).flatMap(({ word, term }) =>
    [...misspelt(postings, term, word), ...longer(postings, term.slice(0, 4), typosMax, unfinishedWeight)]
      .map((one) => vocabulary.spellings[one.term] ?? "")
      .filter((spelling) => spelling !== word)
      .slice(0, 2)
  )
  return Array.from(new Set(near)).slice(0, most)
}
