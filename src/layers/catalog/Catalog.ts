/**
 * What can be run here: the capabilities, their offers, and which of them have a live account.
 *
 * In the sandbox every offer is served by a simulated provider; in production an offer is executable when its adapter exists
 * and the operator configured the provider's account.
 */
import { Context, Effect, Layer } from "effect"
import type { Capability } from "../../schema/catalog/Capability.ts"
import { capabilities } from "../../schema/capabilities/index.ts"
import { needsNoAccount, type Offer, type Provider } from "../../schema/catalog/Provider.ts"
import { providers } from "../providers/index.ts"
import { Settings } from "../platform/Settings.ts"

export interface CatalogOffer {
  readonly provider: Provider
  readonly offer: Offer
  /** A real adapter with an active account, routable in production. */
  readonly live: boolean
  /** Routing considers it now. */
  readonly executable: boolean
}

export interface CatalogEntry {
  readonly capability: Capability
  readonly offers: ReadonlyArray<CatalogOffer>
}

export class Catalog extends Context.Service<
  Catalog,
  {
    readonly sandbox: boolean
    readonly entries: ReadonlyArray<CatalogEntry>
    readonly find: (slug: string) => CatalogEntry | undefined
    readonly provider: (slug: string) => Provider | undefined
    readonly offer: (capability: string, provider: string) => CatalogOffer | undefined
  }
>()("rungate/layers/catalog/Catalog") {
  static readonly layerOf = (capabilities: ReadonlyArray<Capability>, providers: ReadonlyArray<Provider>) =>
    Layer.effect(
      Catalog,
      Effect.gen(function* () {
        const { mode, accounts } = yield* Settings
        const sandbox = mode === "sandbox"
        const bySlug = new Map(providers.map((provider) => [provider.slug, provider]))
        const entries = capabilities.map((capability): CatalogEntry => {
          const offers = providers.flatMap((provider) =>
            provider.offers.flatMap((offer): ReadonlyArray<CatalogOffer> => {
              if (offer.capability !== capability.slug) return []
              const account = accounts.get(provider.slug)
              const live = offer.wired && (needsNoAccount(provider.auth) || (account?.apiKey ?? null) !== null)
              // What is coming soon has no provider that may be asked yet, whatever its adapters can do.
              const ready = live && capability.status === "live"
              return [{ provider, offer, live, executable: sandbox || ready }]
            })
          )
          return { capability, offers }
        })
        const byCapability = new Map(entries.map((entry) => [entry.capability.slug, entry]))
        return Catalog.of({
          sandbox,
          entries,
          find: (slug) => byCapability.get(slug),
          provider: (slug) => bySlug.get(slug),
          offer: (capability, provider) =>
            byCapability.get(capability)?.offers.find((one) => one.provider.slug === provider)
        })
      })
    )
  static readonly layer = Catalog.layerOf(capabilities, providers)
}
