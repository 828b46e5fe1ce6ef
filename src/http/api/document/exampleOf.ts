/**
 * Makes an example of what a schema describes, for the OpenAPI document. Pure.
 *
 * A schema that has `examples`, as nouns and their fields have, is shown with the first one, and times and amounts by their format. Fields
 * that may be left out are left out, unless they have an example.
 */
import { type Node, record } from "./Deprecated.ts"

/** Texts by their format. */
const texts: Readonly<Record<string, string>> = {
  "date-time": "2026-11-22T09:30:00.000Z",
  date: "2026-11-22",
  decimal: "5.00"
}

const textOf = ({ format }: Node): string | undefined => (typeof format === "string" ? texts[format] : undefined)

const numberOf = ({ minimum, maximum }: Node): number => {
  if (typeof minimum === "number" && minimum > 1) return minimum
  return typeof maximum === "number" && maximum < 1 ? maximum : 1
}

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const first = (node: Node): unknown => list(node["examples"])[0] ?? node["const"] ?? list(node["enum"])[0]

/** `schemas` are those that a schema refers to; `name` is that of its field. */
export const exampleOf = (schema: unknown, schemas: Node, name = ""): unknown => {
  // What is said of a checked text stands in the last check.
  const node = { ...record(list(record(schema)["allOf"]).at(-1)), ...record(schema) }
  const value = first(node)
  if (value !== undefined) return value
  const inner = (one: unknown, field = name) => exampleOf(one, schemas, field)
  const ref = node["$ref"]
  if (typeof ref === "string") return inner(schemas[ref.slice(ref.lastIndexOf("/") + 1)])
  if (node["contentSchema"] !== undefined) return JSON.stringify(inner(node["contentSchema"]))
  const choices = list(node["anyOf"] ?? node["oneOf"])
  if (choices.length > 0) {
    const [choice] = choices
    const isUnnamedText = record(choice)["type"] === "string" && textOf(record(choice)) === undefined
    return isUnnamedText && choices.some((one) => record(one)["type"] === "null") ? null : inner(choice)
  }
  switch (node["type"]) {
    case "object": {
      const required = list(node["required"])
      const shown = Object.entries(record(node["properties"])).filter(
        ([field, one]) => required.includes(field) || first(record(one)) !== undefined
      )
      return Object.fromEntries(shown.map(([field, one]) => [field, inner(one, field)]))
    }
    case "array":
      return [inner(node["items"])]
    case "integer":
    case "number":
      return numberOf(node)
    case "boolean":
      return true
    case "null":
      return null
    case undefined:
      return {}
    default:
      return textOf(node) ?? (name === "event" ? "run.finished" : "text")
  }
}
