/**
 * Estimates the cost of parsing a JSON text from its bytes, while they arrive.
 *
 * The size alone is no measure: 32 MB of `[],` block the process for two seconds and take two gigabytes, and a hundred thousand
 * brackets overflow the stack of a recursive walk. Counting takes a few nanoseconds a byte. An answer that costs too much is refused
 * before it is parsed, and mostly before it has arrived completely.
 */

/** Deeper than any real answer, and far below the depth at which a recursive walk overflows. */
export const depthMax = 500
/** Parsing blocks the event loop, so this limits how long other requests wait. */
const parseMillisMax = 200
/** A list of short and different words costs this much a byte. Records cost a tenth of it. */
const parseNanosPerByte = 25

/** What parsing an answer may take that has at most so many bytes. */
export const parseLimit = (bytesMax: number): number =>
  Math.min(parseMillisMax, Math.ceil((bytesMax * parseNanosPerByte) / 1_000_000))

/** Nanoseconds, measured on Bun 1.4 and rounded up. */
const containerCost = 70
const valueCost = 25
const stringCost = 80
/** Additional cost of a string, name or object shape that is new: known short strings are interned and known shapes are shared. */
const newCost = 400
const internedBytes = 16
/** Cost per name of a new shape. */
const shapeCost = 15
/** An object with more names has no shape: its names go into a hash table. */
const shapeNamesMax = 64
const tableCost = 100

/** Bits of the filter of seen strings and shapes. The cost reaches its limit before the filter fills up. */
const seenBits = 2 ** 20
/** Up to this many strings the filter is not allocated: an answer of usual size does not need it. */
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
  /** Counts the next bytes. Returns which limit the text exceeds, or null. */
  readonly add: (bytes: Uint8Array) => string | null
  /** Whether the text begins with an object or an array; null before the first character. */
  readonly begins: () => boolean | null
  /** What parsing takes, in milliseconds. */
  readonly millis: () => number
}

/** For an answer of at most `bytesMax`. */
export const jsonWeight = (bytesMax: number): JsonWeight => {
  const millisMax = parseLimit(bytesMax)
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
  /** For each open object: the hash of its names so far, and their number. */
  const shapes = new Int32Array(depthMax + 2)
  const names = new Int32Array(depthMax + 2)

  const unseen = (of: number): boolean => {
    if (strings <= unseenStrings) return false
    seen ??= new Int32Array(seenBits / 32)
    const bit = (of ^ (of >>> 15)) & (seenBits - 1)
    const word = seen[bit >>> 5] ?? 0
    seen[bit >>> 5] = word | (1 << (bit & 31))
    return (word & (1 << (bit & 31))) === 0
  }

  const noteString = () => {
    strings += 1
    isNew = unseen(hash)
    cost += length > internedBytes ? stringCost : isNew ? newCost : 0
  }

  const noteName = () => {
    const count = (names[depth] ?? 0) + 1
    names[depth] = count
    const shape = Math.imul((shapes[depth] ?? 0) ^ hash, 0x01000193) + count
    shapes[depth] = shape
    if (isNew && length > internedBytes) cost += newCost
    cost += count > shapeNamesMax ? tableCost : unseen(shape) ? newCost + shapeCost * count : 0
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
        shapes[depth] = 0
        names[depth] = 0
        if (depth > depthMax) return `nested deeper than ${depthMax} levels`
      } else if (isClosing(byte)) depth -= 1
      else if (byte === comma) cost += valueCost
      else if (byte === colon) noteName()
    }
    return millis() > millisMax ? `of more values than can be parsed within ${millisMax} ms` : null
  }
  const millis = () => cost / 1_000_000

  return { add, begins: () => begun, millis }
}
