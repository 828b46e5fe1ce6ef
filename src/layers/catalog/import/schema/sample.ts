/**
 * Makes a plausible value for a schema, for example requests. It uses required fields and the schema's examples, defaults and formats.
 *
 * Depth and size are limited. The caller validates the result.
 */
import { isJsonObject, type Json, type JsonObject, unsafeName } from "../kit/json.ts"
import { patternSample } from "./pattern-sample.ts"

export type Definitions = Readonly<Record<string, JsonObject>>

const depthMax = 12
/** Values of one sample. */
const valuesMax = 300
const itemsMax = 3
const prefix = "#/$defs/"

const byFormat: Readonly<Record<string, string>> = {
  email: "jane.doe@example.com",
  uri: "https://example.com",
  url: "https://example.com",
  "uri-reference": "/example",
  hostname: "example.com",
  date: "2025-01-31",
  "date-time": "2025-01-31T12:00:00Z",
  time: "12:00:00Z",
  duration: "P1D",
  uuid: "123e4567-e89b-12d3-a456-426614174000",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  byte: "aGVsbG8="
}

/** What a field's name says; the first that fits. */
const byName: ReadonlyArray<readonly [RegExp, string]> = [
  [/e-?mail/i, "jane.doe@example.com"],
  [/(url|uri|link|website|webhook)s?$/i, "https://example.com"],
  [/domain|host/i, "example.com"],
  [/phone|mobile/i, "+14155550123"],
  [/first_?name/i, "Jane"],
  [/last_?name/i, "Doe"],
  [/country/i, "US"],
  [/lang/i, "en"],
  [/currency/i, "USD"],
  [/date/i, "2025-01-31"],
  [/^(q|query|keywords?|search)$|_(query|keyword|search)$/i, "coffee"],
  [/company|organi[sz]ation/i, "Example Inc"],
  [/name/i, "Jane Doe"],
  [/(^|_)id$|Id$/, "123"]
]

const text = (schema: JsonObject, name: string): string | undefined => {
  const { format, pattern, minLength, maxLength } = schema
  if (typeof pattern === "string") return patternSample(pattern) ?? undefined
  const formatSample = typeof format === "string" && Object.hasOwn(byFormat, format) ? byFormat[format] : undefined
  const named = formatSample ?? byName.find(([word]) => word.test(name.slice(0, 100)))?.[1] ?? "example"
  const least = typeof minLength === "number" ? minLength : 0
  const most = typeof maxLength === "number" ? maxLength : Number.POSITIVE_INFINITY
  if (least > 1_000) return undefined
  const long = named.length >= least ? named : named.padEnd(least, "example")
  return long.length <= most ? long : long.slice(0, most)
}

const numberOf = (schema: JsonObject, whole: boolean): number => {
  const bound = (keyword: string, step: number): number | null => {
    const limit = schema[keyword]
    return typeof limit === "number" ? limit + step : null
  }
  const least = bound("minimum", 0) ?? bound("exclusiveMinimum", whole ? 1 : 0.5)
  const most = bound("maximum", 0) ?? bound("exclusiveMaximum", whole ? -1 : -0.5)
  const wished = Math.min(Math.max(1, least ?? 1), most ?? Number.POSITIVE_INFINITY)
  const { multipleOf } = schema
  const step = typeof multipleOf === "number" ? multipleOf : whole ? 1 : 0
  return step === 0 ? wished : Math.ceil(wished / step) * step
}

const typeOf = (schema: JsonObject): Json | undefined => {
  const { type } = schema
  if (Array.isArray(type)) return type.find((one) => one !== "null") ?? type[0]
  if (type !== undefined) return type
  if ("properties" in schema || "required" in schema) return "object"
  if ("items" in schema) return "array"
  return "pattern" in schema || "format" in schema || "minLength" in schema ? "string" : undefined
}

