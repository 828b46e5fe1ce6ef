/**
 * Middleware that authenticates requests by bearer token: an API key or a session token.
 *
 * A browser's session comes in a cookie in place of the header (SessionCookie.ts), and only from the console's own pages.
 */
import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Settings } from "../../layers/platform/Settings.ts"
import { CallerChecks, tokenForm, unknownSession } from "./CallerChecks.ts"
import { cookieToken, crossSiteProblem, notStored } from "../access/SessionCookie.ts"
import { Auth, CurrentCaller } from "../api/shapes/Common.ts"
import { checkBody, hasPayload, tellLimit } from "./RequestChecks.ts"

/** Why the session in a cookie is refused before it is looked up. An API key does not belong in a cookie. */
const cookieProblem = (
  { method, headers }: HttpServerRequest.HttpServerRequest,
  token: Redacted.Redacted,
  publicUrl: string | null
) => {
  const isSession = tokenForm.exec(Redacted.value(token))?.[1] === "sess"
  return crossSiteProblem(method, headers, publicUrl) ?? (isSession ? null : unknownSession)
}

export const AuthLayer = Layer.effect(
  Auth,
  Effect.gen(function* () {
    const checks = yield* CallerChecks
    const { publicUrl } = yield* Settings

    return Auth.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential: sent, endpoint, group }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const cookie = cookieToken(request.headers)
        if (cookie !== null) {
          const refused = cookieProblem(request, cookie, publicUrl)
          if (refused !== null) return yield* Effect.fail(refused)
          yield* notStored
        }
        const { caller } = yield* checks.admit({
          token: Redacted.value(cookie ?? sent),
          operation: { name: `${group.identifier}.${endpoint.identifier}`, endpoint },
          source: request.source,
          tell: tellLimit,
          receive: (takeMore) => (hasPayload(endpoint) ? checkBody(takeMore) : Effect.void)
        })
        return yield* Effect.provideService(httpEffect, CurrentCaller, caller)
      })
    })
  })
)
