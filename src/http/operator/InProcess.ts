/**
 * Answers operations of the operator's API in this process, on the database of the settings, with or without a running service.
 *
 * The handlers are those of the console, so a command checks its input, writes the audit log and wakes lanes as the console does. The
 * operator is the user of the operating system. Only the group of operations that a command calls is loaded.
 */
import { Clock, Effect, Layer, References, Schema, Stream } from "effect"
import { HttpClient, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiClient, type HttpApiGroup } from "effect/http-api"
import { EventFeed } from "../../actors/events/EventFeed.ts"
import { CommandClient } from "../../actors/mailbox/CommandClient.ts"
import { Lanes } from "../../actors/mailbox/Lanes.ts"
import { Waiters } from "../../actors/mailbox/Waiters.ts"
import type { Settings } from "../../layers/platform/Settings.ts"
import { Queues } from "../../layers/queues/Queues.ts"
import { Redis } from "../../layers/queues/Redis.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { Storage } from "../../layers/Storage.ts"
import { Api } from "../api/Api.ts"
import { CurrentOperator, OperatorAuth } from "../api/operator/OperatorAuth.ts"
import { RequestChecks } from "../api/shapes/Common.ts"
import type { RungateClient } from "../client/Rungate.ts"
import { type PublicError, publicError, publicErrorIn } from "../api/shapes/PublicError.ts"
import { type Ask, Client, type Method, requestFor } from "../cli/answers/Client.ts"
import { failureFor } from "../cli/answers/problems.ts"
import { CommandFailed } from "../cli/terminal/CommandFailed.ts"
import { exits } from "../cli/terminal/exits.ts"
import { malformed, MalformedLayer } from "../middleware/MalformedRequest.ts"
import { operator } from "./database.ts"

const HandlerServices = EventFeed.layer.pipe(
  Layer.provideMerge(CommandClient.layer),
  Layer.provideMerge(Layer.mergeAll(Lanes.layer, Waiters.layer)),
  Layer.provideMerge(Layer.mergeAll(Signals.layer, Queues.layer)),
  Layer.provide(Redis.layer),
  Layer.provideMerge(Storage)
)

/** Who may start this command on the machine is the operator. */
const OperatorHere = Layer.succeed(OperatorAuth)({
  operator: Effect.fnUntraced(function* (httpEffect) {
    const { name } = yield* operator
    const now = new Date(yield* Clock.currentTimeMillis)
    const session = { session_id: "", operator: name, created_at: now, expires_at: now }
    return yield* Effect.provideService(httpEffect, CurrentOperator, session)
  })
})
/** There is no client to limit. */
const NoRequestChecks = Layer.succeed(RequestChecks)((httpEffect) => httpEffect)

const Needed = Layer.mergeAll(HandlerServices, OperatorHere, NoRequestChecks, MalformedLayer, HttpServer.layerServices)

/** The group's operations, answered by its handlers. */
const served = <G extends HttpApiGroup.Constraint>(
  group: G,
  handlers: Layer.Layer<HttpApiGroup.ToService<"rungate", G>, never, Layer.Success<typeof Needed> | Settings>
) => HttpApiBuilder.layer(HttpApi.make("rungate").add(group)).pipe(Layer.provide(handlers), Layer.provide(Needed))

