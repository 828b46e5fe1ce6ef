/**
 * Middleware that checks every request before its handler: first the rate limit, then the body. A refused request costs no parsing.
 *
 * Requests with a key are limited by key (see Auth.ts), all others by client address.
 */
import { Effect, Layer } from "effect"
import { HttpEffect, HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { problem, type ProblemOf, refusedWith } from "../../schema/Errors.ts"
import { Auth, RequestChecks } from "../api/shapes/Common.ts"
import { Deprecations } from "../api/shapes/Deprecations.ts"
import { concerning, deprecationHeaders, usedOf } from "../standards/Deprecation.ts"
import { bodyLimits, type BodyProblem, jsonProblem, receiveBody } from "./Body.ts"
import { type AddressLimit, type Allowance, Limits } from "./Limits.ts"
import { RequestContext } from "./RequestContext.ts"
import { problemAnswer } from "../standards/ProblemType.ts"
import { parsedOrText } from "../../schema/json/Json.ts"

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

/** Adds the RateLimit headers to the answer of the API's routes. */
export const tellLimit = (allowance: Allowance): Effect.Effect<void, never, HttpServerRequest.HttpServerRequest> =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, limitHeaders(allowance)))
  )

/** Adds the RateLimit headers. Fails with `rate_limited` if the limit is used up. `what` names the requests in the message. */
export const enforceRateLimit = <R>(
  allowance: Allowance | null,
  what: string,
  tell: (allowance: Allowance) => Effect.Effect<void, never, R>
): Effect.Effect<void, ProblemOf<"rate_limited">, R> => {
  if (allowance === null) return Effect.void
  if (allowance.allowed) return tell(allowance)
  return Effect.andThen(
    tell(allowance),
    refusedWith("rate_limited", `Too many ${what}; try again in ${allowance.reset} s.`)
  )
}

/** Takes this many requests from the caller's rate limit. */
export type TakeMore<R> = (requests: number) => Effect.Effect<void, ProblemOf<"rate_limited">, R>

export const isJson = (contentType: string | undefined) =>
  contentType === undefined || contentType === "application/json" || /^\s*application\/json\s*(;|$)/i.test(contentType)

/** Checks a body. A large one counts as several requests, which are taken from the rate limit before the check. */
export const checkBytes = <R>(
  bytes: ArrayBuffer,
  url: string,
  contentType: string | undefined,
  takeMore: TakeMore<R>
): Effect.Effect<void, BodyProblem | ProblemOf<"rate_limited">, R> => {
  const limits = bodyLimits(url)
  // The API refuses other content types without parsing them, so only JSON is checked.
  const check = Effect.suspend(() => {
    const wrong = isJson(contentType) ? jsonProblem(new Uint8Array(bytes), limits.containers) : null
    return wrong === null ? Effect.void : Effect.fail(wrong)
  })
  const more = Math.ceil(bytes.byteLength / limits.bytesPerRequest) - 1
  return more <= 0 ? check : Effect.andThen(takeMore(more), check)
}

/** Receives the body of a request to the API's routes, and checks it. */
export const checkBody = (takeMore: TakeMore<HttpServerRequest.HttpServerRequest>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(receiveBody(request), (bytes) =>
      checkBytes(bytes, request.url, request.headers["content-type"], takeMore)
    )
  )

/** Whether requests to this endpoint have a body. */
export const hasPayload = (endpoint: HttpApiEndpoint.Top): boolean =>
  endpoint.payload.size > 0 && HttpMethod.hasBody(endpoint.method)

/** Limits requests to an endpoint that needs no key. */
export const limitByAddress = (limit: AddressLimit, requests = 1) =>
  Effect.flatMap(RequestContext, ({ address }) =>
    Effect.flatMap(limit(address, requests), (allowance) =>
      enforceRateLimit(allowance, "requests from this address", tellLimit)
    )
  )

/** Checks the body of a request to an endpoint that needs no key. */
export const checkBodyByAddress = (limit: AddressLimit) => checkBody((requests) => limitByAddress(limit, requests))

/** Longer than any form here. Parsing a megabyte of short fields takes half a second. */
const formBytesMax = 32 * 1024
const formTooLarge = problem("payload_too_large", "The form is larger than 32 KiB. Send its fields only.")

/** Limits who sends a form, and receives it, before anything parses it. */
export const checkFormByAddress = (limit: AddressLimit) =>
  limitByAddress(limit).pipe(
    Effect.andThen(HttpServerRequest.HttpServerRequest),
    Effect.flatMap(receiveBody),
    Effect.flatMap(({ byteLength }) => (byteLength > formBytesMax ? Effect.fail(formTooLarge) : Effect.void))
  )

/** Adds the headers of what the request uses that is deprecated. Does nothing for an operation of which nothing is. */
const saysWhatIsDeprecated = (operation: string) =>
  Effect.withFiber<void, never, HttpServerRequest.HttpServerRequest>((fiber) => {
    const concerned = concerning(fiber.getRef(Deprecations), operation)
    if (concerned === null) return Effect.void
    return HttpEffect.appendPreResponseHandler((request, response) => {
      // A refused request may have a body that nobody has read.
      const body = response.status >= 400 ? Effect.succeed("") : Effect.orElseSucceed(request.text, () => "")
      return Effect.map(body, (text) =>
        HttpServerResponse.setHeaders(response, deprecationHeaders(usedOf(concerned, request.url, parsedOrText(text))))
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
    Effect.catch((limited) => Effect.succeed(problemAnswer(limited)))
  )
