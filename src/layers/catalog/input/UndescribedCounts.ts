/**
 * Rejects undocumented counts in a paid request, such as a `limit` that the schema does not name.
 *
 * Most schemas allow additional fields, and providers accept fields that they don't document. An undocumented count could
 * raise the cost of a call without limit, because no rate counts it.
 */
import type { Issue } from "../../../schema/catalog/Contract.ts"
import { foldedName, namesCount } from "../../../schema/catalog/CostNames.ts"
import type { ProviderDocument } from "../../../schema/catalog/Endpoint.ts"
import { isRecord } from "../../../schema/json/Json.ts"

/** References and branches are followed this far. */
const depthMax = 8

/** The field names that the schema describes. */
const namesOf = (
  schema: unknown,
  definitions: ProviderDocument["definitions"],
  depth: number
): ReadonlyArray<string> => {
  if (!isRecord(schema) || depth > depthMax) return []
  const ref = schema["$ref"]
  const name = typeof ref === "string" ? ref.slice("#/$defs/".length) : ""
  const referred = Object.hasOwn(definitions, name) ? definitions[name] : undefined
  const branches = [schema["anyOf"], schema["oneOf"], schema["allOf"]].flatMap((one) => (Array.isArray(one) ? one : []))
  return [
    ...(isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : []),
    ...[referred, schema["items"], ...branches].flatMap((one) => namesOf(one, definitions, depth + 1))
  ]
}

const isCount = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && /^\s*\+?\d/.test(value))

const wrongOf = (name: string, names: ReadonlySet<string>): string => {
  const meant = [...names].find((one) => foldedName(one) === foldedName(name))
  return meant === undefined
    ? "is not a described field and might change what the call costs. Remove it"
    : `is not a described field. Did you mean ${meant}?`
}

/** `value` is the body, one task, or a list of either. */
export const undescribedCounts = (
  body: Readonly<Record<string, unknown>>,
  definitions: ProviderDocument["definitions"]
): ((value: unknown) => ReadonlyArray<Issue>) => {
  let described: ReadonlySet<string> | undefined
  const inObject = (value: unknown, at: string): ReadonlyArray<Issue> => {
    described ??= new Set(namesOf(body, definitions, 0))
    const names = described
    // A schema without described fields allows every name.
    if (!isRecord(value) || names.size === 0) return []
    return Object.entries(value).flatMap(([name, one]) =>
      names.has(name) || !namesCount(name) || !isCount(one)
        ? []
        : [{ path: `${at}${name}`, message: wrongOf(name, names) }]
    )
  }
  return (value) =>
    Array.isArray(value) ? value.flatMap((item, index) => inObject(item, `${index}.`)) : inObject(value, "")
}
