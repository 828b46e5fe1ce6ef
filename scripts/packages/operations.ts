/**
 * The operations of the API for generated clients, read from its OpenAPI document: what each takes, answers and allows.
 *
 * Operations of the operator, of the console's own sessions and of its consent page are left out: they need a cookie, which clients do not
 * have, or a person who reads.
 */
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/http/api/Api.ts"

/** A JSON Schema as the document has it. */
export interface Shape {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Shape>
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Shape
  readonly patternProperties?: Readonly<Record<string, Shape>>
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly description?: string
  readonly schema: Shape
}

interface Content {
  readonly schema: Shape
}

interface DocumentOperation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
}

export interface Operation {
  readonly group: string
  readonly name: string
  /** What it does, in one sentence. */
  readonly summary: string
  readonly method: string
  /** With `{parameters}`. */
  readonly path: string
  readonly pathParameters: ReadonlyArray<Parameter>
  readonly query: ReadonlyArray<Parameter>
  readonly body: Shape | null
  /** The body may be CSV text. */
  readonly takesCsv: boolean
  /** The JSON bodies of its successful responses, or null where they are text of `textType`, or have no body. */
  readonly answers: ReadonlyArray<Shape> | null
  readonly textType: string | null
  /** The items of a list of pages. */
  readonly item: Shape | null
  readonly takesKey: boolean
  /** It changes nothing, so it may be repeated. */
  readonly isRead: boolean
}

/** Reads whose question is too long for an address. */
const readsByPost = ["discovery.discover", "catalog.inspect", "history.batch", "quotes.quote"]
const ofConsole = /^(operator[A-Z]\w*|browser|oauth)\./
/** Streams have a method of their own, which continues after a lost connection. */
const streams = /^events\./

// The document is our own: test/http/openapi.test.ts checks its form.
export const document = (): Document => JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

/** The component that a schema refers to, or the schema itself. */
export const resolved = ({ components }: Document, shape: Shape): Shape => {
  if (shape.$ref === undefined) return shape
  const found = components.schemas[nameOf(shape.$ref)]
  if (found === undefined) throw new Error(`${shape.$ref} is not in the document`)
  return resolved({ components, paths: {} }, found)
}

/** The component's name in a reference. */
export const nameOf = (ref: string): string => ref.split("/").at(-1) ?? ref

const operationOf = (from: Document, method: string, path: string, found: DocumentOperation): Operation => {
  const [group = "", name = ""] = found.operationId.split(".")
  const parameters = found.parameters ?? []
  const successes = Object.entries(found.responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([, { content }]) => content ?? {})
  const json = successes.flatMap((content) => content["application/json"]?.schema ?? [])
  const textType = json.length > 0 ? null : (successes.flatMap((content) => Object.keys(content))[0] ?? null)
  const query = parameters.filter((one) => one.in === "query")
  const page = json[0] === undefined ? undefined : resolved(from, json[0])
  const isPaged = query.some((one) => one.name === "cursor") && page?.properties?.["next_cursor"] !== undefined
  const bodies = found.requestBody?.content ?? {}
  return {
    group,
    name,
    summary: found.summary ?? found.operationId,
    method: method.toUpperCase(),
    path,
    pathParameters: parameters.filter((one) => one.in === "path"),
    query: isPaged ? query.filter((one) => one.name !== "cursor") : query,
    body: bodies["application/json"]?.schema ?? null,
    takesCsv: bodies["text/csv"] !== undefined,
    answers: json.length > 0 ? json : null,
    textType,
    item: isPaged ? (page?.properties?.["items"]?.items ?? null) : null,
    takesKey: parameters.some((one) => one.name === "idempotency-key"),
    isRead: method === "get" || readsByPost.includes(found.operationId)
  }
}

/** In the order of their groups in the document. */
export const operations = (from: Document): ReadonlyArray<Operation> =>
  Object.entries(from.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, found]) => ({ path, method, found })))
    .filter(({ found }) => !ofConsole.test(found.operationId) && !streams.test(found.operationId))
    .map(({ path, method, found }) => operationOf(from, method, path, found))

/** Names of components that a list of schemas needs, also through others, in the order of their names. */
export const componentsOf = (from: Document, shapes: ReadonlyArray<Shape>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const visit = (shape: Shape): void => {
    if (shape.$ref !== undefined) {
      const name = nameOf(shape.$ref)
      if (seen.has(name)) return
      seen.add(name)
      visit(resolved(from, shape))
    }
    for (const inner of [
      ...(shape.anyOf ?? []),
      ...Object.values(shape.properties ?? {}),
      ...Object.values(shape.patternProperties ?? {}),
      ...(shape.items === undefined ? [] : [shape.items]),
      ...(typeof shape.additionalProperties === "object" ? [shape.additionalProperties] : [])
    ])
      visit(inner)
  }
  shapes.forEach(visit)
  return [...seen].sort()
}

/** Everything that an operation takes or answers. */
export const shapesOf = ({ body, answers, query }: Operation): ReadonlyArray<Shape> => [
  ...(body === null ? [] : [body]),
  ...(answers ?? []),
  ...query.map(({ schema }) => schema)
]

/** The public codes of errors. */
export const errorCodes = ({ components }: Document): ReadonlyArray<string> =>
  Object.keys(components.schemas)
    .filter((name) => name.endsWith("_error"))
    .map((name) => name.slice(0, -"_error".length))
    .sort()
