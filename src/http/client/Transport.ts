/**
 * The HTTP transport: adds address and credential to a request, applies a timeout, and retries.
 *
 * After a lost connection only safe requests are retried: reads, and requests with an Idempotency-Key. The credential is sent
 * only to this address; redirects are never followed.
 */
import { Clock, Context, Effect, flow, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { waitSecondsMax } from "../api/shapes/Limits.ts"

export interface Target {
  /** The service's origin, such as http://127.0.0.1:8787. A path after it is kept, except a `/v1` at its end, which every request has itself. */
  readonly url: string
  /** API key or session token. Null sends no credential. */
  readonly token: Redacted.Redacted | null
}

/** Timeouts and retries of a request. Override them with `Effect.provideService(RequestPolicy, …)`. */
export interface RequestPolicyShape {
  /** Timeout of one attempt. */
  readonly timeout_seconds: number
  /** How long a request is retried. 0 turns retries off. */
  readonly retry_seconds: number
  /** Retry a refused connection too, for a service that restarts. */
  readonly retry_refused: boolean
  /** Called before each retry. */
  readonly onRetry: (why: string, seconds: number) => Effect.Effect<void>
}

/** The response timeout is longer than the longest wait for a run. */
export const requestPolicyDefault: RequestPolicyShape = {
  timeout_seconds: waitSecondsMax + 30,
  retry_seconds: 20,
  retry_refused: false,
  onRetry: () => Effect.void
}
export const RequestPolicy = Context.Reference<RequestPolicyShape>("rungate/http/client/RequestPolicy", {
  defaultValue: () => requestPolicyDefault
})

const pausesSeconds = [0.1, 0.3, 1, 2, 4]
/** With a longer Retry-After, the error is returned instead of a retry. */
const pauseSecondsMax = 10

const readsByPost = /\/v1\/(discover|inspect|history)$/
const isRepeatable = ({ method, url, headers }: HttpClientRequest.HttpClientRequest) =>
  method === "GET" ||
  method === "HEAD" ||
  method === "DELETE" ||
  headers["idempotency-key"] !== undefined ||
  (method === "POST" && readsByPost.test(url))

/** Their bodies have no end. */
const streams = /\/v1\/(runs\/[^/]+\/)?events$/

/** The system error code. Bun's fetch puts it on the error, Node's on its cause. */
const codeIn = (cause: unknown, depth: number): string => {
  if (typeof cause !== "object" || cause === null || depth === 0) return ""
  if ("code" in cause && typeof cause.code === "string") return cause.code
  return "cause" in cause ? codeIn(cause.cause, depth - 1) : ""
}
const codeOf = ({ reason }: HttpClientError.HttpClientError) => ("cause" in reason ? codeIn(reason.cause, 3) : "")

/** Bun and Node fail so if the other side does not speak TLS. */
const tlsCodes = ["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"]
export const isWithoutTls = (error: HttpClientError.HttpClientError): boolean => tlsCodes.includes(codeOf(error))

const unreachedCodes = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ConnectionRefused"]

/** The connection failed, so nothing was sent. */
export const isUnreached = (error: HttpClientError.HttpClientError): boolean =>
  unreachedCodes.includes(codeOf(error)) || isWithoutTls(error)

/** Where requests go: the address without slashes and `/v1` at its end. */
export const baseOf = (url: string): string => url.replace(/([^/:])(\/+v1)?\/*$/, "$1")

/** The request may have arrived; its outcome is unknown. */
export const isLost = (error: HttpClientError.HttpClientError): boolean =>
  error.reason._tag === "TransportError" && !isUnreached(error)

/** Retry-After of a 429 or 503 in seconds. Null if the response is not retried. */
const retryAfter = ({ status, headers }: HttpClientResponse.HttpClientResponse): number | null => {
  if (status !== 429 && status !== 503) return null
  const seconds = Number(headers["retry-after"] ?? "")
  return headers["retry-after"] !== undefined && seconds >= 0 && seconds <= pauseSecondsMax
    ? Math.max(seconds, 0.1)
    : null
}

const tooLate = (request: HttpClientRequest.HttpClientRequest, seconds: number) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, description: `no response within ${seconds} s` })
  })

type Sending = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

const persistent = (send: Sending, request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function* () {
    const { timeout_seconds, retry_seconds, retry_refused, onRetry } = yield* RequestPolicy
    const began = yield* Clock.currentTimeMillis
    // Read the body too, because the connection may be lost in the middle of it.
    const attempt = send.pipe(
      Effect.tap((response) => (streams.test(request.url) ? Effect.void : response.arrayBuffer)),
      Effect.timeoutOrElse({
        duration: `${timeout_seconds} seconds`,
        orElse: () => Effect.fail(tooLate(request, timeout_seconds))
      })
    )
    const repeatable = isRepeatable(request)
    // After one lost attempt the outcome is unknown, whatever the later errors are.
    let lost: HttpClientError.HttpClientError | null = null
    for (let count = 0; ; count++) {
      const result = yield* Effect.result(attempt)
      const elapsed = ((yield* Clock.currentTimeMillis) - began) / 1000
      const pause = pausesSeconds[Math.min(count, pausesSeconds.length - 1)] ?? 1
      const mayRetry = repeatable && elapsed + pause < retry_seconds
      if (result._tag === "Success") {
        const wait = retryAfter(result.success)
        // A rate-limited request was not executed, so any method may be retried.
        const allowed = result.success.status === 429 || repeatable
        if (wait === null || !allowed || elapsed + wait > retry_seconds) return result.success
        yield* onRetry("Rate limited by the service", wait)
        yield* Effect.sleep(`${wait} seconds`)
      } else {
        const { failure } = result
        if (isLost(failure)) lost ??= failure
        if (failure.reason._tag !== "TransportError" || !mayRetry) return yield* Effect.fail(lost ?? failure)
        if (isUnreached(failure) && count === 0 && !retry_refused) return yield* Effect.fail(failure)
        yield* onRetry("The connection was lost", pause)
        yield* Effect.sleep(`${pause} seconds`)
      }
    }
  })

const addressed = ({ url, token }: Target) =>
  HttpClient.mapRequest(
    flow(HttpClientRequest.prependUrl(baseOf(url)), (request) =>
      token === null ? request : HttpClientRequest.bearerToken(request, Redacted.value(token))
    )
  )
const withoutRedirects = HttpClient.transformResponse(
  Effect.provideService(FetchHttpClient.RequestInit, FetchHttpClient.RequestInit.of({ redirect: "manual" }))
)

/** An HTTP client for paths of the service. */
export const transport =
  (target: Target) =>
  (http: HttpClient.HttpClient): HttpClient.HttpClient =>
    http.pipe(addressed(target), HttpClient.transform(persistent), withoutRedirects)

/** The same without timeouts and retries, for a caller that has its own. */
export const plainTransport =
  (target: Target) =>
  (http: HttpClient.HttpClient): HttpClient.HttpClient =>
    http.pipe(addressed(target), withoutRedirects)
