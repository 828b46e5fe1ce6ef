/**
 * Serves metrics, liveness and readiness on a port of their own if RUNGATE_METRICS_PORT is set, on loopback unless RUNGATE_METRICS_HOST is set.
 *
 * Workers serve it too, because they have no other port.
 */
import { Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServer, type HttpServerRequest } from "effect/http"
import { Settings } from "../layers/platform/Settings.ts"
import { BoundaryLayer } from "./middleware/Boundary.ts"
import { portTaken } from "./Listening.ts"
import { MetricsRoutes } from "./System.ts"

const Routes = MetricsRoutes.pipe(Layer.provide(BoundaryLayer), Layer.provide(HttpServer.layerServices))
const routed = HttpRouter.toHttpEffect(Routes)

/** What the routes ask of the process when a request comes. */
type SystemServices = Exclude<
  Effect.Services<Effect.Success<typeof routed>>,
  Scope.Scope | HttpServerRequest.HttpServerRequest
>

export const MetricsServer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { metricsPort: port, metricsHost: hostname } = yield* Settings
    if (port === null) return
    const httpEffect = yield* routed
    const context = yield* Effect.context<SystemServices>()
    const handler = HttpEffect.toWebHandlerWith<
      SystemServices,
      SystemServices | Scope.Scope | HttpServerRequest.HttpServerRequest
    >(context)(httpEffect)
    const server = yield* Effect.acquireRelease(
      Effect.try({
        try: () => Bun.serve({ port, hostname, development: false, fetch: (request) => handler(request) }),
        catch: () => portTaken(hostname, port, "RUNGATE_METRICS_PORT or RUNGATE_METRICS_HOST")
      }),
      (running) => Effect.ignore(Effect.promise(() => running.stop(true)))
    )
    yield* Effect.logInfo(`Metrics are at http://${hostname}:${server.port}/metrics.`)
  })
)
