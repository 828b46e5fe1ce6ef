/**
 * A provider's own endpoint as the catalog stores it, independent of the format that it was imported from.
 *
 * All endpoints of a provider form one document, which is read, compared and replaced as a whole. So an import is never half applied.
 * Schemas are JSON Schema draft 2020-12 and may refer to the document's `definitions` as `#/$defs/<name>`.
 */
import { Schema } from "effect"
import { CallPrice, Filled } from "./CostDriver.ts"
import { Provenance } from "../Provenance.ts"

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
export type Method = (typeof methods)[number]

/** An object schema: `properties`, `required`, `additionalProperties`. */
export const ObjectSchema = Schema.JsonObject

/**
 * `free`: public data, $0. `per_call`, `per_result`, `per_event`: what `estimate` counts. `unpublished`: the provider publishes no rates, so
 * a raw run holds $1.00 and is charged what the provider reports.
 */
export const costModels = ["free", "per_call", "per_result", "per_event", "unpublished"] as const

export const EndpointCost = Schema.Struct({
  model: Schema.Literals(costModels),
  /** The charge for an ordinary call, with the markup, as a decimal string in USD. Null if unpublished. */
  estimate: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String),
  /** The price of a credit, in USD, that the amounts contain. Absent if the call is billed in USD, or in both. */
  credit: Schema.optionalKey(Schema.String),
  /** The estimate before it was rounded up, with all its digits. Absent if it was not rounded, or if it follows from `price`. */
  exact: Schema.optionalKey(Schema.String)
})
export type EndpointCost = typeof EndpointCost.Type

/** Kinds of objects that belong to one organization, in a provider account that all organizations share. */
export const resourceKinds = ["inbox", "domain", "sender", "account", "job"] as const
export type ResourceKind = (typeof resourceKinds)[number]

export const EndpointResources = Schema.Struct({
  /**
   * Fields that name an object, as dotted paths into the input (one task object for `task`; the query on GET), or into `query.` or `path.`; `*` is
   * every item of a list.
   */
  uses: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        kind: Schema.Literals(resourceKinds),
        field: Schema.NonEmptyString,
        /** A request without it would act on the objects of all organizations, or show them. */
        required: Schema.optionalKey(Schema.Literal(true))
      })
    )
  ),
  /** Where the provider's answer has the ids of the objects that the call created. */
  makes: Schema.optionalKey(
    Schema.Array(Schema.Struct({ kind: Schema.Literals(resourceKinds), at: Schema.NonEmptyString }))
  )
})
export type EndpointResources = typeof EndpointResources.Type

/** How `input` becomes the request: an array of task objects, an actor's input object, or the JSON body (query on GET). */
export const bodyTypes = ["task", "actor_input", "json"] as const

export const Endpoint = Schema.Struct({
  method: Schema.Literals(methods),
  /** The provider's own path, verbatim, with its `{placeholders}`; `username/actor-name` for an actor. */
  path: Schema.NonEmptyString,
  /** The origin that serves it, if not that of the base URL. It runs only if the provider's adapter lists that origin. */
  origin: Schema.optionalKey(Schema.String),
  title: Schema.NonEmptyString,
  description: Schema.String,
  tags: Schema.Array(Schema.String),
  body_type: Schema.Literals(bodyTypes),
  /** One property per placeholder, all required. */
  path_params: ObjectSchema,
  query_params: ObjectSchema,
  /** The schema of `input` (of one task object for `task`). Null if there is no body, or if the schema is not known yet. */
  body: Schema.NullOr(ObjectSchema),
  /** How the body is encoded. */
  encoding: Schema.Literals(["json", "form", "multipart"]),
  /** A request that matches the schemas. Parts that the endpoint does not use are left out. */
  example: Schema.Struct({
    path: Schema.optionalKey(Schema.JsonObject),
    query: Schema.optionalKey(Schema.JsonObject),
    input: Schema.optionalKey(Schema.Json)
  }),
  cost: EndpointCost,
  /** How the price depends on the input. Absent if it does not. */
  price: Schema.optionalKey(CallPrice),
  /** Fields that are filled in where the caller left them out. */
  filled: Schema.optionalKey(Schema.Array(Filled)),
  /** The provider refuses a cost cap below this many USD. Null if it has no minimum. */
  cap_min: Schema.NullOr(Schema.String),
  /** The call changes something outside, such as sending a message. A call with an unknown outcome is never repeated. */
  acts: Schema.optionalKey(Schema.Literal(true)),
  resources: Schema.optionalKey(EndpointResources),
  /** Runs of the last 30 days as the provider publishes them. */
  reported: Schema.NullOr(Schema.Struct({ succeeded: Schema.Int, total: Schema.Int })),
  deprecated: Schema.Boolean
}).annotate({ identifier: "CatalogEndpoint" })
export type Endpoint = typeof Endpoint.Type

export const ProviderAuth = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("header"), name: Schema.String, prefix: Schema.optionalKey(Schema.String) }),
  Schema.Struct({ kind: Schema.Literal("query"), name: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("bearer") }),
  Schema.Struct({ kind: Schema.Literal("basic") }),
  Schema.Struct({ kind: Schema.Literal("headers"), names: Schema.Tuple([Schema.String, Schema.String]) }),
  Schema.Struct({
    kind: Schema.Literal("client_credentials"),
    path: Schema.String.check(Schema.isPattern(/^\/[^\s?#]*$/u))
  }),
  Schema.Struct({ kind: Schema.Literal("contact"), required: Schema.optionalKey(Schema.Literal(true)) }),
  Schema.Struct({ kind: Schema.Literal("none") })
])

/** The catalog's document about the raw endpoints of one provider. */
export const ProviderDocument = Schema.Struct({
  provider: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9_]{0,40}$/u)),
  title: Schema.NonEmptyString,
  homepage: Schema.NullOr(Schema.String),
  /** Origin and path prefix of every call. Null if the provider's adapter has it. */
  base_url: Schema.NullOr(Schema.String),
  auth: Schema.NullOr(ProviderAuth),
  /** Where the document was read from: file names or URLs, without secrets. */
  source: Schema.Array(Schema.String),
  /** Where it comes from and under which licence. A document that the package ships always has it. */
  provenance: Schema.optionalKey(Schema.Array(Provenance)),
  /** Shared schemas by name. */
  definitions: Schema.Record(Schema.String, Schema.JsonObject),
  /** Sorted by path and method, which are unique together. */
  endpoints: Schema.Array(Endpoint)
}).annotate({ identifier: "ProviderDocument" })
export type ProviderDocument = typeof ProviderDocument.Type

/** The result of an import: the document, and what was left out of it. */
export interface Imported {
  readonly document: ProviderDocument
  readonly warnings: ReadonlyArray<Warning>
  /** Fields of paid endpoints that look like cost drivers and that no rate describes. */
  readonly undescribed: ReadonlyArray<UndescribedField>
}

export interface UndescribedField {
  /** `POST /path`. */
  readonly where: string
  /** The path of the field, as in a driver. */
  readonly field: string
}

export interface Warning {
  /** `GET /path`, or a part of the document; empty for the document itself. */
  readonly where: string
  readonly message: string
}

/** Identifies an endpoint within its provider. */
export const endpointKey = (endpoint: { readonly method: string; readonly path: string }): string =>
  `${endpoint.method} ${endpoint.path}`
