/**
 * Turns texts into term numbers, fast enough for the whole catalog.
 *
 * A catalog repeats a few thousand words. So a token is looked up by its characters in the text, without a string of its own. Only a new
 * token is cut out, split and stemmed. The result is the same as that of `Tokens.ts`.
 */
import type { Phrases } from "./Concepts.ts"
import { textMax } from "./Document.ts"
import { tokensOf, termsOfToken } from "./Tokens.ts"

interface PhraseRest {
  readonly rest: ReadonlyArray<number>
  readonly concept: number
}

const noPhrases: ReadonlyArray<PhraseRest> = []
const tableMin = 2 ** 12
const hashStart = 0x811c9dc5
const hashStep = 0x01000193

/** 1 for the characters of tokens. */
const alphanumeric = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0
)

/**
 * Characters beyond ASCII that always separate words: general punctuation, arrows, mathematical and miscellaneous symbols, and most
 * emoji (by the halves of their surrogate pairs).
 */
const isSeparator = (code: number): boolean =>
  (code >= 0x2000 && code <= 0x206f) ||
  (code >= 0x2190 && code <= 0x22ff) ||
  (code >= 0x2600 && code <= 0x26ff) ||
  code === 0xd83d ||
  (code >= 0xdc00 && code <= 0xdfff)

const hashOf = (token: string): number => {
  let hash = hashStart
  for (let at = 0; at < token.length; at += 1) hash = Math.imul(hash ^ token.charCodeAt(at), hashStep)
  return hash >>> 0
}

/** Maps tokens to numbers without cutting them out of their text. */
const tokenTable = () => {
  const tokens: Array<string> = []
  const hashes: Array<number> = []
  let table = new Int32Array(tableMin).fill(-1)
  const placeOf = (hash: number, text: string, start: number, end: number): number => {
    const mask = table.length - 1
    let place = (hash ^ (hash >>> 15)) & mask
    for (;;) {
      const id = table[place] ?? -1
      if (id < 0) return place
      const token = hashes[id] === hash ? (tokens[id] ?? "") : ""
      let same = token.length === end - start
      for (let at = 0; same && at < token.length; at += 1) same = token.charCodeAt(at) === text.charCodeAt(start + at)
      if (same) return place
      place = (place + 1) & mask
    }
  }
  const grow = () => {
    table = new Int32Array(table.length * 2).fill(-1)
    for (const [id, token] of tokens.entries()) table[placeOf(hashes[id] ?? 0, token, 0, token.length)] = id
  }
  /** The number of a token. For a new token it calls `added` first. */
  return (hash: number, text: string, start: number, end: number, added: (token: string) => void): number => {
    const place = placeOf(hash, text, start, end)
    const existing = table[place] ?? -1
    if (existing >= 0) return existing
    const token = text.slice(start, end)
    added(token)
    hashes.push(hash)
    const id = tokens.push(token) - 1
    table[place] = id
    if (tokens.length * 2 > table.length) grow()
    return id
  }
}

export interface Reading {
  /** Terms in the order of their numbers. */
  readonly words: ReadonlyArray<string>
  /** For terms that are a whole word: the shortest such word in lower case. */
  readonly spellings: ReadonlyArray<string | undefined>
  /** Reads a text into `sequence` and returns the number of its terms. */
  readonly read: (text: string) => number
  /** Valid until the next text is read. */
  readonly sequence: Uint32Array
  /** The concepts that begin with the term at this place of the sequence. */
  readonly conceptsAt: (at: number, length: number, onConcept: (concept: number) => void) => void
}

export const reading = (phrases: Phrases): Reading => {
  const ids = new Map<string, number>()
  const words: Array<string> = []
  const spellings: Array<string | undefined> = []
  const termNumber = (term: string): number => {
    const existing = ids.get(term)
    if (existing !== undefined) return existing
    ids.set(term, words.length)
    return words.push(term) - 1
  }

  const restsByFirstTerm: Array<Array<PhraseRest> | undefined> = []
  for (const phrase of Array.from(phrases.values()).flat()) {
    if (phrase.queryOnly) continue
    const [first = 0, ...rest] = phrase.terms.map(termNumber)
    const one = { rest, concept: termNumber(phrase.concept) }
    const sameFirst = restsByFirstTerm[first]
    if (sameFirst === undefined) restsByFirstTerm[first] = [one]
    else sameFirst.push(one)
  }

  const numberOf = tokenTable()
  const termsOf: Array<ReadonlyArray<number>> = []
  const added = (token: string) => {
    const terms = termsOfToken(token).map(termNumber)
    termsOf.push(terms)
    const own = terms[terms.length - 1]
    if (own !== undefined && token.length < (spellings[own]?.length ?? Infinity)) spellings[own] = token.toLowerCase()
  }

  // Folding may lengthen a text, and a token may add its parts. Terms beyond this size are not read.
  const sequence = new Uint32Array(textMax * 2)
  const append = (length: number, hash: number, text: string, start: number, end: number): number => {
    let next = length
    const terms = termsOf[numberOf(hash, text, start, end, added)] ?? []
    for (let at = 0; at < terms.length && next < sequence.length; at += 1) {
      sequence[next] = terms[at] ?? 0
      next += 1
    }
    return next
  }

  return {
    words,
    spellings,
    sequence,
    read: (text) => {
      const end = Math.min(text.length, textMax)
      let length = 0
      let start = 0
      let hash = hashStart
      for (let at = 0; at <= end; at += 1) {
        const code = at < end ? text.charCodeAt(at) : 0
        if (code > 127 && !isSeparator(code)) {
          length = 0
          for (const token of tokensOf(text.slice(0, end)))
            length = append(length, hashOf(token), token, 0, token.length)
          return length
        }
        if (alphanumeric[code] === 1) {
          hash = Math.imul(hash ^ code, hashStep)
          continue
        }
        if (at > start) length = append(length, hash >>> 0, text, start, at)
        start = at + 1
        hash = hashStart
      }
      return length
    },
    conceptsAt: (at, length, onConcept) => {
      for (const { rest, concept } of restsByFirstTerm[sequence[at] ?? 0] ?? noPhrases) {
        let same = at + rest.length < length
        for (let offset = 0; same && offset < rest.length; offset += 1)
          same = sequence[at + 1 + offset] === rest[offset]
        if (same) onConcept(concept)
      }
    }
  }
}
