/**
 * What a request turns out to be while it is answered, for its log line. Kept beside the request, so that no route has to return it.
 */
import { Context } from "effect"

export interface RequestFacts {
  /** The organization of the credential. Null until it is known, and for requests without one. */
  org_id: string | null
  /** The `traceparent` of the request's span. Null without traces. */
  readonly trace: string | null
}

/** The facts of the requests that are being answered at the socket. A request that a tool makes in this process has none. */
export const FactsOfRequests = Context.Reference<WeakMap<object, RequestFacts>>(
  "rungate/layers/observability/FactsOfRequests",
  { defaultValue: () => new WeakMap() }
)
