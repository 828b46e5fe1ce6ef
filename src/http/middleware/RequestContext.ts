/** What the boundary records about every request: its id, its arrival time and its client address. */
import { Context } from "effect"

export interface RequestContextShape {
  readonly request_id: string
  /** Milliseconds since 1970. */
  readonly arrived: number
  /** The client address for rate limits. Computed when it is read. */
  readonly address: string
}

export const RequestContext = Context.Reference<RequestContextShape>("rungate/http/middleware/RequestContext", {
  defaultValue: () => ({ request_id: "req_unknown", arrived: 0, address: "" })
})
