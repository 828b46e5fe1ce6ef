/**
 * The header `Prefer` (RFC 7240): `wait=<seconds>` and `respond-async`, for clients that can't change a body or a query. Pure.
 *
 * What the request itself says comes first, so a proxy that adds the header changes nothing for a client that knows the API. A preference
 * that can't be read is ignored, as the standard asks.
 */
import { waitSecondsMax } from "../api/shapes/Limits.ts"

export interface Waits {
  readonly seconds: number
  /** The header `Preference-Applied`. Null if the header `Prefer` decided nothing. */
  readonly applied: string | null
}

/** The first value of each preference, by its name. */
const preferencesOf = (header: string): ReadonlyMap<string, string> => {
  const preferences = new Map<string, string>()
  for (const part of header.split(",")) {
    const [preference = ""] = part.split(";")
    const [name = "", value = ""] = preference.split("=").map((text) => text.trim())
    const key = name.toLowerCase()
    if (!preferences.has(key)) preferences.set(key, value.replace(/^"(.*)"$/, "$1"))
  }
  return preferences
}

/** `own` is what the request says elsewhere: null if it says nothing. `otherwise` is how long it waits then, in seconds. */
export const waitsFor = (prefer: string | undefined, own: number | null, otherwise: number): Waits => {
  if (own !== null) return { seconds: own, applied: null }
  if (prefer === undefined) return { seconds: otherwise, applied: null }
  const preferences = preferencesOf(prefer)
  const wait = preferences.get("wait") ?? ""
  const seconds = /^\d{1,9}$/.test(wait) ? Math.min(Number(wait), waitSecondsMax) : null
  const isAsync = preferences.has("respond-async")
  const applied = [...(isAsync ? ["respond-async"] : []), ...(seconds === null ? [] : [`wait=${seconds}`])]
  return {
    seconds: seconds ?? (isAsync ? 0 : otherwise),
    applied: applied.length === 0 ? null : applied.join(", ")
  }
}
