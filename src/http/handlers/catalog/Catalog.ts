/** Inspect: the input, output and price of a capability or a raw endpoint, exactly as run enforces them. */
import { Clock, Effect, Schema } from "effect"
import { Marketplace } from "../../../layers/catalog/Marketplace.ts"
import { Catalog, type CatalogEntry, type CatalogOffer } from "../../../layers/catalog/Catalog.ts"
import { routableNow } from "../../../actors/runs/CapabilityRoute.ts"
import { foundEndpoint, runnable } from "../../../actors/runs/RawRoute.ts"
import { Endpoints } from "../../../layers/catalog/Endpoints.ts"
import { Breakers } from "../../../layers/executor/Breakers.ts"
import { ProviderCredits } from "../../../layers/executor/ProviderCredits.ts"
import { CostDrifts } from "../../../layers/executor/CostDrifts.ts"
import { Health } from "../../../layers/executor/Health.ts"
import { scenarioWords } from "../../../layers/executor/Sandbox.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { OwnAccounts } from "../../../layers/provideraccounts/OwnAccounts.ts"
import { isCallable } from "../../../actors/owners/OwnRoute.ts"
import { acceptTerms, phoneTypes } from "../../../schema/catalog/Acceptance.ts"
import type { Capability } from "../../../schema/catalog/Capability.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import type { Measured } from "../../../schema/runs/Health.ts"
import * as Money from "../../../schema/money/Money.ts"
import { anyDemand, type Price, priceMax } from "../../../schema/money/Pricing.ts"
import { decodeRules } from "../../../schema/guards/Approval.ts"
import { contactsPeople } from "../../../schema/guards/ContactGuard.ts"
import { mayNameRecipients } from "../../../schema/guards/RawRecipients.ts"
import { approvalsOf, checkHints, type RunChecks } from "../../../schema/guards/RunChecks.ts"
import { Books } from "../../../layers/ledger/Books.ts"
import { GuardStore } from "../../../layers/guards/GuardStore.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import { group } from "../group.ts"
import type { InspectRequest } from "../../api/Catalog.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { endpointHealth, startingPrice } from "./CatalogItems.ts"
import { endpointInspection, inputSchemas, type OwnAccountView } from "./InspectedEndpoint.ts"
import { warrantyTerms } from "../../../schema/wallet/Warranty.ts"
import { hinted, withCommands } from "../../../schema/Hints.ts"
import { discover, viaApi, runCapability } from "../../../schema/Steps.ts"

const currency = "USD" as const
interface Target {
  /** Of an endpoint. */
  readonly provider: string | null
  readonly capability: string | null
  readonly endpoint: string | null
}

const pricingOf = (price: Price) => {
  switch (price.kind) {
    case "flat":
      return {}
    case "metered":
      return {
        pricing: {
          base: Money.usd(price.base),
          per_result: Money.usd(price.per_result),
          default_limit: price.default_limit
        }
      }
    case "by_platform": {
      const by_platform = Object.fromEntries(
        Object.entries(price.amounts).map(([name, amount]) => [name, Money.usd(amount)])
      )
      return { pricing: { by_platform } }
    }
    case "paged":
      return {
        pricing: {
          first_page: Money.usd(price.first),
          further_page: Money.usd(price.further),
          page_size: price.page_size
        }
      }
  }
}

const offerView = (
  { provider, offer }: CatalogOffer,
  executable: boolean,
  measured: Measured,
  own: OwnAccountView
) => ({
  provider: provider.slug,
  ...own,
  executable,
  wired: offer.wired,
  verified: offer.verified,
  platforms: offer.platforms,
  // For a price that depends on the input: the maximum for one without a limit.
  price: { amount: Money.usd(priceMax(offer.price, anyDemand)), currency, note: offer.note },
  ...pricingOf(offer.price),
  metrics: measured.metrics,
  health: measured.health
})

