/**
 * Turns texts into term numbers, fast enough for the whole catalog.
 *
 * A catalog repeats a few thousand words. So a run of letters is looked up by its characters in place. Only a new one becomes a string, is
 * split and stemmed. The result is the same as that of `Tokens.ts`.
 */
import type { Phrases } from "./Concepts.ts"
import { textMax } from "./Document.ts"
import { runsOf, termsOfRun } from "./Tokens.ts"

interface Continued {
  readonly rest: ReadonlyArray<number>
  readonly concept: number
}

const noPhrases: ReadonlyArray<Continued> = []
const tableMin = 2 ** 12
const hashStart = 0x811c9dc5
const hashStep = 0x01000193

/** 1 for what makes a run. */
const alphanumeric = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0
)

/**
 * Characters beyond ASCII that only ever stand between words, whatever they are folded to: general punctuation, arrows,
 * mathematical signs, weather and chess, and most emoji (a pair of which the first one says so).
 */
const parts = (code: number): boolean =>
  (code >= 0x2000 && code <= 0x206f) ||
  (code >= 0x2190 && code <= 0x22ff) ||
  (code >= 0x2600 && code <= 0x26ff) ||
  code === 0xd83d ||
  (code >= 0xdc00 && code <= 0xdfff)

const hashOf = (run: string): number => {
  let hash = hashStart
  for (let at = 0; at < run.length; at += 1) hash = Math.imul(hash ^ run.charCodeAt(at), hashStep)
  return hash >>> 0
}

/** Numbers for runs, found without making a string of them. */
const runTable = () => {
  const runs: Array<string> = []
  const hashes: Array<number> = []
  let table = new Int32Array(tableMin).fill(-1)
  const placeOf = (hash: number, text: string, start: number, end: number): number => {
    const mask = table.length - 1
    let place = (hash ^ (hash >>> 15)) & mask
    for (;;) {
      const known = table[place] ?? -1
      if (known < 0) return place
      const run = hashes[known] === hash ? (runs[known] ?? "") : ""
      let same = run.length === end - start
      for (let at = 0; same && at < run.length; at += 1) same = run.charCodeAt(at) === text.charCodeAt(start + at)
      if (same) return place
      place = (place + 1) & mask
    }
  }
  const grow = () => {
    table = new Int32Array(table.length * 2).fill(-1)
    for (const [id, run] of runs.entries()) table[placeOf(hashes[id] ?? 0, run, 0, run.length)] = id
  }
  /** The run's number; a new one calls `added` with the run first. */
  return (hash: number, text: string, start: number, end: number, added: (run: string) => void): number => {
    const place = placeOf(hash, text, start, end)
    const known = table[place] ?? -1
    if (known >= 0) return known
    const run = text.slice(start, end)
    added(run)
    hashes.push(hash)
    const id = runs.push(run) - 1
    table[place] = id
    if (runs.length * 2 > table.length) grow()
    return id
  }
}

export interface Reading {
  /** Terms in the order of their numbers. */
  readonly words: ReadonlyArray<string>
  /** For terms that are a whole word: the shortest such word in lower case. */
  readonly spellings: ReadonlyArray<string | undefined>
  /** Reads a text into `sequence`; the answer is how many terms it has. */
  readonly read: (text: string) => number
  /** Valid until the next text is read. */
  readonly sequence: Uint32Array
  /** The concepts that begin with the term at this place of the sequence. */
  readonly conceptsAt: (at: number, length: number, found: (concept: number) => void) => void
}

export const reading = (phrases: Phrases): Reading => {
  const ids = new Map<string, number>()
  const words: Array<string> = []
  const spellings: Array<string | undefined> = []
  const termNumber = (term: string): number => {
    const known = ids.get(term)
    if (known !== undefined) return known
    ids.set(term, words.length)
    return words.push(term) - 1
  }

  const begun: Array<Array<Continued> | undefined> = []
  for (const phrase of Array.from(phrases.values()).flat()) {
    if (phrase.asked) continue
    const [first = 0, ...rest] = phrase.terms.map(termNumber)
    const one = { rest, concept: termNumber(phrase.concept) }
    const known = begun[first]
    if (known === undefined) begun[first] = [one]
    else known.push(one)
  }

  const numberOf = runTable()
  const termsOf: Array<ReadonlyArray<number>> = []
  const added = (run: string) => {
    const terms = termsOfRun(run).map(termNumber)
    termsOf.push(terms)
    const own = terms[terms.length - 1]
    if (own !== undefined && run.length < (spellings[own]?.length ?? Infinity)) spellings[own] = run.toLowerCase()
  }

  // Folding may lengthen a text, and a run may have parts beside itself; what does not fit is not read.
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
        if (code > 127 && !parts(code)) {
          length = 0
          for (const run of runsOf(text.slice(0, end))) length = append(length, hashOf(run), run, 0, run.length)
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
    conceptsAt: (at, length, found) => {
      for (const { rest, concept } of begun[sequence[at] ?? 0] ?? noPhrases) {
        let same = at + rest.length < length
        for (let offset = 0; same && offset < rest.length; offset += 1)
          same = sequence[at + 1 + offset] === rest[offset]
        if (same) found(concept)
      }
    }
  }
}
