/** A past run as a simulation sees it: the offers that it could have called, and how its calls ended. Pure. */
import * as Money from "../money/Money.ts"
import type { Accept } from "../catalog/Acceptance.ts"
import { type Demand, priceMax } from "../money/Pricing.ts"
import type { Plan } from "../runs/Plan.ts"
import { priceFrom } from "../runs/PlannedPrice.ts"
import { type Metrics, type Strategy, strategies } from "../runs/Routing.ts"
import { metricsOf, strategyDefault } from "../runs/Seen.ts"
import type { Health, Seen } from "../runs/Plan.ts"

/** An offer that was usable when the run was planned: only its price, or the number of attempts, may have kept the run from calling it. */
export interface PastOffer {
  readonly provider: string
  readonly quote: Money.MicroUsd
  readonly metrics: Metrics | null
}

/** What a plan decided. Runs with the same plan share it. */
export interface PastPlan {
  /** The offers that the run might call, in order. */
  readonly providers: ReadonlyArray<string>
  /** All usable offers: first those of `providers`, then the others in the order of their rank, then those above a cap. */
  readonly offers: ReadonlyArray<PastOffer>
  /** How many of `offers` are in the order of their rank. */
  readonly ranked: number
  readonly strategy: Strategy
  readonly pinned: boolean
  readonly side_effect: boolean
  readonly allow_fallback: boolean
  readonly max_cost: Money.MicroUsd | null
  readonly max_total: Money.MicroUsd | null
  /** Whether an inconclusive answer was only a fallback. */
  readonly conclusive: boolean
  /** Which answers counted as a match, beside what the capability says. */
  readonly accept?: Accept | undefined
}

export interface PastRun {
  readonly capability: string
  /** As quotes count it: see runs/InputKind.ts. */
  readonly kind: string
  readonly plan: PastPlan
  readonly bills_no_match: boolean
  readonly attempts: ReadonlyArray<{
    readonly provider: string
    readonly outcome: string
    readonly duration_ms: number
  }>
  readonly hit: boolean
  /** The provider whose answer was delivered or charged. */
  readonly provider: string | null
  readonly charged: Money.MicroUsd
  readonly duration_ms: number
}

const isStrategy = (text: string): text is Strategy => strategies.some((one) => one === text)

const strategyOf = ({ strategy = strategyDefault }: Seen): Strategy =>
  isStrategy(strategy) ? strategy : strategyDefault

const measured = ({ provider, quote }: PastOffer, health: Health): PastOffer => {
  const figures = health[provider]
  if (figures === undefined) return { provider, quote, metrics: null }
  return { provider, quote, metrics: { success_rate: figures[0], latency_ms_p50: figures[1], sample_size: figures[2] } }
}

/** The same plan with other measurements, which differ from run to run more often than anything else in a plan. */
export const withHealth = (plan: PastPlan, health: Health): PastPlan => ({
  providers: plan.providers,
  offers: plan.offers.map((offer) => measured(offer, health)),
  ranked: plan.ranked,
  strategy: plan.strategy,
  pinned: plan.pinned,
  side_effect: plan.side_effect,
  allow_fallback: plan.allow_fallback,
  max_cost: plan.max_cost,
  max_total: plan.max_total,
  conclusive: plan.conclusive,
  accept: plan.accept
})

/**
 * Null for a plan of an older release, which does not say what the choice was based on, for a raw run, and for a run through an organization's
 * own account, whose outcome says nothing about the service's offers.
 */
export const pastPlanOf = (plan: Plan, demand: Demand): PastPlan | null => {
  const { seen, raw, prices, total, own, accept } = plan
  // Of answers that had to agree, one alone says nothing.
  if (seen === undefined || raw !== undefined || own !== undefined || accept?.agree !== undefined) return null
  const offer = (provider: string, quote: string): PastOffer => ({
    provider,
    quote: Money.dollars(quote),
    metrics: metricsOf(seen, provider)
  })
  const quoteOf = (n: number): string => {
    const price = prices?.[n]
    return (
      seen.quotes?.[n] ??
      total?.holds[n] ??
      (price === undefined ? "0.00" : Money.usd(priceMax(priceFrom(price), demand)))
    )
  }
  const overCap = plan.excluded.filter(({ reason }) => reason === "max_cost")
  return {
    providers: plan.providers,
    offers: [
      ...plan.providers.map((provider, n) => offer(provider, quoteOf(n))),
      ...(seen.spare ?? []).map(([provider, quote]) => offer(provider, quote)),
      ...(total?.excluded ?? []).map(({ provider, quote }) => offer(provider, quote)),
      ...overCap.map(({ provider, quote }) => offer(provider, quote))
    ],
    ranked: plan.providers.length + (seen.spare ?? []).length,
    strategy: strategyOf(seen),
    pinned: plan.routing === "pinned",
    side_effect: plan.side_effect,
    allow_fallback: plan.routing !== "no_fallback",
    max_cost: seen.max_cost === undefined ? null : Money.dollars(seen.max_cost),
    max_total: total === undefined ? null : Money.dollars(total.amount),
    conclusive: plan.conclusive === true,
    accept
  }
}
