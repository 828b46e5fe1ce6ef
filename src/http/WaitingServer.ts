/**
 * Answers in place of the service while it waits for Redis: it is alive, it is not ready, and why.
 *
 * So a supervisor does not restart a process that only waits, and whoever asks `/readyz` reads what is missing. Every other request is
 * refused with `service_unavailable`. It has no access to the database.
 */
import { Effect } from "effect"
import { newId } from "../layers/platform/Ids.ts"
import type { RedisTrouble } from "../layers/queues/RedisStart.ts"
import { type Role, Settings } from "../layers/platform/Settings.ts"
import { problem, statusOf } from "../schema/Errors.ts"

/** Without host, port and error: anybody may ask. The log has them. */
const reasons: Readonly<Record<RedisTrouble, string>> = {
  away: "unreachable; the service starts when it answers",
  refused: "refuses the user or password of REDIS_URL"
}

const refusal = problem(
  "service_unavailable",
  "The service is starting: it waits for Redis. Nothing was charged. Try again with the same Idempotency-Key."
)

const answerTo = (request: Request, trouble: RedisTrouble): Response => {
  // Not by a URL parser: a client may send any text as the host, and a parser throws.
  const pathname = /^[a-z]+:\/\/[^/?]*([^?]*)/.exec(request.url)?.[1] ?? ""
  const reads = request.method === "GET" || request.method === "HEAD"
  if (reads && (pathname === "/livez" || pathname === "/healthz")) return Response.json({ status: "ok" })
  if (reads && pathname === "/readyz")
    return Response.json({ status: "not ready", checks: { redis: reasons[trouble] } }, { status: 503 })
  const request_id = newId("req")
  return Response.json(
    { ...refusal, request_id },
    { status: statusOf.service_unavailable, headers: { "retry-after": "1", "x-request-id": request_id } }
  )
}

const listen = (hostname: string, port: number, trouble: () => RedisTrouble) =>
  Effect.acquireRelease(
    Effect.try(() =>
      Bun.serve({ port, hostname, development: false, fetch: (request) => answerTo(request, trouble()) })
    ),
    (running) => Effect.promise(() => running.stop(true))
  ).pipe(
    Effect.flatMap((running) => Effect.logInfo(`Until then http://${hostname}:${running.port}/readyz answers 503.`)),
    // The ports were free a moment ago. The service itself says so if they are taken.
    Effect.ignore
  )

/** On every port that the role has, until the scope closes. */
export const waitingServer = (role: Role) =>
  Effect.map(Settings, ({ host, port, metricsHost, metricsPort }) => (trouble: () => RedisTrouble) => {
    const main = role === "worker" ? Effect.void : listen(host, port, trouble)
    const metrics = metricsPort === null ? Effect.void : listen(metricsHost, metricsPort, trouble)
    return Effect.andThen(main, metrics)
  })
