/**
 * Writes and reads variable-length integers (LEB128): seven bits per byte, the lowest first, and an eighth bit if more follow. Values are whole
 * numbers from 0 to 2^53.
 */
import { damaged } from "./damaged.ts"

/** Results are views of buffers of this size, because allocating many small arrays is slow. */
const chunkBytes = 65_536

/** A growing buffer. */
export class Writer {
  private bytes: Uint8Array
  private readonly chunk: number
  /** The range of the bytes that were written since the last `take`. */
  private start = 0
  private end = 0
  constructor(chunk = chunkBytes) {
    this.chunk = chunk
    this.bytes = new Uint8Array(chunk)
  }
  put(value: number) {
    if (this.end + 8 > this.bytes.length) this.grow()
    let rest = value
    // The distance between two terms may exceed 32 bits, which bit operations can't handle.
    for (; rest >= 0x8000_0000; rest = Math.floor(rest / 128)) this.bytes[this.end++] = (rest & 127) | 128
    for (; rest > 127; rest >>>= 7) this.bytes[this.end++] = (rest & 127) | 128
    this.bytes[this.end++] = rest
  }
  /** Writes an ASCII text. */
  text(value: string) {
    this.put(value.length)
    for (let at = 0; at < value.length; at++) this.put(value.charCodeAt(at) & 127)
  }
  /** Writes bytes unchanged. */
  raw(values: Uint8Array) {
    for (const value of values) {
      if (this.end === this.bytes.length) this.grow()
      this.bytes[this.end++] = value
    }
  }
  private grow() {
    const kept = this.bytes.subarray(this.start, this.end)
    this.bytes = new Uint8Array(Math.max(this.chunk, kept.length * 2))
    this.bytes.set(kept)
    this.start = 0
    this.end = kept.length
  }
  /** Reuses the buffer. Bytes that were taken may be overwritten, so callers must have copied them. */
  clear() {
    this.start = 0
    this.end = 0
  }
  /** The bytes that were written since the last call. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(this.start, this.end)
    this.start = this.end
    return taken
  }
}

const decoder = new TextDecoder()

/** Reads what `Writer` wrote, in order. */
export class Reader {
  private at = 0
  private readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
  get done(): boolean {
    return this.at >= this.bytes.length
  }
  next(): number {
    let value = 0
    let shift = 1
    for (;;) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) return damaged("a page ends within a number")
      value += (byte & 127) * shift
      if (byte < 128) return value
      shift *= 128
    }
  }
  /** Skips this many numbers. */
  skip(count: number) {
    for (let left = count; left > 0; ) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) return damaged("a page has fewer numbers than it says")
      if (byte < 128) left--
    }
  }
  /** All remaining bytes, unchanged. */
  rest(): Uint8Array {
    const left = this.bytes.subarray(this.at)
    this.at = this.bytes.length
    return left
  }
  /** Where the next text ends. */
  private textEnd(): number {
    const length = this.next()
    const end = this.at + length
    return end <= this.bytes.length ? end : damaged("a page ends within a text")
  }
  skipText() {
    this.at = this.textEnd()
  }
  text(): string {
    const end = this.textEnd()
    const text = decoder.decode(this.bytes.subarray(this.at, end))
    this.at = end
    return text
  }
}
