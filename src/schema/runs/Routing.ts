/**
 * Ranks the offers for a run by a strategy, applies the cost cap, and explains the choice. Pure.
 *
 * Offers without measurements get a neutral prior. Of equal offers the cheaper one comes first, then the faster one, then the provider's name
 * decides. So the same catalog always gives the same ranking.
 */
import { type Accept, chargedAnswers, holdOfAnswers } from "../catalog/Acceptance.ts"
import * as Money from "../money/Money.ts"
import type { Exclusion, OverTotal, Plan } from "./Plan.ts"
import { type OwnOffer } from "../accounts/OwnAccount.ts"
import { plannedPrice } from "./PlannedPrice.ts"
import { type Demand, priceMax } from "../money/Pricing.ts"
import type { Offer } from "../catalog/Provider.ts"

export const strategies = ["best_value", "cheapest", "fastest", "highest_success_rate"] as const
export type Strategy = (typeof strategies)[number]

/** Maximum number of calls of a run, over all its providers. */
export const attemptsMax = 3

/** The rate is null if nothing was measured. The latency is also null if nothing succeeded. */
export interface Metrics {
  readonly success_rate: number | null
  readonly latency_ms_p50: number | null
  readonly sample_size: number
}

export interface Candidate {
  readonly provider: string
  readonly offer: Omit<Offer, "rate">
  readonly metrics: Metrics | null
  /** Why the offer can't be used now, with any input. Null if it can. */
  readonly barred: "no_account" | "unavailable" | null
  /** Present if the organization's own account is called. Then the price of `offer` is the fee. */
  readonly own?: OwnCandidate
}

/** The same offer through the service's account, which may be called if the provider refuses the own account. Null: it may not. */
export interface OwnCandidate {
  readonly failover: Candidate | null
}

export interface RoutingRequest {
  /** `auto`, or the slug of a pinned provider. */
  readonly provider: string
  readonly strategy: Strategy
  readonly max_cost: Money.MicroUsd | null
  /** The most that the prices of all attempts may add up to. */
  readonly max_total?: Money.MicroUsd | null
  readonly allow_fallback: boolean
  readonly accept?: Accept | null
}

export interface Route {
  /** The offers that are called, in this order, until one delivers. */
  readonly candidates: ReadonlyArray<Scored>
  readonly excluded: ReadonlyArray<Exclusion>
  /** Offers that `max_total` left out. Their maximum prices are decimal strings. */
  readonly over_total: ReadonlyArray<OverTotal>
  /** Offers that could serve the run, and that it does not need: it makes no more attempts. */
  readonly spare: ReadonlyArray<Scored>
  readonly attempts_max: number
  readonly routing: Plan["routing"]
  /** The highest price of the offers that may be called, which the wallet must hold. The sum of the highest if several answers are charged. */
  readonly hold: Money.MicroUsd
  readonly reason: string
}

export const priorSuccess = 0.8
export const priorLatency = 2_000
/** The weight of the prior, in calls. The more calls were measured, the less it counts. */
const priorWeight = 10

const successOf = (metrics: Metrics | null) => {
  const samples = metrics?.sample_size ?? 0
  return ((metrics?.success_rate ?? 0) * samples + priorSuccess * priorWeight) / (samples + priorWeight)
}
const latencyOf = (metrics: Metrics | null) => metrics?.latency_ms_p50 ?? priorLatency

/** An offer that the run may call, with its maximum price for this input. */
export interface Scored extends Candidate {
  readonly quote: Money.MicroUsd
  /** The maximum price of the service's account, which is called if the provider refuses the own account. */
  readonly failover?: Money.MicroUsd
}

/** What the rank depends on. */
export type Ranked = Pick<Scored, "provider" | "quote" | "metrics">

/** Smaller is better. Prices are converted to floating point, because they only rank offers here. */
const scoreOf = (strategy: Strategy, one: Ranked): number => {
  switch (strategy) {
    case "cheapest":
      return Number(one.quote)
    case "fastest":
      return latencyOf(one.metrics)
    case "highest_success_rate":
      return -successOf(one.metrics)
    case "best_value":
      return Number(one.quote) / successOf(one.metrics)
  }
}

