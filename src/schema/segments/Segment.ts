/**
 * A segment of the history index: for each term (a subject, a word, or two neighbouring words) the runs that have it, as blocks of bytes.
 *
 * Runs are numbered from 0 within their segment, the oldest first. A block has the terms of one slice of the hash space, in order. For each
 * term it has the distance to the previous term, the number of postings, and for each posting the distance to the previous run, with three
 * flags. All numbers are variable-length (Bytes.ts). Segments never change. Merging segments or erasing runs writes a new one.
 */
import { Reader } from "./Bytes.ts"
import { damaged } from "./damaged.ts"

/** Terms are numbers of 48 bits. */
export const termSpace = 2 ** 48
/** Flag of a posting: the run's input names the subject or contains the word. */
export const named = 1
/** Flag: the result contains it, or a text in the run mentions it. */
export const elsewhere = 2
/** Flag: the run is a touch, and the subject is a recipient. */
export const recipient = 4
const flagBits = 3
const flagMask = 7

export const runIn = (posting: number): number => posting >>> flagBits
export const flagsIn = (posting: number): number => posting & flagMask
export const postingOf = (run: number, flags: number): number => run * 8 + flags

/** Decoded postings. Those of `terms[n]` are from `starts[n]` to `starts[n + 1]`. A posting is a run number with its flags. */
export interface Postings {
  readonly terms: Float64Array
  readonly starts: Uint32Array
  readonly postings: Uint32Array
}

/** Small enough that a query for one term reads little, and large enough that the overhead of a row is small. */
const blockBytes = 800
/** A segment of at most this many runs is merged soon, and a query finds several of its terms in one block. So it has fewer, larger blocks. */
const youngRuns = 1_024
const youngBlockBytes = 4_096
/** Average size of a term in a block. */
const termBytes = 7
const blocksMax = 2 ** 14

/** The number of blocks for this many terms and runs: a power of two. */
export const blocksFor = (terms: number, runs: number): number => {
  const bytes = runs > youngRuns ? blockBytes : youngBlockBytes
  let blocks = 1
  while (blocks < blocksMax && blocks * bytes < terms * termBytes) blocks *= 2
  return blocks
}

/** How many blocks and runs a segment has. */
export interface SegmentSize {
  readonly blocks: number
  readonly runs: number
}
const noSuchRun = (posting: number, runs: number): never =>
  damaged(`a term names run ${Math.floor(posting / postingOf(1, 0))} of ${runs}`)

/** The postings of a term in a block. Null if the block does not have the term. */
export const postingsIn = (
  bytes: Uint8Array,
  { term, block, blocks, runs }: SegmentSize & { readonly term: number; readonly block: number }
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
        if (posting >= postingOf(runs, 0)) return noSuchRun(posting, runs)
        postings.push(posting)
        run = runIn(posting)
      }
      return postings
    }
    reader.skip(count)
  }
  return null
}

/** Decodes all blocks of a segment, which must be in order. */
export const decoded = (
  rows: ReadonlyArray<{ readonly block: number; readonly bytes: Uint8Array }>,
  { blocks, runs }: SegmentSize
): Postings => {
  // Upper bounds: a posting takes at least one byte, and a term with one posting at least three.
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
        if (posting >= postingOf(runs, 0)) return noSuchRun(posting, runs)
        postings[at++] = posting
        run = runIn(posting)
      }
    }
  }
  starts[count] = at
  return { terms: terms.subarray(0, count), starts: starts.subarray(0, count + 1), postings: postings.subarray(0, at) }
}

/** The runs that have all terms with a common flag, so all in the input or all in the result. */
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
  const present = lists.filter((list) => list !== null)
  const [only = []] = present
  if (present.length < 2) return only
  const all = present.flat().sort((a, b) => a - b)
  const runs: Array<number> = []
  for (const posting of all) {
    const before = runs.at(-1)
    if (before !== undefined && runIn(before) === runIn(posting)) runs[runs.length - 1] = before | posting
    else runs.push(posting)
  }
  return runs
}
