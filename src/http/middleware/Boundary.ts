/**
 * The outermost middleware: every answer gets a request id, and every error the public error body.
 *
 * Unexpected errors become `internal_error` and unknown routes `not_found`. No stack, SQL or secret leaves the process. Clients that accept
 * `application/problem+json` get the error as RFC 9457.
 */
import { ByteSize, Clock, Effect, Layer, Schema } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { inWords } from "../../layers/postgres/Batch.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { isMoving } from "../../actors/runs/Unavailable.ts"
import { isElsewhere } from "../../layers/postgres/Elsewhere.ts"
import { isFullDisk, isOutage } from "../../layers/postgres/Outage.ts"
import { constraintOf } from "../../layers/postgres/connection/SqlState.ts"
import { type ErrorCode, isErrorCode, problem, type Problem, statusOf } from "../../schema/Errors.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { bodyBytesMax, bodyLimits, bodyProblem, tooLarge } from "./Body.ts"
import { encoded, isCompressible } from "../standards/Compression.ts"
import { tagged } from "../standards/ETags.ts"
import { problemAnswer, problemTitle, problemType } from "../standards/ProblemType.ts"
import { clientAddress, Peers } from "./ClientAddress.ts"
import { MalformedLayer } from "./MalformedRequest.ts"
import { notFound, parametersOf } from "./NotFound.ts"
import { Readiness } from "./Readiness.ts"
import { RequestContext } from "./RequestContext.ts"

export const internal = problem(
  "internal_error",
  "Something went wrong on our side; nothing was charged for it. Quote the request_id when you report it."
)

const outage = problem(
  "service_unavailable",
  "The service can't reach its storage right now; nothing was charged for this request. Try again with the same Idempotency-Key."
)

/** Where the organization of a request is. The router of the cells sends requests there itself (docs/operate.md). */
const elsewhere = (cell: string | null) =>
  cell === null
    ? problemAnswer(isMoving, { "retry-after": "1" })
    : problemAnswer(
        problem("organization_moved", `This organization has moved to the cell ${cell}. Send the request there.`)
      )

/** Between the check of the caller's role and the write, somebody changed the role. */
const roleChanged = problem(
  "forbidden",
  "Your role changed while this request ran, and it changed nothing. GET /v1/auth/session shows your role."
)

const ErrorBody = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, details: Schema.optionalKey(Schema.Json) })
})
const decodeError = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorBody))

/** Undefined for an error whose code is not public. */
const knownError = <E extends { readonly code: string }>(error: E): (E & { readonly code: ErrorCode }) | undefined =>
  isErrorCode(error.code) ? { ...error, code: error.code } : undefined

const textOf = (response: HttpServerResponse.HttpServerResponse): string | null =>
  response.body._tag === "Uint8Array" ? new TextDecoder().decode(response.body.body) : null

/** Adds the request id to an error. Builds the error body for an answer that a library left without one. */
const finishError = (response: HttpServerResponse.HttpServerResponse, request_id: string, wantsProblem: boolean) => {
  const decoded = decodeError(textOf(response) ?? "")
  const publicError = decoded._tag === "Some" ? knownError(decoded.value.error) : undefined
  // Some JSON answers with an error status have a body of their own on purpose, such as that of /readyz.
  if (publicError === undefined && response.headers["content-type"] === "application/json") return response
  const fallback = errorForStatus(response.status)
  const error = publicError ?? fallback?.error
  if (error === undefined) return response
  const status = response.status
  const { "content-type": _type, "content-length": _length, ...headers } = response.headers
  if (!wantsProblem) return HttpServerResponse.jsonUnsafe({ error, request_id }, { status, headers })
  const body = {
    type: problemType(error.code),
    title: problemTitle(error.code),
    status,
    detail: error.message,
    code: error.code,
    request_id
  }
  const details = "details" in error && error.details !== undefined ? { errors: error.details } : {}
  return HttpServerResponse.text(JSON.stringify({ ...body, ...details }), {
    status,
    headers,
    contentType: "application/problem+json"
  })
}

const errorForStatus = (status: number): Problem | undefined => {
  if (status === 404) return problem("not_found", "This path does not exist. GET /docs/api lists the paths.")
  if (status === 405) return problem("method_not_allowed", "This path does not accept that method. See GET /docs/api.")
  if (status === 413) return tooLarge
  if (status === 415)
    return problem("unsupported_media_type", "Send the body as JSON, with the header Content-Type: application/json.")
  if (status === 400) return problem("invalid_request", "The request is not valid.")
  return status >= 500 ? internal : undefined
}

/**
 * Compares Content-Length with the limit. Only a body without it (chunked) is read as a counted stream, which costs more than everything
 * else in the boundary.
 */
