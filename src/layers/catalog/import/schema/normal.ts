/**
 * Converts any schema of an OpenAPI document to JSON Schema 2020-12 that compiles.
 *
 * References stay references: their target becomes a definition that is read once, so cyclic schemas end. Depth and size are limited. A part
 * beyond the limit accepts any value (`{}`), with a warning.
 */
import { isJsonObject, isRecord, type Json, type JsonObject, unsafeName } from "../kit/json.ts"
import { type References, refOf, type Spot } from "../kit/reference.ts"
import { shown, type Warnings } from "../kit/warnings.ts"
import { breakCircles } from "./circles.ts"
import { isSilent, lists, maps, type Patterns, patternProblem, readPlain, single, types } from "./keywords.ts"
import { merged, notNull, numericBounds, orNull, unwrapped } from "./shape.ts"

/** Levels of one schema; deeper parts stay open. */
export const schemaDepthMax = 64
/** Subschemas of one body, parameter or definition: the largest we know has 204, and compiling this many takes half a second. */
export const schemaNodesMax = 5_000
/** Subschemas of one import: bodies repeat the definition that they consist of. */
const importNodesMax = 300_000
const nameCharactersMax = 100

export interface Schemas {
  /** The schema at this place; `where` heads its warnings. */
  readonly read: (at: Spot, where: string) => JsonObject
  /** The same, with a reference at its top replaced by what it refers to, so that fields are seen at once. */
  readonly readOpened: (at: Spot, where: string) => JsonObject
  /** Reads one more definition that somebody refers to; false when all are read. */
  readonly readNext: () => boolean
  readonly definitions: () => Readonly<Record<string, JsonObject>>
  /** Subschemas read so far. */
  readonly size: () => number
}

const nameOf = (pointer: ReadonlyArray<string>): string => {
  const own = pointer.filter((part, index) => index > 1 || !["components", "schemas", "definitions"].includes(part))
  const name = own
    .join("_")
    .replace(/[^A-Za-z0-9_.-]{1,100}/g, "_")
    .slice(-nameCharactersMax)
  return name === "" || unsafeName(name) ? "schema" : name
}

