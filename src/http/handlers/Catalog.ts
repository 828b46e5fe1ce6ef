/** Inspect: what a capability takes, gives and costs, as run enforces it. */
import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Catalog, type CatalogEntry, type CatalogOffer } from "../../layers/Catalog.ts"
import { Health } from "../../layers/Health.ts"
import { scenarioWords } from "../../layers/Sandbox.ts"
import { problem } from "../../schema/Errors.ts"
import type { Measured } from "../../schema/Health.ts"
import * as Money from "../../schema/Money.ts"
import { anyDemand, type Price, priceMax, priceMin } from "../../schema/Pricing.ts"
import { Api } from "../api/Api.ts"
import { healthView, metricsView } from "../HealthView.ts"

const currency = "USD" as const

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
  }
}

const offerView = ({ provider, offer, executable }: CatalogOffer, measured: Measured) => ({
  provider: provider.slug,
  executable,
  wired: offer.wired,
  verified: offer.verified,
  platforms: offer.platforms,
  // For a metered or platform price: the most that an input without a limit can cost.
  price: { amount: Money.usd(priceMax(offer.price, anyDemand)), currency, note: offer.note },
  ...pricingOf(offer.price),
  metrics: metricsView(measured),
  health: healthView(measured)
})

const decodeObject = Schema.decodeUnknownSync(Schema.JsonObject)
const decodeJson = Schema.decodeUnknownSync(Schema.Json)

const entryView = (entry: CatalogEntry, sandbox: boolean, health: Health["Service"]) => {
  const { capability, offers } = entry
  const cheapest = offers
    .map((one) => priceMin(one.offer.price))
    .reduce((a: Money.MicroUsd | null, b) => (a === null ? b : Money.min(a, b)), null)
  const scenarios = `Sandbox: rehearse an outcome with ${scenarioWords.join(", ")} (add _once for the first attempt only) as <word>@sandbox.test, <word>.sandbox.test or sandbox:<word> in the input.`
  return {
    capability: capability.slug,
    title: capability.title,
    category: capability.category,
    description: capability.description,
    status: capability.status,
    sandbox,
    input_schema: decodeObject(capability.input.jsonSchema),
    output_fields: capability.output.fields,
    example: decodeJson(capability.example),
    billing: capability.billing,
    providers: offers.map((one) => one.provider.slug),
    live_providers: offers.filter((one) => one.live).map((one) => one.provider.slug),
    platforms: capability.platforms,
    offers: offers.map((one) => offerView(one, health.offer(capability.slug, one.provider.slug))),
    starting_price: cheapest === null ? null : { amount: Money.usd(cheapest), currency },
    hints: [
      `Run it: POST /v1/run {"capability": "${capability.slug}", "input": ${JSON.stringify(capability.example)}}`,
      ...(sandbox ? [scenarios] : [])
    ]
  }
}

export const CatalogHandlers = HttpApiBuilder.group(
  Api,
  "catalog",
  Effect.fnUntraced(function* (handlers) {
    const catalog = yield* Catalog
    const health = yield* Health
    return handlers.handleAll({
      inspect: Effect.fnUntraced(function* ({ payload }) {
        const { capability, provider, endpoint } = payload
        if ((capability ?? null) === null) {
          if ((provider ?? null) !== null && (endpoint ?? null) !== null) {
            return yield* Effect.fail(
              problem("endpoint_not_found", `There is no raw endpoint ${endpoint} of ${provider} in the catalog.`)
            )
          }
          const message = "is required: name a capability, or a provider and its endpoint"
          return yield* Effect.fail(
            problem("invalid_request", `capability ${message}`, [{ path: "capability", message }])
          )
        }
        if ((provider ?? endpoint ?? null) !== null) {
          const path = (provider ?? null) === null ? "endpoint" : "provider"
          const message = "does not go with capability"
          return yield* Effect.fail(problem("invalid_request", `${path} ${message}`, [{ path, message }]))
        }
        const entry = catalog.find(capability ?? "")
        if (entry === undefined) {
          const known = catalog.entries.map((one) => one.capability.slug).join(", ")
          return yield* Effect.fail(
            problem("capability_not_found", `There is no capability "${capability}"; there are: ${known}.`)
          )
        }
        return entryView(entry, catalog.sandbox, health)
      })
    })
  })
)