const decodeObject = Schema.decodeUnknownSync(Schema.JsonObject)
const decodeJson = Schema.decodeUnknownSync(Schema.Json)

const comingSoon =
  "This capability is coming soon: production has no provider for it yet. The sandbox's output is not real data and must not be presented as real."
const contacting =
  "Give unless_contacted_within_seconds beside input (--unless-contacted 30d) so that nobody is contacted twice within that time, whichever agent or key asks."
const reusing =
  'Give reuse {"mode": "prefer"} beside input (--reuse 30d) to take the result that your organization bought for the same input before, at $0.'
const scenarios = `Sandbox: choose an outcome with ${scenarioWords.join(", ")} (add _once for the first attempt only) as <word>@sandbox.test, <word>.sandbox.test (with - for _) or sandbox:<word> in the input.`

/** Absent for a capability that acts. */
const acceptView = (capability: Capability) => {
  const acceptable = capability.acceptable()
  if (acceptable === null) return {}
  const { fields, phone_type, dated, agree } = acceptable
  const description = acceptTerms(capability.billing.bills_no_match, acceptable)
  const phone_types = phone_type === null ? [] : phoneTypes
  return { accept: { fields, phone_types, max_age_days: dated, agree, description } }
}

const entryView = (
  entry: CatalogEntry,
  { sandbox, warranty }: { readonly sandbox: boolean; readonly warranty: boolean },
  health: Health["Service"],
  /** Of each offer. */
  executable: ReadonlyArray<boolean>,
  checks: RunChecks,
  ownOf: (offered: CatalogOffer) => OwnAccountView
) => {
  const { capability, offers } = entry
  const run = runCapability(capability.slug, capability.example)
  const ownAccounts = offers.map(ownOf)
  // An organization can run a capability through its own account where the service has none.
  const status = ownAccounts.some((own) => own.own_account !== undefined) ? capability.status : entry.status
  return {
    capability: capability.slug,
    title: capability.title,
    category: capability.category,
    description: capability.description,
    status,
    sandbox,
    input_schema: decodeObject(capability.input.jsonSchema),
    output_fields: capability.output.fields,
    example: decodeJson(capability.example),
    billing: capability.billing,
    ...acceptView(capability),
    ...(warranty && capability.vouches !== null ? { warranty: warrantyTerms } : {}),
    checks,
    providers: offers.map((one) => one.provider.slug),
    live_providers: offers.filter((one) => one.live).map((one) => one.provider.slug),
    platforms: capability.platforms,
    offers: offers.map((one, n) =>
      offerView(one, executable[n] === true, health.offer(capability.slug, one.provider.slug), ownAccounts[n] ?? {})
    ),
    starting_price: startingPrice(entry),
    ...hinted([
      ...(status === "live" ? [] : [comingSoon]),
      withCommands`Run it: ${run}`,
      `Or: ${run.cli}`,
      ...checkHints(checks),
      ...(capability.channel === null ? [] : [contacting]),
      ...(capability.side_effect ? [] : [reusing]),
      ...(sandbox ? [scenarios] : [])
    ])
  }
}

/** The target that a request names: a capability alone, or a provider with an endpoint. */
const targetOf = (payload: InspectRequest) => {
  const { capability = null, provider = null, endpoint = null, method = null } = payload
  if (capability !== null) {
    const extra = provider !== null ? "provider" : endpoint !== null ? "endpoint" : method !== null ? "method" : null
    if (extra !== null) return refused(extra, "can't be combined with capability")
    return Effect.succeed({ _tag: "Capability" as const, capability })
  }
  if (provider !== null && endpoint !== null)
    return Effect.succeed({ _tag: "Endpoint" as const, provider, endpoint, method })
  if (provider !== null) return refused("endpoint", "is required with provider")
  if (endpoint !== null) return refused("provider", "is required with endpoint")
  return refused("capability", "is required: name a capability, or a provider and its endpoint")
}