const limited = <E, R>(
  httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  request: HttpServerRequest.HttpServerRequest
) => {
  const length = request.headers["content-length"]
  if (length === undefined) {
    return Effect.provideService(
      httpEffect,
      HttpIncomingMessage.MaxBodySize,
      ByteSize.bytes(bodyLimits(request.url).bytes)
    )
  }
  if (Number(length) <= bodyBytesMax || Number(length) <= bodyLimits(request.url).bytes) return httpEffect
  return Effect.succeed(problemAnswer(tooLarge))
}

/** The error for a query or path that decodes to a NUL character, which the database can't store. */
const withNul = (url: string): Problem => {
  const [pathname = "", search = ""] = url.split("?")
  const query = new URLSearchParams(search)
  const [inQuery] = [...query].find(([name, value]) => `${name}${value}`.includes("\0")) ?? []
  const [inPath] = Object.entries(parametersOf(pathname)).find(([, value]) => value.includes("%00")) ?? []
  const path =
    inPath !== undefined ? `path.${inPath}` : inQuery !== undefined ? `query.${inQuery.replaceAll("\0", "")}` : "path"
  const message = "must not contain a NUL character"
  return problem("invalid_request", `${path} ${message}.`, [{ path, message }])
}

/** A run's own answer carries an error inside the run and is left as it is. */
const isRun = (response: HttpServerResponse.HttpServerResponse) => response.headers["run-id"] !== undefined

/** An HTML page, which explains its error to a person. */
const isPage = (response: HttpServerResponse.HttpServerResponse) =>
  response.body._tag === "Uint8Array" && response.body.contentType.startsWith("text/html")

/** A JSON-RPC error of the Model Context Protocol. Its clients read no other form. */
const isMessage = (response: HttpServerResponse.HttpServerResponse) =>
  textOf(response)?.startsWith('{"jsonrpc":') === true

const isRouteNotFound = (error: unknown): error is HttpServerError.HttpServerError =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** The answer to a request that died. `name` stands for the request in the log. */
export const answerToDefect = (readiness: Readiness["Service"], name: string, defect: unknown) => {
  const refused = bodyProblem(defect)
  if (refused !== null) return Effect.succeed(problemAnswer(refused))
  if (isElsewhere(defect)) return Effect.succeed(elsewhere(defect.cell))
  if (constraintOf(defect) === "acting_member_has_scope") return Effect.succeed(problemAnswer(roleChanged))
  const noted = isFullDisk(defect) ? readiness.diskWasFull : Effect.void
  return Effect.as(
    Effect.andThen(noted, Effect.logError(`${name}: ${inWords(defect)}`)),
    isOutage(defect) ? problemAnswer(outage, { "retry-after": "1" }) : problemAnswer(internal)
  )
}

/** Gives an answer its request id, and an error the public form that the client accepts. */
export const concluded = (
  response: HttpServerResponse.HttpServerResponse,
  request_id: string,
  accept: string | undefined
): HttpServerResponse.HttpServerResponse => {
  const finished =
    response.status < 400 || isRun(response) || isPage(response) || isMessage(response)
      ? response
      : finishError(response, request_id, (accept ?? "").includes("application/problem+json"))
  const named = HttpServerResponse.setHeader(finished, "x-request-id", request_id)
  // The rest of a late body is not read, so the connection closes after the answer.
  if (named.status === statusOf.request_timeout) return HttpServerResponse.setHeader(named, "connection", "close")
  // /mcp says more.
  if (named.status !== 401 || named.headers["www-authenticate"] !== undefined) return named
  return HttpServerResponse.setHeader(named, "www-authenticate", "Bearer")
}

export const Boundary = HttpRouter.middleware(
  Effect.map(
    Effect.all([Settings, Readiness]),
    ([{ trustedProxies }, readiness]) =>
      (httpEffect) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const request_id = newId("req")
          const arrived = yield* Clock.currentTimeMillis
          const peers = yield* Peers
          const facts = {
            request_id,
            arrived,
            get address() {
              const peer = request.source instanceof Request ? peers.of(request.source) : null
              return clientAddress(peer, request.headers["x-forwarded-for"], trustedProxies)
            }
          }
          const bounded = request.url.includes("%00")
            ? Effect.succeed(problemAnswer(withNul(request.url)))
            : limited(httpEffect, request)
          const response = yield* bounded.pipe(
            Effect.provideService(RequestContext, facts),
            Effect.catchIf(isRouteNotFound, () => Effect.succeed(notFound(request))),
            Effect.catchDefect((defect) => {
              // Logged without the query, which may contain personal data.
              const path = request.url.split("?")[0] ?? ""
              return answerToDefect(readiness, `${request_id} ${request.method} ${path}`, defect)
            })
          )
          const { accept, cookie, "if-none-match": etag, "accept-encoding": acceptEncoding } = request.headers
          const done = tagged(request.url, etag, concluded(response, request_id, accept))
          const negotiation = { path: request.url, acceptEncoding, cookie: cookie !== undefined }
          return isCompressible(negotiation, done) ? yield* encoded(negotiation, done) : done
        })
  ),
  { global: true }
)

export const BoundaryLayer = Layer.mergeAll(MalformedLayer, Boundary)
