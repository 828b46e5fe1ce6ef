/**
 * Endpoints for monitoring: liveness, readiness and metrics. They contain no customer data.
 *
 * Liveness and readiness are public. Metrics need RUNGATE_METRICS_TOKEN here, or use the separate port RUNGATE_METRICS_PORT.
 */
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { digest } from "../layers/accounts/Secrets.ts"
import { costBoundCache } from "../layers/platform/costBoundCache.ts"
import { oneLine } from "../layers/postgres/Batch.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { type ErrorCode, problem } from "../schema/Errors.ts"
import { metricsText } from "./MetricsText.ts"
import { Readiness } from "./middleware/Readiness.ts"
import { type CheckServices, serviceChecks } from "./status/ServiceChecks.ts"
import { problemAnswer } from "./standards/ProblemType.ts"

/** Anybody may ask whether a process is ready, so one look at the database serves all who ask at that moment. */
const readyMillisMax = 250

const alive = HttpServerResponse.jsonUnsafe({ status: "ok" })

const ready = Effect.map(serviceChecks, (checks) => {
  const good = checks.database === "ok" && checks.lanes === "ok"
  return HttpServerResponse.jsonUnsafe({ status: good ? "ok" : "not ready", checks }, { status: good ? 200 : 503 })
})

/** Why it failed is for the log: the answer is anybody's to read. */
const orUnready = <R>(path: string, effect: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
  Effect.catchCause(effect, (cause) =>
    Effect.as(
      Effect.logWarning(`The check of ${path} failed, so it answers "not ready": ${oneLine(cause)}`),
      HttpServerResponse.jsonUnsafe({ status: "not ready" }, { status: 503 })
    )
  )

const stopping = HttpServerResponse.jsonUnsafe({ status: "stopping" }, { status: 503 })

const refused = (code: ErrorCode, message: string) => problemAnswer(problem(code, message))
const closed = refused(
  "forbidden",
  "Metrics are closed. Set RUNGATE_METRICS_TOKEN and send it as a bearer token, or set RUNGATE_METRICS_PORT to serve them on a port of their own."
)
const elsewhere = refused("not_found", "Metrics are on a port of their own, RUNGATE_METRICS_PORT.")
const wrongToken = refused("unauthorized", "Send Authorization: Bearer with the value of RUNGATE_METRICS_TOKEN.")

/** Digests, because comparing those tells nobody how much of a guess was right. */
const isToken = (token: Redacted.Redacted, authorization: string | undefined) => {
  const sent = /^bearer +(.+)$/i.exec(authorization ?? "")?.[1] ?? ""
  return Buffer.compare(digest(sent), digest(Redacted.value(token))) === 0
}

const metrics = Effect.map(metricsText, (text) =>
  HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4" })
)
const answer = orUnready("/metrics", metrics)

/** `isPublic`: on the port that everybody reaches. */
const guardedMetrics = (isPublic: boolean) =>
  Effect.gen(function* () {
    const { current, metricsPort } = yield* Settings
    const { metricsToken } = current()
    const request = yield* HttpServerRequest.HttpServerRequest
    if (metricsToken !== null) {
      return isToken(metricsToken, request.headers["authorization"]) ? yield* answer : wrongToken
    }
    if (!isPublic) return yield* answer
    return metricsPort === null ? closed : elsewhere
  })

const routes = (isPublic: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const context = yield* Effect.context<CheckServices>()
      const readiness = yield* Readiness
      const shared = yield* costBoundCache(
        () => Effect.provideContext(orUnready("/readyz", ready), context),
        readyMillisMax
      )
      const readyz = Effect.suspend(() => (readiness.leaving() ? Effect.succeed(stopping) : shared("readyz")))
      return Layer.mergeAll(
        HttpRouter.add("GET", "/livez", alive),
        HttpRouter.add("GET", "/healthz", alive),
        HttpRouter.add("GET", "/readyz", readyz),
        HttpRouter.add("GET", "/metrics", guardedMetrics(isPublic))
      )
    })
  )

export const SystemRoutes = routes(true)
/** For the listener of its own. */
export const MetricsRoutes = routes(false)
