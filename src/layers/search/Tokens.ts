/**
 * Splits texts into the terms of the index: prose, slugs, paths, camelCase and digits.
 *
 * Any string is valid input. Accents and full-width letters are normalized, "LinkedIn" gives `linkedin`, `linked`, and stop words are left
 * out of texts and queries.
 */
import { stem } from "./Stems.ts"

/** Longer runs are keys and hashes, not words. */
export const termLengthMax = 40

const stopWords = new Set(
  `a an the of for to in on at by with from into and or as is are be was were been this that these those it its your you we our
  i me my s t re ll ve please there their them they he she his her if then than so but not no also such via per etc`.split(
    /\s+/
  )
)

/**
 * Words of the request rather than of its subject: "find me", "an API that lists". They help to order what the other words
 * found, and find nothing by themselves unless the query has no other words.
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

/** Runs of letters and digits, case kept, accents folded. */
export const runsOf = (text: string): ReadonlyArray<string> =>
  ascii.test(text)
    ? (text.match(/[A-Za-z0-9]+/g) ?? [])
    : (text
        .normalize("NFKD")
        .replace(mark, "")
        .match(/[\p{Letter}\p{Number}]+/gu) ?? [])

const bounded = /[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{3}[0-9]|[0-9][A-Za-z]{3}/

/** "TikTok", "adLibrary" and "form10" in their parts; null for what has one part only. */
export const partsOf = (run: string): ReadonlyArray<string> | null => {
  if (!bounded.test(run)) return null
  const parts = run
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z]{2})/g, "$1 $2")
    .replace(/([A-Za-z]{3})([0-9])/g, "$1 $2")
    .replace(/([0-9])([A-Za-z]{3})/g, "$1 $2")
    .split(" ")
  return parts.length > 1 ? parts : null
}

const termOf = (run: string): ReadonlyArray<string> => {
  const word = run.toLowerCase()
  return word.length > termLengthMax || stopWords.has(word) ? [] : [stem(word)]
}

/** The terms of one run: its parts, if it has any, and itself. */
export const termsOfRun = (run: string): ReadonlyArray<string> => {
  const parts = partsOf(run)
  return parts === null ? termOf(run) : [...parts.flatMap(termOf), ...termOf(run)]
}

export const termsOf = (text: string): ReadonlyArray<string> => runsOf(text).flatMap(termsOfRun)

/** A word of a query. */
export interface QueryWord {
  /** Lower case, not stemmed. */
  readonly word: string
  readonly term: string
  /** What to search for when nobody knows the term. */
  readonly parts: ReadonlyArray<string>
  readonly weak: boolean
  /** No term by itself, but perhaps half of one: "linked in". */
  readonly stop: boolean
}

/** Words of a query that are read: nobody's job description gets better after them. */
export const queryWordsMax = 32
/** Characters of a query that are read. */
export const queryLengthMax = 1_000

/** The words of a query in order, stop words marked. */
export const queryWords = (query: string): ReadonlyArray<QueryWord> =>
  runsOf(query.slice(0, queryLengthMax))
    .slice(0, queryWordsMax)
    .map((run) => {
      const word = run.toLowerCase().slice(0, termLengthMax)
      const term = stem(word)
      const parts = (partsOf(run) ?? []).flatMap(termOf)
      return { word, term, parts, weak: weakWords.has(term), stop: stopWords.has(word) }
    })
