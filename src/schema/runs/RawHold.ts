/**
 * The hold of a raw call, and the smallest `max_cost` that a caller may set.
 *
 * A hold of $0 exists only where the rate card says that the call is free. A `max_cost` below the estimated cost is refused,
 * because the operator would pay the difference.
 */
import { type CallInput, callCost } from "../catalog/CallCost.ts"
import type { Issue } from "../catalog/Contract.ts"
import type { Endpoint } from "../catalog/Endpoint.ts"
import * as Money from "../money/Money.ts"
import { type RateCard, rawHold } from "../money/Pricing.ts"

/** The estimated price of this call by the rate card. Null without published rates. */
export const rateCardOf = (
  endpoint: Endpoint,
  free: boolean,
  request: CallInput
): { readonly card: RateCard | null; readonly issues: ReadonlyArray<Issue> } => {
  if (free) return { card: { estimate: Money.zero }, issues: [] }
  const { estimate, issues } = callCost(endpoint, request)
  return { card: estimate === null ? null : { estimate }, issues }
}

/** The hold of a call. For a marketplace actor it is also the cost cap of the run, so it is never below the actor's minimum. */
export const holdOf = (endpoint: Endpoint, card: RateCard | null, max_cost: Money.MicroUsd | null): Money.MicroUsd => {
  const hold = rawHold(card, max_cost)
  return endpoint.cap_min === null ? hold : Money.max(hold, Money.dollars(endpoint.cap_min))
}

/**
 * The smallest `max_cost` of a call: its estimate, or `unpricedMin` if it has none. A marketplace actor may have a lower cap, because the
 * marketplace stops it there, and the estimate counts an ordinary number of results.
 */
export const leastCap = (
  { body_type, cap_min }: Pick<Endpoint, "body_type" | "cap_min">,
  card: RateCard | null,
  unpricedMin: Money.MicroUsd
): Money.MicroUsd => {
  const estimate = card?.estimate ?? unpricedMin
  const least = body_type === "actor_input" ? Money.min(estimate, unpricedMin) : estimate
  return cap_min === null ? least : Money.max(least, Money.dollars(cap_min))
}

const whyLeast = ({ body_type, cap_min }: Endpoint, card: RateCard | null): string => {
  if (cap_min !== null) return "the actor refuses a lower cap"
  if (body_type === "actor_input") return "this service runs no actor with less"
  return card === null
    ? "the provider publishes no rates, so this call has no estimate"
    : `this call is estimated at $${Money.usd(card.estimate)}`
}

/** The caller's cap, and the operator's minimum for calls without an estimate. */
export interface Cap {
  readonly max_cost: Money.MicroUsd | null
  readonly unpricedMin: Money.MicroUsd
  /** The field that sets `max_cost`: `max_total` caps a call too, because a raw run makes one. */
  readonly field?: CapField
}
export type CapField = "max_cost" | "max_total"

/** The lower of the two caps, and its field. */
export const capOf = (
  max_cost: Money.MicroUsd | null,
  max_total: Money.MicroUsd | null
): { readonly max_cost: Money.MicroUsd | null; readonly field: CapField } =>
  max_total !== null && (max_cost === null || max_total < max_cost)
    ? { max_cost: max_total, field: "max_total" }
    : { max_cost, field: "max_cost" }

/** The issue of a cap that is too low, or null. */
export const capIssue = (
  endpoint: Endpoint,
  card: RateCard | null,
  { max_cost, unpricedMin, field = "max_cost" }: Cap
): Issue | null => {
  const least = leastCap(endpoint, card, unpricedMin)
  if (max_cost === null || max_cost >= least) return null
  return {
    path: `routing.${field}`,
    message: `must be at least ${Money.usd(least)}: ${whyLeast(endpoint, card)}`
  }
}
