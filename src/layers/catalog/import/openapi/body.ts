/** Reads the request body of an operation: the chosen media type, its schema and its documented example. */
import type { Endpoint } from "../../../../schema/catalog/Endpoint.ts"
import { field, isRecord, type Json, type JsonObject, listOf, toJson } from "../kit/json.ts"
import { exampleOf, type Parameters, type Reading } from "./parameters.ts"
import type { Spot } from "../kit/reference.ts"
import { shown } from "../kit/warnings.ts"

export interface Body {
  readonly body_type: "json" | "task"
  /** Null: no body, or one that `input` can't describe. */
  readonly schema: JsonObject | null
  readonly encoding: Endpoint["encoding"]
  /** Documented, unchecked. */
  readonly example: Json | undefined
}

const none: Body = { body_type: "json", schema: null, encoding: "json", example: undefined }

const essence = (mediaType: string): string => (mediaType.split(";")[0] ?? "").trim().toLowerCase()

const encodingOf = (mediaType: string): Endpoint["encoding"] | null => {
  const type = essence(mediaType)
  if (type === "application/json" || type.endsWith("+json") || type === "*/*" || type === "application/*") return "json"
  if (type === "application/x-www-form-urlencoded") return "form"
  return type === "multipart/form-data" ? "multipart" : null
}

/** JSON itself before its relatives, JSON before forms, forms before multipart. */
const rank = (mediaType: string): number => {
  if (essence(mediaType) === "application/json") return 0
  return { json: 1, form: 2, multipart: 3, none: 4 }[encodingOf(mediaType) ?? "none"]
}

/** Some documents write their examples as text that holds JSON. */
const unquoted = (example: unknown): Json | undefined => {
  if (typeof example !== "string" || !/^\s*[[{]/.test(example)) return toJson(example)
  try {
    return toJson(JSON.parse(example))
  } catch {
    return toJson(example)
  }
}

/** The array's items, when the body is an array; null when it isn't. */
const itemsOf = ({ references }: Reading, at: Spot): Spot | null => {
  const array = references.follow(at)
  if ("problem" in array) return null
  const items = field(array.node, "items")
  return isRecord(items) ? { ...array, node: items } : null
}

const schemaOf = (
  reading: Reading,
  where: string,
  asTask: boolean,
  at: Spot,
  encoding: Endpoint["encoding"],
  documented: unknown
): Body => {
  const target = reading.references.follow(at)
  const exampleValue = documented ?? ("problem" in target ? undefined : exampleOf(reading.references, target))
  const example = unquoted(exampleValue)
  const items = asTask && encoding === "json" ? itemsOf(reading, at) : null
  if (items === null) {
    return { body_type: "json", schema: reading.schemas.readOpened(at, where), encoding, example }
  }
  const task = Array.isArray(example) ? example[0] : example
  const ofItem = reading.references.follow(items)
  return {
    body_type: "task",
    schema: reading.schemas.readOpened(items, where),
    encoding,
    example: task ?? ("problem" in ofItem ? undefined : toJson(exampleOf(reading.references, ofItem)))
  }
}

const readRequestBody = (reading: Reading, where: string, asTask: boolean, operation: Spot): Body => {
  const { references, warnings } = reading
  const body = references.follow({ ...operation, node: field(operation.node, "requestBody") })
  if ("problem" in body) {
    warnings.add(where, `the request body is left open: ${body.problem}`)
    return { ...none, schema: {} }
  }
  const content = field(body.node, "content")
  if (!isRecord(content)) {
    warnings.add(where, "the request body names no media type and is left open")
    return { ...none, schema: {} }
  }
  const [best] = Object.keys(content).sort((a, b) => rank(a) - rank(b))
  if (best === undefined) return none
  const encoding = encodingOf(best)
  if (encoding === null) {
    warnings.add(where, `a body of type ${shown(best)} can't be given and is left out`)
    return none
  }
  const media = references.follow({ ...body, node: content[best] })
  if ("problem" in media) {
    warnings.add(where, `the request body is left open: ${media.problem}`)
    return { ...none, schema: {}, encoding }
  }
  const schema = field(media.node, "schema")
  const at = { ...media, node: schema ?? {} }
  return schemaOf(reading, where, asTask, at, encoding, exampleOf(references, media))
}

const readSwagger = (
  reading: Reading,
  where: string,
  asTask: boolean,
  parameters: Parameters,
  consumes: unknown
): Body => {
  if (parameters.body !== null) return schemaOf(reading, where, asTask, parameters.body, "json", undefined)
  const { form } = parameters
  if (form === null) return none
  const types = listOf(consumes).map((one) => essence(String(one)))
  const multipart = types.includes("multipart/form-data") && !types.includes("application/x-www-form-urlencoded")
  return {
    body_type: "json",
    schema: form.schema,
    encoding: form.file || multipart ? "multipart" : "form",
    example: form.examples.size === 0 ? undefined : Object.fromEntries(form.examples)
  }
}

export const readBody = (
  reading: Reading,
  where: string,
  method: Endpoint["method"],
  options: { readonly asTask: boolean; readonly consumes: unknown },
  operation: Spot,
  parameters: Parameters
): Body => {
  const hasRequestBody = field(operation.node, "requestBody") !== undefined
  if (method === "GET") {
    if (hasRequestBody || parameters.body !== null || parameters.form !== null) {
      reading.warnings.add(where, "the body of a GET can't be given and is left out")
    }
    return none
  }
  return hasRequestBody
    ? readRequestBody(reading, where, options.asTask, operation)
    : readSwagger(reading, where, options.asTask, parameters, options.consumes)
}
