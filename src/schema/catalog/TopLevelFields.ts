/**
 * Lifts the fields of an object schema out of its `allOf` and `$ref`, so that a reader finds `properties` and `required` at its top.
 *
 * The lifted schema accepts exactly the same values. A part that can't be merged, such as one that forbids additional properties, stays
 * in `allOf`, and its fields are repeated at the top.
 */
import { isRecord } from "../json/Json.ts"

type Node = Readonly<Record<string, unknown>>

/** Keywords whose meaning depends on the `properties` beside them. */
const tied = ["additionalProperties", "unevaluatedProperties", "patternProperties"]
/** Keywords that constrain nothing. The top keeps the first of each. */
const notes = ["description", "title"]

interface Lifted {
  /** Whether some part says that the value is an object. */
  isObject: boolean
  readonly properties: Map<string, unknown>
  readonly required: Set<string>
  readonly notes: Map<string, unknown>
  /** Parts that stay as they are. */
  readonly parts: Array<unknown>
}

const addProperties = (into: Lifted, properties: unknown) => {
  for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
    const before = into.properties.get(name)
    const isSame = JSON.stringify(before) === JSON.stringify(schema)
    into.properties.set(name, before === undefined || isSame ? schema : { allOf: [before, schema] })
  }
}

const isObjectSchema = ({ type }: Node) => type === undefined || type === "object"

/** `open` has the references that are being followed, so that a recursive schema ends. */
const lift = (node: Node, definitions: Node, into: Lifted, open: ReadonlySet<string>): void => {
  const { $ref, allOf, properties, required, type, ...rest } = node
  if (!isObjectSchema(node)) {
    into.parts.push(node)
    return
  }
  if (type === "object") into.isObject = true
  const isTied = tied.some((keyword) => keyword in node)
  addProperties(into, properties)
  for (const name of Array.isArray(required) ? required : []) if (typeof name === "string") into.required.add(name)
  for (const note of notes) if (note in rest && !into.notes.has(note)) into.notes.set(note, rest[note])
  const others = Object.entries(rest).filter(([keyword]) => !notes.includes(keyword))
  if (isTied) {
    into.parts.push(node)
    return
  }
  if (others.length > 0) into.parts.push(Object.fromEntries(others))
  const name = typeof $ref === "string" ? $ref.replace(/^#\/\$defs\//, "") : null
  const target = name === null ? undefined : definitions[name]
  if (name !== null && isRecord(target) && !open.has(name)) lift(target, definitions, into, new Set([...open, name]))
  else if ($ref !== undefined) into.parts.push({ $ref })
  for (const part of Array.isArray(allOf) ? allOf : []) {
    if (isRecord(part)) lift(part, definitions, into, open)
    else into.parts.push(part)
  }
}

/** Returns the schema unchanged if it has neither `allOf` nor `$ref`, or if these have no fields. */
export const withTopLevelFields = <S extends Node>(schema: S, definitions: Node): S | Node => {
  if (schema["allOf"] === undefined && schema["$ref"] === undefined) return schema
  const lifted: Lifted = { isObject: false, properties: new Map(), required: new Set(), notes: new Map(), parts: [] }
  lift(schema, definitions, lifted, new Set())
  if (lifted.properties.size === 0) return schema
  return {
    ...(lifted.isObject ? { type: "object" } : {}),
    ...Object.fromEntries(lifted.notes),
    properties: Object.fromEntries(lifted.properties),
    required: [...lifted.required],
    ...(lifted.parts.length === 0 ? {} : { allOf: lifted.parts })
  }
}
