/**
 * The shorthand in which a manifest writes fields: `string! The address`, `integer(1..100) How many`, `a|b|c`, `string[]`.
 *
 * A field is such a line, or an object of JSON Schema keywords, with `required: true` and `fields` for nested fields.
 * Every mistake is reported with its path. The result is plain JSON Schema, draft 2020-12.
 */
import { isRecord } from "../../../../schema/json/Json.ts"
import type { Schema } from "effect"

export type Json = Schema.Json
export type Fields = Readonly<Record<string, Json>>
type ObjectJson = Readonly<Record<string, Json>>
/** Reports a mistake at a path. */
export type Report = (path: string, message: string) => void

export { isRecord }
const isObject = (value: Json): value is ObjectJson => isRecord(value)

const plain: Readonly<Record<string, ObjectJson>> = {
  string: { type: "string" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  object: { type: "object" },
  any: {},
  email: { type: "string", format: "email" },
  url: { type: "string", format: "uri" },
  date: { type: "string", format: "date" }
}

const keywords = new Set([
  ...["type", "title", "description", "enum", "const", "default", "examples", "format", "pattern", "deprecated"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"],
  ...["minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "additionalProperties"],
  ...["anyOf", "oneOf", "allOf", "not", "$ref", "items", "required", "fields"]
])

/** A type, then `[]`, `(minimum..maximum)` and `!`, each optional. */
const grammar = /^([^\s!()[\]]+)(\[\])?(?:\((-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?\))?(!)?$/

interface Field {
  readonly schema: ObjectJson
  readonly required: boolean
}
const anything: Field = { schema: {}, required: false }

/** The keywords that bound a value of this type. */
const bounds = (type: Json | undefined, list: boolean): readonly [string, string] =>
  list ? ["minItems", "maxItems"] : type === "string" ? ["minLength", "maxLength"] : ["minimum", "maximum"]

const line = (text: string, path: string, report: Report): Field => {
  const [head = "", ...rest] = text.trim().split(/\s+/)
  const [, kind = "", list, least, most, need] = grammar.exec(head) ?? []
  const base = kind.includes("|")
    ? { type: "string", enum: kind.split("|") }
    : Object.hasOwn(plain, kind)
      ? plain[kind]
      : undefined
  if (base === undefined) {
    report(
      path,
      `${JSON.stringify(head)} is no type; known are ${Object.keys(plain).join(", ")}, a|b|c, each with [] and !`
    )
    return anything
  }
  const [low, high] = bounds(base["type"], list !== undefined)
  const description = rest.join(" ")
  return {
    schema: {
      ...(list === undefined ? base : { type: "array", items: base }),
      ...(least === undefined ? {} : { [low]: Number(least) }),
      ...(most === undefined ? {} : { [high]: Number(most) }),
      ...(description === "" ? {} : { description })
    },
    required: need !== undefined
  }
}

const field = (spec: Json, path: string, report: Report): Field => {
  if (typeof spec === "string") return line(spec, path, report)
  if (!isObject(spec)) {
    report(path, "must be a type such as string!, or an object of JSON Schema keywords")
    return anything
  }
  for (const key of Object.keys(spec)) if (!keywords.has(key)) report(`${path}.${key}`, "is no keyword of a field")
  const { required = false, fields, items, ...schema } = spec
  if (typeof required !== "boolean") report(`${path}.required`, "must be true or false")
  if (fields !== undefined && !isObject(fields)) report(`${path}.fields`, "must be an object of fields")
  const inner =
    fields !== undefined && isObject(fields) ? objectOf(fields, path === "" ? "fields" : `${path}.fields`, report) : {}
  return {
    schema: {
      ...inner,
      ...schema,
      ...(items === undefined ? {} : { items: field(items, `${path}.items`, report).schema })
    },
    required: required === true
  }
}

/** An object schema of these fields. `closed` forbids other fields. */
export const objectOf = (fields: Fields, path: string, report: Report, closed = false): ObjectJson => {
  const entries = Object.entries(fields).map(([name, spec]) => [name, field(spec, `${path}.${name}`, report)] as const)
  const required = entries.flatMap(([name, one]) => (one.required ? [name] : []))
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, one]) => [name, one.schema])),
    ...(required.length === 0 ? {} : { required }),
    ...(closed ? { additionalProperties: false } : {})
  }
}
