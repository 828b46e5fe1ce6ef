/**
 * The HTTP server: `Bun.serve` as a Layer, with all routes of the API and of the tools.
 *
 * On shutdown it answers every waiting client with its run as it is, ends event streams, refuses new requests, and waits for open ones with a time limit.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServer, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../actors/events/EventFeed.ts"
import { Waiters } from "../actors/mailbox/Waiters.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { LogSink } from "../layers/observability/LogSink.ts"
import { underway } from "../layers/platform/Underway.ts"
import { Api } from "./api/Api.ts"
import { DocsRoutes } from "./pages/Docs.ts"
import { UnsubscribePage } from "./pages/Unsubscribe.ts"
import { AccountPages } from "./pages/AccountPages.ts"
import { OperatorAuthLayer } from "./access/OperatorCookie.ts"
import { CallerChecks } from "./middleware/CallerChecks.ts"
import { AuthLayer } from "./middleware/Auth.ts"
import { batchBytesMax } from "./middleware/Body.ts"
import { BoundaryLayer, internal } from "./middleware/Boundary.ts"
import { Peers } from "./middleware/ClientAddress.ts"
import { RequestChecksLayer } from "./middleware/RequestChecks.ts"
import { CatalogHandlers } from "./handlers/catalog/Catalog.ts"
import { DisputesHandlers } from "./handlers/Disputes.ts"
import { DiscoveryHandlers } from "./handlers/catalog/Discovery.ts"
import { BatchesHandlers } from "./handlers/Batches.ts"
import { BrowserSessionsHandlers } from "./handlers/accounts/BrowserSessions.ts"
import { ServiceHandlers } from "./handlers/Service.ts"
import { AuditLogHandlers } from "./handlers/accounts/AuditLog.ts"
import { InvitationsHandlers } from "./handlers/accounts/Invitations.ts"
import { MembersHandlers } from "./handlers/accounts/Members.ts"
import { EventsHandlers } from "./handlers/Events.ts"
import { UsageHandlers } from "./handlers/Usage.ts"
import { HistoryHandlers } from "./handlers/History.ts"
import { KeysHandlers } from "./handlers/accounts/Keys.ts"
import { QuotesHandlers } from "./handlers/Quotes.ts"
import { ReceiptsHandlers } from "./handlers/Receipts.ts"
import { OperatorBooksHandlers } from "./handlers/operator/Books.ts"
import { OperatorDisputesHandlers } from "./handlers/operator/Disputes.ts"
import { OperatorOutcomesHandlers } from "./handlers/operator/Outcomes.ts"
import { OperatorAuditLogHandlers } from "./handlers/operator/AuditLog.ts"
import { OperatorCatalogHandlers } from "./handlers/operator/Catalog.ts"
import { OperatorImpersonationHandlers } from "./handlers/operator/Impersonation.ts"
import { OperatorOptOutsHandlers, OptOutsHandlers } from "./handlers/accounts/OptOuts.ts"
import { OperatorInvitationsHandlers } from "./handlers/operator/Invitations.ts"
import { OperatorPaymentsHandlers } from "./handlers/operator/Payments.ts"
import { OperatorCreditsHandlers } from "./handlers/operator/Credits.ts"
import { OperatorProvidersHandlers } from "./handlers/operator/Providers.ts"
import { OperatorOrganizationsHandlers } from "./handlers/operator/Organizations.ts"
import { OperatorQueuesHandlers } from "./handlers/operator/Queues.ts"
import { OperatorSessionsHandlers } from "./handlers/operator/Sessions.ts"
import { PasskeysHandlers } from "./handlers/accounts/Passkeys.ts"
import { RecoveryHandlers } from "./handlers/accounts/Recovery.ts"
import { ReferralsHandlers } from "./handlers/Referrals.ts"
import { RunsHandlers } from "./handlers/Runs.ts"
import { ApprovalsHandlers } from "./handlers/accounts/Approvals.ts"
import { LabelBudgetsHandlers } from "./handlers/accounts/LabelBudgets.ts"
import { ConfigurationHandlers } from "./handlers/configuration/Configuration.ts"
import { SendersHandlers } from "./handlers/accounts/Senders.ts"
import { AllowancesHandlers } from "./handlers/accounts/Allowances.ts"
import { ProviderAccountsHandlers } from "./handlers/accounts/ProviderAccounts.ts"
import { AuthorizationHandlers } from "./handlers/accounts/Authorization.ts"
import { WebhooksHandlers } from "./handlers/Webhooks.ts"
import { SimulationsHandlers } from "./handlers/configuration/Simulations.ts"
import { SessionsHandlers } from "./handlers/accounts/Sessions.ts"
import { TopUpsHandlers } from "./handlers/TopUps.ts"
import { WalletHandlers } from "./handlers/Wallet.ts"
import { consoleDoor } from "./pages/Console.ts"
import { HomeRoute } from "./pages/Home.ts"
import { OpenApiRoute } from "./pages/OpenApiDocument.ts"
import { OpenIdPages } from "./pages/OpenIdPages.ts"
import { ApproveRunPage } from "./pages/ApproveRun.ts"
import { JoinOrganizationPage } from "./pages/JoinOrganization.ts"
import { MetadataRoutes } from "./oauth/Metadata.ts"
import { RegisterRoute } from "./oauth/Register.ts"
import { TokenRoutes } from "./oauth/Token.ts"
import { JoinRoute } from "./pages/Join.ts"
import { HomeCellLayer } from "./middleware/HomeCell.ts"
import { newId } from "../layers/platform/Ids.ts"
import { inWords } from "../layers/postgres/Batch.ts"
import { Limits } from "./middleware/Limits.ts"
import { requestWatch } from "./requestlog/RequestWatch.ts"
import { runDoor } from "./run/RunDoor.ts"
import { portTaken } from "./Listening.ts"
import { answerOf, malformedPath } from "./middleware/MalformedRequest.ts"
import { lazyMcp } from "./handlers/LazyMcp.ts"
import { ProviderEvents } from "./ProviderEvents.ts"
import { ProblemPages } from "./pages/Problems.ts"
import { ReferenceRoutes } from "./pages/Reference.ts"
import { ReturnPages } from "./pages/ReturnPages.ts"
import { StatusRoute } from "./status/StatusPage.ts"
import { SystemRoutes } from "./System.ts"
import { Webhooks } from "./Webhooks.ts"
import { WellKnownRoute } from "./WellKnown.ts"

/** Waits last up to 120 s without a byte; Bun cuts silent requests after 10 s unless told otherwise, and takes 255 at most. */
const idleSeconds = 255
const stopSecondsMax = 10

