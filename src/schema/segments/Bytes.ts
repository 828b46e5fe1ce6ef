/**
 * Numbers as bytes: seven bits each, the lowest first, the eighth says that more follow. Whole numbers from 0 up to 2^53.
 */

/** Bytes that grow. */
export class Writer {
  private bytes = new Uint8Array(1024)
  private length = 0
  put(value: number) {
    if (this.length + 8 > this.bytes.length) this.grow()
    let rest = value
    // A term's distance may be longer than what bit operations hold.
    for (; rest >= 0x8000_0000; rest = Math.floor(rest / 128)) this.bytes[this.length++] = (rest % 128) | 128
    for (; rest > 127; rest >>>= 7) this.bytes[this.length++] = (rest & 127) | 128
    this.bytes[this.length++] = rest
  }
  /** Of plain letters, at most 127. */
  text(value: string) {
    this.put(value.length)
    for (let at = 0; at < value.length; at++) this.put(value.charCodeAt(at) & 127)
  }
  /** As they are. */
  raw(values: Uint8Array) {
    for (const value of values) {
      if (this.length === this.bytes.length) this.grow()
      this.bytes[this.length++] = value
    }
  }
  private grow() {
    const larger = new Uint8Array(this.bytes.length * 2)
    larger.set(this.bytes)
    this.bytes = larger
  }
  /** What was put since the last time. */
  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.length)
    this.length = 0
    return taken
  }
}

const decoder = new TextDecoder()

/** Reads numbers one after the other. */
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
      const byte = this.bytes[this.at++] ?? 0
      value += (byte & 127) * shift
      if (byte < 128) return value
      shift *= 128
    }
  }
  /** Passes over so many numbers. */
  skip(count: number) {
    for (let left = count; left > 0 && this.at < this.bytes.length; ) if ((this.bytes[this.at++] ?? 0) < 128) left--
  }
  /** All bytes that are left, as they are. */
  rest(): Uint8Array {
    const left = this.bytes.subarray(this.at)
    this.at = this.bytes.length
    return left
  }
  skipText() {
    const length = this.next()
    this.at += length
  }
  text(): string {
    const length = this.next()
    const text = decoder.decode(this.bytes.subarray(this.at, this.at + length))
    this.at += length
    return text
  }
}
