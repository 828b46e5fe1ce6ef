/**
 * Reads OpenAPI documents (2.0, 3.0, 3.1, and the parts of 3.2 that equal 3.1) into the endpoints of one provider.
 *
 * Pure and deterministic: it opens no file and no connection. Every text ends in bounded time as a document with warnings or as a failure.
 * It yields to the event loop while it works.
 */
import { Effect } from "effect"
import { reachable } from "../../../../schema/catalog/Definitions.ts"
import {
  type Endpoint,
  endpointKey,
  type Imported,
  type ProviderDocument,
  type UndescribedField
} from "../../../../schema/catalog/Endpoint.ts"
import { undescribedFields } from "../cost/costFields.ts"
import type { ImportFailed, ImportOptions, SourceText } from "../kit/Import.ts"
import { type Body, readBody } from "./body.ts"
import { type Examples, examples, fewOf, type Part } from "./example.ts"
import { field, isJsonObject, type Json, type JsonObject, listOf, textOf } from "../kit/json.ts"
import { type Operation, operationsOf } from "./operations.ts"
import { type Parameters, type Reading, readParameters } from "./parameters.ts"
import { references } from "../kit/reference.ts"
import { authOf, baseUrlOf, credentials, serverOf } from "./security.ts"
import { readSources, type Source } from "../kit/source.ts"
import { plainText, readable, titleCharactersMax } from "../kit/text.ts"
import { type Warnings, warnings as noWarnings } from "../kit/warnings.ts"
import { schemas } from "../schema/normal.ts"

/** Work done before others have a turn, a few milliseconds: an operation counts ten, a subschema one. */
const sliceMax = 500
const operationWork = 10
/** Schemas compiled to check examples, a millisecond each; endpoints beyond them show none. */
const compiledMax = 3_000
const tagsMax = 20

/** An operation as it was read, before its example is found. */
interface Draft {
  readonly operation: Operation
  readonly parameters: Parameters
  readonly body: Body
  /** What reading it took, which is about what compiling it takes. */
  readonly work: number
  /** The origin that serves it, when that is not the base URL's. */
  readonly elsewhere: string | null
}

const unpriced: Endpoint["cost"] = { model: "unpublished", estimate: null, note: null }

/** Sleeps for nothing whenever a slice of work is done. */
const pacer = () => {
  let done = 0
  return (work: number): Effect.Effect<void> => {
    done += work
    if (done < sliceMax) return Effect.void
    done = 0
    return Effect.sleep(0)
  }
}

const baseUrl = (options: ImportOptions, sources: ReadonlyArray<Source>, warnings: Warnings): string | null => {
  if (options.base_url !== null) return options.base_url
  const all = sources.flatMap((source) => (source.version === null ? [] : [baseUrlOf(source)]))
  const base = all.find((one) => one !== null) ?? null
  for (const other of new Set(all)) {
    if (other !== null && other !== base)
      warnings.add("", `another document's server ${other} is not used, but ${base}`)
  }
  return base
}

const tagsOf = (operation: unknown, options: ImportOptions): ReadonlyArray<string> => {
  const own = listOf(field(operation, "tags")).flatMap((tag) => {
    const name = plainText(tag, titleCharactersMax)
    return name === "" ? [] : [name]
  })
  return [...new Set([...own.slice(0, tagsMax), ...options.tags])]
}

const titleOf = ({ method, path, operation }: Operation): string => {
  const summary = plainText(field(operation.node, "summary"), titleCharactersMax)
  if (summary !== "") return summary
  const id = readable(textOf(field(operation.node, "operationId")) ?? "")
  return id === "" ? `${method} ${path}` : id
}

const hasFields = (schema: JsonObject): boolean => Object.keys(schema["properties"] ?? {}).length > 0

type Name = "path" | "query" | "input"

interface DraftPart extends Part {
  readonly name: Name
}

/** The parts of a request that need an example. */
const partsOf = ({ parameters: { path, query }, body }: Draft, index: number): ReadonlyArray<DraftPart> => {
  const fields = (
    [
      ["path", path],
      ["query", query]
    ] as const
  ).flatMap(([name, { schema, examples }]) =>
    hasFields(schema) ? [{ name, index: `${index}-${name}`, schema, documented: fewOf(schema, examples) }] : []
  )
  const input = { name: "input", index: `${index}-input`, documented: body.example } as const
  return body.schema === null ? fields : [...fields, { ...input, schema: body.schema }]
}

