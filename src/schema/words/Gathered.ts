/**
 * The terms of runs as they come, to become a segment.
 */
import { type Postings, runIn } from "./Segment.ts"

/** Terms of runs as they come; `postings` sorts them. A term that comes several times in a run is one. */
export class Gathered {
  private high = new Uint32Array(4096)
  private low = new Uint16Array(4096)
  private posting = new Uint32Array(4096)
  size = 0

  /** A term of 48 bits as its upper 32 and its lower 16. */
  add(high: number, low: number, posting: number) {
    if (this.size === this.high.length) {
      this.high = grown(this.high, new Uint32Array(this.size * 2))
      this.low = grown(this.low, new Uint16Array(this.size * 2))
      this.posting = grown(this.posting, new Uint32Array(this.size * 2))
    }
    this.high[this.size] = high
    this.low[this.size] = low
    this.posting[this.size++] = posting
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
      const term = (this.high[of] ?? 0) * 65_536 + (this.low[of] ?? 0)
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

  /** By term, and as they came: a radix sort, because comparing a hundred thousand pairs costs ten times as much. */
  private sorted(): Uint32Array {
    const { high, low } = this
    let order = Uint32Array.from({ length: this.size }, (_, n) => n)
    for (const digit of digits(high, low)) {
      const places = new Uint32Array(2 ** digitBits + 1)
      for (let n = 0; n < this.size; n++) places[digit(n) + 1] = (places[digit(n) + 1] ?? 0) + 1
      for (let d = 1; d < places.length; d++) places[d] = (places[d] ?? 0) + (places[d - 1] ?? 0)
      const next = new Uint32Array(this.size)
      for (let n = 0; n < this.size; n++) {
        const of = order[n] ?? 0
        const d = digit(of)
        const place = places[d] ?? 0
        next[place] = of
        places[d] = place + 1
      }
      order = next
    }
    return order
  }
}

const digitBits = 12
/** The lowest first. */
const digits = (high: Uint32Array, low: Uint16Array): ReadonlyArray<(n: number) => number> => [
  (n) => (low[n] ?? 0) & 4095,
  (n) => ((low[n] ?? 0) >>> 12) | (((high[n] ?? 0) & 255) << 4),
  (n) => ((high[n] ?? 0) >>> 8) & 4095,
  (n) => (high[n] ?? 0) >>> 20
]
const grown = <A extends Uint32Array | Uint16Array>(from: A, to: A): A => {
  to.set(from)
  return to
}
