/**
 * Lets the operator's operations be called with the operator's cookie only, and makes changes in the operator's name.
 *
 * The session is read from the database for every request, so it ends at once everywhere. A request that changes something must come from a
 * page of this service, as with a customer's cookie (SessionCookie.ts).
 */
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { AuditLog } from "../../layers/auditlog/AuditLog.ts"
import { OperatorSessions } from "../../layers/operator/OperatorSessions.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { problem } from "../../schema/Errors.ts"
import { CurrentOperator, OperatorAuth, operatorCookie } from "../api/operator/OperatorAuth.ts"
import { crossSiteProblem, hostCookie, notStored } from "./SessionCookie.ts"

export const { token: operatorToken, set: setOperatorCookie, clear: clearOperatorCookie } = hostCookie(operatorCookie)

/** One message for every cause, so that nobody learns whether a guessed token existed. */
const needsOperator = problem(
  "forbidden",
  "This is for the operator of the service, and the request has no session of an operator, or it has ended. Print a sign-in link on the server with: rungate admin console"
)

export const OperatorAuthLayer = Layer.effect(
  OperatorAuth,
  Effect.gen(function* () {
    const sessions = yield* OperatorSessions
    const { publicUrl } = yield* Settings
    return OperatorAuth.of({
      operator: Effect.fnUntraced(function* (httpEffect) {
        const { method, headers } = yield* HttpServerRequest.HttpServerRequest
        const token = operatorToken(headers)
        if (token === null) return yield* Effect.fail(needsOperator)
        const refused = crossSiteProblem(method, headers, publicUrl)
        if (refused !== null) return yield* Effect.fail(refused)
        yield* notStored
        const session = yield* sessions.find(token)
        if (session === null) return yield* Effect.fail(needsOperator)
        return yield* Effect.provideService(httpEffect, CurrentOperator, session)
      })
    })
  })
)

/** The operator, as the audit log names them. Without an address, because the organization that is changed reads the log too. */
export const operatorActor = Effect.map(
  CurrentOperator,
  ({ operator }): Actor => ({ kind: "operator", id: null, name: operator, address: null })
)

/** Runs a change on behalf of the operator. */
export const makeAsOperator = Effect.map(
  AuditLog,
  (log) =>
    <A, E, R>(change: Effect.Effect<A, E, R>) =>
      Effect.flatMap(operatorActor, (who) => log.by(who)(change))
)
