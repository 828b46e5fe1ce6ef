/**
 * Middleware that authenticates requests by bearer token: an API key or a session token.
 *
 * A browser's session comes in a cookie in place of the header (SessionCookie.ts), and only from the console's own pages.
 */
import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Settings } from "../../layers/platform/Settings.ts"
import { CallerChecks, tokenForm, unauthorized, unknownSession } from "./CallerChecks.ts"
import { cookieToken, crossSiteProblem, notStored } from "../access/SessionCookie.ts"
import { Auth, CurrentCaller } from "../api/shapes/Common.ts"
import { checkBody, hasPayload, tellLimit } from "./RequestChecks.ts"

const missing = unauthorized(
  "The request has no credential. Send an API key or a session token in the header Authorization: Bearer <token>."
)
/** A credential that came elsewhere than in a bearer token. */
const misplaced = (where: string) =>
  unauthorized(`${where} Send Authorization: Bearer <token>, with the word Bearer before the API key.`)

/** Headers in which other services take their keys. */
const keyHeaders = ["x-api-key", "api-key", "apikey", "x-auth-token"]

/** The error for a request without a bearer token. */
const noToken = (headers: Readonly<Record<string, string | undefined>>) => {
  const { authorization = "" } = headers
  if (authorization !== "" && !/^bearer\s*$/i.test(authorization))
    return misplaced("The header Authorization has no bearer token.")
  const name = keyHeaders.find((one) => headers[one] !== undefined)
  return name === undefined ? missing : misplaced(`The API key came in the header ${name}, which is not read.`)
}

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
        const token = Redacted.value(cookie ?? sent)
        if (token === "") return yield* Effect.fail(noToken(request.headers))
        const { caller } = yield* checks.admit({
          token,
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