const endpointOf = (
  draft: Draft,
  draftParts: ReadonlyArray<DraftPart>,
  samples: Examples,
  options: ImportOptions,
  warnings: Warnings
): Endpoint => {
  const { operation, parameters, body } = draft
  const { node } = operation.operation
  const where = endpointKey(operation)
  const parts: { path: JsonObject; query: JsonObject; input: JsonObject | null } = {
    path: parameters.path.schema,
    query: parameters.query.schema,
    input: body.schema
  }
  const shown: { path?: JsonObject; query?: JsonObject; input?: Json } = {}
  for (const part of draftParts) {
    const { name } = part
    const checked = samples.find(part)
    if ("broken" in checked) {
      warnings.add(where, `the ${name} schema can't be compiled and is left open: ${checked.broken}`)
      parts[name] = {}
      continue
    }
    if ("reduced" in checked && checked.reduced) {
      warnings.add(where, `the documented example of its ${name} doesn't fit its schema and is not shown in full`)
    }
    if ("problem" in checked) warnings.add(where, `${name}: ${checked.problem}, so none is shown`)
    else if (name === "input") shown.input = checked.example
    // An empty query says nothing.
    else if (isJsonObject(checked.example) && Object.keys(checked.example).length > 0) shown[name] = checked.example
  }
  return {
    method: operation.method,
    path: operation.path,
    title: titleOf(operation),
    description: plainText(field(node, "description") ?? field(operation.item.node, "description")),
    tags: tagsOf(node, options),
    body_type: body.body_type,
    path_params: parts.path,
    query_params: parts.query,
    body: parts.input,
    encoding: body.encoding,
    example: shown,
    cost: unpriced,
    cap_min: null,
    reported: null,
    deprecated: field(node, "deprecated") === true
  }
}

export const importOpenApi: (
  texts: ReadonlyArray<SourceText>,
  options: ImportOptions
) => Effect.Effect<Imported, ImportFailed> = Effect.fnUntraced(function* (texts, options) {
  const warnings = noWarnings()
  const sources = yield* readSources(texts)
  const refs = references(sources)
  const base_url = baseUrl(options, sources, warnings)
  const auth = options.auth ?? authOf(refs, sources)
  const normal = schemas(refs, warnings)
  const reading: Reading = {
    references: refs,
    schemas: normal,
    warnings,
    isCredential: credentials(refs, sources, auth)
  }

  const turn = pacer()
  const drafts: Array<Draft> = []
  let read = 0
  for (const operation of operationsOf(sources, refs, options, warnings)) {
    const { path, method, item } = operation
    const where = endpointKey(operation)
    const source = sources[operation.operation.source]
    const parameters = readParameters(reading, where, path, [item, operation.operation])
    const consumes = field(operation.operation.node, "consumes") ?? field(source?.root, "consumes")
    const reads = { asTask: options.body_type === "task", consumes }
    const body = readBody(reading, where, method, reads, operation.operation, parameters)
    const work = operationWork + normal.size() - read
    read = normal.size()
    const server = serverOf(operation.operation.node, base_url) ?? serverOf(item.node, base_url)
    const elsewhere = server !== null && server !== base_url ? new URL(server).origin : null
    if (elsewhere !== null)
      warnings.add(where, `is served by ${elsewhere}: it is listed where the provider's adapter names it`)
    drafts.push({ operation, parameters, body, work, elsewhere })
    yield* turn(work)
  }
  while (normal.readNext()) {
    yield* turn(normal.size() - read)
    read = normal.size()
  }
  const definitions = normal.definitions()

  const parts = drafts.map(partsOf)
  const compiled = parts.flat().slice(0, compiledMax)
  const beyond = parts.flat().length - compiled.length
  if (beyond > 0) warnings.add("", `${beyond} parts of requests beyond the first ${compiledMax} show no examples`)
  const checkable = new Set(compiled)
  const samples = examples(definitions, new Map(compiled.map(({ index, schema }) => [index, schema])))
  const endpoints: Array<Endpoint> = []
  const undescribed: Array<UndescribedField> = []
  for (const [index, draft] of drafts.entries()) {
    const shown = (parts[index] ?? []).filter((part) => checkable.has(part))
    const endpoint = endpointOf(draft, shown, samples, options, warnings)
    endpoints.push(draft.elsewhere === null ? endpoint : { ...endpoint, origin: draft.elsewhere })
    undescribed.push(...undescribedFields({ endpoints: [endpoint], definitions }, () => undefined))
    yield* turn(draft.work)
  }
  const bodies = endpoints.flatMap((endpoint) => [endpoint.path_params, endpoint.query_params, endpoint.body])
  const document: ProviderDocument = {
    provider: options.provider,
    title: options.title,
    homepage: options.homepage,
    base_url,
    auth,
    source: sources.map(({ name }) => name),
    definitions: reachable(definitions, bodies),
    endpoints
  }
  return { document, warnings: warnings.all(), undescribed }
})
