/**
 * Which capabilities this installation can run with the accounts that are configured, and what each missing account would add. Pure.
 *
 * It answers for production, also in the sandbox, where everything runs and is simulated.
 */
import type { Provider } from "../../schema/catalog/Provider.ts"
import type { CatalogEntry } from "./Catalog.ts"

export interface CapabilityReadiness {
  readonly capability: string
  readonly can_run: boolean
  /** It has no live capability yet, whatever accounts there are. */
  readonly coming_soon: boolean
  /** Providers that run it now. */
  readonly providers: ReadonlyArray<string>
  /** Providers whose account would run it too. */
  readonly needs: ReadonlyArray<string>
}

export interface ProviderReadiness {
  readonly provider: string
  readonly title: string
  /** It can be called: its account is set, or it needs none. */
  readonly configured: boolean
  /** The variable of the account. */
  readonly variable: string
  /** Capabilities that it serves, or would serve with an account. */
  readonly serves: ReadonlyArray<string>
  /** Those of them that can't run now, because no provider of them is configured. Empty for a configured provider. */
  readonly adds: ReadonlyArray<string>
}

export interface InstallationReadiness {
  readonly capabilities: ReadonlyArray<CapabilityReadiness>
  readonly providers: ReadonlyArray<ProviderReadiness>
}

export const keyVariable = (slug: string): string => `RUNGATE_PROVIDER_${slug.toUpperCase()}_API_KEY`

const capabilityReadiness = ({ capability, offers }: CatalogEntry): CapabilityReadiness => {
  const wired = offers.filter((one) => one.offer.wired)
  const coming_soon = capability.status !== "live" || wired.length === 0
  const slugs = (live: boolean) => wired.filter((one) => one.live === live).map((one) => one.provider.slug)
  const providers = slugs(true)
  return {
    capability: capability.slug,
    can_run: providers.length > 0,
    coming_soon,
    providers,
    needs: coming_soon ? [] : slugs(false)
  }
}

export const readinessOf = (
  entries: ReadonlyArray<CatalogEntry>,
  providers: ReadonlyArray<Provider>,
  isConfigured: (provider: Provider) => boolean
): InstallationReadiness => {
  const capabilities = entries.map(capabilityReadiness)
  const bySlug = new Map(capabilities.map((one) => [one.capability, one]))
  return {
    capabilities,
    providers: providers.map((provider) => {
      const serves = provider.offers.flatMap(({ capability, wired }) =>
        wired && bySlug.get(capability)?.coming_soon === false ? [capability] : []
      )
      const configured = isConfigured(provider)
      return {
        provider: provider.slug,
        title: provider.title,
        configured,
        variable: keyVariable(provider.slug),
        serves,
        adds: configured ? [] : serves.filter((one) => bySlug.get(one)?.can_run === false)
      }
    })
  }
}

/** `12 of 35 capabilities can run` */
export const capabilityCount = ({ capabilities }: Pick<InstallationReadiness, "capabilities">): string =>
  `${capabilities.filter((one) => one.can_run).length} of ${capabilities.length} capabilities can run`

/** `phone.find needs one of leadmagic, prospeo`, for each capability that an account would add. */
export const missingLines = ({ capabilities }: Pick<InstallationReadiness, "capabilities">): ReadonlyArray<string> =>
  capabilities
    .filter((one) => !one.can_run && !one.coming_soon)
    .map(
      ({ capability, needs }) => `${capability} needs ${needs.length === 1 ? needs[0] : `one of ${needs.join(", ")}`}`
    )
