/**
 * Compares every answer of the service with the OpenAPI document that it publishes: the status is documented, the body has the
 * documented form. test/kit/app.ts calls this for every request that a test makes.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/http/api/Api.ts"
import { once } from "./process-end.ts"

type Json = ReturnType<typeof JSON.parse>

interface Operation {
  readonly id: string
  readonly method: string
  readonly pattern: RegExp
  readonly path: string
  readonly responses: Readonly<Record<string, Json>>
}

export interface Answered {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: unknown
}

/** Any route may answer these; their body is always the one error form. */
const everywhere = new Set([400, 404, 405, 408, 413, 415, 429, 500, 503])
const errorSchema = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { code: { type: "string" }, message: { type: "string" }, details: { type: "array" } },
      required: ["code", "message"],
      additionalProperties: false
    },
    request_id: { type: "string" }
  },
  required: ["error", "request_id"],
  additionalProperties: false
}

/** The document leaves answers open for additions of later versions. This version must answer what it documents and nothing else. */
const closed = (node: Json): Json => {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== "object" || node === null) return node
  const members = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  const isObject = node.type === "object" && typeof node.properties === "object"
  return isObject ? { additionalProperties: false, ...members } : members
}

const load = () => {
  const document: Json = closed(JSON.parse(JSON.stringify(OpenApi.fromApi(Api))))
  // Formats are checked by the inputs' own tests; here the form of an answer counts.
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: "api", components: document.components })
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { operationId, responses }]): Operation => {
      const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{[^}]+\}/g, "[^/]+")}/?$`)
      return { id: operationId, method: method.toUpperCase(), pattern, path, responses }
    })
  )
  const checks = new Map<string, ValidateFunction>()
  /** Compiled when it is first needed: most test files need few of them. */
  const checkOf = (name: string, schema: () => Json): ValidateFunction => {
    const known = checks.get(name)
    if (known !== undefined) return known
    const text = JSON.stringify(schema()).replaceAll('"#/components/', '"api#/components/')
    const made = ajv.compile(JSON.parse(text))
    checks.set(name, made)
    return made
  }
  return { operations, ajv, checkOf, seen: new Map<string, number>() }
}

export const contract = () => once("openapi", load)

/** What an answer has against the document, as a sentence; null when it conforms, or when the path is not of the API. */
export const nonconformance = ({ method, path, status, headers, text, body }: Answered): string | null => {
  const { operations, ajv, checkOf, seen } = contract()
  const place = path.split("?")[0] ?? path
  const onPath = operations.filter(({ pattern }) => pattern.test(place))
  if (onPath.length === 0 || method === "HEAD" || method === "OPTIONS") return null
  const operation = onPath.find((one) => one.method === method)
  if (operation === undefined) {
    const allowed = new Set((headers.get("allow") ?? "").split(", "))
    const missing = onPath.filter((one) => !allowed.has(one.method))
    if (status !== 405) return `the method is not documented, and the status is ${status}`
    return missing.length === 0 ? null : `Allow lacks ${missing.map((one) => one.method)}`
  }
  // A part of the path that is longer than any id is met by no route, so no operation answered.
  if (status === 404 && text.includes(`"code":"not_found"`)) return null
  seen.set(`${operation.id} ${status}`, (seen.get(`${operation.id} ${status}`) ?? 0) + 1)
  const documented = operation.responses[String(status)]
  if (documented === undefined && !everywhere.has(status)) return `the status ${status} is not documented`
  const type = headers.get("content-type") ?? ""
  if (type.startsWith("application/problem+json")) return null
  const plain = type.split(";")[0] ?? ""
  const texts = ["text/csv", "application/x-ndjson", "application/jose"]
  if (texts.includes(plain) && documented?.content?.[plain] !== undefined) return null
  if (documented?.content?.["text/event-stream"] !== undefined)
    return type.startsWith("text/event-stream") ? null : `the content type is ${type}`
  const schema = documented?.content?.["application/json"]?.schema
  if (documented !== undefined && schema === undefined)
    return text === "" ? null : `an answer ${status} has a body, and the document has none`
  if (!type.startsWith("application/json")) return `the content type is ${type}`
  const check =
    documented === undefined ? checkOf("error", () => errorSchema) : checkOf(`${operation.id} ${status}`, () => schema)
  return check(body) ? null : ajv.errorsText(check.errors)
}