export const rankBy = (strategy: Strategy) => (a: Ranked, b: Ranked) =>
  scoreOf(strategy, a) - scoreOf(strategy, b) ||
  Number(a.quote - b.quote) ||
  latencyOf(a.metrics) - latencyOf(b.metrics) ||
  (a.provider < b.provider ? -1 : 1)

const why: Readonly<Record<Strategy, string>> = {
  best_value: "the lowest price per expected success",
  cheapest: "the lowest price",
  fastest: "the lowest median latency",
  highest_success_rate: "the highest expected success"
}

/** The most that a call of the offer holds, through whichever account. */
export const holdOf = ({ quote, failover = Money.zero }: Pick<Scored, "quote" | "failover">): Money.MicroUsd =>
  Money.max(quote, failover)

/** The price of the offer in the plan: that of the service's account if it may be called. */
export const priceInPlan = ({ offer, own, failover }: Scored, demand: Demand) =>
  plannedPrice((failover === undefined ? null : own?.failover)?.offer.price ?? offer.price, demand)

export const ownOffers = (candidates: ReadonlyArray<Scored>): ReadonlyArray<OwnOffer> =>
  candidates.flatMap(({ provider, quote, own, failover }) =>
    own === undefined ? [] : [{ provider, fee: Money.usd(quote), fallback: failover !== undefined }]
  )

/** `hunter`, and through which account. */
const called = ({ provider, own }: Scored): string => (own === undefined ? provider : `${provider} (your account)`)

const afterRefusal = ({ failover }: Scored): string =>
  failover === undefined
    ? ""
    : `; if it refuses your account, this service's account is called, quoted at $${Money.usd(failover)}`

const reasonOf = (
  request: RoutingRequest,
  kept: ReadonlyArray<Scored>,
  ranked: number,
  side_effect: boolean
): string => {
  const paid = chargedAnswers(request.accept) > 1 ? "; called until two agree, which are both charged" : ""
  const first = kept[0]
  if (first === undefined) return "no provider could serve this run"
  const quote = `quoted at $${Money.usd(first.quote)}`
  if (request.provider !== "auto")
    return `pinned to ${called(first)}, ${quote}${afterRefusal(first)}; a pinned provider never falls back`
  const rest = kept.slice(1).map(called)
  const after =
    rest.length > 0
      ? `${afterRefusal(first)}; then ${rest.join(", ")} if it ${side_effect ? "surely did nothing" : "does not deliver"}`
      : request.allow_fallback
        ? `${afterRefusal(first)}; no other provider is left to fall back to`
        : `${afterRefusal(first)}; fallback is off`
  const measured =
    first.metrics === null || first.metrics.sample_size === 0
      ? ", not measured yet"
      : `, ${first.metrics.sample_size} calls measured`
  return `${request.strategy}: ${called(first)} has ${why[request.strategy]} of ${ranked} (${quote}${measured})${after}${paid}`
}

const withoutFailover = ({ failover: _failover, ...one }: Scored): Scored => one

/** The price of the service's account, if it may be called for this input. */
const failoverOf = (
  { own }: Candidate,
  input: unknown,
  demand: Demand,
  max_cost: Money.MicroUsd | null
): Pick<Scored, "failover"> => {
  const platform = own?.failover ?? null
  if (platform === null || platform.barred !== null || !platform.offer.serves(input)) return {}
  const failover = priceMax(platform.offer.price, demand)
  return max_cost !== null && failover > max_cost ? {} : { failover }
}

/**
 * The best offers, as many as there are attempts and as `max_total` pays for. An offer that is too expensive is skipped. The third one has no
 * attempt left for the service's account.
 */
