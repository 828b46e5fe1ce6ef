/**
 * Reads unknown JSON: each function takes a value and a path into it and answers the wanted type or null.
 *
 * Nothing here throws, so a provider that changes its payload gives nulls or a refused answer, never a crash.
 */
import { isRecord } from "../../../schema/json/Json.ts"
import { type Location, location } from "../../../schema/capabilities/shapes.ts"

export type Path = ReadonlyArray<string | number>

export { isRecord }

/** Own properties only: a payload can't reach into a prototype. */
export const at = (value: unknown, ...path: Path): unknown => {
  let current = value
  for (const key of path) {
    if (typeof key === "number") current = Array.isArray(current) ? current[key] : undefined
    else current = isRecord(current) && Object.hasOwn(current, key) ? current[key] : undefined
  }
  return current
}

/** Text with something in it. */
export const text = (value: unknown, ...path: Path): string | null => {
  const found = at(value, ...path)
  return typeof found === "string" && found.trim() !== "" ? found.trim() : null
}

/** A number, also one that the provider writes as a string. */
export const number = (value: unknown, ...path: Path): number | null => {
  const found = at(value, ...path)
  if (typeof found === "number") return Number.isFinite(found) ? found : null
  return typeof found === "string" && /^-?\d+(\.\d+)?$/.test(found) ? Number(found) : null
}

export const whole = (value: unknown, ...path: Path): number | null => {
  const found = number(value, ...path)
  return found === null || !Number.isSafeInteger(Math.round(found)) ? null : Math.round(found)
}

/** A boolean, also one that the provider writes as a string. */
export const flag = (value: unknown, ...path: Path): boolean | null => {
  const found = at(value, ...path)
  if (typeof found === "boolean") return found
  return found === "true" ? true : found === "false" ? false : null
}

/** Null when there is no list at that place; an empty list is an answer. */
export const list = (value: unknown, ...path: Path): ReadonlyArray<unknown> | null => {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : null
}

/** The texts of a list. */
export const texts = (value: unknown, ...path: Path): ReadonlyArray<string> | null =>
  list(value, ...path)?.flatMap((one) => text(one) ?? []) ?? null

/** An id keyed by provider, as `provider_ids` holds it. */
export const providerIds = (provider: string, value: unknown, ...path: Path): Record<string, string> => {
  const found = at(value, ...path)
  return typeof found === "string" || typeof found === "number" ? { [provider]: String(found) } : {}
}

/** A place from an object with keys of the given names. */
export const place = (value: unknown, city: string, region: string, country: string): Location | null =>
  location(text(value, city), text(value, region), text(value, country))

/** "example.com" of "https://www.example.com/about" or of "example.com". */
export const host = (address: string | null): string | null => {
  if (address === null) return null
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`)
  return url === null || url.hostname === "" ? null : url.hostname.replace(/^www\./, "")
}

/** A full address: some providers leave out the scheme. */
export const webAddress = (address: string | null): string | null =>
  address === null || /^https?:\/\//i.test(address) ? address : `https://${address}`

/** A provider's text as one segment of an address. Half a surrogate pair can't be encoded, so it becomes U+FFFD. */
export const segment = (value: string): string => encodeURIComponent(value.toWellFormed())