export const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide([
      RunsHandlers,
      BatchesHandlers,
      QuotesHandlers,
      ReceiptsHandlers,
      SimulationsHandlers,
      DisputesHandlers,
      HistoryHandlers,
      UsageHandlers,
      DiscoveryHandlers,
      CatalogHandlers,
      WalletHandlers,
      TopUpsHandlers,
      KeysHandlers,
      AllowancesHandlers,
      LabelBudgetsHandlers,
      ApprovalsHandlers,
      OptOutsHandlers,
      ConfigurationHandlers,
      SendersHandlers,
      MembersHandlers,
      InvitationsHandlers,
      AuditLogHandlers,
      WebhooksHandlers,
      ProviderAccountsHandlers,
      AuthorizationHandlers,
      SessionsHandlers,
      BrowserSessionsHandlers,
      ServiceHandlers,
      RecoveryHandlers,
      PasskeysHandlers,
      ReferralsHandlers,
      EventsHandlers,
      OperatorSessionsHandlers,
      OperatorOrganizationsHandlers,
      OperatorImpersonationHandlers,
      OperatorCatalogHandlers,
      OperatorAuditLogHandlers,
      OperatorBooksHandlers,
      OperatorQueuesHandlers,
      OperatorOutcomesHandlers,
      OperatorDisputesHandlers,
      OperatorInvitationsHandlers,
      OperatorOptOutsHandlers,
      OperatorPaymentsHandlers,
      OperatorProvidersHandlers,
      OperatorCreditsHandlers
    ]),
    Layer.provide([AuthLayer, OperatorAuthLayer, RequestChecksLayer])
  ),
  OpenApiRoute,
  ReferenceRoutes,
  SystemRoutes,
  HomeRoute,
  DocsRoutes,
  MetadataRoutes,
  RegisterRoute,
  TokenRoutes,
  JoinRoute,
  AccountPages,
  UnsubscribePage,
  JoinOrganizationPage,
  ApproveRunPage,
  OpenIdPages,
  ProblemPages,
  ReturnPages,
  StatusRoute,
  Webhooks,
  ProviderEvents,
  WellKnownRoute
).pipe(Layer.provide(HomeCellLayer), Layer.provide(BoundaryLayer), Layer.provide(HttpServer.layerServices))

