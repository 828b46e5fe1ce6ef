/** The contract of the public catalog: discover, and the lists of providers and capabilities (specification 2.3, 2.11, 4.8, 4.10). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { about } from "./shapes/Rights.ts"
import { methods } from "../../schema/catalog/Endpoint.ts"
import { Wire } from "../../schema/Errors.ts"
import { Cost, Health } from "./Catalog.ts"
import { listQuery, optional } from "./shapes/Common.ts"
import { hintFields } from "../../schema/Hints.ts"
import { pageOf, withExample } from "../../schema/nouns/Noun.ts"

const Money = Schema.Struct({ amount: Schema.String, currency: Schema.Literal("USD") })
const Slugs = Schema.Array(Schema.String)

const verifyAddresses = {
  capability: "email.verify",
  title: "Verify an e-mail address",
  description: "Checks whether an e-mail address exists and can receive mail, without sending anything to it.",
  status: "live",
  providers: ["hunter", "leadmagic"],
  live_providers: [],
  platforms: [],
  starting_price: { amount: "0.003", currency: "USD" }
} as const

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
])
  .annotate({ identifier: "DiscoverItem" })
  .pipe(
    withExample({
      kind: "capability",
      score: 1,
      health: {
        status: "unknown",
        success_rate: null,
        latency_ms_p50: null,
        latency_ms_p95: null,
        sample_size: 0,
        source: "measured"
      },
      hint: "rungate inspect email.verify",
      ...verifyAddresses
    })
  )

export const Discovered = Schema.Struct({ items: Schema.Array(DiscoverItem), ...hintFields })

export const discoverLimitDefault = 10
export const discoverLimitMax = 50
/** The search reads no more characters of a query. */
export const queryLengthMax = 1_000

export const ListedCapability = Schema.Struct({
  ...capabilityFields,
  category: Schema.String,
  hint: Schema.String
})
  .annotate({ identifier: "ListedCapability" })
  .pipe(withExample({ ...verifyAddresses, category: "people", hint: "rungate inspect email.verify" }))

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
})
  .annotate({ identifier: "CatalogProvider" })
  .pipe(
    withExample({
      provider: "hunter",
      title: "Hunter",
      homepage: "https://hunter.io",
      capabilities: ["email.find", "email.verify"],
      configured: true,
      adds: [],
      checked_at: "2026-11-21T09:00:00.000Z",
      health: {
        status: "healthy",
        success_rate: 0.9875,
        latency_ms_p50: 840,
        latency_ms_p95: 2_100,
        sample_size: 240,
        source: "measured"
      },
      endpoints: { count: 8, status: "live", reason: null }
    })
  )

const ListedEndpoint = Schema.Struct(endpointFields)
  .annotate({ identifier: "ListedEndpoint" })
  .pipe(
    withExample({
      provider: "hunter",
      endpoint: "/combined/find",
      method: "GET",
      title: "Enrich a person with the company",
      status: "live",
      cost: { model: "per_call", estimate: "0.01176", note: "0.4 credits of $0.0245 per call.", currency: "USD" },
      wrapped_by: []
    })
  )

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
    })
      .annotate({ identifier: "DiscoverRequest" })
      .pipe(withExample({ query: "verify an e-mail address", limit: 1 })),
    success: Discovered,
    error: [Wire.invalid_request, Wire.provider_not_found, Wire.rate_limited]
  }).annotateMerge(
    about(
      "Search the catalog",
      "Finds capabilities and raw endpoints, best match first. Free, needs no key, runs nothing.",
      "discover"
    )
  ),
  HttpApiEndpoint.get("capabilities", "/catalog/capabilities", {
    query: listQuery,
    headers: cached,
    success: [pageOf(ListedCapability), NotModified],
    error: [Wire.invalid_request]
  }).annotateMerge(about("List the capabilities", "Needs no key.")),
  HttpApiEndpoint.get("providers", "/catalog/providers", {
    query: listQuery,
    headers: cached,
    success: [pageOf(CatalogProvider), NotModified],
    error: [Wire.invalid_request]
  }).annotateMerge(about("List the providers", "Needs no key.")),
  HttpApiEndpoint.get("provider", "/catalog/providers/:provider", {
    params: { provider: Schema.String },
    headers: cached,
    success: [CatalogProvider, NotModified],
    error: [Wire.provider_not_found]
  }).annotateMerge(
    about("Read a provider", "Returns the provider's capabilities and its number of raw endpoints. Needs no key.")
  ),
  HttpApiEndpoint.get("endpoints", "/catalog/providers/:provider/endpoints", {
    params: { provider: Schema.String },
    query: listQuery,
    headers: cached,
    success: [pageOf(ListedEndpoint), NotModified],
    error: [Wire.invalid_request, Wire.provider_not_found]
  }).annotateMerge(
    about(
      "List a provider's raw endpoints",
      "Lists the provider's own paths, ordered by path and method. Needs no key."
    )
  )
) {}
