/**
 * Converts the input schema of a marketplace actor to JSON Schema 2020-12.
 *
 * Hints for the marketplace's own forms are dropped, and their prefilled values become the example. Unknown fields stay allowed, because
 * actors read fields that their schema does not name. Other unsupported parts are left out with a warning.
 */
import type { Endpoint, Warning } from "../../../../schema/catalog/Endpoint.ts"
import { linearPattern } from "../../input/LinearPatterns.ts"
import { isRecord, type Json } from "../kit/fields.ts"
import { needing, type Needs } from "../kit/needing.ts"
import { compiled } from "../kit/validity.ts"

export interface ActorInput {
  /** Null if the build has no input schema. */
  readonly body: Endpoint["body"]
  /** The values that the actor's own form is filled with. Null if the schema refuses them. */
  readonly example: Readonly<Record<string, Json>> | null
  readonly warnings: ReadonlyArray<Warning>
}

type ObjectJson = Readonly<Record<string, Json>>

/** Deeper than the schema of any form. Beyond it a schema allows any value. */
const depthMax = 12
/** Deeper than any value of a form. Deeper values are left out, because they could exhaust the stack. */
const valueDepthMax = 50
/** Larger example values are left out. */
const exampleBytesMax = 20_000
/** Fields beyond this are left out with a warning. */
const fieldsMax = 500

const oneUrl: Needs = [["urls"], ["url"]]
const oneDomain: Needs = [["domains"], ["domain"]]
/** What an actor's descriptions ask for and its schema does not. Without it a run scrapes an example of the author, or nothing, and is charged. */
const needs: Readonly<Record<string, Needs>> = {
  "harvestapi/linkedin-company": [["companies"], ["searches"]],
  "thescrappa/domain-availability-checker": oneDomain,
  "thescrappa/google-jobs-scraper": [["q"], ["next_page_token"]],
  "thescrappa/google-news-scraper": [
    ...[["queries"], ["q"], ["topic_token"], ["kgmid"], ["publication_token"], ["section_token"], ["story_token"]]
  ],
  "thescrappa/indeed-jobs-scraper": [["query"], ["location"], ["cursor"]],
  "thescrappa/linkedin-company-scraper": oneUrl,
  "thescrappa/linkedin-jobs-search-scraper": [["query"]],
  "thescrappa/linkedin-profile-scraper": oneUrl,
  "thescrappa/similarweb-traffic-analytics-scraper": oneDomain,
  "thescrappa/tiktok-ads-scraper": oneUrl,
  "thescrappa/website-content-extractor-scraper": oneUrl
}

