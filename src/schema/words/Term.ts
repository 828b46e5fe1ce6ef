/**
 * Turns words and pairs of neighbouring words into numbers (terms), which the history index stores instead of text.
 *
 * A phrase of one or two words is one term. A longer phrase is the list of its pairs, and runs that have all of them are checked for the phrase.
 * Queries and the index share every function here. Terms have 48 bits, so that they are exact as JavaScript numbers. Among a million different
 * terms of an organization, the probability of a collision is 1 in 500.
 */
import { isAscii } from "../subjects/Form.ts"
import { searchable } from "../subjects/Text.ts"
import { walk } from "../subjects/Walk.ts"
import type { PostingsBuilder } from "../segments/PostingsBuilder.ts"

/** Version of the rules in this file. Increment it if a text would give other terms: all segments are then rebuilt. */
export const termRules = 1

/** Characters read of an input or a result. */
const charsMax = 500_000

const letter = /[\p{L}\p{N}\p{M}_]/u
const letters = /[\p{L}\p{N}\p{M}_]+/gu

/** The salt of an organization, so that its terms differ from those of other organizations. */
export type Seed = readonly [number, number]
export const seedOf = (org_id: string): Seed => {
  const hash = Bun.hash.xxHash64(org_id)
  return [Number(hash & 0xffff_ffffn) | 0, Number(hash >> 32n) | 0]
}