/** `name` is the field that the value is for. Undefined when nothing plausible comes to mind. */
export const sample = (root: Json, definitions: Definitions, name = ""): Json | undefined => {
  let values = 0

  const objectOf = (schema: JsonObject, depth: number): Json => {
    const { properties, required } = schema
    const fields = properties !== undefined && isJsonObject(properties) ? properties : {}
    const names = Array.isArray(required) ? required.filter((one) => typeof one === "string") : []
    const entries = names.flatMap((key): Array<[string, Json]> => {
      if (unsafeName(key)) return []
      const own = Object.hasOwn(fields, key) ? fields[key] : undefined
      const value = own === undefined ? "example" : valueOf(own, key, depth + 1)
      return value === undefined ? [] : [[key, value]]
    })
    return Object.fromEntries(entries)
  }

  const listOf = (schema: JsonObject, field: string, depth: number): Json | undefined => {
    const { items, prefixItems, minItems } = schema
    const least = typeof minItems === "number" ? minItems : 0
    const first = Array.isArray(prefixItems) ? prefixItems.slice(0, itemsMax) : []
    if (least > 50) return undefined
    const list = first.map((one) => valueOf(one, field, depth + 1)).filter((one) => one !== undefined)
    if (list.length > 0 && list.length >= least) return list
    const item = valueOf(items ?? {}, field.replace(/s$/, ""), depth + 1)
    return item === undefined
      ? list
      : [...list, ...Array.from({ length: Math.max(1, least - list.length) }, () => item)]
  }

  const plain = (schema: JsonObject, field: string, depth: number): Json | undefined => {
    switch (typeOf(schema)) {
      case "string":
        return text(schema, field)
      case "integer":
        return numberOf(schema, true)
      case "number":
        return numberOf(schema, false)
      case "boolean":
        return true
      case "object":
        return objectOf(schema, depth)
      case "array":
        return listOf(schema, field, depth)
      case "null":
        return null
      default:
        return undefined
    }
  }

  const composed = (schema: JsonObject, field: string, depth: number): ReadonlyArray<Json> => {
    const { $ref, allOf, anyOf, oneOf } = schema
    const target = typeof $ref === "string" ? $ref.slice(prefix.length) : null
    const properties = schema["properties"]
    /** `anyOf: [{required: ["a"]}]` speaks of fields that are described outside. */
    const knowing = (branch: Json): Json => {
      if (!isJsonObject(branch) || properties === undefined || !isJsonObject(properties)) return branch
      const own = branch["properties"]
      return { ...branch, properties: { ...properties, ...(own !== undefined && isJsonObject(own) ? own : {}) } }
    }
    const parts: Array<Json> = target !== null && Object.hasOwn(definitions, target) ? [definitions[target] ?? {}] : []
    if (Array.isArray(allOf)) parts.push(...allOf.map(knowing))
    for (const branches of [anyOf, oneOf]) {
      if (!Array.isArray(branches)) continue
      const usual = branches.find((one) => !(isJsonObject(one) && one["type"] === "null")) ?? branches[0]
      if (usual !== undefined) parts.push(knowing(usual))
    }
    return parts.map((part) => valueOf(part, field, depth + 1)).filter((one) => one !== undefined)
  }

  const valueOf = (schema: Json, field: string, depth: number): Json | undefined => {
    if (schema === true) return "example"
    if (!isJsonObject(schema) || depth > depthMax || ++values > valuesMax) return undefined
    if (schema["const"] !== undefined) return schema["const"]
    const usual = schema["default"]
    // Some generators write an empty default beside every type.
    if (usual !== undefined && usual !== null && usual !== "") return usual
    const { enum: choices } = schema
    if (Array.isArray(choices)) return choices.find((one) => one !== null) ?? choices[0]
    const own = plain(schema, field, depth)
    const all = [...composed(schema, field, depth), ...(own === undefined ? [] : [own])]
    const objects = all.filter(isJsonObject)
    if (objects.length > 1) return Object.fromEntries(objects.flatMap((one) => Object.entries(one)))
    // A reference knows better than the type beside it.
    return all[0] ?? (Object.keys(schema).length === 0 ? "example" : undefined)
  }

  return valueOf(root, name, 0)
}
