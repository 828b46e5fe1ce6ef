/**
 * Finds the fields of an endpoint's input that look like cost drivers: limits, counts, depths, lists, switches, and those whose
 * description mentions charges.
 *
 * A paid endpoint ships only if each such field is the `field` of a driver or is listed in `flat`. The check goes by field names, so that no
 * endpoint ships by accident before somebody has read its documentation.
 */
import {
  type Endpoint,
  endpointKey,
  type ProviderDocument,
  type UndescribedField
} from "../../../../schema/catalog/Endpoint.ts"
import { namesCount, nameSet as words, wordsOf } from "../../../../schema/catalog/CostNames.ts"
import { isRecord } from "../../../../schema/json/Json.ts"
import type { Rate } from "./rates.ts"

/** Words in the names of options that make a unit more expensive. */
const options = words(
  "proxy render rendering javascript browser premium stealth reveal enrich enrichment include enable load deep advanced mode model formats contents extract extraction clickstream screenshot livecrawl summary highlights text llm agent realtime real live fresh bulk waterfall scrape rectangles resolution tier processor quality"
)
/** Words in the names of lists whose items are billed one by one, also as a comma-separated string. */
const lists = words(
  "urls emails domains keywords ids targets tasks requests queries companies people persons profiles handles usernames users accounts recipients numbers phones sites links contacts leads websites"
)
/** Words in the names of lists that count only as arrays. A string with such a name is one value. */
const arrays = words("inputs records details entries messages names pages items data objects subjects locations")
/** Recipient fields of a message. They must match as a whole, because `to` is a preposition in other names. */
const receivers = words("to cc bcc")
/** Phrases in the description of a field that changes the price. */
const saysSo =
  /additional charges?|be charged|are charged|is charged|billed|charge per|multiplied by|credits?\b|extra cost|\bcosts?\b|\bpric(e|ing) (of|per|page)/i
/** How deep a recursive schema is followed. Deeper fields have the same names. */
const depthMax = 12
/** Maximum number of visited schemas. Schemas with many references to each other would otherwise take minutes. */
const nodesMax = 50_000
/** Reported instead of the fields of a schema that is too large. */
const tooLarge = "(the schema is too large to be checked)"

const typesOf = (schema: Readonly<Record<string, unknown>>): ReadonlyArray<unknown> => {
  const type = schema["type"]
  if (Array.isArray(type)) return type
  if (type !== undefined) return [type]
  return isRecord(schema["properties"]) ? ["object"] : schema["items"] !== undefined ? ["array"] : []
}

/** Whether the format is that of a single value, such as a date or a URL. Then the name does not matter. */
const isProse = (schema: Readonly<Record<string, unknown>>): boolean =>
  ["date", "date-time", "uri", "url", "email", "uuid"].includes(String(schema["format"]))

const looksLikeDriver = (name: string, schema: Readonly<Record<string, unknown>>): boolean => {
  const parts = wordsOf(name)
  const types = typesOf(schema)
  const may = (...kinds: ReadonlyArray<string>) => types.length === 0 || kinds.some((kind) => types.includes(kind))
  const has = (names: ReadonlySet<string>) => parts.some((word) => names.has(word))
  if (typeof schema["description"] === "string" && saysSo.test(schema["description"])) return true
  if (receivers.has(name.toLowerCase())) return true
  if (has(lists) && may("array", "string") && schema["enum"] === undefined) return true
  if (has(arrays) && may("array")) return true
  // The items of a list of objects are probably billed one by one.
  if (types.includes("array") && arrayOfObjects(schema)) return true
  if (isProse(schema)) return false
  if (namesCount(name) && may("integer", "number", "string")) return true
  return has(options) && (may("boolean", "object", "array") || schema["enum"] !== undefined)
}

const arrayOfObjects = (schema: Readonly<Record<string, unknown>>): boolean => {
  const items = schema["items"]
  return isRecord(items) && (typesOf(items).includes("object") || items["$ref"] !== undefined)
}