const mixed = (value: number): number => {
  let hash = value ^ (value >>> 16)
  hash = Math.imul(hash, 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
const termOf = (high: number, low: number): number => mixed(high) * 65_536 + (mixed(low) & 0xffff)

/** Receives each word of a text: its hash as two numbers, whether it is tied to the previous word, as in an address, and where it ends. */
type OnWord = (high: number, low: number, tied: boolean, end: number) => void

const characters = (value: string) => Array.from(value, (character) => character.charCodeAt(0))
/** The class of each ASCII character: 0 separates words, 1 is a blank, 2 ties words. Any other value is the letter in lower case. */
const between = 0
const blank = 1
const tied = 2
const plain = new Uint8Array(128)
plain.fill(blank, 0, 33)
for (const code of characters("@./:\\=&?#+%")) plain[code] = tied
for (const code of characters("0123456789_abcdefghijklmnopqrstuvwxyz")) plain[code] = code
for (const code of characters("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) plain[code] = code + 32

/** Reads the words of a text without creating strings, because indexing spends most of its time here. */
const eachWordOf = (text: string, [seedHigh, seedLow]: Seed, onWord: OnWord) => {
  let high = seedHigh
  let low = seedLow
  let within = false
  // Words that are tied without a blank are not words of a sentence: "ada@one.example" does not contain "ada one".
  let tie = false
  let space = false
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at)
    if (code < 128) code = plain[code] ?? between
    else {
      code = text.codePointAt(at) ?? between
      if (code > 0xffff) at++
      if (!letter.test(String.fromCodePoint(code))) code = between
    }
    if (code > tied) {
      high = Math.imul(high ^ code, 0x0100_0193)
      low = Math.imul(low ^ code, 0x5bd1_e995) ^ (low >>> 15)
      within = true
      continue
    }
    if (within) {
      onWord(high, low, tie && !space, at)
      high = seedHigh
      low = seedLow
      within = tie = space = false
    }
    if (code === tied) tie = true
    else if (code === blank) space = true
  }
  if (within) onWord(high, low, tie && !space, text.length)
}

const eachWord = (text: string, seed: Seed, onWord: OnWord) =>
  eachWordOf(isAscii(text) ? text : searchable(text), seed, onWord)

/** Ten times the depth of real results, and shallow enough for the stack. */
const depthMax = 100
/** Twice the size of a page of a thousand results with a hundred values each. */
const nodesMax = 200_000

/** Calls `onText` for the strings and numbers of a JSON value, in document order. No phrase spans two of them. */
const eachText = (json: unknown, onText: (text: string) => void) => {
  let room = charsMax
  let nodes = nodesMax
  const step = (value: unknown, depth: number) => {
    if (room <= 0 || --nodes < 0) return
    if (typeof value === "string") {
      const text = value.length > room ? value.slice(0, room) : value
      room -= text.length
      onText(text)
    } else if (typeof value === "number") {
      room -= 8
      onText(String(value))
    } else if (typeof value === "object" && value !== null && depth < depthMax) {
      if (Array.isArray(value)) for (const one of value) step(one, depth + 1)
      else for (const key of Object.keys(value)) step(Reflect.get(value, key), depth + 1)
    }
  }
  step(json, 0)
}

/** The hash of two neighbouring words, tied or not. */
const tieHigh = 0x9e37_79b1
const pairHigh = (high: number, next: number, tied: boolean) => Math.imul(high, 31) ^ next ^ (tied ? tieHigh : 0)
const pairLow = (low: number, next: number) => Math.imul(low, 37) ^ next

/** Adds the terms of a JSON value with the given posting. */
export const addTerms = (to: PostingsBuilder, json: unknown, seed: Seed, posting: number) => {
  let before = false
  let high = 0
  let low = 0
  const word: OnWord = (nextHigh, nextLow, tied) => {
    to.add(mixed(nextHigh), mixed(nextLow) & 0xffff, posting)
    if (before) to.add(mixed(pairHigh(high, nextHigh, tied)), mixed(pairLow(low, nextLow)) & 0xffff, posting)
    before = true
    high = nextHigh
    low = nextLow
  }
  eachText(json, (text) => {
    before = false
    eachWord(text, seed, word)
  })
}

/** The terms of a phrase. A matching run has all of them in its input or all in its result. The probably rarest term comes first. */
export interface Phrase {
  readonly terms: ReadonlyArray<number>
  /** The words of the phrase, to check a run that has all terms. */
  readonly words: ReadonlyArray<number>
  /** Whether the terms alone prove the phrase, without checking the run. */
  readonly exact: boolean
}

/** Reads a phrase. Null for a text without words, such as a row of dashes. */
export const phraseOf = (text: string, seed: Seed): Phrase | null => {
  const pairs: Array<{ readonly term: number; readonly length: number }> = []
  const words: Array<number> = []
  let before: readonly [number, number] | null = null
  let ends: readonly [number, number] = [0, 0]
  eachWord(text, seed, (high, low, tied, end) => {
    if (before !== null) {
      const term = termOf(pairHigh(before[0], high, tied), pairLow(before[1], low))
      pairs.push({ term, length: end - ends[0] })
      if (tied) words.push(tieMarker)
    }
    words.push(termOf(high, low))
    before = [high, low]
    ends = [ends[1], end]
  })
  if (words.length === 0) return null
  const terms = pairs.length === 0 ? words : pairs.toSorted((a, b) => b.length - a.length).map((pair) => pair.term)
  return { terms: [...new Set(terms)], words, exact: pairs.length < 2 }
}

/** Markers between the words of `wordsOf`, which no hash equals: between two texts, and between two tied words. */
const gap = -1
const tieMarker = -2

/** The words of a JSON value in order, with gaps between its texts. */
export const wordsOf = (json: unknown, seed: Seed): ReadonlyArray<number> => {
  const words: Array<number> = []
  eachText(json, (value) => {
    words.push(gap)
    eachWord(value, seed, (high, low, tied) => {
      if (tied && words.at(-1) !== gap) words.push(tieMarker)
      words.push(termOf(high, low))
    })
  })
  return words
}

/** Whether a text contains these words in sequence. */
export const holdsWords = (text: ReadonlyArray<number>, words: ReadonlyArray<number>): boolean => {
  const [first = NaN] = words
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    let same = 1
    while (same < words.length && text[at + same] === words[same]) same++
    if (same === words.length) return true
  }
  return false
}

const anySeed: Seed = [0, 0]

/** The path of a phrase (the normalized form of kind `text`): the first value that equals it, or else the first that has its words in sequence. */
export const findPhrase = (
  json: unknown,
  phrase: string
): { readonly path: string; readonly exact: boolean } | null => {
  const words = phraseOf(phrase, anySeed)?.words ?? []
  const parts = phrase.match(letters) ?? []
  let match: { readonly path: string; readonly exact: boolean } | null = null
  let room = charsMax
  walk(json, (value, _field, _around, path) => {
    if (room <= 0 || match?.exact) return
    const line = searchable(String(value).slice(0, room))
    room -= line.length + 1
    const exact = line === phrase
    // Reading the words of a text takes longer than looking for each of them, and most texts don't have them all.
    const holds = () => parts.every((part) => line.includes(part)) && holdsWords(wordsOf(line, anySeed), words)
    if (exact || (match === null && holds())) match = { path: path(), exact }
  })
  return match
}
