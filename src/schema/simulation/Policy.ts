/** Another routing policy, and the route that it gives a past run. Pure. */
import * as Money from "../money/Money.ts"
import { attemptsMax, rankBy, type Strategy } from "../runs/Routing.ts"
import type { PastOffer, PastPlan } from "./PastRun.ts"

/** What differs from the policy of each run. Null: as the run had it. */
export interface Policy {
  readonly strategy: Strategy | null
  readonly allow_fallback: boolean | null
  readonly max_cost: Money.MicroUsd | null
  readonly without: ReadonlySet<string>
}

export interface NewRoute {
  /** In the order of the calls. Empty: the run would have been refused. */
  readonly offers: ReadonlyArray<PastOffer>
  readonly conclusive: boolean
}

/** With the strategy of the run, its own order is kept, and offers that it could not call are put in by their rank. */
const orderedBy = (strategy: Strategy, { offers, strategy: before, ranked }: PastPlan): ReadonlyArray<PastOffer> => {
  const compare = rankBy(strategy)
  const ordered = strategy === before ? offers.slice(0, ranked) : []
  // A plan has few offers: putting each in its place takes less than a sort.
  for (let n = ordered.length; n < offers.length; n++) {
    const offer = offers[n]
    if (offer === undefined) continue
    let at = 0
    for (const one of ordered) {
      if (compare(offer, one) < 0) break
      at += 1
    }
    if (at === ordered.length) ordered.push(offer)
    else ordered.splice(at, 0, offer)
  }
  return ordered
}

/** The first offers, as many as there are attempts and as `max_total` pays for. */
const affordable = (ranked: ReadonlyArray<PastOffer>, attempts: number, max_total: Money.MicroUsd | null) => {
  const kept: Array<PastOffer> = []
  let total = Money.zero
  for (const one of ranked) {
    const next = Money.plus(total, one.quote)
    if (kept.length === attempts) break
    if (max_total !== null && next > max_total) continue
    kept.push(one)
    total = next
  }
  return kept
}

/** Whether the policy changes which offers the run may call, or their order. */
const matters = (plan: PastPlan, policy: Policy): boolean => {
  const strategy = policy.strategy ?? plan.strategy
  const cap = policy.max_cost ?? plan.max_cost
  const isUnder = (quote: Money.MicroUsd, limit: Money.MicroUsd | null) => limit === null || quote <= limit
  return (
    strategy !== plan.strategy ||
    (policy.allow_fallback ?? plan.allow_fallback) !== plan.allow_fallback ||
    plan.offers.some(
      ({ provider, quote }) => policy.without.has(provider) || isUnder(quote, cap) !== isUnder(quote, plan.max_cost)
    )
  )
}

export const newRoute = (plan: PastPlan, policy: Policy): NewRoute => {
  if (!matters(plan, policy))
    return { offers: plan.offers.slice(0, plan.providers.length), conclusive: plan.conclusive }
  const strategy = policy.strategy ?? plan.strategy
  const cap = policy.max_cost ?? plan.max_cost
  const allow_fallback = policy.allow_fallback ?? plan.allow_fallback
  const single = plan.pinned || !allow_fallback
  const usable = orderedBy(strategy, plan).filter(
    ({ provider, quote }) => !policy.without.has(provider) && (cap === null || quote <= cap)
  )
  return {
    offers: affordable(usable, single ? 1 : attemptsMax, plan.max_total),
    conclusive: policy.strategy === null ? plan.conclusive : strategy === "highest_success_rate"
  }
}

/** Whether the run would have gone as it went. */
export const isUnchanged = (plan: PastPlan, { offers, conclusive }: NewRoute): boolean =>
  conclusive === plan.conclusive &&
  offers.length === plan.providers.length &&
  offers.every(({ provider }, n) => provider === plan.providers[n])
