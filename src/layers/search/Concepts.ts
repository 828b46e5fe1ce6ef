/**
 * Finds the concepts of the synonym file in a sequence of terms, whether a concept's word is one term or several.
 *
 * Documents and queries are read by the same matcher over the same terms, so a synonym means the same on both sides.
 */
import { type Concept, conceptWeight } from "./synonyms.ts"
import { termsOf } from "./Tokens.ts"

/** Terms of one synonym that are read. */
export const phraseTermsMax = 5

export interface Phrase {
  /** The concept's own term: no text can hold it. */
  readonly concept: string
  readonly terms: ReadonlyArray<string>
  readonly weight: number
  /** In queries only. */
  readonly asked: boolean
}

/** Phrases by their first term. */
export type Phrases = ReadonlyMap<string, ReadonlyArray<Phrase>>

export interface Found {
  readonly phrase: Phrase
  readonly at: number
}

const phrasesOf = ({ words, asked = "", weight = conceptWeight }: Concept): ReadonlyArray<Phrase> => {
  const concept = `#${(words.split(",")[0] ?? "").trim()}`
  const read = (list: string, asked: boolean) =>
    list.split(",").flatMap((text): ReadonlyArray<Phrase> => {
      const terms = termsOf(text).slice(0, phraseTermsMax)
      return terms.length === 0 ? [] : [{ concept, terms, weight, asked }]
    })
  return [...read(words, false), ...read(asked, true)]
}

export const phrasesByTerm = (concepts: ReadonlyArray<Concept>): Phrases => {
  const byTerm = new Map<string, Array<Phrase>>()
  for (const phrase of concepts.flatMap(phrasesOf)) {
    const first = phrase.terms[0] ?? ""
    const known = byTerm.get(first)
    if (known === undefined) byTerm.set(first, [phrase])
    else known.push(phrase)
  }
  return byTerm
}

/** Every phrase that stands in a query's terms. */
export const phrasesIn = (phrases: Phrases, terms: ReadonlyArray<string>): ReadonlyArray<Found> =>
  terms.flatMap((term, at) =>
    (phrases.get(term) ?? [])
      .filter((phrase) => phrase.terms.every((one, offset) => terms[at + offset] === one))
      .map((phrase) => ({ phrase, at }))
  )
