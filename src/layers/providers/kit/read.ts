/**
 * Reads unknown JSON: each function takes a value and a path into it, and returns a value of its type or null.
 *
 * No function throws. So if a provider changes its format, the adapter gets nulls or fails the attempt, and does not crash.
 */
import { segmentOf } from "../../../schema/Ids.ts"
import { isRecord } from "../../../schema/json/Json.ts"
import { type Location, location } from "../../../schema/capabilities/shapes.ts"

export type Path = ReadonlyArray<string | number>

export { isRecord, segmentOf }

/** Reads own properties only, so that a payload can't read from a prototype. */
export const at = (value: unknown, ...path: Path): unknown => {
  let current = value
  for (const key of path) {
    if (typeof key === "number") current = Array.isArray(current) ? current[key] : undefined
    else current = isRecord(current) && Object.hasOwn(current, key) ? current[key] : undefined
  }
  return current
}

/** A table's entry for a word from outside. Undefined for names that every object inherits, such as "constructor". */
export const entryIn = <A>(table: Readonly<Record<string, A>>, name: string | null): A | undefined =>
  name !== null && Object.hasOwn(table, name) ? table[name] : undefined

/** A text that is not empty. */
export const text = (value: unknown, ...path: Path): string | null => {
  const raw = at(value, ...path)
  return typeof raw === "string" && raw.trim() !== "" ? raw.trim() : null
}

/** A number, also one that the provider writes as a string. */
export const number = (value: unknown, ...path: Path): number | null => {
  const raw = at(value, ...path)
  if (typeof raw === "number") return Number.isFinite(raw) ? raw : null
  return typeof raw === "string" && /^-?\d+(\.\d+)?$/.test(raw) ? Number(raw) : null
}

export const whole = (value: unknown, ...path: Path): number | null => {
  const raw = number(value, ...path)
  return raw === null || !Number.isSafeInteger(Math.round(raw)) ? null : Math.round(raw)
}

/** A boolean, also one that the provider writes as a string. */
export const flag = (value: unknown, ...path: Path): boolean | null => {
  const raw = at(value, ...path)
  if (typeof raw === "boolean") return raw
  return raw === "true" ? true : raw === "false" ? false : null
}

/** Null if there is no list at that path. An empty list is returned as such. */
export const list = (value: unknown, ...path: Path): ReadonlyArray<unknown> | null => {
  const raw = at(value, ...path)
  return Array.isArray(raw) ? raw : null
}

/** The texts in a list. */
export const texts = (value: unknown, ...path: Path): ReadonlyArray<string> | null =>
  list(value, ...path)?.flatMap((one) => text(one) ?? []) ?? null

/** An id under its provider's slug, as in the output field `provider_ids`. */
export const providerIds = (provider: string, value: unknown, ...path: Path): Record<string, string> => {
  const raw = at(value, ...path)
  return typeof raw === "string" || typeof raw === "number" ? { [provider]: String(raw) } : {}
}

/** A location from an object with the given field names. */
export const place = (value: unknown, city: string, region: string, country: string): Location | null =>
  location(text(value, city), text(value, region), text(value, country))

/** Splits "Los Angeles, California, United States". Text without exactly three parts becomes the region. */
export const placeIn = (line: string | null): Location | null => {
  const [city = null, region = null, country = null, ...rest] = line?.split(",").map((part) => part.trim()) ?? []
  return country !== null && rest.length === 0 ? location(city, region, country) : location(null, line, null)
}

/** A range of employees such as "11-50", or "10001+" without an upper end, from an object with the given field names. */
export const sizeRange = (value: unknown, least: string, most: string): string | null => {
  const [min, max] = [whole(value, least), whole(value, most)]
  return min === null ? null : max === null ? `${min}+` : `${min}-${max}`
}

/** Returns "example.com" for "https://www.example.com/about" and for "example.com". */
export const host = (address: string | null): string | null => {
  if (address === null) return null
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`)
  return url === null || url.hostname === "" ? null : url.hostname.replace(/^www\./, "")
}

/** Adds the scheme to a URL, because some providers leave it out. */
export const webAddress = (address: string | null): string | null =>
  address === null || /^https?:\/\//i.test(address) ? address : `https://${address}`
