/**
 * Counts the units that a value in a request asks for, in the most expensive way that a provider might read it.
 *
 * Numbers in strings count as numbers, because providers accept them. A value that the provider's schema allows but that can't be
 * read as a count is refused: the provider could read it as any number.
 */
import type { CostDriver } from "./CostDriver.ts"
import * as Decimal from "../money/Decimal.ts"
import { isRecord } from "../json/Json.ts"

/** A count, or what is wrong with the value. */
export type Count = bigint | string

const decides = "it determines the price of the call"

/** A number as text, with sign, decimal point and exponent. A count is rounded up. */
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

/** The number of non-blank parts of a text. Counted without splitting, because a megabyte of commas would become a million strings. */
const piecesOf = (text: string, separators: string): number => {
  let count = 0
  let isOpen = false
  for (const letter of text) {
    if (separators.includes(letter)) isOpen = false
    else if (!isOpen && letter !== " ") {
      isOpen = true
      count += 1
    }
  }
  return count
}

const ofItems = (value: unknown, isText: boolean): Count => {
  if (typeof value === "string") return BigInt(piecesOf(value, ","))
  if (Array.isArray(value)) {
    // A query may repeat a name, and each of its values may be a comma-separated list.
    const pieces = value.map((item) => (isText && typeof item === "string" ? piecesOf(item, ",") : 1))
    return BigInt(pieces.reduce((total, count) => total + count, 0))
  }
  return isRecord(value) ? BigInt(Object.keys(value).length) : 1n
}

const ofAddresses = (value: unknown): Count => {
  if (typeof value === "string") return BigInt(piecesOf(value, ",;\n"))
  if (isRecord(value)) return 1n
  if (!Array.isArray(value)) return `must be addresses: ${decides}`
  return BigInt(value.reduce<number>((all, item) => all + (typeof item === "string" ? piecesOf(item, ",;\n") : 1), 0))
}

const ofCharacters = (value: unknown): Count => {
  if (Array.isArray(value)) return BigInt(value.reduce<number>((total, item) => total + lengthOf(item), 0))
  return BigInt(lengthOf(value))
}
const lengthOf = (value: unknown): number => (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).length

/** The count of a value that is present. */
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

const untrue = new Set(["false", "0", "", "no", "off", "none", "null"])

/** The price or factor of a value in the driver's table. */
export interface Choice {
  /** The key of the table. */
  readonly key: string
  readonly amount: Decimal.Decimal
}

/** Maximum number of choices in one comma-separated text. */
const piecesMax = 100

/**
 * Looks up a value in a driver's table: no choice, or one for each item of a list. Null for a list that is too long. Providers read `1` or
 * `yes` as true, so a table with `true` matches these too. A value that matches a key only in another spelling costs at least as much as an
 * unknown value, which is `otherwise` if the table has no `*`.
 */
export const choicesOf = (table: Readonly<Record<string, string>>, otherwise: Decimal.Decimal) => {
  const amounts = new Map(Object.entries(table).map(([key, amount]) => [plainKey(key), Decimal.parse(amount)]))
  const other = amounts.get("*")
  const choiceOf = (text: string): ReadonlyArray<Choice> => {
    const key = plainKey(text)
    const named = amounts.get(key)
    if (named !== undefined) {
      return [{ key, amount: Object.hasOwn(table, text) ? named : Decimal.max(named, other ?? otherwise) }]
    }
    const amount = other ?? (untrue.has(key) ? undefined : amounts.get("true"))
    return amount === undefined ? [] : [{ key: other === undefined ? "true" : "*", amount }]
  }
  return (value: unknown): ReadonlyArray<Choice> | null => {
    if (value === undefined || value === null) return []
    // An object itself is no choice. Other drivers read its fields.
    if (typeof value === "object") return choiceOf("{}")
    const text = String(value)
    if (amounts.has(plainKey(text)) || !text.includes(",")) return choiceOf(text)
    const pieces = text.split(",", piecesMax + 1)
    return pieces.length > piecesMax ? null : pieces.flatMap(choiceOf)
  }
}

/** Rounds of percent-decoding, because proxies may decode more than once. */
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
  const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string")
  // Joined by line breaks, so that no word spans two texts.
  const text = plainText(texts.join("\n"))
  return words.some((word) => text.includes(word.toLowerCase()))
}
