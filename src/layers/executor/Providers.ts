/**
 * One call of one provider, as the run actor asks for it. Two layers: real HTTP, and the sandbox's simulated providers.
 *
 * A call always answers within its deadline and never fails: what went wrong is an outcome.
 */
import { Context, type Effect, type Schema } from "effect"
import type { Doubt, Found } from "../../schema/catalog/Doubt.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { Failure } from "../../schema/catalog/Provider.ts"
import type { RawPlan } from "../../schema/runs/RawPlan.ts"
import type { CatalogOffer } from "../catalog/Catalog.ts"
import type { RawProvider } from "../catalog/Endpoints.ts"

export interface ProviderCall {
  readonly run_id: string
  /** Whose breaker the answer opens or closes. */
  readonly org_id: string
  readonly offer: CatalogOffer
  readonly capability: string
  readonly input: unknown
  /** 1 for the run's first attempt. */
  readonly attempt: number
  readonly include_raw: boolean
  /** What an earlier execution of this attempt stored; null for a new attempt. */
  readonly state: Schema.Json
  /** Stores a state durably. False when the run is no longer this execution's: then it must stop. */
  readonly keep: (state: Schema.Json) => Effect.Effect<boolean>
}

export type Answer =
  | { readonly _tag: "Match"; readonly output: unknown }
  | { readonly _tag: "NoMatch"; readonly detail: string }
  | Failure

export interface ProviderAnswer {
  readonly answer: Answer
  readonly duration_ms: number
  /** The provider's payload as JSON text, when it was asked for. */
  readonly raw: string | null
  /** What the provider says that the call has cost us; null when it does not say. */
  readonly measured: MicroUsd | null
  /** Of a failure after which the provider may have acted, and nobody knows. */
  readonly doubt?: Doubt
}

/** One call of a provider's own endpoint, as its run's plan fixed it. */
export interface RawCall {
  readonly run_id: string
  readonly org_id: string
  readonly provider: RawProvider
  readonly raw: RawPlan
  readonly input: unknown
  /** The same as the caller wrote it. */
  readonly input_text: string
  /** As in a `ProviderCall`: an actor's run is a job, other endpoints answer at once. */
  readonly state: Schema.Json
  readonly keep: (state: Schema.Json) => Effect.Effect<boolean>
}

export type RawAnswer =
  | {
      readonly _tag: "Delivered"
      /** The provider's payload as JSON text, untouched. */
      readonly data: string
      /** What the provider says that the call has cost; null when it does not say. */
      readonly measured: MicroUsd | null
      /** What the caller should know of it, such as that it is cut. */
      readonly note?: string
    }
  | Failure

export interface RawProviderAnswer {
  readonly answer: RawAnswer
  readonly duration_ms: number
  readonly doubt?: Doubt
}

/** A look-up of a call that was made before, by the run id that it carried. */
export interface LookupCall {
  readonly run_id: string
  readonly offer: CatalogOffer
  readonly input: unknown
  /** Since the run ended. */
  readonly age_seconds: number
}

export class Providers extends Context.Service<
  Providers,
  {
    readonly call: (call: ProviderCall) => Effect.Effect<ProviderAnswer>
    readonly callRaw: (call: RawCall) => Effect.Effect<RawProviderAnswer>
    /** Asks the provider whether it carried a call out. Null when it can't tell yet. */
    readonly lookUp: (call: LookupCall) => Effect.Effect<Found | Failure | null>
  }
>()("rungate/layers/executor/Providers") {}
