/**
 * The service that calls providers for the run actor. It has two layers: real HTTP, and the sandbox's simulated providers.
 *
 * A call returns within its deadline and never fails. Errors are part of the answer.
 */
import { Context, type Effect, type Schema } from "effect"
import type { Bounce, SentMessage } from "../../schema/mail/Bounce.ts"
import type { Doubt, Found } from "../../schema/catalog/Doubt.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { CreditsLeft } from "../../schema/catalog/Credits.ts"
import type { Failure, Provider } from "../../schema/catalog/Provider.ts"
import type { RawPlan } from "../../schema/runs/RawPlan.ts"
import type { CatalogOffer } from "../catalog/Catalog.ts"
import type { RawProvider } from "../catalog/Endpoints.ts"

export interface ProviderCall {
  readonly run_id: string
  /** The organization whose breaker the answer opens or closes. */
  readonly org_id: string
  /** The call is made through the organization's own account at the provider. */
  readonly own: boolean
  readonly offer: CatalogOffer
  readonly capability: string
  readonly input: unknown
  /** 1 for the run's first attempt. */
  readonly attempt: number
  readonly include_raw: boolean
  /** The fields that `accept` wants. Absent: none. */
  readonly wanted?: ReadonlyArray<string>
  /** See `CallContext`. */
  readonly unsubscribe?: string
  /** The state that an earlier execution of this attempt stored; null for a new attempt. */
  readonly state: Schema.Json
  /** Stores a state durably. False when another worker owns the run now; this execution must then stop. */
  readonly keep: (state: Schema.Json) => Effect.Effect<boolean>
}

export type Answer =
  | { readonly _tag: "Match"; readonly output: unknown }
  | { readonly _tag: "NoMatch"; readonly detail: string }
  | Failure

export interface ProviderAnswer {
  readonly answer: Answer
  readonly duration_ms: number
  /** The provider's payload as JSON text; null unless `include_raw` is set. */
  readonly raw: string | null
  /** The call's cost as the provider reports it; null when it reports none. */
  readonly measured: MicroUsd | null
  /** Set on a failure after which the provider may have acted. */
  readonly doubt?: Doubt
  /** Why `accept` refused it. Absent for an answer that it did not refuse. */
  readonly refused?: string
}

/** One call of a provider's own endpoint, as planned by its run. */
export interface RawCall {
  readonly run_id: string
  readonly org_id: string
  readonly own: boolean
  readonly provider: RawProvider
  readonly raw: RawPlan
  readonly input: unknown
  /** `input` as the JSON text that the caller sent. */
  readonly input_text: string
  /** As in a `ProviderCall`. Only marketplace actors have a state; other endpoints answer at once. */
  readonly state: Schema.Json
  readonly keep: (state: Schema.Json) => Effect.Effect<boolean>
}

export type RawAnswer =
  | {
      readonly _tag: "Delivered"
      /** The provider's payload as JSON text, unchanged. */
      readonly data: string
      /** The call's cost as the provider reports it; null when it reports none. */
      readonly measured: MicroUsd | null
      /** A remark for the caller, such as that items were left out. */
      readonly note?: string
    }
  | Failure

export interface RawProviderAnswer {
  readonly answer: RawAnswer
  readonly duration_ms: number
  readonly doubt?: Doubt
}

/** A look-up of an earlier call by the run id that it carried. */
export interface LookupCall {
  readonly run_id: string
  readonly org_id: string
  /** The call was made through the organization's own account. */
  readonly own: boolean
  readonly offer: CatalogOffer
  readonly input: unknown
  /** Seconds since the run ended. */
  readonly age_seconds: number
}

/** A look-up of whether a message bounced, through the account that sent it. */
export interface BounceCall extends SentMessage {
  readonly org_id: string
  /** The message was sent through the organization's own account. */
  readonly own: boolean
  /** The offer that sends e-mail through this provider. */
  readonly offer: CatalogOffer
}

export class Providers extends Context.Service<
  Providers,
  {
    readonly call: (call: ProviderCall) => Effect.Effect<ProviderAnswer>
    readonly callRaw: (call: RawCall) => Effect.Effect<RawProviderAnswer>
    /** Asks the provider whether it performed a call. Null when it can't tell yet. */
    readonly lookUp: (call: LookupCall) => Effect.Effect<Found | Failure | null>
    /** Asks the provider whether a message bounced. Null when it can't be asked, or its answer would prove nothing. */
    readonly bounced: (call: BounceCall) => Effect.Effect<Bounce | Failure | null>
    /** Asks the provider what the service's account has left. Null when it can't be asked. */
    readonly credits: (provider: Provider) => Effect.Effect<CreditsLeft | Failure | null>
  }
>()("rungate/layers/executor/Providers") {}
