/** Shows catalog items in discover and in lists (specification 2.3, 2.11), with the next commands. */
import type { CatalogEntry } from "../../layers/catalog/Catalog.ts"
import type { RawProvider, Snapshot } from "../../layers/catalog/Endpoints.ts"
import type { Health } from "../../layers/executor/Health.ts"
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import * as Money from "../../schema/money/Money.ts"
import { priceMin } from "../../schema/money/Pricing.ts"
import { healthView } from "./HealthView.ts"
import { inspectEndpoint } from "../../schema/Steps.ts"

const currency = "USD" as const

export const startingPrice = ({ offers }: CatalogEntry) => {
  const [first, ...rest] = offers.map((one) => priceMin(one.offer.price))
  if (first === undefined) return null
  return { amount: Money.usd(rest.reduce((least, one) => Money.min(least, one), first)), currency }
}

export const costView = ({ cost: { model, estimate, note } }: Endpoint) => ({ model, estimate, note, currency })

export const capabilityView = (entry: CatalogEntry) => {
  const { capability, offers } = entry
  return {
    capability: capability.slug,
    title: capability.title,
    description: capability.description,
    status: capability.status,
    providers: offers.map((one) => one.provider.slug),
    live_providers: offers.filter((one) => one.live).map((one) => one.provider.slug),
    platforms: capability.platforms,
    starting_price: startingPrice(entry)
  }
}

/** The command that inspects an endpoint. */
export const inspectCommand = (raw: RawProvider, { path, method }: Endpoint) =>
  inspectEndpoint(raw.slug, path, (raw.byPath.get(path)?.length ?? 0) > 1 ? method : undefined).cli

export const endpointView = (raw: RawProvider, endpoint: Endpoint, snapshot: Snapshot) => ({
  provider: raw.slug,
  endpoint: endpoint.path,
  method: endpoint.method,
  title: endpoint.title,
  status: raw.status === "live" ? ("live" as const) : ("ready" as const),
  cost: costView(endpoint),
  wrapped_by: snapshot.wrappedBy(raw.slug, endpoint)
})

export const endpointHealth = (health: Health["Service"], raw: RawProvider, endpoint: Endpoint) =>
  healthView(health.endpoint(raw.slug, endpoint.method, endpoint.path), endpoint.reported)

const bestFirst = ["healthy", "stable", "unknown", "degraded", "outage"] as const

/** A capability's health is that of its best offer, because routing falls through to that offer. */
export const capabilityHealth = (health: Health["Service"], { capability, offers }: CatalogEntry) => {
  const views = offers
    .filter((one) => one.executable)
    .map((one) => healthView(health.offer(capability.slug, one.provider.slug)))
  return (
    views.toSorted(
      (a, b) => bestFirst.indexOf(a.status) - bestFirst.indexOf(b.status) || b.sample_size - a.sample_size
    )[0] ?? healthView(health.offer(capability.slug, ""))
  )
}

/** How many raw endpoints a provider has, and whether they run. */
export const providerView = (raw: RawProvider) => ({
  provider: raw.slug,
  title: raw.title,
  homepage: raw.homepage,
  capabilities: (raw.provider?.offers ?? []).map((one) => one.capability),
  endpoints: { count: raw.endpoints.length, status: raw.status, reason: raw.excluded }
})
