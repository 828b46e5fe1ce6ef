/**
 * The process's socket: `Bun.serve` as a Layer, over the routes of the whole API, and the tools that call them.
 *
 * Closing it answers every waiter with its run as it stands, refuses new requests and waits for open ones, within a bound.
 */
import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServer, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder, HttpApiScalar } from "effect/http-api"
import { Waiters } from "../actors/Waiters.ts"
import { Settings } from "../layers/Settings.ts"
import { Api } from "./api/Api.ts"
import { AuthLayer } from "./Auth.ts"
import { bodyBytesMax, BoundaryLayer } from "./Boundary.ts"
import { CatalogHandlers } from "./handlers/Catalog.ts"
import { DiscoveryHandlers } from "./handlers/Discovery.ts"
import { HistoryHandlers } from "./handlers/History.ts"
import { KeysHandlers } from "./handlers/Keys.ts"
import { ReferralsHandlers } from "./handlers/Referrals.ts"
import { RunsHandlers } from "./handlers/Runs.ts"
import { SessionsHandlers } from "./handlers/Sessions.ts"
import { TopUpsHandlers } from "./handlers/TopUps.ts"
import { WalletHandlers } from "./handlers/Wallet.ts"
import { JoinRoute, type JoinServices } from "./Join.ts"
import { Limits } from "./Limits.ts"
import { isMcp, mcpHandler } from "./Mcp.ts"
import { NotFound } from "./NotFound.ts"
import { Readiness } from "./Readiness.ts"
import { ReturnPages } from "./ReturnPages.ts"
import { SystemRoutes, type SystemServices } from "./System.ts"
import { Webhooks, type WebhookServices } from "./Webhooks.ts"

export class PortTaken extends Schema.TaggedError<PortTaken>()("PortTaken", { message: Schema.String }) {}

/** Waits last up to 120 s without a byte; Bun cuts silent requests after 10 s unless told otherwise, and takes 255 at most. */
const idleSeconds = 255
const stopSecondsMax = 10

export const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([
      RunsHandlers,
      HistoryHandlers,
      DiscoveryHandlers,
      CatalogHandlers,
      WalletHandlers,
      TopUpsHandlers,
      KeysHandlers,
      SessionsHandlers,
      ReferralsHandlers
    ]),
    Layer.provide(AuthLayer)
  ),
  HttpApiScalar.layer(Api, {
    path: "/docs",
    scalar: {
      authentication: { preferredSecurityScheme: "bearer" },
      withDefaultFonts: false,
      defaultOpenAllTags: true,
      hideModels: true
    }
  }),
  SystemRoutes,
  JoinRoute,
  ReturnPages,
  Webhooks,
  NotFound
).pipe(Layer.provide(BoundaryLayer), Layer.provide(Limits.layer), Layer.provide(HttpServer.layerServices))

/** What the routes ask of the process when a request comes. */
type RouteServices = SystemServices | JoinServices | WebhookServices

export class Server extends Context.Service<Server, { readonly url: string }>()("rungate/http/Server") {
  static readonly layer = Layer.effect(
    Server,
    Effect.gen(function* () {
      const { port, host } = yield* Settings
      const waiters = yield* Waiters
      const httpEffect = yield* HttpRouter.toHttpEffect(Routes)
      const context = yield* Effect.context<RouteServices>()
      const api = HttpEffect.toWebHandlerWith<
        RouteServices,
        RouteServices | Scope.Scope | HttpServerRequest.HttpServerRequest
      >(context)(httpEffect)
      const mcp = yield* mcpHandler(api)
      const server = yield* Effect.acquireRelease(
        Effect.try({
          try: () =>
            Bun.serve({
              port,
              hostname: host,
              idleTimeout: idleSeconds,
              // Above the boundary's limit, which answers with a body; this one only cuts off what is absurd.
              maxRequestBodySize: 8 * bodyBytesMax,
              fetch: (request) => (isMcp(request) ? mcp(request) : api(request))
            }),
          catch: () =>
            new PortTaken({ message: `Can't listen on ${host}:${port}; is another process there? Set PORT or HOST.` })
        }),
        (running) =>
          Effect.gen(function* () {
            const stopped = running.stop()
            yield* waiters.close
            yield* Effect.promise(() => stopped).pipe(Effect.timeoutOption(`${stopSecondsMax} seconds`))
            yield* Effect.promise(() => running.stop(true)).pipe(Effect.timeoutOption("1 second"))
          })
      )
      return { url: `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${server.port}` }
    })
  ).pipe(Layer.provideMerge(Readiness.layer))
}
