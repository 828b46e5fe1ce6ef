/**
 * Words and pairs of neighbouring words, as numbers: what the index of phrases holds instead of text.
 *
 * A phrase of one or two words is one term. A longer one is its pairs, and whoever finds them all in a run looks at the run itself. Queries and
 * writes share every function here, so both sides read alike. Terms have 48 bits, so that they are exact as numbers: of a million different ones
 * two meet in one organization once in 500.
 */
import { isAscii } from "../subjects/Form.ts"
import { searchable } from "../subjects/Text.ts"
import type { PostingsBuilder } from "../segments/PostingsBuilder.ts"

/** By other rules all segments are made anew: count it up when a text would give other terms. */
export const termRules = 1

/** Of one input or result; as much of a longer one is looked at when its place is shown. */
const charsMax = 500_000

const letter = /[\p{L}\p{N}\p{M}_]/u

/** One organization's words are not another's. */
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

/** Told each word of a text: two numbers that stand for it, whether it is tied to the one before, as in an address, and where it ends. */
type Tell = (high: number, low: number, tied: boolean, end: number) => void

const characters = (value: string) => Array.from(value, (character) => character.charCodeAt(0))
/** Of each plain character: 0 for what stands between words, 1 for a blank, 2 for what ties words, else the letter in lower case. */
const between = 0
const blank = 1
const tied = 2
const plain = new Uint8Array(128)
plain.fill(blank, 0, 33)
for (const code of characters("@./:\\=&?#+%")) plain[code] = tied
for (const code of characters("0123456789_abcdefghijklmnopqrstuvwxyz")) plain[code] = code
for (const code of characters("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) plain[code] = code + 32

/** No string is made for a word: of all that is done with a run that has ended, this looks at the most characters. */
const eachWordOf = (text: string, [seedHigh, seedLow]: Seed, tell: Tell) => {
  let high = seedHigh
  let low = seedLow
  let within = false
  // Words with a tie between them, and no blank, are no words of a sentence: "ada@one.example" doesn't hold "ada one".
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
      tell(high, low, tie && !space, at)
      high = seedHigh
      low = seedLow
      within = tie = space = false
    }
    if (code === tied) tie = true
    else if (code === blank) space = true
  }
  if (within) tell(high, low, tie && !space, text.length)
}

const eachWord = (text: string, seed: Seed, tell: Tell) =>
  eachWordOf(isAscii(text) ? text : searchable(text), seed, tell)

/** Real results are a tenth as deep; a stack has an end. */
const depthMax = 100
/** A page of a thousand results with a hundred facts each, twice. */
const nodesMax = 200_000

/** Strings and numbers of a JSON value, in its order. No phrase runs from one into the next. */
const eachText = (json: unknown, tell: (text: string) => void) => {
  let room = charsMax
  let nodes = nodesMax
  const step = (value: unknown, depth: number) => {
    if (room <= 0 || --nodes < 0) return
    if (typeof value === "string") {
      const text = value.length > room ? value.slice(0, room) : value
      room -= text.length
      tell(text)
    } else if (typeof value === "number") {
      room -= 8
      tell(String(value))
    } else if (typeof value === "object" && value !== null && depth < depthMax) {
      if (Array.isArray(value)) for (const one of value) step(one, depth + 1)
      else for (const key of Object.keys(value)) step(Reflect.get(value, key), depth + 1)
    }
  }
  step(json, 0)
}

/** What stands for two words as neighbours, tied or not. */
const tieHigh = 0x9e37_79b1
const pairHigh = (high: number, next: number, tied: boolean) => Math.imul(high, 31) ^ next ^ (tied ? tieHigh : 0)
const pairLow = (low: number, next: number) => Math.imul(low, 37) ^ next

/** Adds the terms of a JSON value with the given posting. */
export const addTerms = (to: PostingsBuilder, json: unknown, seed: Seed, posting: number) => {
  let before = false
  let high = 0
  let low = 0
  const word: Tell = (nextHigh, nextLow, tied) => {
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

/** What to look for: terms that a run has all of, in its input or all of in its result; the one that is probably the rarest first. */
export interface Phrase {
  readonly terms: ReadonlyArray<number>
  /** Its words, to be looked for in the run itself. */
  readonly words: ReadonlyArray<number>
  /** A run that has these terms has the phrase. */
  readonly exact: boolean
}

/** Null for what has no words, such as a row of dashes. */
export const phraseOf = (text: string, seed: Seed): Phrase | null => {
  const pairs: Array<{ readonly term: number; readonly length: number }> = []
  const words: Array<number> = []
  let before: readonly [number, number] | null = null
  let ends: readonly [number, number] = [0, 0]
  eachWord(text, seed, (high, low, tied, end) => {
    if (before !== null) {
      const term = termOf(pairHigh(before[0], high, tied), pairLow(before[1], low))
      pairs.push({ term, length: end - ends[0] })
      if (tied) words.push(knot)
    }
    words.push(termOf(high, low))
    before = [high, low]
    ends = [ends[1], end]
  })
  if (words.length === 0) return null
  const terms = pairs.length === 0 ? words : pairs.toSorted((a, b) => b.length - a.length).map((pair) => pair.term)
  return { terms: [...new Set(terms)], words, exact: pairs.length < 2 }
}

/** Between two texts, and between two words that are tied: no words are. */
const gap = -1
const knot = -2

/** The words of a JSON value, one after the other, with gaps between its texts. */
export const wordsOf = (json: unknown, seed: Seed): ReadonlyArray<number> => {
  const words: Array<number> = []
  eachText(json, (value) => {
    words.push(gap)
    eachWord(value, seed, (high, low, tied) => {
      if (tied && words.at(-1) !== gap) words.push(knot)
      words.push(termOf(high, low))
    })
  })
  return words
}

/** Whether a text has these words, one after the other. */
export const holdsWords = (text: ReadonlyArray<number>, words: ReadonlyArray<number>): boolean => {
  const [first = NaN] = words
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    let same = 1
    while (same < words.length && text[at + same] === words[same]) same++
    if (same === words.length) return true
  }
  return false
}
