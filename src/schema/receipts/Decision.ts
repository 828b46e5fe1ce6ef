/** The decision that a receipt shows, read from the plan that the run stored at admission. Pure. */
import { planned as plannedAccept } from "../catalog/Acceptance.ts"
import * as Money from "../money/Money.ts"
import { marked, ownOffer } from "../accounts/OwnAccount.ts"
import type { Plan } from "../runs/Plan.ts"
import type { PlannedPrice } from "../runs/PlannedPrice.ts"
import { metricsOf, strategyDefault } from "../runs/Seen.ts"
import type { Seen } from "../runs/Plan.ts"
import type { ReceiptDecision, ReceiptOffer } from "./Receipt.ts"

/** A price that depends on the input is not an amount. */
const flatOf = (price: PlannedPrice | undefined): string | null => (typeof price === "string" ? price : null)

/** The maximum prices of the offers that the run might call. */
const pricesOf = ({ providers, prices, total, seen, raw }: Plan): ReadonlyArray<string | null> =>
  providers.map((_, n) =>
    raw !== undefined ? raw.hold : (seen?.quotes?.[n] ?? total?.holds[n] ?? flatOf(prices?.[n]))
  )

const healthOf = (seen: Seen | undefined, provider: string): ReceiptOffer["health"] =>
  seen === undefined ? null : metricsOf(seen, provider)

/** Every offer that was considered: those that the run might call, in order, and then those that were left out. */
export const consideredOffers = (plan: Plan): ReadonlyArray<ReceiptOffer> => {
  const { providers, excluded, total, seen } = plan
  const prices = pricesOf(plan)
  const offer = (provider: string, price: string | null, excluded_because: string | null): ReceiptOffer => ({
    provider,
    price,
    health: healthOf(seen, provider),
    chosen: excluded_because === null,
    excluded_because
  })
  return [
    ...providers.flatMap((provider, n) => {
      const platform = offer(provider, prices[n] ?? null, null)
      const own = ownOffer(plan, provider)
      if (own === undefined) return [platform]
      const mine = { ...platform, price: own.fee, ...marked(true) }
      return own.fallback ? [mine, platform] : [mine]
    }),
    ...(seen?.spare ?? []).map(([provider, quote]) => offer(provider, quote, "attempt_limit")),
    ...(total?.excluded ?? []).map(({ provider, quote }) => offer(provider, quote, "max_total")),
    ...excluded.map(({ provider, reason, quote }) => offer(provider, quote, reason))
  ]
}

/** Releases before `seen` was stored wrote the strategy into the reason only. */
const strategyOf = ({ seen, raw }: Plan, reason: string): string | null =>
  raw !== undefined
    ? null
    : seen !== undefined
      ? (seen.strategy ?? strategyDefault)
      : (/^(best_value|cheapest|fastest|highest_success_rate): /.exec(reason)?.[1] ?? null)

export const decisionOf = (plan: Plan, reason: string): ReceiptDecision => ({
  routing: plan.routing,
  strategy: strategyOf(plan, reason),
  max_cost: plan.seen?.max_cost ?? null,
  max_total: plan.total === undefined ? null : Money.usd(Money.dollars(plan.total.amount)),
  ...plannedAccept(plan.accept),
  attempts_max: plan.attempts_max,
  reason,
  catalog_version: plan.seen?.catalog ?? null,
  offers: consideredOffers(plan)
})