interface Place {
  readonly path: string
  readonly name: string
}

const below = (at: string, name: string) => (at === "" ? name : `${at}.${name}`)

/** Every field of a schema that looks like a driver, as dotted paths in the driver's notation. */
export const suspects = (schema: unknown, definitions: ProviderDocument["definitions"]): ReadonlyArray<string> => {
  const paths = new Set<string>()
  let nodes = 0
  const walk = (node: unknown, at: Place, seen: ReadonlyArray<string>, depth: number): void => {
    if (!isRecord(node) || depth > depthMax) return
    if (nodes++ > nodesMax) return void paths.add(tooLarge)
    const ref = node["$ref"]
    if (typeof ref === "string") {
      const name = ref.slice("#/$defs/".length)
      if (!seen.includes(name) && Object.hasOwn(definitions, name)) {
        walk(definitions[name], at, [...seen, name], depth + 1)
      }
    }
    const isTop = at.path === ""
    if (!isTop && at.name !== "*" && looksLikeDriver(at.name, node)) paths.add(at.path)
    for (const branches of [node["anyOf"], node["oneOf"], node["allOf"]]) {
      if (Array.isArray(branches)) for (const branch of branches) walk(branch, at, seen, depth + 1)
    }
    const properties = node["properties"]
    if (isRecord(properties)) {
      for (const [name, child] of Object.entries(properties)) {
        walk(child, { path: below(at.path, name), name }, seen, depth + 1)
      }
    }
    const items = [node["items"], ...(Array.isArray(node["prefixItems"]) ? node["prefixItems"] : [])]
    // The items of a top-level list are probably billed one by one.
    if (isTop && typesOf(node).includes("array")) paths.add(".")
    for (const item of items) walk(item, { path: below(at.path, "*"), name: "*" }, seen, depth + 1)
    walk(node["additionalProperties"], { path: below(at.path, "*"), name: "*" }, seen, depth + 1)
  }
  walk(schema, { path: "", name: "" }, [], 0)
  return [...paths]
}

/** The possible drivers of a whole request. On GET the input is the query, as in drivers. */
export const costFields = (endpoint: Endpoint, definitions: ProviderDocument["definitions"]): ReadonlyArray<string> => {
  const query = suspects(endpoint.query_params, definitions)
  const path = suspects(endpoint.path_params, definitions).map((field) => `path.${field}`)
  if (endpoint.method === "GET") return [...path, ...query]
  const body = endpoint.body === null ? [] : suspects(endpoint.body, definitions)
  return [...path, ...query.map((field) => `query.${field}`), ...body]
}

const covers = (named: string, field: string) => named === field || field.startsWith(`${named}.`)

/** Possible drivers that are neither a driver nor flat. A flat field covers the fields inside it. */
export const undescribed = (
  endpoint: Endpoint,
  definitions: ProviderDocument["definitions"],
  rate: Rate | undefined
): ReadonlyArray<string> => {
  // The marketplace itself enforces the cap of an actor's run.
  if (endpoint.cost.model === "free" || endpoint.body_type === "actor_input") return []
  const drivers = (rate?.drivers ?? []).map((driver) => driver.field)
  const flat = rate?.flat ?? []
  return costFields(endpoint, definitions).filter(
    (field) => !drivers.includes(field) && !flat.some((named) => covers(named, field))
  )
}

/** The fields of a document's endpoints that prevent it from shipping, given the rate of each endpoint. */
export const undescribedFields = (
  { endpoints, definitions }: Pick<ProviderDocument, "endpoints" | "definitions">,
  rateOf: (endpoint: Endpoint) => Rate | undefined
): ReadonlyArray<UndescribedField> =>
  endpoints.flatMap((endpoint) =>
    undescribed(endpoint, definitions, rateOf(endpoint)).map((field) => ({ where: endpointKey(endpoint), field }))
  )
