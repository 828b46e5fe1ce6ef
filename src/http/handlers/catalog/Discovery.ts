/** Discover and the public catalog lists: free, without a key, with ETags. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Catalog } from "../../../layers/catalog/Catalog.ts"
import { makeSearch } from "../../../layers/search/Discovery.ts"
import { Endpoints, type RawProvider } from "../../../layers/catalog/Endpoints.ts"
import { Marketplace } from "../../../layers/catalog/Marketplace.ts"
import { ProviderChecks } from "../../../layers/catalog/ProviderChecks.ts"
import { readinessOf } from "../../../layers/catalog/ProviderReadiness.ts"
import { CostDrifts } from "../../../layers/executor/CostDrifts.ts"
import { Health } from "../../../layers/executor/Health.ts"
import { endpointKey } from "../../../schema/catalog/Endpoint.ts"
import { notACursor, refusedWith } from "../../../schema/Errors.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import { group } from "../group.ts"
import { listLimitDefault } from "../../api/shapes/Common.ts"
import { discoverLimitDefault } from "../../api/Discovery.ts"
import {
  capabilityHealth,
  capabilityView,
  endpointHealth,
  endpointView,
  inspectCommand,
  providerView
} from "./CatalogItems.ts"
import { etagOf, hasTag } from "../../standards/ETags.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { inspectCapability, viaApi } from "../../../schema/Steps.ts"

/** How long clients and proxies may cache a list. They see an import at most this much later. */
const freshSeconds = 60

/** Answers 304 if the client has this version. */
const cached = (body: unknown, ifNoneMatch: string | undefined) => {
  const text = JSON.stringify(body)
  const etag = etagOf(text)
  const headers = { etag, "cache-control": `public, max-age=${freshSeconds}`, vary: "accept-encoding" }
  if (hasTag(ifNoneMatch, etag)) return HttpServerResponse.empty({ status: 304, headers })
  return HttpServerResponse.text(text, { contentType: "application/json", headers })
}

/** A digest, because the path of an endpoint may be longer than a cursor. */
const cursorOf = (key: string) => Bun.hash(key).toString(36)

const pageOf = <A>(
  all: ReadonlyArray<A>,
  keyOf: (item: A) => string,
  query: { readonly limit?: number; readonly cursor?: string }
) => {
  const { limit = listLimitDefault, cursor } = query
  const after = cursor === undefined ? -1 : all.findIndex((item) => cursorOf(keyOf(item)) === cursor)
  if (cursor !== undefined && after < 0) return notACursor
  const items = all.slice(after + 1, after + 1 + limit)
  const last = items.at(-1)
  const more = after + 1 + limit < all.length
  return Effect.succeed({ items, next_cursor: more && last !== undefined ? cursorOf(keyOf(last)) : null })
}

export const DiscoveryHandlers = group(
  "discovery",
  Effect.fnUntraced(function* (handlers) {
    const catalog = yield* Catalog
    const search = yield* makeSearch
    const endpoints = yield* Endpoints
    const health = yield* Health
    const actors = yield* Marketplace
    const drifts = yield* CostDrifts
    const checks = yield* ProviderChecks
    const readinessNow = () =>
      new Map(
        readinessOf(catalog.entries, catalog.providers, catalog.isConfigured).providers.map((one) => [
          one.provider,
          one
        ])
      )
    let readiness = readinessNow()
    // A reload may have brought an account.
    endpoints.onChange(
      Effect.sync(() => {
        readiness = readinessNow()
      })
    )
    const viewOf = (raw: RawProvider) => providerView(raw, readiness.get(raw.slug), health, checks.of(raw.slug))

    const providerOf = (slug: string) => {
      const { providers } = endpoints.snapshot()
      const provider = providers.get(slug)
      return provider === undefined
        ? refusedWith(
            "provider_not_found",
            withCommands`There is no provider "${slug}".${didYouMean(slug, providers.keys())} ${viaApi("GET", "/v1/catalog/providers")} lists them.`
          )
        : Effect.succeed(provider)
    }

    return handlers.handleAll({
      discover: Effect.fnUntraced(function* ({ payload }) {
        const provider = payload.provider ?? null
        if (provider !== null) yield* providerOf(provider)
        const { items, hinted, snapshot } = yield* search({
          query: payload.query,
          limit: payload.limit ?? discoverLimitDefault,
          kind: payload.kind ?? null,
          provider
        })
        return {
          items: items.map(({ item, score }) =>
            item.kind === "capability"
              ? {
                  kind: item.kind,
                  score,
                  health: capabilityHealth(health, item.entry),
                  hint: inspectCapability(item.entry.capability.slug).cli,
                  ...capabilityView(drifts.priced(item.entry))
                }
              : {
                  kind: item.kind,
                  score,
                  health: endpointHealth(health, actors, item.raw, item.endpoint),
                  hint: inspectCommand(item.raw, item.endpoint),
                  ...endpointView(item.raw, item.endpoint, snapshot)
                }
          ),
          ...hinted
        }
      }),

      capabilities: Effect.fnUntraced(function* ({ query, headers }) {
        const { items, next_cursor } = yield* pageOf(catalog.entries, (one) => one.capability.slug, query)
        const views = items.map((entry) => ({
          ...capabilityView(drifts.priced(entry)),
          category: entry.capability.category,
          hint: inspectCapability(entry.capability.slug).cli
        }))
        return cached({ items: views, next_cursor }, headers["if-none-match"])
      }),

      providers: Effect.fnUntraced(function* ({ query, headers }) {
        const all = [...endpoints.snapshot().providers.values()]
        const { items, next_cursor } = yield* pageOf(all, (one) => one.slug, query)
        return cached({ items: items.map(viewOf), next_cursor }, headers["if-none-match"])
      }),

      provider: Effect.fnUntraced(function* ({ params, headers }) {
        return cached(viewOf(yield* providerOf(params.provider)), headers["if-none-match"])
      }),

      endpoints: Effect.fnUntraced(function* ({ params, query, headers }) {
        const snapshot = endpoints.snapshot()
        const raw = yield* providerOf(params.provider)
        const { items, next_cursor } = yield* pageOf(raw.endpoints, endpointKey, query)
        const views = items.map((endpoint) => endpointView(raw, endpoint, snapshot))
        return cached({ items: views, next_cursor }, headers["if-none-match"])
      })
    })
  })
)