const texts = new Set(["title", "description"])
const counts = new Set(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"])
const bounds = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
const types = new Set(["string", "integer", "number", "boolean", "array", "object", "null"])

const isObject = (value: unknown): value is ObjectJson => isRecord(value) && isJson(value)

const isJson = (value: unknown, depth = 0): value is Json =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (depth < valueDepthMax &&
    (Array.isArray(value)
      ? value.every((one) => isJson(one, depth + 1))
      : isRecord(value) && Object.values(value).every((one) => isJson(one, depth + 1))))

const typesOf = (node: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const said = Array.isArray(node["type"]) ? node["type"] : [node["type"]]
  const names = [...new Set(said)].filter((one) => typeof one === "string").filter((one) => types.has(one))
  return node["nullable"] === true && names.length > 0 && !names.includes("null") ? [...names, "null"] : names
}

const convert = (
  node: Readonly<Record<string, unknown>>,
  where: string,
  warn: (where: string, message: string) => void,
  depth: number
): ObjectJson => {
  if (depth > depthMax) return {}
  // The platform gives an actor access to every storage that its input names, and one account has the storages of all organizations.
  if (typeof node["resourceType"] === "string")
    return { description: "Not available here: it names a storage of the shared account.", type: "null" }
  const schema: Record<string, Json> = {}
  const kinds = typesOf(node)
  if (kinds.length > 0) schema["type"] = kinds.length === 1 ? (kinds[0] ?? "string") : [...kinds]
  for (const [key, value] of Object.entries(node)) {
    if (texts.has(key) && typeof value === "string") schema[key] = value
    else if (counts.has(key) && typeof value === "number" && Number.isInteger(value) && value >= 0) schema[key] = value
    else if (bounds.has(key) && typeof value === "number" && Number.isFinite(value)) schema[key] = value
    else if (key === "uniqueItems" && typeof value === "boolean") schema[key] = value
    else if (key === "default" && isJson(value)) schema[key] = value
    else if (key === "enum" && isJson(value) && Array.isArray(value) && value.length > 0)
      schema[key] = enumOf(value, kinds)
    else if (key === "pattern" && typeof value === "string") {
      if (linearPattern(value) !== null) schema[key] = value
      else warn(where, "its pattern is left out: it can't be run in linear time")
    } else if (key === "items" && isRecord(value)) schema[key] = convert(value, `${where}[]`, warn, depth + 1)
    else if (key === "properties" && isRecord(value)) schema[key] = propertiesOf(value, where, warn, depth + 1)
    else if (key === "required" && Array.isArray(value)) {
      const names = [...new Set(value.filter((one) => typeof one === "string"))]
      if (names.length > 0) schema[key] = names
    }
  }
  return schema
}

const enumOf = (values: ReadonlyArray<Json>, kinds: ReadonlyArray<string>): ReadonlyArray<Json> => {
  const distinct = [...new Map(values.map((one) => [JSON.stringify(one), one])).values()]
  return kinds.includes("null") && !distinct.includes(null) ? [...distinct, null] : distinct
}

const propertiesOf = (
  fields: Readonly<Record<string, unknown>>,
  where: string,
  warn: (where: string, message: string) => void,
  depth: number
): ObjectJson => {
  const entries = Object.entries(fields)
  if (entries.length > fieldsMax) warn(where, `only its first ${fieldsMax} fields are kept`)
  return Object.fromEntries(
    entries.slice(0, fieldsMax).map(([name, field]) => {
      const at = where === "" ? name : `${where}.${name}`
      if (isRecord(field)) return [name, convert(field, at, warn, depth)] as const
      warn(at, "is no schema: any value is allowed")
      return [name, {}] as const
    })
  )
}

const shown = (field: unknown): Json | undefined => {
  if (!isRecord(field)) return undefined
  const value = field["prefill"] ?? field["default"]
  return isJson(value) && value !== null && value !== "" && JSON.stringify(value).length <= exampleBytesMax
    ? value
    : undefined
}

/** A placeholder of the right type, for a required field that the form does not fill. */
const stand = (schema: ObjectJson): Json => {
  const choice = schema["enum"]
  if (Array.isArray(choice)) return choice[0] ?? null
  const kind = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"]
  if (kind === "integer" || kind === "number") return typeof schema["minimum"] === "number" ? schema["minimum"] : 1
  if (kind === "boolean") return false
  if (kind === "array") return []
  if (kind === "object") return {}
  return "example"
}

/** The example without the fields that the schema refuses. Null if it is still not a valid input. */
const accepted = (body: ObjectJson, example: ObjectJson): ObjectJson | null => {
  const validate = compiled(body)
  const fields = Object.entries(example)
  if (validate(example)) return example
  const wrong = new Set((validate.errors ?? []).map((error) => error.instancePath.split("/")[1] ?? ""))
  const rest: ObjectJson = Object.fromEntries(fields.filter(([name]) => !wrong.has(name)))
  return validate(rest) ? rest : null
}

const parsed = (text: unknown): unknown => {
  if (typeof text !== "string") return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads an input schema from an actor's repository. `where` names the actor in warnings. */
export const actorSchema = (schema: unknown, where: string, actor = where): ActorInput => {
  const warnings: Array<Warning> = []
  const warn = (at: string, message: string) =>
    warnings.push({ where: where === "" ? at : `${where} ${at}`.trim(), message })
  if (!isRecord(schema) || !isRecord(schema["properties"])) {
    warn("", "the build has no input schema: any input is allowed")
    return { body: null, example: null, warnings }
  }
  const { title: _title, ...form } = schema
  const fields = Object.entries(schema["properties"])
  const names = new Set(fields.map(([name]) => name))
  // A later build may have other fields.
  const needed = (needs[actor] ?? []).filter((group) => group.every((name) => names.has(name)))
  const body: ObjectJson = needing({ ...convert(form, "", warn, 0), type: "object" }, needed)
  const required = Array.isArray(body["required"]) ? body["required"] : []
  const properties = isRecord(body["properties"]) ? body["properties"] : {}
  const filled: Record<string, Json> = {}
  for (const [name, field] of fields) {
    const isRequired = required.includes(name)
    const value = shown(field)
    const own = properties[name]
    if (value !== undefined && (isRequired || (isRecord(field) && "prefill" in field))) filled[name] = value
    else if (isRequired && isObject(own)) filled[name] = stand(own)
  }
  return { body, example: accepted(body, filled), warnings }
}

/** Reads the input schema of an actor's build: from its definition, or from the JSON text in older builds. */
export const actorInput = (build: unknown, actor = ""): ActorInput => {
  const data = isRecord(build) && isRecord(build["data"]) ? build["data"] : build
  const definition = isRecord(data) && isRecord(data["actorDefinition"]) ? data["actorDefinition"]["input"] : undefined
  const old = isRecord(data) ? parsed(data["inputSchema"]) : undefined
  const usable = (schema: unknown) => isRecord(schema) && isRecord(schema["properties"])
  return actorSchema(usable(definition) || !usable(old) ? definition : old, "", actor)
}
