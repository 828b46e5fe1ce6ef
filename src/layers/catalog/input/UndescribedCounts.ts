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
import { shownName } from "../../../schema/json/StorableText.ts"
import { didYouMean } from "../../../schema/suggestion.ts"

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
  const same = [...names].find((one) => foldedName(one) === foldedName(name))
  const meant = same === undefined ? didYouMean(name, names) : ` Did you mean \`${same}\`?`
  return meant === ""
    ? "is not a described field and might change what the call costs. Remove it"
    : `is not a described field.${meant}`
}

interface Undescribed {
  readonly at: string
  readonly name: string
}

/** `value` is the body, one task, or a list of either. It may have very many fields, so only the first `most` are worded. */
export const undescribedCounts = (
  body: Readonly<Record<string, unknown>>,
  definitions: ProviderDocument["definitions"],
  most: number
): ((value: unknown) => ReadonlyArray<Issue>) => {
  let described: ReadonlySet<string> | undefined
  const inObject = (value: unknown, at: string): ReadonlyArray<Undescribed> => {
    described ??= new Set(namesOf(body, definitions, 0))
    const names = described
    // A schema without described fields allows every name.
    if (!isRecord(value) || names.size === 0) return []
    return Object.entries(value).flatMap(([name, one]) =>
      names.has(name) || !namesCount(name) || !isCount(one) ? [] : [{ at, name }]
    )
  }
  return (value) => {
    const counts = Array.isArray(value)
      ? value.flatMap((item, index) => inObject(item, `${index}.`))
      : inObject(value, "")
    return counts.slice(0, most).map(({ at, name }) => ({
      path: `${at}${shownName(name)}`,
      message: wrongOf(name, described ?? new Set())
    }))
  }
}
