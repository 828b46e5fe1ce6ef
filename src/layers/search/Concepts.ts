/**
 * Finds the concepts of the synonym file (synonyms.ts) in a sequence of terms. A synonym may be one term or several.
 *
 * Documents and queries use the same matcher over the same terms, so a synonym means the same on both sides.
 */
import { type Concept, conceptWeight } from "./synonyms.ts"
import { termsOf } from "./Tokens.ts"

/** Maximum number of terms per synonym. */
export const phraseTermsMax = 5

export interface Phrase {
  /** The concept's own term in the index. It begins with "#", so no word of a text equals it. */
  readonly concept: string
  readonly terms: ReadonlyArray<string>
  readonly weight: number
  /** Whether the phrase is a synonym in queries only. */
  readonly queryOnly: boolean
}

/** Phrases by their first term. */
export type Phrases = ReadonlyMap<string, ReadonlyArray<Phrase>>

export interface PhraseMatch {
  readonly phrase: Phrase
  /** Position of the phrase's first term. */
  readonly at: number
}

const phrasesOf = ({ words, queryOnly = "", weight = conceptWeight }: Concept): ReadonlyArray<Phrase> => {
  const concept = `#${(words.split(",")[0] ?? "").trim()}`
  const parse = (list: string, queryOnly: boolean) =>
    list.split(",").flatMap((text): ReadonlyArray<Phrase> => {
      const terms = termsOf(text).slice(0, phraseTermsMax)
      return terms.length === 0 ? [] : [{ concept, terms, weight, queryOnly }]
    })
  return [...parse(words, false), ...parse(queryOnly, true)]
}

export const phrasesByTerm = (concepts: ReadonlyArray<Concept>): Phrases => {
  const byTerm = new Map<string, Array<Phrase>>()
  for (const phrase of concepts.flatMap(phrasesOf)) {
    const first = phrase.terms[0] ?? ""
    const sameFirst = byTerm.get(first)
    if (sameFirst === undefined) byTerm.set(first, [phrase])
    else sameFirst.push(phrase)
  }
  return byTerm
}

/** All phrases in the terms of a query. */
export const phrasesIn = (phrases: Phrases, terms: ReadonlyArray<string>): ReadonlyArray<PhraseMatch> =>
  terms.flatMap((term, at) =>
    (phrases.get(term) ?? [])
      .filter((phrase) => phrase.terms.every((one, offset) => terms[at + offset] === one))
      .map((phrase) => ({ phrase, at }))
  )
