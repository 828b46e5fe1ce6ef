/**
 * Checks the bytes of a JSON text before anything parses them: nesting, number of containers, and strings that the database can't store.
 *
 * One pass without recursion, about 2 ms per megabyte. It accepts any bytes, and leaves text that is not JSON to the parser.
 */
import { isRecord } from "./Json.ts"

/** Deeper than any request to a provider, and shallow enough for recursive functions. */
export const depthMax = 64
/** Objects and arrays in one text. Each costs the decoder about 0.3 µs; a megabyte can hold half a million. */
export const containersMax = 50_000

export type JsonFlaw =
  | "too_deep"
  | "too_many"
  /** A string has a NUL or half a surrogate pair, written as an escape. Find it with `unstorableIn`. */
  | "unstorable"

const quote = 0x22
const backslash = 0x5c
const letterU = 0x75

const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** The code unit of the four hex digits at `at`. -1 if they are no hex digits. */
const hexAt = (bytes: Uint8Array, at: number): number => {
  let value = 0
  for (let index = at; index < at + 4; index += 1) {
    const digit = hexDigit(bytes[index] ?? 0)
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** The length in bytes of the escape whose backslash is at `at`. 0 if a string with it can't be stored. */
const escapeLength = (bytes: Uint8Array, at: number): number => {
  if (bytes[at + 1] !== letterU) return 2
  const unit = hexAt(bytes, at + 2)
  if (unit === 0 || isLow(unit)) return 0
  if (!isHigh(unit)) return 2
  const paired = bytes[at + 6] === backslash && bytes[at + 7] === letterU && isLow(hexAt(bytes, at + 8))
  return paired ? 12 : 0
}

/** The flaw of the text, or null. An `unstorable` text is safe to parse, because it is neither too deep nor too large. */
export const jsonFlaw = (bytes: Uint8Array, most = containersMax): JsonFlaw | null => {
  let depth = 0
  let containers = 0
  let inString = false
  let flaw: JsonFlaw | null = null
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0
    if (inString) {
      if (byte === quote) inString = false
      else if (byte === backslash) {
        const length = escapeLength(bytes, index)
        if (length === 0) flaw = "unstorable"
        index += Math.max(length, 2) - 1
      } else if (byte === 0) flaw = "unstorable"
    } else if (byte === quote) inString = true
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      containers += 1
      if (depth > depthMax) return "too_deep"
      if (containers > most) return "too_many"
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  return flaw
}

/** Whether the database can store the text, and UTF-8 can carry it. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

/** The dotted path of the first string that can't be stored. Null if there is none. */
export const unstorableIn = (value: unknown): string | null => {
  if (typeof value === "string") return isStorable(value) ? null : ""
  const members = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : []
  for (const [name, child] of members) {
    // A name that can't be stored can't be shown either, so the path of its object is returned.
    if (typeof name === "string" && !isStorable(name)) return ""
    const inside = unstorableIn(child)
    if (inside !== null) return inside === "" ? String(name) : `${name}.${inside}`
  }
  return null
}

/** Longer names are cut where they are shown. */
const nameBytesMax = 100

/** The top-level field that is nested too deep or has too many containers. Empty if the text is not an object. */
export const flawedField = (bytes: Uint8Array, most = containersMax): string => {
  let depth = 0
  let containers = 0
  let name = ""
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0
    if (byte === quote) {
      const from = index + 1
      for (index = from; index < bytes.length && bytes[index] !== quote; index += 1)
        if (bytes[index] === backslash) index += 1
      // At depth 1, strings are names or values. The last string before a bracket is a name, because a value has no brackets.
      if (depth === 1) name = new TextDecoder().decode(bytes.subarray(from, Math.min(index, from + nameBytesMax)))
    } else if (byte === 0x5b || byte === 0x7b) {
      if (depth === 0 && byte === 0x5b) return ""
      depth += 1
      containers += 1
      if (depth > depthMax || containers > most) return name
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  return name
}
