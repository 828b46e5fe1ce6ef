/**
 * Reads the parameters of an operation: path, query, and Swagger 2's form fields and body.
 *
 * Callers can't set headers or cookies, and can't send the provider's key.
 */
import { field, isRecord, type Json, type JsonObject, listOf, textOf, toJson, unsafeName } from "../kit/json.ts"
import type { References, Spot } from "../kit/reference.ts"
import type { IsCredential } from "./security.ts"
import { plainText } from "../kit/text.ts"
import { shown, type Warnings } from "../kit/warnings.ts"
import type { Schemas } from "../schema/normal.ts"

/** An object schema with every field known. */
export interface Fields {
  readonly schema: JsonObject
  /** Documented examples by field, unchecked. */
  readonly examples: ReadonlyMap<string, Json>
}

export interface Parameters {
  readonly path: Fields
  readonly query: Fields
  /** Swagger 2: the form, and whether a field of it is a file. */
  readonly form: (Fields & { readonly file: boolean }) | null
  /** Swagger 2: where the body's schema is. */
  readonly body: Spot | null
}

export interface Reading {
  readonly references: References
  readonly schemas: Schemas
  readonly warnings: Warnings
  readonly isCredential: IsCredential
}

/** Parameters of one operation; nobody writes a tenth of it. */
const parametersMax = 500

/** Headers that our client sets itself. */
const ownHeaders = new Set(["content-type", "accept", "accept-encoding", "user-agent", "host", "content-length"])

/** Each placeholder once, in order. */
export const placeholders = (path: string): ReadonlyArray<string> => [
  ...new Set(Array.from(path.matchAll(/\{([^{}/]+)\}/g), (match) => match[1] ?? ""))
]

const closed = (
  entries: ReadonlyArray<readonly [string, JsonObject]>,
  required: ReadonlyArray<string>
): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(entries),
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false
})

/** The first documented example: `example`, or the first of `examples`, which may be a reference. */
export const exampleOf = (references: References, at: Spot): unknown => {
  const own = field(at.node, "example") ?? field(at.node, "x-example")
  if (own !== undefined) return own
  const examples = field(at.node, "examples")
  if (Array.isArray(examples)) return examples[0]
  const [first] = Object.values(isRecord(examples) ? examples : {})
  const spot = references.follow({ ...at, node: first })
  return "problem" in spot ? undefined : (field(spot.node, "value") ?? field(spot.node, "dataValue"))
}

/** What a parameter says of itself and not of its value. */
const parameterWords = new Set([
  "name",
  "in",
  "required",
  "style",
  "explode",
  "allowReserved",
  "description",
  "deprecated"
])

/** Where a parameter's schema is: of its own, of its only media type, or (Swagger 2) the parameter itself. */
const schemaSpot = (at: Spot): Spot => {
  const own = field(at.node, "schema")
  if (own !== undefined) return { ...at, node: own }
  const content = field(at.node, "content")
  if (isRecord(content)) return { ...at, node: field(Object.values(content)[0], "schema") ?? {} }
  if (!isRecord(at.node)) return { ...at, node: {} }
  return { ...at, node: Object.fromEntries(Object.entries(at.node).filter(([key]) => !parameterWords.has(key))) }
}

const fieldsOf = (
  { references, schemas }: Reading,
  where: string,
  spots: ReadonlyArray<readonly [name: string, at: Spot]>,
  allRequired: boolean
): Fields => {
  const entries: Array<readonly [string, JsonObject]> = []
  const examples = new Map<string, Json>()
  const required: Array<string> = []
  for (const [name, at] of spots) {
    const place = schemaSpot(at)
    const schema = schemas.read(place, where)
    const description = plainText(field(at.node, "description"))
    const deprecated = field(at.node, "deprecated") === true
    entries.push([
      name,
      {
        ...schema,
        ...(description === "" || "description" in schema ? {} : { description }),
        ...(deprecated ? { deprecated } : {})
      }
    ])
    if (allRequired || field(at.node, "required") === true) required.push(name)
    const target = references.follow(place)
    const schemaExample = "problem" in target ? undefined : exampleOf(references, target)
    const example = toJson(exampleOf(references, at) ?? schemaExample)
    if (example !== undefined) examples.set(name, example)
  }
  return { schema: closed(entries, required), examples }
}

/** Path-level and operation-level parameters as one list; the operation's wins. */
const merge = (
  { references, warnings }: Reading,
  where: string,
  holders: ReadonlyArray<Spot>
): ReadonlyMap<string, Spot> => {
  const all = new Map<string, Spot>()
  for (const holder of holders) {
    const nodes = listOf(field(holder.node, "parameters"))
    if (nodes.length > parametersMax) warnings.add(where, `parameters beyond ${parametersMax} are left out`)
    for (const node of nodes.slice(0, parametersMax)) {
      const at = references.follow({ source: holder.source, pointer: [], node })
      if ("problem" in at) {
        warnings.add(where, `a parameter is left out: ${at.problem}`)
        continue
      }
      const name = textOf(field(at.node, "name"))?.toWellFormed() ?? null
      const place = textOf(field(at.node, "in"))
      if (name === null || place === null) warnings.add(where, `a parameter without a name or a place is left out`)
      else if (unsafeName(name)) warnings.add(where, `the parameter ${name} is left out`)
      else all.set(`${place} ${name}`, at)
    }
  }
  return all
}

export const readParameters = (
  reading: Reading,
  where: string,
  path: string,
  holders: ReadonlyArray<Spot>
): Parameters => {
  const { warnings, isCredential } = reading
  const inPath = new Map<string, Spot>()
  const inQuery: Array<readonly [string, Spot]> = []
  const inForm: Array<readonly [string, Spot]> = []
  let body: Spot | null = null
  for (const [key, at] of merge(reading, where, holders)) {
    const space = key.indexOf(" ")
    const [place, name] = [key.slice(0, space), key.slice(space + 1)]
    const required = field(at.node, "required") === true
    const credential = isCredential(place, name, field(at.node, "description"))
    if (place === "path") inPath.set(name, at)
    else if (place === "body") body = { ...at, node: field(at.node, "schema") ?? {} }
    else if (place === "query") {
      if (!credential) inQuery.push([name, at])
    } else if (place === "formData") {
      if (!credential) inForm.push([name, at])
    } else if (place === "header" || place === "cookie") {
      if (required && !credential && !ownHeaders.has(name.toLowerCase())) {
        warnings.add(where, `the required ${place} ${shown(name)} can't be given and is left out`)
      }
    } else warnings.add(where, `the parameter ${shown(name)} in ${shown(place)} is left out`)
  }
  const holes = placeholders(path).filter((name) => !unsafeName(name))
  for (const name of inPath.keys()) {
    if (!holes.includes(name))
      warnings.add(where, `the path parameter ${shown(name)} has no placeholder and is left out`)
  }
  const undeclared: Spot = { source: 0, pointer: [], node: { schema: { type: "string" } } }
  const filled = holes.map((name) => [name, inPath.get(name) ?? undeclared] as const)
  const file = inForm.some(([, at]) => field(at.node, "type") === "file")
  return {
    path: fieldsOf(reading, where, filled, true),
    query: fieldsOf(reading, where, inQuery, false),
    form: inForm.length === 0 ? null : { ...fieldsOf(reading, where, inForm, false), file },
    body
  }
}
