/** Small provider documents, for tests that need raw endpoints of a known shape. */
import type { Endpoint, ProviderDocument } from "../../src/schema/catalog/Endpoint.ts"

const object = { type: "object", properties: {}, additionalProperties: false }

export const endpointOf = (change: Partial<Endpoint> & { readonly path: string }): Endpoint => ({
  method: "GET",
  title: change.path,
  description: "",
  tags: [],
  body_type: "json",
  path_params: object,
  query_params: object,
  body: null,
  encoding: "json",
  example: {},
  cost: { model: "per_call", estimate: "0.02", note: null },
  cap_min: null,
  reported: null,
  deprecated: false,
  ...change
})

export const documentOf = (provider: string, endpoints: ReadonlyArray<Endpoint>): ProviderDocument => ({
  provider,
  title: provider,
  homepage: null,
  base_url: "https://api.acme.example/v1",
  auth: { kind: "bearer" },
  source: ["test"],
  definitions: {
    Filter: {
      type: "object",
      properties: { field: { type: "string" }, and: { type: "array", items: { $ref: "#/$defs/Filter" } } },
      required: ["field"]
    }
  },
  endpoints
})

/** One of each kind. */
export const acme = documentOf("acme", [
  endpointOf({
    path: "/people/{id}",
    title: "Read a person",
    path_params: { ...object, properties: { id: { type: "string" } }, required: ["id"] },
    query_params: { ...object, properties: { fields: { type: "string" }, limit: { type: "integer", maximum: 10 } } },
    example: { path: { id: "p 1" }, query: { fields: "name" } }
  }),
  endpointOf({
    path: "/people/{id}",
    method: "DELETE",
    path_params: { ...object, properties: { id: { type: "string" } }, required: ["id"] }
  }),
  endpointOf({
    path: "/search",
    method: "POST",
    title: "Search for widgets",
    description: "Finds widgets by filter.",
    body: {
      type: "object",
      properties: { filter: { $ref: "#/$defs/Filter" }, q: { type: "string", pattern: "^(a+)+$" } },
      required: ["filter"],
      additionalProperties: false
    },
    example: { input: { filter: { field: "it's" } } },
    cost: { model: "unpublished", estimate: null, note: null }
  }),
  endpointOf({
    path: "/tasks",
    method: "POST",
    body_type: "task",
    body: { type: "object", properties: { keyword: { type: "string", minLength: 1 } }, required: ["keyword"] },
    example: { input: { keyword: "widgets" } }
  }),
  endpointOf({
    path: "someone/some-actor",
    method: "POST",
    body_type: "actor_input",
    cap_min: "0.50",
    reported: { succeeded: 98, total: 100 }
  })
])

const crawlBody = {
  type: "object",
  properties: {
    url: { type: "string" },
    // As loosely as providers describe it: text is let through.
    limit: { type: ["integer", "string"] },
    formats: { type: "array", items: { type: "string" } }
  },
  required: ["url"]
}

/** Endpoints whose price follows their input. A page of a crawl costs the provider $0.000125, and five times that as JSON. */
export const crawler = documentOf("acme", [
  endpointOf({
    path: "/crawl",
    method: "POST",
    body: crawlBody,
    example: { input: { url: "https://example.com", limit: 10 } },
    cost: { model: "per_call", estimate: "0.00015", note: "Per page." },
    price: {
      base: "0.00015",
      drivers: [
        { field: "limit", counts: "number", multiplies: true, max: 1_000_000, note: "All pages are charged at once." },
        { field: "formats", counts: "number", times: { json: "5" } }
      ]
    }
  }),
  endpointOf({
    path: "/crawls",
    method: "POST",
    body_type: "task",
    body: crawlBody,
    example: { input: { url: "https://example.com", limit: 10 } },
    cost: { model: "per_call", estimate: "0.00015", note: null },
    price: { base: "0", drivers: [{ field: "limit", counts: "number", price: "0.00015", max: 1_000_000 }] }
  }),
  endpointOf({
    path: "/search",
    query_params: { ...object, properties: { q: { type: "string" }, limit: { type: "integer" } } },
    example: { query: { q: "x" } },
    cost: { model: "per_result", estimate: "0.012", note: null },
    price: { base: "0", drivers: [{ field: "limit", counts: "number", price: "0.0012", default: 10, max: 100 }] }
  }),
  endpointOf({
    path: "/plain",
    method: "POST",
    body: { type: "object", properties: { name: { type: "string" } } },
    example: { input: { name: "x" } }
  })
])
