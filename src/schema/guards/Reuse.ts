/**
 * Buy once: a run may take the result of an earlier run with the same target and input, or wait for one that is under way.
 *
 * Only lookups can be reused. A run that acts outside, such as one that sends a message, is never replaced by another one's result.
 */
import { Schema } from "effect"
import type { KeyAccess } from "../accounts/KeyAccess.ts"
import { optional } from "../optional.ts"

export const reuseModes = ["prefer", "only", "never"] as const

/** A year. */
export const reuseSecondsMax = 31_536_000
/** Thirty days: what a result may be old if the caller does not say. */
export const reuseSecondsDefault = 2_592_000

export const ReuseSeconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: reuseSecondsMax }))

/** `reuse` of a request. */
export const ReuseRequest = Schema.Struct({
  mode: Schema.Literals(reuseModes),
  max_age_seconds: optional(ReuseSeconds)
}).annotate({
  identifier: "Reuse",
  description:
    "lookups only. prefer: take the organization's own result of the same input at $0, or join the run that is buying it, and buy only if there is none; only: never buy; never: the default. max_age_seconds is 30 days by default"
})
export type ReuseRequest = typeof ReuseRequest.Type

/** What a plan keeps of `reuse`. Absent for `never`. */
export const Reuse = Schema.Struct({
  mode: Schema.Literals(["prefer", "only"]),
  max_age_seconds: ReuseSeconds,
  /** The providers that the API key may call, and whose results it may see. Absent: all. */
  providers: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The API keys whose results it may take. Such a run joins nobody, and nobody joins it. Absent: all. */
  keys: Schema.optionalKey(Schema.Array(Schema.String)),
  /** A raw result that answers the capability, as the adapter reads it. Taken if no run of the same input has one. */
  found: Schema.optionalKey(
    Schema.Struct({
      run_id: Schema.String,
      provider: Schema.String,
      /** Microdollars. */
      charged: Schema.String,
      /** JSON text. */
      result: Schema.String
    })
  )
})
export type Reuse = typeof Reuse.Type

/** Whether a request may take another run's result. */
export const isReuse = (request: ReuseRequest | null | undefined): boolean => (request?.mode ?? "never") !== "never"

/** The member of a plan that fixes what the run may take. None if it takes nothing. */
export const plannedReuse = (
  request: ReuseRequest | null | undefined,
  access: Pick<KeyAccess, "allow" | "reads"> | null | undefined
): { readonly reuse?: Reuse } => {
  if (request === null || request === undefined || request.mode === "never") return {}
  const { mode, max_age_seconds } = request
  const providers = access?.allow?.providers
  const keys = access?.reads ?? undefined
  return {
    reuse: {
      mode,
      max_age_seconds: max_age_seconds ?? reuseSecondsDefault,
      ...(providers === undefined ? {} : { providers }),
      ...(keys === undefined ? {} : { keys })
    }
  }
}

interface Reasoned {
  readonly routing_reason: string
  readonly reused_from: string | null
}
/** Why a run has its result, or would have it. The route that was planned says nothing about a run that took another one's. */
export const reasonOf = ({ routing_reason, reused_from }: Reasoned): string =>
  reused_from === null
    ? routing_reason
    : `reuse: the result is that of ${reused_from}, which asked for the same, so no provider is called`

/** An earlier result. */
export interface Reusable {
  readonly run_id: string
  readonly provider: string | null
  /** What it cost, in microdollars. */
  readonly charged: bigint
  /** Bytes of the result. */
  readonly bytes: number
  /** JSON text, if it is not the result of the earlier run itself. */
  readonly result?: string
}

/** What becomes of a run that asks for reuse. */
export type ReuseDecision =
  /** It ends with the result of an earlier run. */
  | { readonly _tag: "Reused"; readonly from: Reusable }
  /** It ends as the run does that it waits for. */
  | { readonly _tag: "Joined"; readonly buyer: string }
  /** There is no result, and the run may not buy one. */
  | { readonly _tag: "Missing" }
  /** It is admitted as any other run. With `claims`, others may join it. */
  | { readonly _tag: "Buys"; readonly claims: boolean }

/** Runs that may wait for one. More buy for themselves. */
export const joinsMax = 1_000

export const decideReuse = (
  { mode }: Pick<Reuse, "mode">,
  { result, buyer, joins }: { readonly result: Reusable | null; readonly buyer: string | null; readonly joins: number }
): ReuseDecision => {
  if (result !== null) return { _tag: "Reused", from: result }
  if (buyer !== null && joins < joinsMax) return { _tag: "Joined", buyer }
  return mode === "only" ? { _tag: "Missing" } : { _tag: "Buys", claims: buyer === null }
}
