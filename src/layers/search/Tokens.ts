/**
 * Splits texts into the terms of the index: prose, slugs, paths, camelCase and digits.
 *
 * Any string is valid input. Accents and full-width letters are normalized. "LinkedIn" gives `linkedin` and `linked`. Stop words are left out
 * of texts and queries.
 */
import { stem } from "./Stems.ts"

/** Longer tokens are keys and hashes, not words. */
export const termLengthMax = 40

const stopWords = new Set(
  `a an the of for to in on at by with from into and or as is are be was were been this that these those it its your you we our
  i me my s t re ll ve please there their them they he she his her if then than so but not no also such via per etc`.split(
    /\s+/
  )
)

/**
 * Words that say little about what is wanted, as in "find me" or "an API that lists". They rank the documents that other words match. They
 * match documents by themselves only if the query has no other words.
 */
const weakWords = new Set(
  `find get give list show tell look need want help how can could would should do does what which who where when all any some
  api endpoint tool service data info information detail about return let like know one many much provide use based available
  best good new thing stuff somebody someone something anything`
    .split(/\s+/)
    .map(stem)
)

const ascii = /^[\t\n\r -~]*$/
const mark = /\p{Mark}+/gu

/** The tokens of a text: sequences of letters and digits, with their case but without accents. */
export const tokensOf = (text: string): ReadonlyArray<string> =>
  ascii.test(text)
    ? (text.match(/[A-Za-z0-9]+/g) ?? [])
    : (text
        .normalize("NFKD")
        .replace(mark, "")
        .match(/[\p{Letter}\p{Number}]+/gu) ?? [])

const bounded = /[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{3}[0-9]|[0-9][A-Za-z]{3}/

/** Splits "TikTok", "adLibrary" and "form10" into their parts. Null for a token of one part. */
export const partsOf = (token: string): ReadonlyArray<string> | null => {
  if (!bounded.test(token)) return null
  const parts = token
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z]{2})/g, "$1 $2")
    .replace(/([A-Za-z]{3})([0-9])/g, "$1 $2")
    .replace(/([0-9])([A-Za-z]{3})/g, "$1 $2")
    .split(" ")
  return parts.length > 1 ? parts : null
}

const termOf = (token: string): ReadonlyArray<string> => {
  const word = token.toLowerCase()
  return word.length > termLengthMax || stopWords.has(word) ? [] : [stem(word)]
}

/** The terms of a token: its parts, if it has several, and the token itself. */
export const termsOfToken = (token: string): ReadonlyArray<string> => {
  const parts = partsOf(token)
  return parts === null ? termOf(token) : [...parts.flatMap(termOf), ...termOf(token)]
}

export const termsOf = (text: string): ReadonlyArray<string> => tokensOf(text).flatMap(termsOfToken)

/** A word of a query. */
export interface QueryWord {
  /** Lower case, not stemmed. */
  readonly word: string
  readonly term: string
  /** What to search for if no document has the term. */
  readonly parts: ReadonlyArray<string>
  readonly weak: boolean
  /** A stop word is not searched for by itself, but may be half of a term, as in "linked in". */
  readonly stop: boolean
}

/** Words read of a query. More words would not improve the result. */
export const queryWordsMax = 32
/** Characters read of a query. */
export const queryLengthMax = 1_000

/** The words of a query in order, stop words marked. */
export const queryWords = (query: string): ReadonlyArray<QueryWord> =>
  tokensOf(query.slice(0, queryLengthMax))
    .slice(0, queryWordsMax)
    .map((token) => {
      const word = token.toLowerCase().slice(0, termLengthMax)
      const term = stem(word)
      const parts = (partsOf(token) ?? []).flatMap(termOf)
      return { word, term, parts, weak: weakWords.has(term), stop: stopWords.has(word) }
    })
