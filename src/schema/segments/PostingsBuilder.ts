/** Collects the terms of runs in any order, and sorts them into the postings of a new segment. */
import { type Postings, runIn } from "./Segment.ts"

const digitBits = 12
const digitMask = 2 ** digitBits - 1

/** A term that occurs several times in a run becomes one posting. */
export class PostingsBuilder {
  /** The upper and the lower 24 bits of each term. */
  private upper = new Uint32Array(4096)
  private lower = new Uint32Array(4096)
  private posting = new Uint32Array(4096)
  size = 0

  /** Adds a term of 48 bits, given as its upper 32 and lower 16 bits. */
  add(high: number, low: number, posting: number) {
    if (this.size === this.upper.length) {
      this.upper = doubled(this.upper)
      this.lower = doubled(this.lower)
      this.posting = doubled(this.posting)
    }
    this.upper[this.size] = high >>> 8
    this.lower[this.size] = ((high & 255) << 16) | low
    this.posting[this.size++] = posting
  }

  /** Removes all terms and keeps the buffers. */
  clear() {
    this.size = 0
  }

  postings(): Postings {
    const order = this.sorted()
    const terms = new Float64Array(this.size)
    const starts = new Uint32Array(this.size + 1)
    const postings = new Uint32Array(this.size)
    let count = 0
    let at = 0
    for (let n = 0; n < this.size; n++) {
      const of = order[n] ?? 0
      const term = (this.upper[of] ?? 0) * 2 ** 24 + (this.lower[of] ?? 0)
      const posting = this.posting[of] ?? 0
      const before = postings[at - 1] ?? 0
      if (count === 0 || terms[count - 1] !== term) {
        terms[count] = term
        starts[count++] = at
      } else if (runIn(before) === runIn(posting)) {
        postings[at - 1] = before | posting
        continue
      }
      postings[at++] = posting
    }
    starts[count] = at
    return {
      terms: terms.subarray(0, count),
      starts: starts.subarray(0, count + 1),
      postings: postings.subarray(0, at)
    }
  }

  /**
   * A stable radix sort by term. A map of terms with sorted keys took twice as long. The radix sort uses the upper half only, which is different
   * for almost all terms. Terms with the same upper half are then sorted by the lower half.
   */
  private sorted(): Uint32Array {
    let order = new Uint32Array(this.size)
    for (let n = 0; n < this.size; n++) order[n] = n
    let next = new Uint32Array(this.size)
    for (const shift of [0, digitBits]) {
      placed(order, next, this.upper, shift)
      const last = order
      order = next
      next = last
    }
    for (let from = 0, to = 0; from < this.size; from = to) {
      const upper = this.upper[order[from] ?? 0]
      let ascends = true
      for (to = from + 1; to < this.size && this.upper[order[to] ?? 0] === upper; to++)
        if ((this.lower[order[to] ?? 0] ?? 0) < (this.lower[order[to - 1] ?? 0] ?? 0)) ascends = false
      if (!ascends) order.subarray(from, to).sort((a, b) => (this.lower[a] ?? 0) - (this.lower[b] ?? 0) || a - b)
    }
    return order
  }
}

/** One pass of the radix sort, for one digit. */
const placed = (from: Uint32Array, to: Uint32Array, keys: Uint32Array, shift: number) => {
  const places = new Uint32Array(digitMask + 2)
  for (let n = 0; n < from.length; n++) {
    const after = (((keys[n] ?? 0) >>> shift) & digitMask) + 1
    places[after] = (places[after] ?? 0) + 1
  }
  for (let digit = 1; digit <= digitMask; digit++) places[digit] = (places[digit] ?? 0) + (places[digit - 1] ?? 0)
  for (let n = 0; n < from.length; n++) {
    const of = from[n] ?? 0
    const digit = ((keys[of] ?? 0) >>> shift) & digitMask
    const place = places[digit] ?? 0
    to[place] = of
    places[digit] = place + 1
  }
}

const doubled = (from: Uint32Array): Uint32Array<ArrayBuffer> => {
  const to = new Uint32Array(from.length * 2)
  to.set(from)
  return to
}
