/**
 * The route of one run: which providers are asked in which order, how many attempts there are, and which providers were left out and why.
 *
 * It is fixed at admission and stored with the run. Every worker that executes the run, also after a crash, follows the same route.
 */
import { Schema } from "effect"
import { RawPlan } from "./RawPlan.ts"

export const Exclusion = Schema.Struct({
  provider: Schema.String,
  reason: Schema.Literals(["max_cost", "cannot_serve", "no_account", "unavailable"]),
  /** What this offer would have cost at most, as a decimal string. */
  quote: Schema.String
})
export type Exclusion = typeof Exclusion.Type

export const Plan = Schema.Struct({
  /** Provider slugs, best first. */
  providers: Schema.Array(Schema.String),
  /** Calls of providers at most, over the whole life of the run. */
  attempts_max: Schema.Int,
  routing: Schema.Literals(["auto", "pinned", "no_fallback"]),
  include_raw: Schema.Boolean,
  side_effect: Schema.Boolean,
  excluded: Schema.Array(Exclusion),
  /** Whether an inconclusive answer is kept in reserve while the next provider is asked. */
  conclusive: Schema.optionalKey(Schema.Boolean),
  /** Of a raw run: the endpoint does something in the world. Capabilities with a side effect all do. */
  acts: Schema.optionalKey(Schema.Literal(true)),
  /** The request of a raw run; a capability's is built by its adapters. */
  raw: Schema.optionalKey(RawPlan)
})
export type Plan = typeof Plan.Type

/** Whether a call whose outcome is unknown may have done something that must not be done twice. */
export const acts = (plan: Plan): boolean => plan.acts === true || (plan.raw === undefined && plan.side_effect)

export const decodePlan = Schema.decodeUnknownSync(Plan)
