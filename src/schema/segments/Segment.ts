/**
 * A segment of the index of history: for each term (a subject, a word, two neighbouring words) the runs that have it, as blocks of bytes.
 *
 * Runs are numbered from 0 within their segment, the oldest first. A block holds the terms of one slice of the hash space, in order: the distance to the term before,
 * then how many runs have it, then each run's distance to the one before with three bits for where it stands. All numbers are
 * variable-length, seven bits a byte. Segments never change; joining some, or leaving runs out, makes a new one.
 */
import { Reader } from "./Bytes.ts"

/** Terms are numbers of 48 bits. */
export const termSpace = 2 ** 48
/** Three flags of where a term stands: the run's input names it, or holds the word; */
export const named = 1
/** it stands in the result, or something in the run mentions it; */
export const elsewhere = 2
/** a touch went to it. */
export const recipient = 4
const flagBits = 3
const flagMask = 7

export const runIn = (posting: number): number => posting >>> flagBits
export const flagsIn = (posting: number): number => posting & flagMask
export const postingOf = (run: number, flags: number): number => run * 8 + flags

/** Decoded: the postings of `terms[n]` are those from `starts[n]` to `starts[n + 1]`, each a run and where in it. */
export interface Postings {
  readonly terms: Float64Array
  readonly starts: Uint32Array
  readonly postings: Uint32Array
}

/** Small enough that a question about one term reads little, large enough that a row's own cost is little beside it. */
const blockBytes = 800
/** A segment of so few runs is soon part of another, and of a question's many terms several are in one block: fewer rows cost less. */
const youngRuns = 1_024
const youngBlockBytes = 4_096
/** About what a term takes in a block. */
const termBytes = 7
const blocksMax = 2 ** 14

/** How many blocks so many terms of so many runs are cut into: a power of two. */
export const blocksFor = (terms: number, runs: number): number => {
  const bytes = runs > youngRuns ? blockBytes : youngBlockBytes
  let blocks = 1
  while (blocks < blocksMax && blocks * bytes < terms * termBytes) blocks *= 2
  return blocks
}

/** The postings of one term in a block of a segment with so many blocks; null when it isn't there. */
export const postingsIn = (
  bytes: Uint8Array,
  { term, block, blocks }: { readonly term: number; readonly block: number; readonly blocks: number }
): ReadonlyArray<number> | null => {
  const reader = new Reader(bytes)
  let at = block * (termSpace / blocks)
  while (!reader.done) {
    at += reader.next()
    const count = reader.next()
    if (at > term) return null
    if (at === term) {
      const postings: Array<number> = []
      for (let n = 0, run = 0; n < count; n++) {
        const posting = postingOf(run, 0) + reader.next()
        postings.push(posting)
        run = runIn(posting)
      }
      return postings
    }
    reader.skip(count)
  }
  return null
}

/** All of a segment's blocks, in order. */
export const decoded = (
  rows: ReadonlyArray<{ readonly block: number; readonly bytes: Uint8Array }>,
  blocks: number
): Postings => {
  // Of every byte that ends a number one is a posting at most, and of three one is a term.
  const most = rows.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const terms = new Float64Array(Math.ceil(most / 3))
  const starts = new Uint32Array(terms.length + 1)
  const postings = new Uint32Array(most)
  let count = 0
  let at = 0
  for (const { block, bytes } of rows) {
    const reader = new Reader(bytes)
    let term = block * (termSpace / blocks)
    while (!reader.done) {
      term += reader.next()
      terms[count] = term
      starts[count++] = at
      let run = 0
      for (let left = reader.next(); left > 0; left--) {
        const posting = postingOf(run, 0) + reader.next()
        postings[at++] = posting
        run = runIn(posting)
      }
    }
  }
  starts[count] = at
  return { terms: terms.subarray(0, count), starts: starts.subarray(0, count + 1), postings: postings.subarray(0, at) }
}

/** The runs that have all terms, all in one place. */
export const inAll = (lists: ReadonlyArray<ReadonlyArray<number> | null>): ReadonlyArray<number> => {
  const [first, ...others] = lists.toSorted((a, b) => (a?.length ?? 0) - (b?.length ?? 0))
  if (first === undefined || first === null) return []
  let left = first
  for (const other of others) {
    if (other === null) return []
    const both: Array<number> = []
    for (let a = 0, b = 0; a < left.length && b < other.length; ) {
      const one = left[a] ?? 0
      const two = other[b] ?? 0
      if (runIn(one) === runIn(two)) {
        const flags = flagsIn(one & two)
        if (flags !== 0) both.push(postingOf(runIn(one), flags))
        a++
        b++
      } else if (one < two) a++
      else b++
    }
    left = both
  }
  return left
}

/** The runs that have any of the terms. */
export const inAny = (lists: ReadonlyArray<ReadonlyArray<number> | null>): ReadonlyArray<number> => {
  const known = lists.filter((list) => list !== null)
  const [only = []] = known
  if (known.length < 2) return only
  const all = known.flat().sort((a, b) => a - b)
  const runs: Array<number> = []
  for (const posting of all) {
    const before = runs.at(-1)
    if (before !== undefined && runIn(before) === runIn(posting)) runs[runs.length - 1] = before | posting
    else runs.push(posting)
  }
  return runs
}
