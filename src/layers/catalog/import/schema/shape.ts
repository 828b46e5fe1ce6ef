/** Converts OpenAPI's own keywords to JSON Schema 2020-12: `nullable`, boolean bounds, missing types. */
import { isJsonObject, type Json, type JsonObject } from "../kit/json.ts"

/** Keywords that say something about the whole value, so that "or null" can't simply be added to `type`. */
const composed = ["$ref", "allOf", "anyOf", "oneOf", "not", "const", "if"]
const annotations = new Set(["title", "description", "default", "deprecated"])

const nothing: JsonObject = { type: "null" }

/** The same schema, and null. */
export const orNull = (schema: JsonObject): JsonObject => {
  if (!composed.some((keyword) => keyword in schema)) {
    const { type, enum: values } = schema
    const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
    return {
      ...schema,
      ...(types.length === 0 || types.includes("null") ? {} : { type: [...types, "null"] }),
      ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {})
    }
  }
  const entries = Object.entries(schema)
  const outside = entries.filter(([keyword]) => annotations.has(keyword))
  const inside = entries.filter(([keyword]) => !annotations.has(keyword))
  const { anyOf } = schema
  const branches = inside.length === 1 && Array.isArray(anyOf) ? anyOf : [Object.fromEntries(inside)]
  const knows = branches.some((branch) => isJsonObject(branch) && branch["type"] === "null")
  return { ...Object.fromEntries(outside), anyOf: knows ? branches : [...branches, nothing] }
}

/** A schema for a value that must be there: without "or null" at its top. */
export const notNull = (schema: JsonObject): JsonObject => {
  const { type, anyOf } = schema
  if (Array.isArray(type) && type.length > 1) {
    const types = type.filter((one) => one !== "null")
    const [only] = types
    return { ...schema, type: types.length === 1 && only !== undefined ? only : types }
  }
  if (!Array.isArray(anyOf)) return schema
  const { anyOf: _, ...rest } = schema
  const branches = anyOf.filter((branch) => !(isJsonObject(branch) && branch["type"] === "null"))
  const [only] = branches
  if (branches.length === 1 && only !== undefined && isJsonObject(only)) return merged(rest, only) ?? schema
  return branches.length === 0 ? schema : { ...rest, anyOf: branches }
}

/** Both in one object, when no keyword says two things; what the outer one describes, it describes better. */
export const merged = (outer: JsonObject, inner: JsonObject): JsonObject | null => {
  const clash = Object.keys(inner).some(
    (keyword) =>
      keyword in outer && !annotations.has(keyword) && JSON.stringify(outer[keyword]) !== JSON.stringify(inner[keyword])
  )
  return clash ? null : { ...inner, ...outer }
}

/** `exclusiveMinimum: true` beside `minimum: 1` is `exclusiveMinimum: 1`. */
export const numericBounds = (node: Readonly<Record<string, unknown>>, schema: Record<string, Json>): void => {
  for (const [flag, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"]
  ] as const) {
    const limit = schema[bound]
    if (node[flag] !== true || limit === undefined) continue
    schema[flag] = limit
    delete schema[bound]
  }
}

/** A list of one alternative is that alternative: DataForSEO writes every reference so. */
export const unwrapped = (schema: JsonObject): JsonObject => {
  for (const keyword of ["oneOf", "anyOf", "allOf"]) {
    const list = schema[keyword]
    if (!Array.isArray(list) || list.length !== 1) continue
    const { [keyword]: _, ...rest } = schema
    const only: Json | undefined = list[0]
    if (only === undefined || !isJsonObject(only)) continue
    const whole = merged(rest, only)
    // Beside `additionalProperties` and its kin a merge would change what they see.
    if (whole !== null && (Object.keys(only).join() === "$ref" || !("properties" in rest || "properties" in only)))
      return whole
  }
  return schema
}
