/**
 * A JSON value in a form that does not depend on the order of its fields. A field that is `null` is as one that is absent. `textOf` gives
 * the form of a text that lies in a field, or in the list of a field.
 */
export const canonicalJson = (
  value: unknown,
  textOf: (text: string, field: string) => string = (text) => text,
  field = ""
): unknown => {
  if (typeof value === "string") return textOf(value, field)
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return value.map((one) => canonicalJson(one, textOf, field))
  if (typeof value !== "object" || value === null) return value
  const sorted = Object.entries(value)
    .filter(([, child]) => child !== null && child !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([key, child]) => [key, canonicalJson(child, textOf, key)])
}
