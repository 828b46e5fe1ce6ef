/**
 * One call of one provider, as the run actor asks for it. Two layers: real HTTP, and the sandbox's simulated providers.
 *
 * A call always answers within its deadline and never fails: what went wrong is an outcome.
 */
import { Context, type Effect } from "effect"
import type { Failure } from "../schema/Provider.ts"
import type { CatalogOffer } from "./Catalog.ts"

export interface ProviderCall {
  readonly run_id: string
  readonly offer: CatalogOffer
  readonly capability: string
  readonly input: unknown
  /** 1 for the run's first attempt. */
  readonly attempt: number
  readonly include_raw: boolean
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
}

export class Providers extends Context.Service<
  Providers,
  { readonly call: (call: ProviderCall) => Effect.Effect<ProviderAnswer> }
>()("rungate/layers/Providers") {}
