/**
 * The route of one run: which providers are called in which order, how many attempts there are, and which providers were left out and why.
 *
 * It is fixed at admission and stored with the run. Every worker that executes the run, also after a crash, follows the same route.
 */
import { Schema } from "effect"
import { Accept } from "../catalog/Acceptance.ts"
import { Contacts } from "../guards/ContactGuard.ts"
import { Reuse } from "../guards/Reuse.ts"
import * as Money from "../money/Money.ts"
import { defaultMarkup } from "../money/Pricing.ts"
import { OwnOffer, ownOffer } from "../accounts/OwnAccount.ts"
import { PlannedPrice } from "./PlannedPrice.ts"
import { RawPlan } from "./RawPlan.ts"

export const Exclusion = Schema.Struct({
  provider: Schema.String,
  reason: Schema.Literals(["max_cost", "cannot_serve", "no_account", "unavailable"]),
  /** The maximum price of this offer, as a decimal string. */
  quote: Schema.String
})
export type Exclusion = typeof Exclusion.Type

/** An offer that `routing.max_total` left out. `quote` is its maximum price. */
export const OverTotal = Schema.Struct({ provider: Schema.String, quote: Schema.String })
export type OverTotal = typeof OverTotal.Type

/** Success rate, median latency in milliseconds, and the number of measured calls. */
const SeenHealth = Schema.Tuple([Schema.NullOr(Schema.Finite), Schema.NullOr(Schema.Finite), Schema.Finite])

/** By provider. */
export const Health = Schema.Record(Schema.String, SeenHealth)
export type Health = typeof Health.Type

/** What was known when the route was chosen (Seen.ts). */
export const Seen = Schema.Struct({
  /** The version of the catalog's entry: see layers/catalog/CatalogVersion.ts. */
  catalog: Schema.String,
  /** Absent for `best_value`, which is the default, and for raw runs. */
  strategy: Schema.optionalKey(Schema.String),
  /** The cap under which the run was planned: the request's, or the key's if that is lower. A decimal string. */
  max_cost: Schema.optionalKey(Schema.String),
  /** Present if that is the cap of the API key. */
  key_cap: Schema.optionalKey(Schema.Literal(true)),
  /** The maximum prices of the plan's `providers`, if the plan's `prices` depend on the input. */
  quotes: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Offers without measurements are left out. */
  health: Schema.optionalKey(Health),
  /** Offers that could serve the run beyond its number of attempts, with their maximum prices. */
  spare: Schema.optionalKey(Schema.Array(Schema.Tuple([Schema.String, Schema.String])))
})
export type Seen = typeof Seen.Type

export const Plan = Schema.Struct({
  /** Provider slugs, best first. */
  providers: Schema.Array(Schema.String),
  /** Maximum number of provider calls over the whole life of the run. */
  attempts_max: Schema.Int,
  routing: Schema.Literals(["auto", "pinned", "no_fallback"]),
  include_raw: Schema.Boolean,
  side_effect: Schema.Boolean,
  excluded: Schema.Array(Exclusion),
  /** The price of each provider in `providers`. Absent in plans of older versions and of raw runs. */
  prices: Schema.optionalKey(Schema.Array(PlannedPrice)),
  /**
   * Present if the request has `routing.max_total`. `holds` are the maximum prices of `providers`: no attempt may begin if its hold and
   * those of the attempts before it exceed `amount`. Decimal strings.
   */
  total: Schema.optionalKey(
    Schema.Struct({
      amount: Schema.String,
      holds: Schema.Array(Schema.String),
      excluded: Schema.Array(OverTotal)
    })
  ),
  /** Those of `providers` that are called through the organization's own account. */
  own: Schema.optionalKey(Schema.Array(OwnOffer)),
  /** The markup at admission. Absent: the default. */
  markup: Schema.optionalKey(Schema.String),
  /** Whether an inconclusive answer is kept as a fallback while the next provider is called. */
  conclusive: Schema.optionalKey(Schema.Boolean),
  /** For a raw run: the endpoint changes something outside. Capabilities with a side effect always do. */
  acts: Schema.optionalKey(Schema.Literal(true)),
  /** Whom the run contacts. Absent for a run that contacts nobody, and in plans of older versions. */
  contacts: Schema.optionalKey(Contacts),
  /** Which answers count as a match. Absent: those that the capability calls one. */
  accept: Schema.optionalKey(Accept),
  /** What the run may take from earlier ones. Absent: nothing. */
  reuse: Schema.optionalKey(Reuse),
  /** The request of a raw run. The request of a capability is built by its adapters. */
  raw: Schema.optionalKey(RawPlan),
  /** What the choice of the route was based on. Absent in plans of older versions. */
  seen: Schema.optionalKey(Seen),
  /** The member who started the run in a session. Absent for an API key. */
  by: Schema.optionalKey(Schema.String),
  /** The keys that gave the allowance of its key. Absent for other keys. */
  given_by: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The `traceparent` of the request's span, which the run's spans continue. Absent without traces. */
  trace: Schema.optionalKey(Schema.String)
})
export type Plan = typeof Plan.Type

/** Whether the calls of this run act, so that a call with an unknown outcome must not be repeated. */
export const acts = (plan: Plan): boolean => plan.acts === true || (plan.raw === undefined && plan.side_effect)

/** The members of a plan that fix the markup. The default is left out, because most plans have it. */
export const markedUp = (markup: string) => (markup === defaultMarkup ? {} : { markup })

/** The members of a plan that fix `routing.max_total`. */
export const totalOf = (
  amount: Money.MicroUsd | null,
  holds: ReadonlyArray<Money.MicroUsd>,
  excluded: ReadonlyArray<OverTotal>
) => (amount === null ? {} : { total: { amount: Money.usd(amount), holds: holds.map(Money.usd), excluded } })

/** Whether `routing.max_total` pays for one more attempt, this one. */
export const affords = (
  plan: Plan,
  attempts: ReadonlyArray<{ readonly provider: string; readonly account?: "own" }>,
  next: { readonly provider: string; readonly own: boolean }
): boolean => {
  const { total, providers } = plan
  if (total === undefined) return true
  const holdOf = (slug: string, own: boolean) =>
    Money.dollars((own ? ownOffer(plan, slug)?.fee : total.holds[providers.indexOf(slug)]) ?? total.amount)
  const before = Money.sum(attempts.map((one) => holdOf(one.provider, one.account === "own")))
  return Money.plus(before, holdOf(next.provider, next.own)) <= Money.dollars(total.amount)
}

export const decodePlan = Schema.decodeUnknownSync(Plan)
