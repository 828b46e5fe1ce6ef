/** Shows catalog items in discover and in lists (specification 2.3, 2.11), with the next commands. */
import { Schema } from "effect"
import type { CatalogEntry } from "../../../layers/catalog/Catalog.ts"
import type { RawProvider, Snapshot } from "../../../layers/catalog/Endpoints.ts"
import type { Marketplace } from "../../../layers/catalog/Marketplace.ts"
import type { CheckRow } from "../../../layers/catalog/ProviderChecks.ts"
import type { ProviderReadiness } from "../../../layers/catalog/ProviderReadiness.ts"
import type { Health } from "../../../layers/executor/Health.ts"
import type { Endpoint } from "../../../schema/catalog/Endpoint.ts"
import { CatalogProvider } from "../../../schema/nouns/Catalog.ts"
import * as Money from "../../../schema/money/Money.ts"
import { priceMin } from "../../../schema/money/Pricing.ts"
import { orReported } from "../../../schema/runs/Health.ts"
import { inspectEndpoint } from "../../../schema/Steps.ts"

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
    status: entry.status,
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

export const endpointHealth = (
  health: Health["Service"],
  actors: Marketplace["Service"],
  raw: RawProvider,
  endpoint: Endpoint
) => orReported(health.endpoint(raw.slug, endpoint.method, endpoint.path).health, actors.reported(endpoint))

const bestFirst = ["healthy", "stable", "unknown", "degraded", "outage"] as const

/** A capability's health is that of its best offer, because routing falls through to that offer. */
export const capabilityHealth = (health: Health["Service"], { capability, offers }: CatalogEntry) => {
  const views = offers
    .filter((one) => one.executable)
    .map((one) => health.offer(capability.slug, one.provider.slug).health)
  return (
    views.toSorted(
      (a, b) => bestFirst.indexOf(a.status) - bestFirst.indexOf(b.status) || b.sample_size - a.sample_size
    )[0] ?? health.offer(capability.slug, "").health
  )
}

/** The health of the offer with the most measured calls. */
export const providerHealth = (health: Health["Service"], slug: string, capabilities: ReadonlyArray<string>) => {
  const views = capabilities.map((capability) => health.offer(capability, slug).health)
  return views.toSorted((a, b) => b.sample_size - a.sample_size)[0] ?? health.offer("", slug).health
}

/** When the first of a provider's offers was last checked, so that no older check is hidden. Null: never. */
export const checkedAt = (checks: ReadonlyArray<CheckRow>): Date | null =>
  checks.map((one) => one.checked_at).toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null

const providerJson = Schema.encodeSync(CatalogProvider)
/** Whether a provider can be called, what its account would add, and how many raw endpoints it has. */
export const providerView = (
  raw: RawProvider,
  readiness: ProviderReadiness | undefined,
  health: Health["Service"],
  checks: ReadonlyArray<CheckRow>
) =>
  providerJson({
    provider: raw.slug,
    title: raw.title,
    homepage: raw.homepage,
    capabilities: (raw.provider?.offers ?? []).map((one) => one.capability),
    configured: readiness?.configured ?? raw.status === "live",
    adds: readiness?.adds ?? [],
    checked_at: checkedAt(checks),
    health: providerHealth(health, raw.slug, readiness?.serves ?? []),
    endpoints: { count: raw.endpoints.length, status: raw.status, reason: raw.excluded }
  })
