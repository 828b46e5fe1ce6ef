/** Providers as the operator sees them: configured, checked, healthy, left alone. Shared with `rungate providers`. */
import type { CheckRow } from "../../../layers/catalog/ProviderChecks.ts"
import type { ProviderReadiness } from "../../../layers/catalog/ProviderReadiness.ts"
import type { OfferDrift } from "../../../layers/executor/CostDrifts.ts"
import { usd } from "../../../schema/money/Money.ts"
import { checkedAt } from "../CatalogView.ts"

export interface ListedProvider {
  readonly readiness: ProviderReadiness
  readonly checks: ReadonlyArray<CheckRow>
  readonly status: string
  /** Calls of the last 30 days. */
  readonly calls: number
}

/** Capabilities of the provider that no check has accepted. */
export const checksLeft = ({ serves }: ProviderReadiness, checks: ReadonlyArray<CheckRow>) =>
  serves.filter((capability) => !checks.some((one) => one.capability === capability && one.passed))

export const listedProviderView = ({ readiness, checks, status, calls }: ListedProvider) => ({
  provider: readiness.provider,
  title: readiness.title,
  configured: readiness.configured,
  variable: readiness.variable,
  serves: readiness.serves,
  adds: readiness.adds,
  checked_at: checkedAt(checks),
  unchecked: checksLeft(readiness, checks),
  health: { status, sample_size: calls }
})

export const driftView = ({ provider, capability, expected, measured, since, run_id }: OfferDrift) => ({
  provider,
  capability,
  expected: usd(expected),
  measured: usd(measured),
  since: since.toISOString(),
  run_id
})
