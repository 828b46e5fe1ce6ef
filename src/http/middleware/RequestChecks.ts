/**
 * Middleware that checks every request before its handler: first the rate limit, then the body. A refused request costs no parsing.
 *
 * Requests with a key are limited by key (see Auth.ts), all others by client address.
 */
import { Effect, Layer } from "effect"
import { HttpEffect, HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { problem, type ProblemOf, statusOf } from "../../schema/Errors.ts"
import { Auth, RequestChecks } from "../api/shapes/Common.ts"
import { Deprecations } from "../api/shapes/Deprecations.ts"
import { concerning, deprecationHeaders, usedOf } from "../standards/Deprecation.ts"
import { bodyLimits, type BodyProblem, jsonProblem, receiveBody } from "./Body.ts"
import { type AddressLimit, type Allowance, Limits } from "./Limits.ts"
import { RequestContext } from "./RequestContext.ts"

export const limitHeaders = ({
  policy,
  limit,
  window,
  remaining,
  reset,
  allowed
}: Allowance): Record<string, string> => ({
  "ratelimit-policy": `"${policy}";q=${limit};w=${window}`,
  ratelimit: `"${policy}";r=${remaining};t=${reset}`,
  ...(allowed ? {} : { "retry-after": String(reset) })
})

/** Adds the RateLimit headers to the response. Fails with `rate_limited` if the limit is used up. `what` names the requests in the message. */
export const enforceRateLimit = (
  allowance: Allowance | null,
  what: string
): Effect.Effect<void, ProblemOf<"rate_limited">, HttpServerRequest.HttpServerRequest> => {
  if (allowance === null) return Effect.void
  const headers = limitHeaders(allowance)
  const addHeaders = HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )
  if (allowance.allowed) return addHeaders
  return Effect.andThen(
    addHeaders,
    Effect.fail(problem("rate_limited", `Too many ${what}; try again in ${allowance.reset} s.`))
  )
}

/** Takes this many requests from a rate limit. */
type TakeRequests = (requests: number) => Effect.Effect<Allowance | null>

export const isJson = (contentType: string | undefined) =>
  contentType === undefined || contentType === "application/json" || /^\s*application\/json\s*(;|$)/i.test(contentType)

/** Receives a body and checks it. A large body counts as several requests, which are taken from the rate limit before the check. */
export const checkBody = (
  take: TakeRequests,
  what: string
): Effect.Effect<void, BodyProblem | ProblemOf<"rate_limited">, HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(receiveBody(request), (buffer) => {
      const limits = bodyLimits(request.url)
      // The API refuses other content types without parsing them, so only JSON is checked.
      const check = () =>
        isJson(request.headers["content-type"]) ? jsonProblem(new Uint8Array(buffer), limits.containers) : null
      const more = Math.ceil(buffer.byteLength / limits.bytesPerRequest) - 1
      if (more <= 0) {
        const wrong = check()
        return wrong === null ? Effect.void : Effect.fail(wrong)
      }
      return Effect.gen(function* () {
        yield* enforceRateLimit(yield* take(more), what)
        const wrong = check()
        if (wrong !== null) return yield* Effect.fail(wrong)
      })
    })
  )

/** Whether requests to this endpoint have a body. */
export const hasPayload = (endpoint: HttpApiEndpoint.Top): boolean =>
  endpoint.payload.size > 0 && HttpMethod.hasBody(endpoint.method)

const fromThisAddress = "requests from this address"

/** Limits requests to an endpoint that needs no key. */
export const limitByAddress = (limit: AddressLimit) =>
  Effect.flatMap(RequestContext, ({ address }) =>
    Effect.flatMap(limit(address), (allowance) => enforceRateLimit(allowance, fromThisAddress))
  )

/** Checks the body of a request to an endpoint that needs no key. */
export const checkBodyByAddress = (limit: AddressLimit) =>
  Effect.flatMap(RequestContext, ({ address }) => checkBody((requests) => limit(address, requests), fromThisAddress))

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Adds the headers of what the request uses that is deprecated. Does nothing for an operation of which nothing is. */
const saysWhatIsDeprecated = (operation: string) =>
  Effect.withFiber<void, never, HttpServerRequest.HttpServerRequest>((fiber) => {
    const concerned = concerning(fiber.getRef(Deprecations), operation)
    if (concerned === null) return Effect.void
    return HttpEffect.appendPreResponseHandler((request, response) => {
      // A refused request may have a body that nobody has read.
      const body = response.status >= 400 ? Effect.succeed("") : Effect.orElseSucceed(request.text, () => "")
      return Effect.map(body, (text) =>
        HttpServerResponse.setHeaders(response, deprecationHeaders(usedOf(concerned, request.url, json(text))))
      )
    })
  })

export const RequestChecksLayer = Layer.effect(
  RequestChecks,
  Effect.map(Limits, (limits) =>
    RequestChecks.of((inner, { endpoint, group }) => {
      const httpEffect = Effect.andThen(saysWhatIsDeprecated(`${group.identifier}.${endpoint.identifier}`), inner)
      if ([...endpoint.middlewares].some((one) => one.key === Auth.key)) return httpEffect
      const checks = hasPayload(endpoint)
        ? Effect.andThen(limitByAddress(limits.anonymous), checkBodyByAddress(limits.anonymous))
        : limitByAddress(limits.anonymous)
      return Effect.andThen(checks, httpEffect)
    })
  )
)

/** Applies the same limit to an HTML page, which is not an endpoint of the API. */
export const rateLimitedPage = <R>(page: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
  Effect.flatMap(Limits, (limits) => Effect.andThen(limitByAddress(limits.anonymous), page)).pipe(
    Effect.catch((limited) => Effect.succeed(HttpServerResponse.jsonUnsafe(limited, { status: statusOf.rate_limited })))
  )