export const CatalogHandlers = group(
  "catalog",
  Effect.fnUntraced(function* (handlers) {
    const catalog = yield* Catalog
    const endpoints = yield* Endpoints
    const actors = yield* Marketplace
    const health = yield* Health
    const breakers = yield* Breakers
    const credits = yield* ProviderCredits
    const drifts = yield* CostDrifts
    const { rawMinCap, ownAccountFee, warrantyShareBps } = yield* Settings
    const service = { sandbox: catalog.sandbox, warranty: warrantyShareBps > 0 }
    const ownAccounts = yield* OwnAccounts
    const [books, guards] = [yield* Books, yield* GuardStore]
    const ownView = Effect.fnUntraced(function* () {
      const accounts = ownAccounts.of((yield* CurrentCaller).org_id)
      return (slug: string): OwnAccountView => {
        const account = accounts.get(slug)
        return account === undefined
          ? {}
          : { own_account: { fee: Money.usd(ownAccountFee), fallback: account.fallback } }
      }
    })
    /** Opt-outs are for each run that contacts people, the guard for capabilities. A quote names the rules to each key, and the rest not. */
    const checksOf = Effect.fnUntraced(function* (target: Target, opt_outs: boolean) {
      const { org_id, key_id, access } = yield* CurrentCaller
      const { approval_rules, budget_labels } = yield* books.wallet(org_id)
      const rules = approval_rules === null ? [] : decodeRules(approval_rules)
      const sees = (access?.reads ?? null) === null
      const isGuarded = sees && opt_outs && target.capability !== null
      const contact_guard_days = isGuarded ? yield* guards.contactDays(org_id) : null
      const approvals = approvalsOf(rules, { ...target, key_id, given_by: access?.given_by })
      const label_budgets = sees ? (budget_labels ?? []) : []
      return { approvals, label_budgets, opt_outs, contact_guard_days } satisfies RunChecks
    })
    const capabilityNames = catalog.entries.map((one) => one.capability.slug)
    return handlers.handleAll({
      inspect: Effect.fnUntraced(function* ({ payload }) {
        const target = yield* targetOf(payload)
        const ownOf = yield* ownView()
        if (target._tag === "Endpoint") {
          const lookup = endpoints.find(target.provider, target.endpoint, target.method)
          const { provider, endpoint: listed } = yield* foundEndpoint(lookup, target)
          const endpoint = drifts.pricedEndpoint(provider.slug, listed)
          const loaded = yield* actors.input(provider.slug, endpoint, "fresh")
          yield* runnable(endpoint, loaded)
          return endpointInspection(
            provider,
            endpoint,
            endpoints.snapshot(),
            endpointHealth(health, actors, provider, endpoint),
            loaded,
            rawMinCap,
            catalog.sandbox ? scenarios : null,
            yield* checksOf(
              { capability: null, provider: provider.slug, endpoint: endpoint.path },
              endpoint.acts === true && mayNameRecipients(inputSchemas(provider, endpoint, loaded))
            ),
            ownOf(provider.slug)
          )
        }
        const { capability } = target
        const entry = catalog.find(capability)
        if (entry === undefined) {
          return yield* refusedWith(
            "capability_not_found",
            withCommands`There is no capability "${capability}".${didYouMean(capability, capabilityNames)} ${viaApi("GET", "/v1/catalog/capabilities")} lists them, or search with ${discover}.`
          )
        }
        const { org_id } = yield* CurrentCaller
        const services = { catalog, health, breakers, credits, ownAccounts, ownAccountFee }
        const executable = routableNow(services, entry, org_id, yield* Clock.currentTimeMillis)
        const checks = yield* checksOf({ capability, provider: null, endpoint: null }, contactsPeople(capability))
        return entryView(drifts.priced(entry), service, health, executable, checks, (offered) =>
          isCallable(offered, entry.capability, catalog.sandbox) ? ownOf(offered.provider.slug) : {}
        )
      })
    })
  })
)