export const schemas = (references: References, warnings: Warnings): Schemas => {
  const patterns: Patterns = new Map()
  const nameByPlace = new Map<string, string>()
  const names = new Set<string>()
  const pending: Array<readonly [name: string, at: Spot, where: string]> = []
  const definitions = new Map<string, JsonObject>()
  let total = 0

  const definitionOf = (at: Spot): string => {
    const place = JSON.stringify([at.source, at.pointer])
    const existing = nameByPlace.get(place)
    if (existing !== undefined) return existing
    const base = nameOf(at.pointer)
    let name = base
    for (let next = 2; names.has(name); next++) name = `${base}_${next}`
    names.add(name)
    nameByPlace.set(place, name)
    pending.push([name, at, `#/${at.pointer.join("/").slice(0, 200)}`])
    return name
  }

  const walk = (at: Spot, where: string): JsonObject => {
    let nodes = 0
    const { source } = at

    const list = (keyword: string, given: unknown, depth: number): Json | undefined => {
      if (Array.isArray(given) && given.length > 0) return given.map((item: unknown) => sub(item, depth))
      warnings.add(where, `${keyword} is no list of schemas and is left out`)
      return undefined
    }

    const map = (keyword: string, given: unknown, depth: number): Json | undefined => {
      if (!isRecord(given)) {
        warnings.add(where, `${keyword} is no object of schemas and is left out`)
        return undefined
      }
      const entries: Array<readonly [string, Json]> = []
      for (const [name, item] of Object.entries(given)) {
        const problem = keyword === "patternProperties" ? patternProblem(patterns, name) : null
        if (problem !== null) warnings.add(where, `the pattern ${shown(name)} ${problem} and is left out`)
        else if (unsafeName(name)) warnings.add(where, `the property ${name} is left out`)
        else entries.push([name.toWellFormed(), sub(item, depth)])
      }
      return Object.fromEntries(entries)
    }

    /** `items: [A, B]` of older drafts is `prefixItems`. */
    const items = (node: Readonly<Record<string, unknown>>, schema: Record<string, Json>, depth: number): void => {
      if (!Array.isArray(node["items"])) {
        const item = sub(node["items"], depth)
        schema["items"] = isJsonObject(item) && isBareObject(item) ? withoutType(item) : item
        return
      }
      if (node["items"].length > 0) schema["prefixItems"] = node["items"].map((item: unknown) => sub(item, depth))
      if (node["additionalItems"] !== undefined) schema["items"] = sub(node["additionalItems"], depth)
    }

    const typeOf = (given: unknown): Json | undefined => {
      const all: ReadonlyArray<unknown> = Array.isArray(given) ? given : [given]
      // Swagger's word for an upload; on the wire it is text of any kind.
      const jsonTypes = all.map((one) => (one === "file" ? "string" : one)).filter((one) => types.has(one))
      if (jsonTypes.length < all.length) warnings.add(where, `the type ${shown(given)} is not known and is left out`)
      const unique = [...new Set(jsonTypes)].filter((one): one is string => typeof one === "string")
      return unique.length < 2 ? unique[0] : unique
    }

    const requiredOf = (node: Readonly<Record<string, unknown>>): Json | undefined => {
      const required = node["required"]
      if (typeof required === "boolean") return undefined
      if (!Array.isArray(required)) {
        warnings.add(where, "required is no list of names and is left out")
        return undefined
      }
      const properties = isRecord(node["properties"]) ? node["properties"] : {}
      const requiredNames = required.filter((name): name is string => {
        if (typeof name !== "string" || unsafeName(name)) return false
        const property = Object.hasOwn(properties, name) ? properties[name] : undefined
        // Only answers hold what is read-only.
        return !(isRecord(property) && property["readOnly"] === true)
      })
      return requiredNames.length === 0 ? undefined : [...new Set(requiredNames)].map((name) => name.toWellFormed())
    }

    const sub = (node: unknown, depth: number): Json => (typeof node === "boolean" ? node : object(node, depth + 1))

    const object = (node: unknown, depth: number): JsonObject => {
      if (node === true) return {}
      if (node === false) return { not: {} }
      if (!isRecord(node)) {
        warnings.add(where, `${shown(node)} is no schema and is left open`)
        return {}
      }
      nodes++
      total++
      if (depth > schemaDepthMax) {
        warnings.add(where, `what is nested deeper than ${schemaDepthMax} levels is left open`)
        return {}
      }
      if (nodes > schemaNodesMax || total > importNodesMax) {
        const limit = total > importNodesMax ? `${importNodesMax} in one import` : `${schemaNodesMax} in one schema`
        warnings.add(total > importNodesMax ? "" : where, `subschemas beyond ${limit} are left open`)
        return {}
      }
      const schema: Record<string, Json> = {}
      const ref = refOf(node)
      if (ref !== null) {
        const target = references.resolve(source, ref)
        if ("problem" in target) warnings.add(where, `${target.problem}; the part is left open`)
        else if (typeof target.node === "boolean" || isRecord(target.node))
          schema["$ref"] = `#/$defs/${definitionOf(target)}`
        else warnings.add(where, `the reference ${shown(ref)} leads to no schema; the part is left open`)
      }
      for (const [keyword, value] of Object.entries(node)) {
        if (isSilent(keyword)) continue
        const read = keywordOf(keyword, value, node, schema, depth)
        if (read !== undefined) schema[keyword] = read
      }
      if (node["type"] !== undefined) {
        const type = typeOf(node["type"])
        if (type !== undefined) schema["type"] = type
        if (node["type"] === "file") schema["format"] = "binary"
      } else if (schema["properties"] !== undefined) schema["type"] = "object"
      if (node["required"] !== undefined) {
        const required = requiredOf(node)
        if (required !== undefined) schema["required"] = required
      }
      numericBounds(node, schema)
      if (schema["default"] === "" && !(schema["type"] ?? "string").toString().includes("string"))
        delete schema["default"]
      const plain = unwrapped(schema)
      return node["nullable"] === true || node["x-nullable"] === true ? orNull(plain) : plain
    }

    const keywordOf = (
      keyword: string,
      given: unknown,
      node: Readonly<Record<string, unknown>>,
      schema: Record<string, Json>,
      depth: number
    ): Json | undefined => {
      if (keyword === "items") {
        items(node, schema, depth)
        return undefined
      }
      if (single.has(keyword)) return sub(given, depth)
      if (lists.has(keyword)) return list(keyword, given, depth)
      if (maps.has(keyword)) return map(keyword, given, depth)
      if (keyword === "pattern") {
        const problem = patternProblem(patterns, given)
        if (problem === null && typeof given === "string") return given
        warnings.add(where, `the pattern ${shown(given)} ${problem} and is left out`)
        return undefined
      }
      // Swagger and OpenAPI 3.0 write these as flags; numericBounds reads them.
      if ((keyword === "exclusiveMinimum" || keyword === "exclusiveMaximum") && typeof given === "boolean")
        return undefined
      const reading = readPlain(keyword, given)
      if (reading !== null && "wrong" in reading) {
        warnings.add(where, `${shown(keyword)}: ${shown(given)} ${reading.wrong} and is left out`)
      }
      return reading !== null && "value" in reading ? reading.value : undefined
    }

    return object(at.node, 0)
  }

  const readOpened = (at: Spot, where: string): JsonObject => {
    const { ref, beside } = opened(at.node)
    const target = ref === null ? null : references.follow({ ...at, node: ref })
    // A document without a pointer is a file of parts, and no schema.
    if (target !== null && !("problem" in target) && target.pointer.length > 0 && isRecord(target.node)) {
      const whole = merged(notNull(walk({ ...at, node: beside }, where)), notNull(walk(target, where)))
      if (whole !== null) return whole
    }
    return notNull(walk(at, where))
  }

  return {
    read: walk,
    readOpened,
    readNext: () => {
      const next = pending.shift()
      if (next === undefined) return false
      const [name, at, where] = next
      definitions.set(name, walk(at, where))
      return true
    },
    definitions: () => Object.fromEntries(breakCircles(definitions, warnings)),
    size: () => total
  }
}

const bareKeywords = new Set(["type", "title", "description"])

/**
 * Generators write a list of anything as a list of objects without fields: taken at its word, DataForSEO's own examples of
 * `filters` (lists of lists of texts) would be refused in 37 endpoints.
 */
const isBareObject = ({ type, ...rest }: JsonObject): boolean =>
  Object.keys(rest).every((keyword) => bareKeywords.has(keyword)) &&
  (type === "object" || (Array.isArray(type) && type.every((one) => one === "object" || one === "null")))

const withoutType = (schema: JsonObject): JsonObject => {
  const { type: _, ...rest } = schema
  return rest
}

/** The reference that a node consists of, directly or as its only alternative, and what else the node says. */
const opened = (node: unknown): { readonly ref: unknown; readonly beside: unknown } => {
  if (!isRecord(node)) return { ref: null, beside: node }
  for (const keyword of ["$ref", "oneOf", "anyOf", "allOf"]) {
    const { [keyword]: value, ...beside } = node
    const carrier = keyword === "$ref" ? node : Array.isArray(value) && value.length === 1 ? value[0] : null
    if (refOf(carrier) !== null) return { ref: carrier, beside }
  }
  return { ref: null, beside: node }
}
