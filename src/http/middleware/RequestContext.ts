/** Facts about a request that the boundary records first: its id, its arrival time and its client address. */
import { Context } from "effect"

export interface RequestFacts {
  readonly request_id: string
  /** Milliseconds since 1970. */
  readonly arrived: number
  /** What the client counts as in limits by address; looked up when it is asked for. */
  readonly address: string
}

export const RequestContext = Context.Reference<RequestFacts>("rungate/http/middleware/RequestContext", {
  defaultValue: () => ({ request_id: "req_unknown", arrived: 0, address: "" })
})
