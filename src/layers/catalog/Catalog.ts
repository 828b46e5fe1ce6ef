/**
 * The capabilities of this installation, their offers, and which offers can be executed.
 *
 * In the sandbox every offer is executable, by a simulated provider. In production an offer is executable when its adapter
 * exists, its capability is live, and the operator configured the provider's account.
 */
import { Context, Effect, Layer } from "effect"
import type { Capability } from "../../schema/catalog/Capability.ts"
import { capabilities } from "../../schema/capabilities/index.ts"
import { needsNoAccount, type Offer, type Provider, withRates } from "../../schema/catalog/Provider.ts"
import { providers } from "../providers/index.ts"
import { isOfAccount } from "../platform/settings/ProviderSettings.ts"
import { type Account, Settings } from "../platform/Settings.ts"

export interface CatalogOffer {
  readonly provider: Provider
  readonly offer: Offer
  /** Production can route to it: its capability is live, it has an adapter, and its account is configured. */
  readonly live: boolean
  /** Routing may choose it in the current mode. */
  readonly executable: boolean
}

export interface CatalogEntry {
  readonly capability: Capability
  /** `live` if the capability is, and routing may choose one of its offers in the current mode. */
  readonly status: Capability["status"]
  readonly offers: ReadonlyArray<CatalogOffer>
}

/** A provider without credits has no price of a credit, whatever the settings say. */
const creditOf = ({ credit }: Provider, account: Account | undefined): string | null =>
  credit === null ? null : (account?.creditUsd ?? credit)

export class Catalog extends Context.Service<
  Catalog,
  {
    readonly sandbox: boolean
    /** As they are now: a reload of the settings may change accounts and prices. */
    readonly entries: ReadonlyArray<CatalogEntry>
    readonly find: (slug: string) => CatalogEntry | undefined
    /** All providers, with the prices of this installation. */
    readonly providers: ReadonlyArray<Provider>
    readonly provider: (slug: string) => Provider | undefined
    /** Whether the provider can be called: its account is set, or it needs none. */
    readonly isConfigured: (provider: Provider) => boolean
    readonly offer: (capability: string, provider: string) => CatalogOffer | undefined
  }
>()("rungate/layers/catalog/Catalog") {
  /** A reload of the settings makes all of it anew. Slugs and the number of entries stay. */
  static readonly layerOf = (capabilities: ReadonlyArray<Capability>, adapters: ReadonlyArray<Provider>) =>
    Layer.effect(
      Catalog,
      Effect.gen(function* () {
        const { current, mode, markup, onReload } = yield* Settings
        const sandbox = mode === "sandbox"
        const isConfigured = ({ slug, auth }: Provider) =>
          needsNoAccount(auth) || (current().accounts.get(slug)?.apiKey ?? null) !== null
        // Priced here and not per run: what a credit costs and the markup are settings.
        const make = () => {
          const { accounts } = current()
          const providers = adapters.map((one) =>
            withRates(one, { credit: creditOf(one, accounts.get(one.slug)), markup })
          )
          const entries = capabilities.map((capability): CatalogEntry => {
            const offers = providers.flatMap((provider) =>
              provider.offers.flatMap((offer): ReadonlyArray<CatalogOffer> => {
                if (offer.capability !== capability.slug) return []
                // A capability that is coming soon is not executed, even if an adapter exists.
                const live = capability.status === "live" && offer.wired && isConfigured(provider)
                return [{ provider, offer, live, executable: sandbox || live }]
              })
            )
            const status = offers.some((one) => one.executable) ? capability.status : "coming_soon"
            return { capability, status, offers }
          })
          return {
            providers,
            entries,
            bySlug: new Map(providers.map((provider) => [provider.slug, provider])),
            byCapability: new Map(entries.map((entry) => [entry.capability.slug, entry]))
          }
        }
        let snapshot = make()
        onReload((changed) =>
          Effect.sync(() => {
            if (changed.some(isOfAccount)) snapshot = make()
          })
        )
        return Catalog.of({
          sandbox,
          get entries() {
            return snapshot.entries
          },
          get providers() {
            return snapshot.providers
          },
          isConfigured,
          find: (slug) => snapshot.byCapability.get(slug),
          provider: (slug) => snapshot.bySlug.get(slug),
          offer: (capability, provider) =>
            snapshot.byCapability.get(capability)?.offers.find((one) => one.provider.slug === provider)
        })
      })
    )
  static readonly layer = Catalog.layerOf(capabilities, providers)
}
