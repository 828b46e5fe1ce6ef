/**
 * Imports a catalog in table form: platforms, their endpoints, and the typed parameters of each endpoint.
 *
 * Some providers generate their documentation from such a file. Parameters are texts, numbers, booleans or selections. A
 * placeholder becomes the example. An endpoint without a price costs one credit.
 */
import { Effect, Schema } from "effect"
import { type Endpoint, endpointKey, methods } from "../../../schema/catalog/Endpoint.ts"
import { placeholdersOf } from "../../../schema/runs/RawPlan.ts"
import { ImportFailed, operationsMax, type SourceText } from "./kit/Import.ts"
import type { Json } from "./kit/fields.ts"
import type { Warning } from "../../../schema/catalog/Endpoint.ts"
import { Credits, type Rate, unpublished } from "./cost/rates.ts"
import { endpointIssues } from "./kit/validity.ts"

const Param = Schema.Struct({
  name: Schema.NonEmptyString,
  type: Schema.Literals(["string", "text", "select", "boolean", "number"]),
  required: Schema.optionalKey(Schema.Boolean),
  description: Schema.optionalKey(Schema.String),
  placeholder: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))),
  options: Schema.optionalKey(Schema.Array(Schema.String)),
  default: Schema.optionalKey(Schema.Json)
})
type Param = typeof Param.Type

const Entry = Schema.Struct({
  name: Schema.NonEmptyString,
  method: Schema.Literals(methods),
  path: Schema.NonEmptyString,
  description: Schema.String,
  fullDescription: Schema.optionalKey(Schema.String),
  credits: Schema.optionalKey(Credits),
  postParamsInBody: Schema.optionalKey(Schema.Boolean),
  params: Schema.Array(Param)
})
const Platform = Schema.Struct({ id: Schema.String, name: Schema.String, endpoints: Schema.Array(Schema.Unknown) })
const Tables = Schema.fromJsonString(Schema.Struct({ platforms: Schema.Array(Platform) }))

const readEntry = Schema.decodeUnknownOption(Entry)

export interface Table {
  readonly endpoints: ReadonlyArray<Endpoint>
  /** The file's prices, by `METHOD /path`. */
  readonly rates: Readonly<Record<string, Rate>>
  readonly warnings: ReadonlyArray<Warning>
}

const types = { string: "string", text: "string", select: "string", boolean: "boolean", number: "number" }

const valueOf = (param: Param): Json | undefined => {
  const shown = param.placeholder
  if (shown === undefined || shown === null || shown === "") return undefined
  if (param.type === "number") return Number.isFinite(Number(shown)) ? Number(shown) : undefined
  if (param.type === "boolean") return shown === true || shown === "true"
  return String(shown)
}

const schemaOf = (param: Param) => {
  const shown = valueOf(param)
  const options = param.options ?? []
  // The documentation's own example is allowed, even if the list of options lacks it.
  const all =
    typeof shown === "string" && options.length > 0 && !options.includes(shown) ? [...options, shown] : options
  return {
    type: types[param.type],
    ...(param.description === undefined ? {} : { description: param.description }),
    ...(all.length === 0 ? {} : { enum: [...new Set(all)] }),
    ...(param.default === undefined || param.default === "" ? {} : { default: param.default }),
    ...(shown === undefined ? {} : { examples: [shown] })
  }
}

const paramsOf = (params: ReadonlyArray<Param>) => {
  const required = params.flatMap((param) => (param.required === true ? [param.name] : []))
  return {
    type: "object",
    properties: Object.fromEntries(params.map((param) => [param.name, schemaOf(param)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false
  }
}

/** The required parameters, or else the first one. */
const exampleOf = (params: ReadonlyArray<Param>): Readonly<Record<string, Json>> => {
  const needed = params.filter((param) => param.required === true)
  return Object.fromEntries(
    (needed.length > 0 ? needed : params.slice(0, 1)).map((param) => [
      param.name,
      valueOf(param) ??
        param.options?.[0] ??
        (param.type === "number" ? 1 : param.type === "boolean" ? false : "example")
    ])
  )
}

const endpointOf = (platform: typeof Platform.Type, entry: typeof Entry.Type): Endpoint => {
  const names = placeholdersOf(entry.path)
  const inPath = entry.params
    .filter((param) => names.includes(param.name))
    .map((param) => ({ ...param, required: true }))
  const others = entry.params.filter((param) => !names.includes(param.name))
  const inBody = entry.method !== "GET" && entry.method !== "DELETE"
  const values = exampleOf(others)
  return {
    method: entry.method,
    path: entry.path,
    title: `${platform.name}: ${entry.name}`,
    description: entry.fullDescription ?? entry.description,
    tags: [platform.id],
    body_type: "json",
    path_params: paramsOf(inPath),
    query_params: paramsOf(inBody ? [] : others),
    body: inBody ? paramsOf(others) : null,
    encoding: "json",
    example: {
      ...(inPath.length === 0 ? {} : { path: exampleOf(inPath) }),
      ...(inBody ? { input: values } : Object.keys(values).length === 0 ? {} : { query: values })
    },
    cost: unpublished(null),
    cap_min: null,
    reported: null,
    deprecated: false
  }
}

export const importTables = (source: SourceText): Effect.Effect<Table, ImportFailed> =>
  Effect.gen(function* () {
    const { platforms } = yield* Schema.decodeUnknownEffect(Tables)(source.text).pipe(
      Effect.mapError((error) => new ImportFailed({ message: `${source.name}: ${error.message}` }))
    )
    const endpoints = new Map<string, Endpoint>()
    const rates: Record<string, Rate> = {}
    const warnings: Array<Warning> = []
    for (const platform of platforms) {
      for (const [index, row] of platform.endpoints.entries()) {
        const where = `${platform.id}.endpoints.${index}`
        const entry = readEntry(row)
        if (entry._tag === "None") {
          warnings.push({ where, message: "left out: this row can't be read" })
          continue
        }
        const endpoint = endpointOf(platform, entry.value)
        const key = endpointKey(endpoint)
        const issues = endpointIssues(endpoint, {})
        if (endpoints.has(key)) warnings.push({ where: key, message: "left out: it is listed twice" })
        else if (endpoints.size >= operationsMax)
          warnings.push({ where: key, message: `left out: a provider may have ${operationsMax} endpoints` })
        else if (issues.length > 0) warnings.push({ where: key, message: `left out: ${issues.join("; ")}` })
        else {
          endpoints.set(key, endpoint)
          rates[key] = { credits: entry.value.credits ?? 1 }
        }
      }
    }
    return { endpoints: [...endpoints.values()], rates, warnings }
  })
