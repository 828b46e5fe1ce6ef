/**
 * What parsing a JSON text would cost, counted from its bytes while they arrive.
 *
 * Size alone says little: 32 MB of `[],` stop the process for two seconds and take two gigabytes, and a hundred thousand
 * brackets exhaust the stack of whatever walks the value. Counting takes a few nanoseconds a byte, between two chunks, so an
 * answer that is too much is refused before it is parsed, and mostly before it has arrived.
 */

/** Deeper than any real answer, far from where a recursive walk ends. */
export const depthMax = 500
/** The process answers nobody else while it parses. */
export const parseMillisMax = 200

/** Nanoseconds, measured on Bun 1.4 and rounded up. */
const containerCost = 70
const valueCost = 25
const stringCost = 80
/** Short strings and names are interned: one that was not seen before costs a hash table's growth, and as a name a shape. */
const newCost = 400
const internedBytes = 16
const costMax = parseMillisMax * 1_000_000

/** Strings seen, as a bit each; by the time that it fills up the cost is at its limit. */
const seenBits = 2 ** 20
/** An answer of everyday size needs no memory of its strings. */
const unseenStrings = 10_000

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const byteOrderMark = [0xef, 0xbb, 0xbf]
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d

export interface JsonWeight {
  /** Counts the next bytes; answers what is too much, or null. */
  readonly add: (bytes: Uint8Array) => string | null
  /** Whether the text begins as an object or an array does; null before its first character. */
  readonly begins: () => boolean | null
}

export const jsonWeight = (): JsonWeight => {
  let begun: boolean | null = null
  let depth = 0
  let cost = 0
  let strings = 0
  let inString = false
  let escaped = false
  let hash = 0
  let length = 0
  let isNew = false
  let seen: Int32Array | null = null

  const noteString = () => {
    strings += 1
    isNew = false
    if (strings > unseenStrings) {
      seen ??= new Int32Array(seenBits / 32)
      const bit = (hash ^ (hash >>> 15)) & (seenBits - 1)
      const word = seen[bit >>> 5] ?? 0
      isNew = (word & (1 << (bit & 31))) === 0
      seen[bit >>> 5] = word | (1 << (bit & 31))
    }
    cost += isNew && length <= internedBytes ? newCost : length <= internedBytes ? 0 : stringCost
  }

  const start = (bytes: Uint8Array): number => {
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] ?? 0
      if (isSpace(byte) || byteOrderMark.includes(byte)) continue
      begun = isOpening(byte)
      return index
    }
    return bytes.length
  }

  const add = (bytes: Uint8Array): string | null => {
    const from = begun === null ? start(bytes) : 0
    if (begun !== true) return null
    for (let index = from; index < bytes.length; index++) {
      const byte = bytes[index] ?? 0
      if (inString) {
        if (escaped) escaped = false
        else if (byte === backslash) escaped = true
        else if (byte === quote) {
          inString = false
          noteString()
          continue
        }
        hash = Math.imul(hash ^ byte, 0x01000193)
        length += 1
      } else if (byte === quote) {
        inString = true
        hash = 0x811c9dc5
        length = 0
      } else if (isOpening(byte)) {
        depth += 1
        cost += containerCost
        if (depth > depthMax) return `nested deeper than ${depthMax} levels`
      } else if (isClosing(byte)) depth -= 1
      else if (byte === comma) cost += valueCost
      else if (byte === colon && isNew) cost += newCost
    }
    return cost > costMax ? `of more values than can be parsed within ${parseMillisMax} ms` : null
  }

  return { add, begins: () => begun }
}
