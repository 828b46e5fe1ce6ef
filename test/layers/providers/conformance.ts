/**
 * Holds what an adapter asks against its provider's own document, as the catalog ships it: the operation exists, its path and
 * query have what is required, the body fits the schema, and no field is one that the document does not know.
 */
import { readFileSync } from "node:fs"
import { compileEndpoint } from "../../../src/layers/catalog/input/EndpointInput.ts"
import type { Endpoint, ProviderDocument } from "../../../src/schema/catalog/Endpoint.ts"
import type { Call, Provider } from "../../../src/schema/catalog/Provider.ts"

type Named = Readonly<Record<string, unknown>>

const documents = new Map<string, ProviderDocument>()
const documentOf = (slug: string): ProviderDocument => {
  const known = documents.get(slug)
  if (known !== undefined) return known
  const file = new URL(`../../../src/layers/catalog/import/shipped/${slug}.json.gz`, import.meta.url)
  const [head, ...lines] = new TextDecoder().decode(Bun.gunzipSync(readFileSync(file))).split("\n")
  const document: ProviderDocument = {
    ...JSON.parse(head ?? "{}"),
    endpoints: lines.map((line): Endpoint => JSON.parse(line))
  }
  documents.set(slug, document)
  return document
}

const prefixOf = (address: string | null) => (address === null ? "" : new URL(address).pathname.replace(/\/+$/, ""))

/** The values of a path's placeholders, or null when it is another path. */
const fill = (template: string, path: string): Named | null => {
  const names = [...template.matchAll(/\{([^}]+)\}/g)].map((found) => found[1] ?? "")
  const parts = template.split(/\{[^}]+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  const found = new RegExp(`^${parts.join("([^/]+)")}$`).exec(path)
  return found === null
    ? null
    : Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? "")]))
}

/** Every field that a schema names, or null when it is open to any. */
const namesOf = (schema: unknown, definitions: ProviderDocument["definitions"], depth = 0): Set<string> | null => {
  const { $ref, properties, additionalProperties, ...rest }: Named = Object(schema)
  if (depth > 20) return null
  if (typeof additionalProperties === "object" || additionalProperties === true) return null
  const parts = [rest["allOf"], rest["anyOf"], rest["oneOf"]].flatMap((some) => (Array.isArray(some) ? some : []))
  if (typeof $ref === "string") parts.push(definitions[decodeURIComponent($ref.replace("#/$defs/", ""))])
  const names = new Set(Object.keys(Object(properties)))
  for (const part of parts) for (const name of namesOf(part, definitions, depth + 1) ?? []) names.add(name)
  return names.size === 0 ? null : names
}

const unknown = (where: string, value: unknown, schema: unknown, definitions: ProviderDocument["definitions"]) => {
  const names = namesOf(schema, definitions)
  return Object.keys(Object(value)).flatMap((name) =>
    names === null || names.has(name) ? [] : [`${where}.${name} is no field of the document`]
  )
}

/** What the provider's document says against this call; empty when it conforms. Providers without raw endpoints ship none. */
export const conforms = (
  provider: Provider,
  call: Call,
  document: ProviderDocument = documentOf(provider.slug)
): ReadonlyArray<string> => {
  const { definitions, base_url, endpoints } = document
  const full = `${call.origin === undefined ? prefixOf(provider.base_url) : ""}${call.path}`
  const found = endpoints.flatMap((endpoint) => {
    const values = endpoint.method === call.method ? fill(`${prefixOf(base_url)}${endpoint.path}`, full) : null
    return values === null ? [] : [{ endpoint, values }]
  })
  // "/a/mine" fits "/a/{id}" too: the path with the fewest placeholders is meant.
  const [best] = found.sort((a, b) => Object.keys(a.values).length - Object.keys(b.values).length)
  if (best === undefined) return [`${call.method} ${full} is no operation of the document`]
  const { endpoint, values } = best
  const checks = compileEndpoint(endpoint, definitions)
  // As it is on the wire: what is undefined is not there.
  const query: unknown = JSON.parse(JSON.stringify(call.query ?? {}))
  const body: unknown = call.body === undefined ? undefined : JSON.parse(JSON.stringify(call.body))
  const tasks = endpoint.body_type === "task" && Array.isArray(body) ? body : body === undefined ? [] : [body]
  const sent = call.encoding ?? "json"
  return [
    ...checks.path(values).map(({ path, message }) => `path.${path} ${message}`),
    ...checks.query(query).map(({ path, message }) => `query.${path} ${message}`),
    ...unknown("query", query, endpoint.query_params, definitions),
    ...(endpoint.body === null && body !== undefined ? ["the operation has no body"] : []),
    ...(endpoint.body === null ? [] : checks.input(body).map(({ path, message }) => `body.${path} ${message}`)),
    ...(endpoint.body === null ? [] : tasks.flatMap((task) => unknown("body", task, endpoint.body, definitions))),
    ...(body !== undefined && endpoint.encoding !== sent ? [`the body is ${endpoint.encoding}, not ${sent}`] : [])
  ]
}
