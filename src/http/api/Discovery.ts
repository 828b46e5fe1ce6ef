/** The contract of the public catalog: discover, and the lists of providers and capabilities (specification 2.3, 2.11, 4.8, 4.10). */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { about, listQuery, optional } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { CatalogProvider, Discovered, ListedCapability, ListedEndpoint } from "../../schema/nouns/Catalog.ts"
import { component, pageOf, withExample } from "../../schema/nouns/Noun.ts"

export const discoverLimitDefault = 10
export const discoverLimitMax = 50
/** The search reads no more characters of a query. */
export const queryLengthMax = 1_000

/** `If-None-Match` with the `ETag` of an earlier answer gets 304 and no body while nothing has changed. */
const cached = { "if-none-match": Schema.optionalKey(Schema.String) }
const NotModified = HttpApiSchema.Empty(304)

export class DiscoveryApi extends HttpApiGroup.make("discovery").add(
  about(
    "Search the catalog",
    "Finds capabilities and raw endpoints, best match first. Free, needs no key, runs nothing.",
    "discover"
  ).post("discover", "/discover", {
    payload: component("DiscoverRequest", {
      query: Schema.NonEmptyString.check(Schema.isMaxLength(queryLengthMax)).annotate({
        description: "what you need, in plain words; short noun phrases work best"
      }),
      limit: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: discoverLimitMax }))),
      kind: optional(Schema.Literals(["capability", "endpoint"])),
      provider: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
    }).pipe(withExample({ query: "verify an e-mail address", limit: 1 })),
    success: Discovered,
    error: [Wire.provider_not_found]
  }),
  about("List the capabilities", "Needs no key.").get("capabilities", "/catalog/capabilities", {
    query: listQuery,
    headers: cached,
    success: [pageOf(ListedCapability), NotModified]
  }),
  about("List the providers", "Needs no key.").get("providers", "/catalog/providers", {
    query: listQuery,
    headers: cached,
    success: [pageOf(CatalogProvider), NotModified]
  }),
  about("Read a provider", "Returns the provider's capabilities and its number of raw endpoints. Needs no key.").get(
    "provider",
    "/catalog/providers/:provider",
    {
      headers: cached,
      success: [CatalogProvider, NotModified],
      error: [Wire.provider_not_found]
    }
  ),
  about(
    "List a provider's raw endpoints",
    "Lists the provider's own paths, ordered by path and method. Needs no key."
  ).get("endpoints", "/catalog/providers/:provider/endpoints", {
    query: listQuery,
    headers: cached,
    success: [pageOf(ListedEndpoint), NotModified],
    error: [Wire.provider_not_found]
  })
) {}