const { groups } = Api
const handlersOf = {
  operatorOrganizations: () =>
    import("../handlers/operator/Organizations.ts").then((loaded) =>
      served(groups.operatorOrganizations, loaded.OperatorOrganizationsHandlers)
    ),
  operatorOutcomes: () =>
    import("../handlers/operator/Outcomes.ts").then((loaded) =>
      served(groups.operatorOutcomes, loaded.OperatorOutcomesHandlers)
    ),
  operatorDisputes: () =>
    import("../handlers/operator/Disputes.ts").then((loaded) =>
      served(groups.operatorDisputes, loaded.OperatorDisputesHandlers)
    ),
  operatorInvitations: () =>
    import("../handlers/operator/Invitations.ts").then((loaded) =>
      served(groups.operatorInvitations, loaded.OperatorInvitationsHandlers)
    ),
  operatorOptOuts: () =>
    import("../handlers/accounts/OptOuts.ts").then((loaded) =>
      served(groups.operatorOptOuts, loaded.OperatorOptOutsHandlers)
    ),
  operatorAuditLog: () =>
    import("../handlers/operator/AuditLog.ts").then((loaded) =>
      served(groups.operatorAuditLog, loaded.OperatorAuditLogHandlers)
    ),
  operatorCatalog: () =>
    import("../handlers/operator/Catalog.ts").then((loaded) =>
      served(groups.operatorCatalog, loaded.OperatorCatalogHandlers)
    ),
  operatorCredits: () =>
    import("../handlers/operator/Credits.ts").then((loaded) =>
      served(groups.operatorCredits, loaded.OperatorCreditsHandlers)
    ),
  operatorProviders: () =>
    Promise.all([
      import("../handlers/operator/Providers.ts"),
      import("../../layers/catalog/Catalog.ts"),
      import("../../layers/executor/Breakers.ts"),
      import("../../layers/executor/CostDrifts.ts"),
      import("../../layers/executor/Health.ts")
    ]).then(([loaded, { Catalog }, { Breakers }, { CostDrifts }, { Health }]) =>
      served(
        groups.operatorProviders,
        loaded.OperatorProvidersHandlers.pipe(
          Layer.provide([Catalog.layer, Breakers.layer, CostDrifts.layer, Health.layer])
        )
      )
    )
}
export type OperatorGroup = keyof typeof handlersOf

const nobody = { url: "", key: null, source: null, missing: "" }
/** Flags that are not named like the parameter of the query. */
const flagNames: Readonly<Record<string, string>> = { org_id: "org", from: "since" }
/** Codes whose usual exit code is about a customer's run. */
const exitsHere: Readonly<Record<string, number>> = {
  service_unavailable: exits.pending,
  wallet_suspended: exits.usage
}

/** The command's error for an error of the API. */
const commandFailure = (refusal: PublicError): CommandFailed => {
  const { message, exit_code } = failureFor(nobody, refusal)
  return new CommandFailed({
    message: message
      .replace(/\bquery\.(\w+)|^from\b/g, (text, name: string = text) => `--${flagNames[name] ?? name}`)
      .replace(/\bpath\.(?=\w)/g, ""),
    exit_code: exitsHere[refusal.error.code] ?? exit_code
  })
}

/** The command's error for an error of the API, or for input that the contract does not allow. */
const failureOf = (error: unknown): CommandFailed => {
  if (error instanceof CommandFailed) return error
  const refusal = Schema.isSchemaError(error) ? malformed("Payload", error) : publicError(error)
  if (refusal === null) throw error
  return commandFailure(refusal)
}

/** Nothing listens there: requests stay in this process. */
const baseUrl = "http://127.0.0.1"

const httpOf = Effect.fnUntraced(function* (group: OperatorGroup) {
  const Handlers = yield* Effect.promise(handlersOf[group])
  const httpEffect = yield* HttpRouter.toHttpEffect(Handlers)
  return HttpClient.make((request) =>
    Effect.scoped(httpEffect).pipe(
      Effect.map((response) => HttpServerResponse.toClientResponse(response, { request })),
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(request)),
      Effect.provideService(References.LogToStderr, true),
      Effect.orDie
    )
  )
})

/** Calls operations of one group. */
export const inProcess = <G extends OperatorGroup, A, E, R>(
  group: G,
  use: (operations: RungateClient[G]) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const client = yield* HttpApiClient.makeWith(Api, { httpClient: yield* httpOf(group), baseUrl })
    return yield* use(client[group])
  }).pipe(Effect.mapError(failureOf), Effect.scoped, Effect.provideService(References.LogToStderr, true))

/** Sends the requests of commands to one group. */
export const clientOf = (group: OperatorGroup) =>
  Layer.effect(
    Client,
    Effect.gen(function* () {
      const http = yield* httpOf(group)
      const send = Effect.fnUntraced(function* (method: Method, path: string, ask: Ask = {}) {
        const response = yield* http.execute(requestFor(method, `${baseUrl}${path}`, ask))
        const text = yield* response.text
        const refusal = response.status < 400 ? null : publicErrorIn(text)
        if (refusal !== null) return yield* commandFailure(refusal)
        return { status: response.status, headers: response.headers, text, request: { method, path } }
      })
      return Client.of({
        url: "",
        events: () => Stream.empty,
        send: (...request) => Effect.catchTag(send(...request), "HttpClientError", Effect.die)
      })
    })
  ).pipe(Layer.provide(Layer.succeed(References.LogToStderr, true)))
