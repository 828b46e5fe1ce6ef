/** What the boundary knows of a request from its first moment: its id, when it arrived, and where it came from. */
import { Context } from "effect"

export interface RequestFacts {
  readonly request_id: string
  /** Milliseconds since 1970. */
  readonly arrived: number
  /** What the client counts as in limits by address; looked up when it is asked for. */
  readonly address: string
}

export const RequestContext = Context.Reference<RequestFacts>("rungate/http/door/RequestContext", {
  defaultValue: () => ({ request_id: "req_unknown", arrived: 0, address: "" })
})
