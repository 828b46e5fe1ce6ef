/**
 * The JSON schemas of a tool as hosts get them: short, because they are part of every conversation of a model.
 *
 * An input schema leaves out the bounds of texts, which the service checks anyway. An output schema names the members of an answer.
 * Tests check answers against the full schemas.
 */
import { type JsonSchema, Option, Schema } from "effect"
import { isRecord } from "../../schema/json/Json.ts"

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members => (isRecord(value) ? value : {})

/** Changes every schema inside a schema. `level` is 0 for the schema itself, and 1 for its members. */
const mapSchemas = (value: unknown, level: number, change: (schema: Members, level: number) => Members): unknown => {
  if (Array.isArray(value)) return value.map((one) => mapSchemas(one, level, change))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(change(value, level)).map(([name, member]) => [
      name,
      name === "properties"
        ? Object.fromEntries(
            Object.entries(membersOf(member)).map(([key, one]) => [key, mapSchemas(one, level + 1, change)])
          )
        : mapSchemas(member, level, change)
    ])
  )
}

/** The bounds of texts. Those of numbers stay: a model chooses numbers. */
const unbounded = (schema: Members): Members =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "minLength" && name !== "maxLength"))

const decode = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Unknown))
const published = (schema: unknown): JsonSchema.JsonSchema => Option.getOrElse(decode(schema), () => ({}))

/** What is left of a parameter that another tool has in full. */
const shortNames = new Set(["type", "enum", "anyOf"])
const shortened = (schema: Members, like: string): Members => ({
  ...Object.fromEntries(Object.entries(schema).filter(([name]) => shortNames.has(name))),
  description: `as in ${like}`
})

/** With `like`, the name of another tool, the parameters are described as that tool's, without their members and bounds. */
export const inputShown = (full: JsonSchema.JsonSchema, like: string | undefined): JsonSchema.JsonSchema =>
  published(
    mapSchemas(full, 0, (schema, level) =>
      like !== undefined && level === 1 && schema["description"] !== undefined
        ? shortened(schema, like)
        : unbounded(schema)
    )
  )

/** A reference is followed to its definition. */
const resolved = (schema: Members, definitions: Members): Members => {
  const reference = schema["$ref"]
  return typeof reference === "string" ? membersOf(definitions[reference.split("/").at(-1) ?? ""]) : schema
}

/** `full` is a union of objects. Types would take 3 kB more in the list of tools, and every answer is checked against `full` in tests. */
export const outputShown = (full: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  const definitions = membersOf(full["$defs"])
  const alternatives = Array.isArray(full["anyOf"]) ? full["anyOf"] : [full]
  const names = alternatives.flatMap((one) =>
    Object.keys(membersOf(resolved(membersOf(one), definitions)["properties"]))
  )
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) }
}
