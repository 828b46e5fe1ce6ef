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
/** Short strings and names are interned, and objects share the shape of their names in order: what was not seen before is made. */
const newCost = 400
const internedBytes = 16
/** For each name that a new shape has already. */
const shapeCost = 15
/** An object of more names has no shape; each of them goes into a table of its own. */
const shapeNamesMax = 64
const tableCost = 100
const costMax = parseMillisMax * 1_000_000

/** Strings and shapes seen, as a bit each; by the time that it fills up the cost is at its limit. */
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
  /** Of the objects that are open: the hash of their names so far, and how many. */
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
    const known = (names[depth] ?? 0) + 1
    names[depth] = known
    const shape = Math.imul((shapes[depth] ?? 0) ^ hash, 0x01000193) + known
    shapes[depth] = shape
    if (isNew && length > internedBytes) cost += newCost
    cost += known > shapeNamesMax ? tableCost : unseen(shape) ? newCost + shapeCost * known : 0
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
    return cost > costMax ? `of more values than can be parsed within ${parseMillisMax} ms` : null
  }

  return { add, begins: () => begun }
}
