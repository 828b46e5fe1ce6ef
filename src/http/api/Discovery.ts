/** The contract of the public catalog: discover, and the lists of providers and capabilities (specification 2.3, 2.11, 4.8, 4.10). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { methods } from "../../schema/catalog/Endpoint.ts"
import { Wire } from "../../schema/Errors.ts"
import { Cost, Health } from "./Catalog.ts"
import { listQuery, optional } from "./shapes/Common.ts"
import { hintFields } from "../../schema/Hints.ts"

const Money = Schema.Struct({ amount: Schema.String, currency: Schema.Literal("USD") })
const Slugs = Schema.Array(Schema.String)

const capabilityFields = {
  capability: Schema.String,
  title: Schema.String,
  description: Schema.String,
  status: Schema.Literals(["live", "coming_soon"]),
  providers: Slugs,
  live_providers: Slugs,
  platforms: Slugs,
  starting_price: Schema.NullOr(Money)
}

const endpointFields = {
  provider: Schema.String,
  endpoint: Schema.String,
  method: Schema.Literals(methods),
  title: Schema.String,
  status: Schema.Literals(["live", "ready"]),
  cost: Cost,
  wrapped_by: Slugs
}

const ranked = { score: Schema.Finite, health: Health, hint: Schema.String }

export const DiscoverItem = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("capability"), ...ranked, ...capabilityFields }),
  Schema.Struct({ kind: Schema.Literal("endpoint"), ...ranked, ...endpointFields })
]).annotate({ identifier: "DiscoverItem" })

export const Discovered = Schema.Struct({ items: Schema.Array(DiscoverItem), ...hintFields })

export const discoverLimitDefault = 10
export const discoverLimitMax = 50
/** The search reads no more characters of a query. */
export const queryLengthMax = 1_000

export const ListedCapability = Schema.Struct({
  ...capabilityFields,
  category: Schema.String,
  hint: Schema.String
}).annotate({ identifier: "ListedCapability" })

export const CatalogProvider = Schema.Struct({
  provider: Schema.String,
  title: Schema.String,
  homepage: Schema.NullOr(Schema.String),
  /** Capabilities that the provider has an offer for. */
  capabilities: Slugs,
  /** Whether this service can call it: its account is set, or it needs none. */
  configured: Schema.Boolean,
  /** Capabilities that nobody runs here now, and that this provider's account would add. */
  adds: Slugs,
  /** When the operator last checked its offers. Null: never. */
  checked_at: Schema.NullOr(Schema.String),
  /** Of the offer with the most measured calls. */
  health: Health,
  endpoints: Schema.Struct({
    count: Schema.Int,
    status: Schema.Literals(["live", "ready", "excluded"]),
    /** Why this provider's raw endpoints are not offered. */
    reason: Schema.NullOr(Schema.String)
  })
}).annotate({ identifier: "CatalogProvider" })

const ListedEndpoint = Schema.Struct(endpointFields).annotate({ identifier: "ListedEndpoint" })

const page = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ items: Schema.Array(item), next_cursor: Schema.NullOr(Schema.String) })

/** `If-None-Match` with the `ETag` of an earlier answer gets 304 and no body while nothing has changed. */
const cached = { "if-none-match": Schema.optionalKey(Schema.String) }
const NotModified = HttpApiSchema.Empty(304)

export class DiscoveryApi extends HttpApiGroup.make("discovery").add(
  HttpApiEndpoint.post("discover", "/discover", {
    payload: Schema.Struct({
      query: Schema.NonEmptyString.check(Schema.isMaxLength(queryLengthMax)).annotate({
        description: "what you need, in plain words; short noun phrases work best"
      }),
      limit: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: discoverLimitMax }))),
      kind: optional(Schema.Literals(["capability", "endpoint"])),
      provider: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
    }).annotate({ identifier: "DiscoverRequest" }),
    success: Discovered,
    error: [Wire.invalid_request, Wire.provider_not_found, Wire.rate_limited]
  }).annotateMerge(
    OpenApi.annotations({
      summary: "Search the catalog",
      description: "Finds capabilities and raw endpoints, best match first. Free, needs no key, runs nothing."
    })
  ),
  HttpApiEndpoint.get("capabilities", "/catalog/capabilities", {
    query: listQuery,
    headers: cached,
    success: [page(ListedCapability), NotModified],
    error: [Wire.invalid_request]
  }).annotateMerge(OpenApi.annotations({ summary: "List the capabilities", description: "Needs no key." })),
  HttpApiEndpoint.get("providers", "/catalog/providers", {
    query: listQuery,
    headers: cached,
    success: [page(CatalogProvider), NotModified],
    error: [Wire.invalid_request]
  }).annotateMerge(OpenApi.annotations({ summary: "List the providers", description: "Needs no key." })),
  HttpApiEndpoint.get("provider", "/catalog/providers/:provider", {
    params: { provider: Schema.String },
    headers: cached,
    success: [CatalogProvider, NotModified],
    error: [Wire.provider_not_found]
  }).annotateMerge(
    OpenApi.annotations({
      summary: "Read a provider",
      description: "Returns the provider's capabilities and its number of raw endpoints. Needs no key."
    })
  ),
  HttpApiEndpoint.get("endpoints", "/catalog/providers/:provider/endpoints", {
    params: { provider: Schema.String },
    query: listQuery,
    headers: cached,
    success: [page(ListedEndpoint), NotModified],
    error: [Wire.invalid_request, Wire.provider_not_found]
  }).annotateMerge(
    OpenApi.annotations({
      summary: "List a provider's raw endpoints",
      description: "Lists the provider's own paths, ordered by path and method. Needs no key."
    })
  )
) {}
