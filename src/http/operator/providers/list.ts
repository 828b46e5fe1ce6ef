/**
 * Handler of `rungate providers`: which accounts are configured, when each was checked, and what the missing ones would add.
 *
 * It reads the settings of this shell and the database. Start the service with the same settings.
 */
import { Console, Effect, Layer } from "effect"
import { onDatabase, plain, print, table } from "../output.ts"
import { checkedAt, providerHealth } from "../../views/CatalogView.ts"
import { checksLeft, driftView, type ListedProvider, listedProviderView } from "../../views/operator/ProviderView.ts"
import { Catalog } from "../../../layers/catalog/Catalog.ts"
import { ProviderChecks } from "../../../layers/catalog/ProviderChecks.ts"
import { capabilityCount, missingLines, readinessOf } from "../../../layers/catalog/ProviderReadiness.ts"
import { CostDrifts, fitsToClear, type OfferDrift } from "../../../layers/executor/CostDrifts.ts"
import { sendsEvents } from "../../../schema/catalog/Provider.ts"
import { usd } from "../../../schema/money/Money.ts"
import { Health } from "../../../layers/executor/Health.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { unknownSettings } from "../../../layers/platform/unknownSettings.ts"

/** `2 of 6 passed, 2026-11-22`, or `never`. */
const checkedText = ({ readiness, checks }: ListedProvider): string => {
  if (checks.length === 0) return "never"
  const passed = readiness.serves.length - checksLeft(readiness, checks).length
  return `${passed} of ${readiness.serves.length} passed, ${checkedAt(checks)?.slice(0, 10)}`
}

const lines = (listed: ReadonlyArray<ListedProvider>): ReadonlyArray<string> => {
  const configured = listed.filter((one) => one.readiness.configured)
  const missing = listed
    .filter((one) => !one.readiness.configured)
    .toSorted((a, b) => b.readiness.adds.length - a.readiness.adds.length)
  return [
    ...(configured.length === 0
      ? ["No provider is configured."]
      : table(
          ["configured", "checked", "health", "calls of 30 days", "serves"],
          configured.map((one) => [
            one.readiness.provider,
            checkedText(one),
            one.status,
            String(one.calls),
            one.readiness.serves.join(", ")
          ])
        )),
    "",
    ...table(
      ["not configured", "set", "its account would add"],
      missing.map(({ readiness: { provider, variable, adds, serves } }) => [
        provider,
        variable,
        adds.length > 0 ? adds.join(", ") : serves.length > 0 ? "more providers to fall back to" : "raw endpoints only"
      ])
    )
  ]
}

const driftLine = ({ provider, capability, expected, measured, run_id }: OfferDrift): string =>
  `${provider} ${capability} costs more than its rate: ${usd(measured)} USD instead of ${usd(expected)} (${run_id}). It is priced by that cost until ${fitsToClear} calls in a row fit.`

export const listProviders = (json: boolean) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const health = yield* Health
    const checks = yield* ProviderChecks
    const drifts = (yield* CostDrifts).all()
    yield* health.refresh
    const { mode, names } = yield* Settings
    const readiness = readinessOf(catalog.entries, catalog.providers, catalog.isConfigured)
    const listed = readiness.providers.map((one): ListedProvider => {
      const { status, sample_size: calls } = providerHealth(health, one.provider, one.serves)
      return { readiness: one, checks: checks.of(one.provider), status, calls }
    })
    const parties = catalog.providers.map((one) => ({
      slug: one.slug,
      hasCredits: one.credit !== null,
      sendsEvents: sendsEvents(one)
    }))
    const unknown = unknownSettings(names, parties).filter((line) => line.startsWith("RUNGATE_PROVIDER_"))
    if (json) {
      const { capabilities } = readiness
      const can_run = capabilities.filter((one) => one.can_run).length
      return yield* print({
        mode,
        can_run,
        capabilities,
        providers: listed.map(listedProviderView),
        cost_drifts: drifts.map(driftView),
        warnings: unknown
      })
    }
    yield* Console.log([...lines(listed), "", `${capabilityCount(readiness)}.`, ...missingLines(readiness)].join("\n"))
    if (mode === "sandbox")
      yield* Console.error(
        "This is the sandbox, which simulates all of them. Accounts take effect with RUNGATE_MODE=production."
      )
    for (const drift of drifts) yield* Console.error(driftLine(drift))
    for (const line of unknown) yield* Console.error(plain(line))
    if (listed.some((one) => one.readiness.configured && checksLeft(one.readiness, one.checks).length > 0))
      yield* Console.error("Before customers use a provider, accept it: rungate providers check <slug>")
  }).pipe(Effect.provide(Layer.mergeAll(Catalog.layer, Health.layer, CostDrifts.layer)), onDatabase)