const affordable = (ranked: ReadonlyArray<Scored>, attempts: number, max_total: Money.MicroUsd | null) => {
  const kept: Array<Scored> = []
  const spare: Array<Scored> = []
  const over_total: Array<OverTotal> = []
  let total = Money.zero
  const isOver = (amount: Money.MicroUsd) => max_total !== null && amount > max_total
  for (const offered of ranked) {
    // Both calls have to be paid for. Otherwise the service's account is not called.
    const both = Money.plus(total, Money.plus(offered.quote, offered.failover ?? Money.zero))
    const single = offered.failover !== undefined && (kept.length + 2 > attemptsMax || isOver(both))
    const one = single ? withoutFailover(offered) : offered
    const next = one === offered ? both : Money.plus(total, one.quote)
    if (kept.length === attempts) spare.push(offered)
    else if (isOver(next)) over_total.push({ provider: one.provider, quote: Money.usd(one.quote) })
    else {
      kept.push(one)
      total = next
    }
  }
  return { kept, spare, over_total }
}

/** Whether the offer serves the input, and may have the wanted fields. */
export const canServe = (
  { serves, lacks = [] }: Candidate["offer"],
  input: unknown,
  accept: Accept | null | undefined
): boolean => serves(input) && !lacks.some((field) => accept?.fields.includes(field) === true)

/** The offers that may be charged together within the cap, best first, and the others. */
const chargeable = (ranked: ReadonlyArray<Scored>, answers: number, max_cost: Money.MicroUsd | null) => {
  const within: Array<Scored> = []
  const over: Array<Scored> = []
  const isOver = (offers: ReadonlyArray<Scored>) =>
    max_cost !== null && holdOfAnswers(offers.map(holdOf), answers) > max_cost
  const cheapest = ranked.toSorted((a, b) => Number(holdOf(a) - holdOf(b)))
  for (const one of ranked) {
    const partners = cheapest.filter((other) => other !== one).slice(0, answers - 1)
    ;(isOver([one, ...partners]) || isOver([...within, one]) ? over : within).push(one)
  }
  return { within, over }
}

/** Ranks the offers that can serve this input within the cap. An empty `candidates` means that none can. */
export const route = (
  candidates: ReadonlyArray<Candidate>,
  request: RoutingRequest,
  input: unknown,
  demand: Demand,
  side_effect: boolean
): Route => {
  const eligible: Array<Scored> = []
  const excluded: Array<Exclusion> = []
  for (const candidate of candidates) {
    if (request.provider !== "auto" && request.provider !== candidate.provider) continue
    const quote = priceMax(candidate.offer.price, demand)
    const reason = !canServe(candidate.offer, input, request.accept)
      ? "cannot_serve"
      : candidate.barred !== null
        ? candidate.barred
        : request.max_cost !== null && quote > request.max_cost
          ? "max_cost"
          : null
    if (reason === null)
      eligible.push(
        candidate.own === undefined
          ? { ...candidate, quote }
          : { ...candidate, quote, ...failoverOf(candidate, input, demand, request.max_cost) }
      )
    else excluded.push({ provider: candidate.provider, reason, quote: Money.usd(quote) })
  }
  const answers = chargedAnswers(request.accept)
  const best = eligible.sort(rankBy(request.strategy))
  const { within: ranked, over } =
    answers === 1 ? { within: best, over: [] } : chargeable(best, answers, request.max_cost)
  for (const { provider, quote } of over) excluded.push({ provider, reason: "max_cost", quote: Money.usd(quote) })
  const pinned = request.provider !== "auto"
  const single = pinned || !request.allow_fallback
  const attempts = single ? 1 : attemptsMax
  const { kept, spare, over_total } = affordable(ranked, attempts, request.max_total ?? null)
  return {
    candidates: kept,
    excluded,
    over_total,
    spare,
    // A single provider's refused own account is followed by a call of the service's.
    attempts_max: single && kept[0]?.failover !== undefined ? 2 : attempts,
    routing: pinned ? "pinned" : request.allow_fallback ? "auto" : "no_fallback",
    hold: holdOfAnswers(kept.map(holdOf), answers),
    reason: reasonOf(request, kept, kept.length + spare.length, side_effect)
  }
}
