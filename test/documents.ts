/** Small provider documents, for tests that need raw endpoints of a known shape. */
import type { Endpoint, ProviderDocument } from "../src/schema/Endpoint.ts"

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
