/**
 * Builds the blocks of a new segment (Segment.ts) from the postings of other segments, or of runs that were just indexed.
 */
import { Writer } from "./Bytes.ts"
import { damaged } from "./damaged.ts"
import { flagsIn, postingOf, type Postings, runIn, termSpace } from "./Segment.ts"

/** A segment that becomes part of a new one. `runs[n]` is the new number of its run `n`, or negative if the run is left out. */
export interface Part {
  readonly from: Postings
  readonly runs: Int32Array
}

/** A tournament tree that finds the part with the lowest term. After a step of one part, only its path to the root is compared again. */
class Heads {
  /** The current term of each part. Infinity after its last one. */
  private readonly terms: Float64Array
  /** `winners[n]` is the part with the lower term of `winners[2n]` and `winners[2n + 1]`, or the earlier part if they are equal. */
  private readonly winners: Uint32Array
  private readonly cursors: Uint32Array
  private readonly parts: ReadonlyArray<Part>
  constructor(parts: ReadonlyArray<Part>) {
    this.parts = parts
    let leaves = 1
    while (leaves < parts.length) leaves *= 2
    this.terms = new Float64Array(leaves).fill(Infinity)
    this.cursors = new Uint32Array(leaves)
    parts.forEach(({ from }, n) => (this.terms[n] = from.terms[0] ?? Infinity))
    this.winners = Uint32Array.from({ length: 2 * leaves }, (_, n) => Math.max(n - leaves, 0))
    for (let n = leaves - 1; n > 0; n--) this.play(n)
  }
  /** Compares again from a node up to the root. */
  private play(from: number) {
    const { terms, winners } = this
    for (let n = from; n > 0; n >>= 1) {
      const left = winners[2 * n] ?? 0
      const right = winners[2 * n + 1] ?? 0
      winners[n] = (terms[left] ?? 0) <= (terms[right] ?? 0) ? left : right
    }
  }
  get lowest(): number {
    return this.terms[this.winners[1] ?? 0] ?? Infinity
  }
  /** Adds the postings of the lowest term to `into`, and moves that part to its next term. */
  take(into: Runs) {
    const n = this.winners[1] ?? 0
    const part = this.parts[n]
    if (part === undefined) return
    const at = this.cursors[n] ?? 0
    into.add(part, at)
    this.cursors[n] = at + 1
    this.terms[n] = part.from.terms[at + 1] ?? Infinity
    this.play((n + this.terms.length) >> 1)
  }
}

/** The postings of one term. */
class Runs {
  private postings = new Uint32Array(1_024)
  private count = 0
  private last = 0
  private ascends = true
  clear() {
    this.count = 0
    this.last = 0
    this.ascends = true
  }
  add({ from: { starts, postings }, runs }: Part, at: number) {
    const start = starts[at] ?? 0
    const end = starts[at + 1] ?? 0
    let count = this.count
    if (count + end - start > this.postings.length) this.grow(count + end - start)
    const into = this.postings
    let last = this.last
    for (let p = start; p < end; p++) {
      const posting = postings[p] ?? 0
      const run = runs[runIn(posting)]
      if (run === undefined) return damaged(`a term names run ${runIn(posting)} of ${runs.length}`)
      if (run < 0) continue
      const moved = postingOf(run, flagsIn(posting))
      // The runs of later parts usually have higher numbers. Runs that took long are exceptions.
      if (moved < last) this.ascends = false
      last = moved
      into[count++] = moved
    }
    this.count = count
    this.last = last
  }
  private grow(size: number) {
    const more = new Uint32Array(2 * size)
    more.set(this.postings)
    this.postings = more
  }
  /** Writes the postings as a term of a block. `distance` is the difference from the previous term. False if there are no postings. */
  write(to: Writer, distance: number): boolean {
    if (this.count === 0) return false
    if (!this.ascends) this.postings.subarray(0, this.count).sort()
    to.put(distance)
    to.put(this.count)
    const { postings, count } = this
    let run = 0
    for (let n = 0; n < count; n++) {
      const posting = postings[n] ?? 0
      to.put(posting - postingOf(run, 0))
      run = runIn(posting)
    }
    return true
  }
}

/**
 * The blocks of the new segment, in order. Empty blocks are included, because an absent block is damage. Within a part, new run numbers must be
 * in the order of the old ones. It is lazy, so that a large segment is written block by block. With `writer.clear()` between two blocks, the
 * earlier one is overwritten.
 */
export function* blocksOf(
  parts: ReadonlyArray<Part>,
  blocks: number,
  writer = new Writer()
): Generator<{ readonly block: number; readonly bytes: Uint8Array }> {
  const heads = new Heads(parts)
  const runs = new Runs()
  const width = termSpace / blocks
  for (let block = 0; block < blocks; block++) {
    const end = (block + 1) * width
    let last = block * width
    for (let term = heads.lowest; term < end; term = heads.lowest) {
      runs.clear()
      do heads.take(runs)
      while (heads.lowest === term)
      if (!runs.write(writer, term - last)) continue
      last = term
    }
    yield { block, bytes: writer.take() }
  }
}
