/** A JSON value in a form that does not depend on the order of its fields. A field that is `null` is as one that is absent. */
export const canonicalJson = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return value.map(canonicalJson)
  if (typeof value !== "object" || value === null) return value
  const sorted = Object.entries(value)
    .filter(([, child]) => child !== null && child !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([key, child]) => [key, canonicalJson(child)])
}
