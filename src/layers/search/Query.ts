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
  /** A weak slot ranks the documents that other slots match. It matches no document by itself. */
  readonly weak: boolean
  readonly alternatives: ReadonlyArray<Alternative>
}

/** Weight of longer words that begin with a word that exists. They are probably not meant. */
const prefixWeight = 0.3
/** Weight of longer words that begin with an unknown word, which is probably unfinished. */
const unfinishedWeight = 0.8
/** Weight of a term inside an unknown word, as "verifi" in "verificat". */
const withinWeight = 0.5
const compoundWeight = 0.8
const typoWeights = [1, 0.65, 0.4] as const
const weakWeight = 0.5

const prefixLengthMin = 3
/** Shorter halves match by accident, such as "lnk" in "backlnk". */
const halfLengthMin = 4
const prefixesMax = 6
const unfinishedMax = 16
/** Terms of a prefix range that are compared. */
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

/** The most frequent longer words that begin with `prefix`. A word weighs more the more of it was typed. */
const longer = (postings: Postings, prefix: string, most: number, weight: number): ReadonlyArray<Alternative> => {
  const { vocabulary } = postings
  const [start, end] = prefixRange(vocabulary, prefix)
  const alternatives: Array<Alternative> = []
  for (let term = start; term < Math.min(end, start + rangeMax); term += 1) {
    const length = vocabulary.terms[term]?.length ?? 0
    if (length > prefix.length) alternatives.push({ term, weight: (weight * prefix.length) / length })
  }
  const gain = ({ term, weight }: Alternative) => frequencyOf(postings, term) * weight
  return alternatives.sort((a, b) => gain(b) - gain(a) || a.term - b.term).slice(0, most)
}

/** The longest term that an unknown word begins with. */
const within = ({ vocabulary }: Postings, term: string): ReadonlyArray<Alternative> => {
  for (let length = term.length - 1; length >= Math.max(5, Math.ceil(term.length / 2)); length -= 1) {
    const id = idOf(vocabulary, term.slice(0, length))
    if (id !== undefined) return [{ term: id, weight: withinWeight }]
  }
  return []
}

/** Terms that a misspelt word may stand for: those near its stem, and bases of irregular words near the word itself. */
const nearest = ({ vocabulary }: Postings, term: string, word: string): ReadonlyArray<Near> => {
  const editsById = new Map<number, number>()
  const take = ({ id, edits }: Near) => editsById.set(id, Math.min(editsById.get(id) ?? edits, edits))
  for (const one of nearTerms(vocabulary, term)) take(one)
  // "company" has a consonant before its y and "compnay" has none, so their stems end differently.
  if (term.endsWith("y")) for (const one of nearTerms(vocabulary, `${term.slice(0, -1)}i`)) take(one)
  const most = editsAllowed(word)
  for (const [form, base] of irregular) {
    const id = most === 0 || form.charCodeAt(0) !== word.charCodeAt(0) ? undefined : idOf(vocabulary, base)
    const edits = id === undefined ? most + 1 : editsBetween(word, form, most)
    if (id !== undefined && edits <= most) take({ id, edits })
  }
  return Array.from(editsById, ([id, edits]) => ({ id, edits }))
}

const misspelt = (postings: Postings, term: string, word: string): ReadonlyArray<Alternative> =>
  nearest(postings, term, word)
    .map((near) => ({ ...near, frequency: frequencyOf(postings, near.id) }))
    .sort((a, b) => a.edits - b.edits || b.frequency - a.frequency || a.id - b.id)
    .slice(0, typosMax)
    .map(({ id, edits }) => ({ term: id, weight: typoWeights[edits] ?? 0 }))

/** Splits a word such as "emailfinder" into two words that exist. Of several ways it takes the one whose rarer half is most frequent. */
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

interface SlotBuilder {
  readonly word: QueryWord
  /** The best weight of each alternative term. */
  readonly terms: Map<number, number>
}

const addAlternative = ({ terms }: SlotBuilder, { term, weight }: Alternative) => {
  if ((terms.get(term) ?? 0) < weight) terms.set(term, weight)
}

/** One builder per word of a query, with all alternatives but expansions: the word itself, joined neighbours and concepts. */
const buildersOf = (
  { postings: { vocabulary }, phrases }: Lexicon,
  words: ReadonlyArray<QueryWord>,
  affordable: (alternative: Alternative) => boolean
) => {
  const all = words.map((word): SlotBuilder => ({ word, terms: new Map() }))
  for (const [at, builder] of all.entries()) {
    const own = idOf(vocabulary, builder.word.term)
    if (own !== undefined && !builder.word.stop) addAlternative(builder, { term: own, weight: 1 })
    const next = all[at + 1]
    if (next === undefined) continue
    const joined = builder.word.word + next.word.word
    const term = joined.length < 4 ? undefined : idOf(vocabulary, stem(joined))
    if (term === undefined) continue
    addAlternative(builder, { term, weight: 1 })
    addAlternative(next, { term, weight: 1 })
  }
  const content = all.filter(({ word }) => !word.stop)
  for (const { phrase, at } of phrasesIn(
    phrases,
    content.map(({ word }) => word.term)
  )) {
    const term = idOf(vocabulary, phrase.concept)
    if (term === undefined) continue
    // A concept is an alternative to every word of its phrase. A long phrase must not score more than a short one.
    const weight = phrase.weight * Math.min(1, 2 / phrase.terms.length)
    for (const builder of content.slice(at, at + phrase.terms.length)) {
      if (affordable({ term, weight })) addAlternative(builder, { term, weight })
    }
  }
  return content
}

/** The concepts of a term that was guessed for an unknown word. */
const conceptsOf = ({ postings, phrases }: Lexicon, { term, weight }: Alternative): ReadonlyArray<Alternative> =>
  phrasesIn(phrases, [postings.vocabulary.terms[term] ?? ""]).flatMap(({ phrase }) => {
    const concept = idOf(postings.vocabulary, phrase.concept)
    return concept === undefined ? [] : [{ term: concept, weight: weight * phrase.weight }]
  })

/** The slots of a query. Empty if no document has any of its words. */
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
  const content = buildersOf(lexicon, queryWords(query), affordable).filter(({ word }) => {
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
  for (const builder of content) {
    const { word, terms } = builder
    const { term } = word
    if (word.weak && !onlyWeak) {
      add(word, terms)
      continue
    }
    const parts = idOf(vocabulary, term) === undefined ? word.parts.flatMap((part) => idOf(vocabulary, part) ?? []) : []
    const halves = idOf(vocabulary, term) !== undefined || parts.length > 0 ? parts : compound(postings, word.word)
    for (const half of halves) add(word, new Map([[half, compoundWeight]]))
    if (terms.size > 0) {
      // Only the last word may be unfinished, when a client searches while somebody types.
      const unfinished = builder === content[content.length - 1] && term.length >= prefixLengthMin
      const expanded = unfinished ? longer(postings, term, prefixesMax, prefixWeight) : []
      for (const one of expanded.filter(affordable)) addAlternative(builder, one)
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
      addAlternative(builder, one)
      for (const concept of conceptsOf(lexicon, one).filter(affordable)) addAlternative(builder, concept)
    }
    add(word, terms)
  }
  return slots
}

/** "Did you mean": words of the index that are near the unknown words of a query. */
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
