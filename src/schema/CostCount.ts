/**
 * Reads how much a value asks for, as whoever serves the request might read it.
 *
 * Numbers in text count as numbers, because providers read them so. What can't be read as a count, although the provider's
 * schema lets it through, is refused: a count that we read as nothing could be anything to the provider.
 */
import type { CostDriver } from "./CostDriver.ts"
import * as Decimal from "./Decimal.ts"
import { isRecord } from "./Json.ts"

/** A count, or what is wrong with the value. */
export type Count = bigint | string

const decides = "it decides what the call costs"

/** Signs, points and powers of ten are read as programs read them; a count is rounded up. */
const written = /^\+?(\d{1,30})(?:\.(\d{0,30}))?(?:[eE]\+?(\d{1,2}))?$/

const ofText = (text: string): Count => {
  const [, whole, fraction = "", power = "0"] = written.exec(text.trim()) ?? []
  if (whole === undefined) return `must be a whole number: ${decides}`
  const digits = BigInt(whole + fraction) * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(fraction.length)
  return (digits + divisor - 1n) / divisor
}

const ofNumber = (value: unknown): Count => {
  if (typeof value === "string") return ofText(value)
  if (typeof value !== "number" || !Number.isFinite(value)) return `must be a whole number: ${decides}`
  return value < 0 ? `must not be negative: ${decides}` : BigInt(Math.ceil(value))
}

const piecesOf = (text: string, separator: RegExp): number =>
  text.split(separator).filter((piece) => piece.trim() !== "").length

const ofItems = (value: unknown, isText: boolean): Count => {
  if (typeof value === "string") return BigInt(piecesOf(value, /,/))
  if (Array.isArray(value)) {
    // A list in a query is one name several times, and each value may be a list of its own.
    const pieces = value.map((item) => (isText && typeof item === "string" ? piecesOf(item, /,/) : 1))
    return BigInt(pieces.reduce((total, count) => total + count, 0))
  }
  return isRecord(value) ? BigInt(Object.keys(value).length) : 1n
}

const ofAddresses = (value: unknown): Count => {
  if (typeof value === "string") return BigInt(piecesOf(value, /[,;\n]/))
  if (isRecord(value)) return 1n
  if (!Array.isArray(value)) return `must be addresses: ${decides}`
  let total = 0n
  for (const item of value) {
    const count = typeof item === "string" ? BigInt(piecesOf(item, /[,;\n]/)) : 1n
    total += count
  }
  return total
}

const ofCharacters = (value: unknown): Count => {
  if (Array.isArray(value)) return BigInt(value.reduce<number>((total, item) => total + lengthOf(item), 0))
  return BigInt(lengthOf(value))
}
const lengthOf = (value: unknown): number => (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).length

/** The count of a value that is there. */
export const countOf = (counts: Exclude<CostDriver["counts"], "presence">, value: unknown, isText: boolean): Count => {
  switch (counts) {
    case "number":
      return ofNumber(value)
    case "items":
      return ofItems(value, isText)
    case "addresses":
      return ofAddresses(value)
    case "characters":
      return ofCharacters(value)
  }
}

/** `Advanced`, ` 2.0` and `"2"` are the values `advanced` and `2`. */
const plainKey = (text: string): string => {
  const key = text.trim().toLowerCase()
  return /^\+?\d+(\.\d+)?$/.test(key) ? String(Number(key)) : key
}

const keysOf = (value: unknown, known: ReadonlyMap<string, unknown>): ReadonlyArray<string> => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item) => keysOf(item, known))
  // An object is no choice by itself; another driver looks into it.
  if (isRecord(value)) return ["{}"]
  const text = String(value)
  return known.has(plainKey(text)) || !text.includes(",") ? [text] : text.split(",")
}

const untrue = new Set(["false", "0", "", "no", "off", "none", "null"])

export interface Choice {
  readonly key: string
  readonly amount: Decimal.Decimal
}

/**
 * What a table of values says of a value: a price or a factor for each choice in it. Providers read `1` or `yes` as true,
 * so where the table knows `true`, so do we. A choice that is only spelled like one of the table costs at least what an
 * unknown one does: `otherwise`, where the table has no `*`.
 */
export const entriesOf = (
  table: Readonly<Record<string, string>>,
  value: unknown,
  otherwise: Decimal.Decimal
): ReadonlyArray<Choice> => {
  const known = new Map(Object.entries(table).map(([key, amount]) => [plainKey(key), Decimal.parse(amount)]))
  const other = known.get("*")
  return keysOf(value, known).flatMap((text): ReadonlyArray<Choice> => {
    const key = plainKey(text)
    const named = known.get(key)
    if (named !== undefined) {
      const isExact = Object.hasOwn(table, text)
      return [{ key, amount: isExact ? named : Decimal.max(named, other ?? otherwise) }]
    }
    const amount = other ?? (untrue.has(key) ? undefined : known.get("true"))
    return amount === undefined ? [] : [{ key, amount }]
  })
}

/** Percent-encoding is undone as often as somebody on the way might undo it. */
const decodedRounds = 3

const plainText = (text: string): string => {
  let plain = text
  for (let round = 0; round < decodedRounds; round++) {
    plain = plain.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  return plain.normalize("NFKC").toLowerCase()
}

/** Whether a text of the value contains one of the words. */
export const containsOne = (value: unknown, words: ReadonlyArray<string>): boolean => {
  if (Array.isArray(value)) return value.some((item) => containsOne(item, words))
  if (typeof value !== "string") return false
  const text = plainText(value)
  return words.some((word) => text.includes(word.toLowerCase()))
}
