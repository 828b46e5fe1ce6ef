/**
 * Counts and times every request of the server, on every route, at the socket.
 *
 * It sees a request and the head of its answer, and makes no Effect: the short route of runs has none to spare.
 */
import { Clock, Effect } from "effect"
import { countRequest } from "../../layers/observability/Meters.ts"
import { nameless, routeOf } from "./RouteNames.ts"

/** Other methods are one label value, because a client may send any word. */
const methods = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])

export type Answer = Response | Promise<Response>

/** Passes an answer on and counts it once its head is known. */
export type RequestWatch = (request: Request, answer: (request: Request) => Answer) => Answer

export const requestWatch: Effect.Effect<RequestWatch> = Effect.map(Clock.Clock, (clock) => {
  const ended = ({ method, url }: Request, response: Response, began: bigint): Response => {
    const seconds = Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
    const { status } = response
    countRequest(methods.has(method) ? method : "other", routeOf(url) ?? nameless(status), status, seconds)
    return response
  }
  return (request, answer) => {
    const began = clock.monotonicTimeNanosUnsafe()
    const answered = answer(request)
    return answered instanceof Response
      ? ended(request, answered, began)
      : answered.then((response) => ended(request, response, began))
  }
})
