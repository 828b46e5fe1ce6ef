/**
 * Decides which descriptions a document keeps, by the licence of its sources.
 *
 * A vendor's sentences stay only if the provenance allows texts. Otherwise they are removed, and the manifest's own descriptions or
 * those of a file with a licence take their place. Without a provenance nothing changes: an operator imports for their own use.
 */
import { Effect, Schema } from "effect"
import { type Endpoint, endpointKey } from "../../../../schema/catalog/Endpoint.ts"
import type { Provenance } from "../../../../schema/Provenance.ts"
import { ImportFailed, type SourceText } from "../kit/Import.ts"
import { isJsonObject, type Json, type JsonObject } from "../kit/json.ts"
import { anyOf, patternFor } from "../kit/patterns.ts"
import { lists, maps, single } from "../schema/keywords.ts"

type Definitions = Readonly<Record<string, JsonObject>>
/** Gives a schema its description. `name` is the field that the schema describes, or null. */
type Describe = (schema: JsonObject, name: string | null) => JsonObject

/** Applies `describe` to a schema and to all schemas in it. A field called `description` is not a description. */
export const described = (schema: JsonObject, describe: Describe, name: string | null = null): JsonObject => {
  const child = (value: Json, field: string | null): Json =>
    isJsonObject(value) ? described(value, describe, field) : value
  const entries = Object.entries(schema).map(([key, value]): readonly [string, Json] => {
    if (single.has(key)) return [key, child(value, null)]
    if (lists.has(key) && Array.isArray(value)) return [key, value.map((one) => child(one, name))]
    if (maps.has(key) && isJsonObject(value))
      return [key, Object.fromEntries(Object.entries(value).map(([field, one]) => [field, child(one, field)]))]
    return [key, value]
  })
  return describe(Object.fromEntries(entries), name)
}

const withSchemas = (endpoint: Endpoint, describe: Describe): Endpoint => ({
  ...endpoint,
  path_params: described(endpoint.path_params, describe),
  query_params: described(endpoint.query_params, describe),
  body: endpoint.body === null ? null : described(endpoint.body, describe)
})

const without: Describe = (schema) =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "description"))

/** Whether the sources let the package pass on the sentences about an endpoint. */
export const textsAllowed = (provenance: ReadonlyArray<Provenance>): ((key: string) => boolean) => {
  const patterns = provenance.flatMap(({ takes, endpoints }) => (takes === "texts" ? (endpoints ?? ["*"]) : []))
  return anyOf(patterns)
}

/** Removes the sentences of endpoints and definitions that `allowed` does not name. */
export const withoutTexts = (
  endpoints: ReadonlyArray<Endpoint>,
  definitions: Definitions,
  allowed: (key: string) => boolean
): { readonly endpoints: ReadonlyArray<Endpoint>; readonly definitions: Definitions } => ({
  endpoints: endpoints.map((endpoint) =>
    allowed(endpointKey(endpoint)) ? endpoint : { ...withSchemas(endpoint, without), description: "" }
  ),
  // A definition may belong to several endpoints, so it keeps its texts only if all of them may.
  definitions: endpoints.every((endpoint) => allowed(endpointKey(endpoint)))
    ? definitions
    : Object.fromEntries(Object.entries(definitions).map(([name, one]) => [name, described(one, without)]))
})

/** Texts of fields, by the endpoint's path or the definition's name. Fields name a text by its place, because many share one. */
const Licensed = Schema.fromJsonString(
  Schema.Struct({
    texts: Schema.Array(Schema.NonEmptyString),
    fields: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Int))
  })
)
type Licensed = typeof Licensed.Type

const readLicensed = Schema.decodeUnknownEffect(Licensed)

export const licensedTexts = (source: SourceText): Effect.Effect<Licensed, ImportFailed> =>
  readLicensed(source.text).pipe(
    Effect.mapError((error) => new ImportFailed({ message: `${source.name}: ${error.message}` }))
  )

/** Gives the fields of the top level their licensed texts. */
const withLicensed = (schema: JsonObject, { texts, fields }: Licensed, owner: string): JsonObject => {
  const properties = schema["properties"] ?? null
  const places = fields[owner]
  if (places === undefined || !isJsonObject(properties)) return schema
  const entries = Object.entries(properties).map(([name, value]): readonly [string, Json] => {
    const place = Object.hasOwn(places, name) ? places[name] : undefined
    const text = place === undefined ? undefined : texts[place]
    return [name, text === undefined || !isJsonObject(value) ? value : { ...value, description: text }]
  })
  return { ...schema, properties: Object.fromEntries(entries) }
}

export const applyLicensed = (endpoint: Endpoint, licensed: Licensed): Endpoint =>
  endpoint.body === null ? endpoint : { ...endpoint, body: withLicensed(endpoint.body, licensed, endpoint.path) }

export const applyLicensedTo = (definitions: Definitions, licensed: Licensed): Definitions =>
  Object.fromEntries(Object.entries(definitions).map(([name, one]) => [name, withLicensed(one, licensed, name)]))

/** Describes endpoints and fields that have no description, in the manifest's own words. Says which patterns and names it did not need. */
export const withOwnTexts = (
  endpoints: ReadonlyArray<Endpoint>,
  definitions: Definitions,
  own: {
    readonly describe?: Readonly<Record<string, string>> | undefined
    readonly fields?: Readonly<Record<string, string>> | undefined
  }
) => {
  const texts = Object.entries(own.describe ?? {}).map(([pattern, text]) => ({
    pattern,
    text,
    matches: patternFor(pattern)
  }))
  const fields = new Map(Object.entries(own.fields ?? {}))
  const met = new Set<string>()
  const describe: Describe = (schema, name) => {
    const text = name === null || schema["description"] !== undefined ? undefined : fields.get(name)
    if (name === null || text === undefined) return schema
    met.add(name)
    return { ...schema, description: text }
  }
  const ownDescription = (endpoint: Endpoint): string => {
    if (endpoint.description !== "") return endpoint.description
    const fitting = texts.filter(({ matches }) => matches(endpointKey(endpoint)))
    for (const { pattern } of fitting) met.add(pattern)
    return fitting.map(({ text }) => text).join(" ")
  }
  return {
    endpoints: endpoints.map((endpoint) => ({
      ...withSchemas(endpoint, describe),
      description: ownDescription(endpoint)
    })),
    definitions: Object.fromEntries(Object.entries(definitions).map(([name, one]) => [name, described(one, describe)])),
    unmet: [...texts.map(({ pattern }) => pattern), ...fields.keys()].filter((one) => !met.has(one))
  }
}
