/**
 * The route of one run: which providers are called in which order, how many attempts there are, and which providers were left out and why.
 *
 * It is fixed at admission and stored with the run. Every worker that executes the run, also after a crash, follows the same route.
 */
import { Schema } from "effect"
import { defaultMarkup } from "../money/Rates.ts"
import { PlannedPrice } from "./PlannedPrice.ts"
import { RawPlan } from "./RawPlan.ts"

export const Exclusion = Schema.Struct({
  provider: Schema.String,
  reason: Schema.Literals(["max_cost", "cannot_serve", "no_account", "unavailable"]),
  /** The maximum price of this offer, as a decimal string. */
  quote: Schema.String
})
export type Exclusion = typeof Exclusion.Type

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
  /** The markup at admission. Absent: the default. */
  markup: Schema.optionalKey(Schema.String),
  /** Whether an inconclusive answer is kept as a fallback while the next provider is called. */
  conclusive: Schema.optionalKey(Schema.Boolean),
  /** For a raw run: the endpoint changes something outside. Capabilities with a side effect always do. */
  acts: Schema.optionalKey(Schema.Literal(true)),
  /** The request of a raw run. The request of a capability is built by its adapters. */
  raw: Schema.optionalKey(RawPlan)
})
export type Plan = typeof Plan.Type

/** Whether the calls of this run act, so that a call with an unknown outcome must not be repeated. */
export const acts = (plan: Plan): boolean => plan.acts === true || (plan.raw === undefined && plan.side_effect)

/** The members of a plan that fix the markup. The default is left out, because most plans have it. */
export const markedUp = (markup: string) => (markup === defaultMarkup ? {} : { markup })

export const decodePlan = Schema.decodeUnknownSync(Plan)
