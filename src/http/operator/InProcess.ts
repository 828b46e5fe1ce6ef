/**
 * Answers requests to the operator's API in this process, on the database of the settings, with or without a running service.
 *
 * The handlers are those of the console, so a command checks its input, writes the audit log and wakes lanes as the console does. The
 * operator is the user of the operating system. Only the group of operations that a command calls is loaded.
 */
import { Clock, Effect, Layer, References, type Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
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
import { type PublicError, publicErrorIn } from "../api/shapes/PublicError.ts"
import { type Ask, type Method, requestFor } from "../cli/answers/Client.ts"
import { failureFor } from "../cli/answers/problems.ts"
import { CommandFailed, exits } from "../cli/terminal/exits.ts"
import { MalformedLayer } from "../middleware/MalformedRequest.ts"
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

/** The word after /v1/operator says the group. */
const wordOf = (path: string) => path.split(/[/?]/)[3] ?? ""

/** A group of operations, answered by its handlers, which are loaded with the first of its requests. */
const served = <
  G extends HttpApiGroup.Constraint & { readonly endpoints: Readonly<Record<string, { readonly path: string }>> }
>(
  group: G,
  load: () => Promise<Layer.Layer<HttpApiGroup.ToService<"rungate", G>, never, Layer.Success<typeof Needed> | Settings>>
) => {
  const Handlers = Layer.unwrap(Effect.promise(load))
  const Group = HttpApiBuilder.layer(HttpApi.make("rungate").add(group))
  const Served = Group.pipe(Layer.provide(Handlers), Layer.provide(Needed))
  return { words: Object.values(group.endpoints).map(({ path }) => wordOf(path)), Served }
}

const { groups } = Api
const rooms = [
  served(groups.operatorOrganizations, () =>
    import("../handlers/operator/Organizations.ts").then((loaded) => loaded.OperatorOrganizationsHandlers)
  ),
  served(groups.operatorOutcomes, () =>
    import("../handlers/operator/Outcomes.ts").then((loaded) => loaded.OperatorOutcomesHandlers)
  ),
  served(groups.operatorDisputes, () =>
    import("../handlers/operator/Disputes.ts").then((loaded) => loaded.OperatorDisputesHandlers)
  ),
  served(groups.operatorInvitations, () =>
    import("../handlers/operator/Invitations.ts").then((loaded) => loaded.OperatorInvitationsHandlers)
  ),
  served(groups.operatorOptOuts, () =>
    import("../handlers/accounts/OptOuts.ts").then((loaded) => loaded.OperatorOptOutsHandlers)
  ),
  served(groups.operatorAuditLog, () =>
    import("../handlers/operator/AuditLog.ts").then((loaded) => loaded.OperatorAuditLogHandlers)
  ),
  served(groups.operatorCatalog, () =>
    import("../handlers/operator/Catalog.ts").then((loaded) => loaded.OperatorCatalogHandlers)
  ),
  served(groups.operatorCredits, () =>
    import("../handlers/operator/Credits.ts").then((loaded) => loaded.OperatorCreditsHandlers)
  ),
  served(groups.operatorProviders, () =>
    Promise.all([
      import("../handlers/operator/Providers.ts"),
      import("../../layers/catalog/Catalog.ts"),
      import("../../layers/executor/Breakers.ts"),
      import("../../layers/executor/CostDrifts.ts"),
      import("../../layers/executor/Health.ts")
    ]).then(([loaded, { Catalog }, { Breakers }, { CostDrifts }, { Health }]) =>
      loaded.OperatorProvidersHandlers.pipe(
        Layer.provide([Catalog.layer, Breakers.layer, CostDrifts.layer, Health.layer])
      )
    )
  )
]

const nobody = { url: "", key: null, source: null, missing: "" }
/** Flags that are not named like the parameter of the query. In a body, the period of a bill has flags of its own. */
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
      .replace(/\bquery\.(\w+)/g, (_, name: string) => `--${flagNames[name] ?? name}`)
      .replace(/^(from|to)\b/, "--$1")
      .replace(/\bpath\.(?=\w)/g, ""),
    exit_code: exitsHere[refusal.error.code] ?? exit_code
  })
}

/** Nothing listens there: requests stay in this process. */
const baseUrl = "http://127.0.0.1"

/** Answers requests. The handlers of a group are made for its first one, and live as long as the command. */
export const makeSend = Effect.gen(function* () {
  const context = yield* Effect.context<Settings | Scope.Scope>()
  const served = yield* Effect.forEach(rooms, ({ words, Served }) =>
    Effect.map(Effect.cached(HttpRouter.toHttpEffect(Served)), (httpEffect) => ({ words, httpEffect }))
  )
  return Effect.fnUntraced(
    function* (method: Method, path: string, ask: Ask = {}) {
      const room = served.find(({ words }) => words.includes(wordOf(path)))
      if (room === undefined) return yield* Effect.die(`No command of this process sends ${method} ${path}.`)
      const request = requestFor(method, `${baseUrl}${path}`, ask)
      const httpEffect = yield* Effect.provide(room.httpEffect, context)
      const response = yield* Effect.scoped(httpEffect).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(request)),
        Effect.map((response) => HttpServerResponse.toClientResponse(response, { request }))
      )
      const text = yield* response.text
      const refusal = response.status < 400 ? null : publicErrorIn(text)
      if (refusal !== null) return yield* commandFailure(refusal)
      return { status: response.status, headers: response.headers, text, request: { method, path } }
    },
    Effect.provideService(References.LogToStderr, true),
    Effect.catch((error) => (error instanceof CommandFailed ? Effect.fail(error) : Effect.die(error)))
  )
})
