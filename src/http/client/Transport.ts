/**
 * How a request reaches the service: its address, the credential, how long an answer may take, and what is asked again.
 *
 * A lost connection is asked again only where that can't do anything twice: reads, and requests that carry an Idempotency-Key.
 * The credential goes to this one address and never follows a redirect.
 */
import { Clock, Context, Effect, flow, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { waitSecondsMax } from "../api/shapes/Limits.ts"

export interface Target {
  /** The service's origin, such as http://127.0.0.1:8787; a path after it is kept. */
  readonly url: string
  /** API key or session token; null asks without one. */
  readonly token: Redacted.Redacted | null
}

/** How a request is made. A command that waits says so with `Effect.provideService(Manner, …)`. */
export interface MannerShape {
  /** How long one answer may take. */
  readonly answer_seconds: number
  /** How long a lost request is asked again. */
  readonly again_seconds: number
  /** Ask again also when nobody listened in the first place: a service that is being restarted comes back. */
  readonly patient: boolean
  /** Told before each further attempt. */
  readonly onAgain: (why: string, seconds: number) => Effect.Effect<void>
}

/** Longer than the longest that a request may wait for a run. */
export const mannerDefault: MannerShape = {
  answer_seconds: waitSecondsMax + 30,
  again_seconds: 20,
  patient: false,
  onAgain: () => Effect.void
}
export const Manner = Context.Reference<MannerShape>("rungate/http/client/Manner", {
  defaultValue: () => mannerDefault
})

const pausesSeconds = [0.1, 0.3, 1, 2, 4]
/** A service that asks for a longer pause than this is answered with its error. */
const pauseSecondsMax = 10

const readsByPost = /\/v1\/(discover|inspect|history)$/
const isRepeatable = ({ method, url, headers }: HttpClientRequest.HttpClientRequest) =>
  method === "GET" ||
  method === "HEAD" ||
  method === "DELETE" ||
  headers["idempotency-key"] !== undefined ||
  (method === "POST" && readsByPost.test(url))

/** The system's code: Bun's fetch has it on the error, Node's on the cause of the error. */
const codeIn = (cause: unknown, depth: number): string => {
  if (typeof cause !== "object" || cause === null || depth === 0) return ""
  if ("code" in cause && typeof cause.code === "string") return cause.code
  return "cause" in cause ? codeIn(cause.cause, depth - 1) : ""
}
const codeOf = ({ reason }: HttpClientError.HttpClientError) => ("cause" in reason ? codeIn(reason.cause, 3) : "")

/** Nothing was sent, because there was nobody to send it to. */
export const isUnreached = (error: HttpClientError.HttpClientError): boolean =>
  ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ConnectionRefused"].includes(codeOf(error))

/** Nobody knows what became of the request. */
export const isLost = (error: HttpClientError.HttpClientError): boolean =>
  error.reason._tag === "TransportError" && !isUnreached(error)

/** Seconds that the service asks to wait before the same request can do; null when it is an answer like any other. */
const askedPause = ({ status, headers }: HttpClientResponse.HttpClientResponse): number | null => {
  if (status !== 429 && status !== 503) return null
  const seconds = Number(headers["retry-after"] ?? "")
  return headers["retry-after"] !== undefined && seconds >= 0 && seconds <= pauseSecondsMax
    ? Math.max(seconds, 0.1)
    : null
}

const tooLate = (request: HttpClientRequest.HttpClientRequest, seconds: number) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, description: `no answer within ${seconds} s` })
  })

type Sending = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

const persistent = (send: Sending, request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function* () {
    const { answer_seconds, again_seconds, patient, onAgain } = yield* Manner
    const began = yield* Clock.currentTimeMillis
    // The body counts as part of the answer: a connection may be lost in the middle of it.
    const attempt = send.pipe(
      Effect.tap((response) => response.arrayBuffer),
      Effect.timeoutOrElse({
        duration: `${answer_seconds} seconds`,
        orElse: () => Effect.fail(tooLate(request, answer_seconds))
      })
    )
    const repeatable = isRepeatable(request)
    // Once a request may have arrived, nobody knows what became of it, however the later attempts fail.
    let lost: HttpClientError.HttpClientError | null = null
    for (let count = 0; ; count++) {
      const result = yield* Effect.result(attempt)
      const elapsed = ((yield* Clock.currentTimeMillis) - began) / 1000
      const pause = pausesSeconds[Math.min(count, pausesSeconds.length - 1)] ?? 1
      const mayAgain = repeatable && elapsed + pause < again_seconds
      if (result._tag === "Success") {
        const asked = askedPause(result.success)
        // A rate limit refuses before anything is done, whatever the request.
        const allowed = result.success.status === 429 || repeatable
        if (asked === null || !allowed || elapsed + asked > again_seconds) return result.success
        yield* onAgain("The service asks to wait", asked)
        yield* Effect.sleep(`${asked} seconds`)
      } else {
        const { failure } = result
        if (isLost(failure)) lost ??= failure
        if (failure.reason._tag !== "TransportError" || !mayAgain) return yield* Effect.fail(lost ?? failure)
        if (isUnreached(failure) && count === 0 && !patient) return yield* Effect.fail(failure)
        yield* onAgain("The connection was lost", pause)
        yield* Effect.sleep(`${pause} seconds`)
      }
    }
  })

/** An HTTP client whose requests name paths only, and go to the service. */
export const transport =
  ({ url, token }: Target) =>
  (http: HttpClient.HttpClient): HttpClient.HttpClient =>
    http.pipe(
      HttpClient.mapRequest(
        flow(HttpClientRequest.prependUrl(url.replace(/\/+$/, "")), (request) =>
          token === null ? request : HttpClientRequest.bearerToken(request, Redacted.value(token))
        )
      ),
      HttpClient.transform(persistent),
      HttpClient.transformResponse(
        Effect.provideService(FetchHttpClient.RequestInit, FetchHttpClient.RequestInit.of({ redirect: "manual" }))
      )
    )
