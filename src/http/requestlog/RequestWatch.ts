/**
 * Counts, times and logs every request of the server, on every route, at the socket.
 *
 * It sees a request and the head of its answer, and makes no Effect: the run door has none to spare.
 */
import { Clock, Effect } from "effect"
import { LogSink } from "../../layers/observability/LogSink.ts"
import { countRequest } from "../../layers/observability/Meters.ts"
import { type OpenSpan, Traces, type TracesShape } from "../../layers/observability/Traces.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { logLine, runIdIn } from "./logLine.ts"
import { FactsOfRequests, type RequestFacts } from "../../layers/observability/RequestFacts.ts"
import { nameless, routeOf } from "./RouteNames.ts"

/** Other methods are one value, because a client may send any word. */
const methods = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])

/** Machines ask these every few seconds. A line is written only if something is wrong. */
const probes = new Set(["/livez", "/healthz", "/readyz", "/metrics"])

/** The span of a request continues the trace of its client. */
const spanOf = (traces: TracesShape, { method, url, headers }: Request): OpenSpan =>
  traces.begin(
    `${methods.has(method) ? method : "other"} ${routeOf(url) ?? "page"}`,
    "server",
    headers.get("traceparent")
  )

type Answer = Response | Promise<Response>

/** Passes an answer on, once its head is known and counted. */
export type RequestWatch = (request: Request, answer: (request: Request) => Answer) => Answer

export const requestWatch: Effect.Effect<RequestWatch, never, Settings> = Effect.gen(function* () {
  const { requestLog } = yield* Settings
  const clock = yield* Clock.Clock
  const sink = yield* LogSink
  const facts = yield* FactsOfRequests
  const traces = yield* Traces

  const ended = (
    sent: string,
    url: string,
    { org_id }: RequestFacts,
    response: Response,
    began: bigint,
    span: OpenSpan | null
  ): Response => {
    const { status, headers } = response
    const seconds = Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
    const method = methods.has(sent) ? sent : "other"
    const route = routeOf(url) ?? nameless(status)
    countRequest(method, route, status, seconds)
    span?.end(status >= 500, {
      "http.request.method": method,
      "http.route": route,
      "http.response.status_code": status,
      "rungate.request_id": headers.get("x-request-id"),
      "rungate.org_id": org_id,
      "rungate.run_id": headers.get("run-id") ?? runIdIn(url)
    })
    if (requestLog && !(status < 400 && probes.has(route))) {
      const request_id = headers.get("x-request-id")
      const run_id = headers.get("run-id") ?? runIdIn(url)
      const time = clock.currentTimeMillisUnsafe()
      sink.write(logLine({ ended: time, request_id, org_id, method, route, status, seconds, run_id }))
    }
    return response
  }

  return (request, answer) => {
    const began = clock.monotonicTimeNanosUnsafe()
    const span = traces === null ? null : spanOf(traces, request)
    const requestFacts: RequestFacts = { org_id: null, trace: span?.traceparent ?? null }
    facts.set(request, requestFacts)
    // A client that waits for its run does not keep its request in memory.
    const { method, url } = request
    const answered = answer(request)
    return answered instanceof Response
      ? ended(method, url, requestFacts, answered, began, span)
      : answered.then((response) => ended(method, url, requestFacts, response, began, span))
  }
})