const routed = HttpRouter.toHttpEffect(Routes)

/** What the routes ask of the process when a request comes. */
type RouteServices = Exclude<
  Effect.Services<Effect.Success<typeof routed>>,
  Scope.Scope | HttpServerRequest.HttpServerRequest
>

const strictSeconds = 365 * 86_400

type Answer = Response | Promise<Response>

const strict = (response: Response): Response => {
  response.headers.set("strict-transport-security", `max-age=${strictSeconds}`)
  return response
}

/**
 * Has browsers use https only (RFC 6797) if the service's public address is https, so that nobody between them can make the first request
 * an unencrypted one. Subdomains are not included: they may be other services of the operator.
 */
const transportSecurity = (publicUrl: string | null, answer: (request: Request) => Answer) =>
  publicUrl?.startsWith("https:") !== true
    ? answer
    : (request: Request): Answer => {
        const response = answer(request)
        return response instanceof Response ? strict(response) : response.then(strict)
      }

export class Server extends Context.Service<Server, { readonly url: string }>()("rungate/http/Server") {
  static readonly layer = Layer.effect(
    Server,
    Effect.gen(function* () {
      const { port, host, publicUrl } = yield* Settings
      const waiters = yield* Waiters
      const sink = yield* LogSink
      const feed = yield* EventFeed
      const httpEffect = yield* routed
      // Known once it listens.
      let peerOf = (_request: Request): string | null => null
      // A request that the tools of /mcp make in this process has no connection; it counts as who called the tool.
      const callers = new WeakMap<Request, string>()
      const peers = { of: (request: Request) => callers.get(request) ?? peerOf(request) }
      const context = Context.add(yield* Effect.context<RouteServices>(), Peers, peers)
      const api = HttpEffect.toWebHandlerWith<
        RouteServices,
        RouteServices | Scope.Scope | HttpServerRequest.HttpServerRequest
      >(context)(httpEffect)
      const run = yield* runDoor
      const door = yield* consoleDoor()
      const mcp = yield* lazyMcp((request, address) => {
        callers.set(request, address)
        return api(request)
      }, peers)
      const answer = transportSecurity(
        publicUrl,
        (request) =>
          run(request) ??
          malformedPath(request) ??
          door.page(request) ??
          mcp(request) ??
          door.orMissing(request, api(request))
      )
      const watch = yield* requestWatch
      const fork = Effect.runForkWith(context)
      // Runs after the server has closed.
      yield* Effect.addFinalizer(() => Effect.sync(sink.flush))
      const server = yield* Effect.acquireRelease(
        Effect.try({
          try: () =>
            Bun.serve({
              port,
              hostname: host,
              idleTimeout: idleSeconds,
              // Above the boundary's limit, which answers with a body; this one only cuts off what is absurd.
              maxRequestBodySize: 2 * batchBytesMax,
              // Its error page would show sources and a stack to anybody.
              development: false,
              fetch: (request) => watch(request, answer),
              error: (cause) => {
                const request_id = newId("req")
                fork(Effect.logError(`${request_id}: ${inWords(cause)}`))
                return answerOf(internal, request_id)
              }
            }),
          catch: () => portTaken(host, port, "PORT or HOST")
        }),
        (running) =>
          Effect.gen(function* () {
            const stopped = running.stop()
            yield* waiters.close
            yield* feed.close
            yield* Effect.promise(() => stopped).pipe(Effect.timeoutOption(`${stopSecondsMax} seconds`))
            yield* Effect.promise(() => running.stop(true)).pipe(Effect.timeoutOption("1 second"))
          }).pipe(underway("closing the HTTP server"))
      )
      peerOf = (request) => server.requestIP(request)?.address ?? null
      return { url: `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${server.port}` }
    })
  ).pipe(Layer.provide(CallerChecks.layer.pipe(Layer.provideMerge(Limits.layer))))
}
