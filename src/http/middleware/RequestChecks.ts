/**
 * The checks before every handler: first the rate limit, then the body, and only then the parser.
 *
 * Requests with a key are limited by key (see Auth.ts), all others by client address. So a refused request costs no parsing.
 */
import { Effect, Layer } from "effect"
import { HttpEffect, HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { problem, type ProblemOf, statusOf } from "../../schema/Errors.ts"
import { Auth, Door } from "../api/shapes/Common.ts"
import { type BodyProblem, jsonProblem, receiveBody } from "./Body.ts"
import { type Allowance, bytesPerRequest, Limits, type OfAddress } from "./Limits.ts"
import { RequestContext } from "./RequestContext.ts"

const limitHeaders = ({ policy, limit, window, remaining, reset, allowed }: Allowance): Record<string, string> => ({
  "ratelimit-policy": `"${policy}";q=${limit};w=${window}`,
  ratelimit: `"${policy}";r=${remaining};t=${reset}`,
  ...(allowed ? {} : { "retry-after": String(reset) })
})

/** Tells the client how its limit stands; fails when it is used up. */
export const admit = (
  allowance: Allowance | null,
  who: string
): Effect.Effect<void, ProblemOf<"rate_limited">, HttpServerRequest.HttpServerRequest> => {
  if (allowance === null) return Effect.void
  const headers = limitHeaders(allowance)
  const told = HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )
  if (allowance.allowed) return told
  return Effect.andThen(
    told,
    Effect.fail(problem("rate_limited", `Too many ${who}; try again in ${allowance.reset} s.`))
  )
}

/** Charges a limit for so many requests. */
type Charge = (requests: number) => Effect.Effect<Allowance | null>

const isJson = (contentType: string | undefined) =>
  contentType === undefined || contentType === "application/json" || /^\s*application\/json\s*(;|$)/i.test(contentType)

/** Receives a body and checks it. One that counts as several requests pays for the others before it is looked at. */
export const checkedBody = (
  charge: Charge,
  who: string
): Effect.Effect<void, BodyProblem | ProblemOf<"rate_limited">, HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(receiveBody(request), (buffer) => {
      // Another type is refused without being parsed.
      const check = () => (isJson(request.headers["content-type"]) ? jsonProblem(new Uint8Array(buffer)) : null)
      const more = Math.ceil(buffer.byteLength / bytesPerRequest) - 1
      if (more <= 0) {
        const wrong = check()
        return wrong === null ? Effect.void : Effect.fail(wrong)
      }
      return Effect.gen(function* () {
        yield* admit(yield* charge(more), who)
        const wrong = check()
        if (wrong !== null) return yield* Effect.fail(wrong)
      })
    })
  )

/** Whether the contract has a body to parse. */
export const takesBody = (endpoint: HttpApiEndpoint.Top): boolean =>
  endpoint.payload.size > 0 && HttpMethod.hasBody(endpoint.method)

const fromHere = "requests from this address"

/** Limits a door that needs no key. */
export const byAddress = (limit: OfAddress) =>
  Effect.flatMap(RequestContext, ({ address }) =>
    Effect.flatMap(limit(address), (allowance) => admit(allowance, fromHere))
  )

/** The body of a door that needs no key. */
export const strangersBody = (limit: OfAddress) =>
  Effect.flatMap(RequestContext, ({ address }) => checkedBody((requests) => limit(address, requests), fromHere))

export const DoorLayer = Layer.effect(
  Door,
  Effect.map(Limits, (limits) =>
    Door.of((httpEffect, { endpoint }) => {
      if ([...endpoint.middlewares].some((one) => one.key === Auth.key)) return httpEffect
      const admitted = takesBody(endpoint)
        ? Effect.andThen(byAddress(limits.stranger), strangersBody(limits.stranger))
        : byAddress(limits.stranger)
      return Effect.andThen(admitted, httpEffect)
    })
  )
)

/** The same limit for a page, which is no part of the contract. */
export const limitedPage = <R>(page: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
  Effect.flatMap(Limits, (limits) => Effect.andThen(byAddress(limits.stranger), page)).pipe(
    Effect.catch((limited) => Effect.succeed(HttpServerResponse.jsonUnsafe(limited, { status: statusOf.rate_limited })))
  )
