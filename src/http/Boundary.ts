/**
 * The outermost layer: every answer leaves with a request id, and every error with the one public body.
 *
 * Defects become `internal_error` and unknown routes `not_found`; no stack, no SQL and no secret leaves the process. Clients
 * that accept `application/problem+json` get the same error as RFC 9457.
 */
import { ByteSize, Clock, Effect, Layer, Schema, SchemaIssue } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { inWords } from "../layers/Batch.ts"
import { newId } from "../layers/Ids.ts"
import { isOutage } from "../layers/Outage.ts"
import { type Detail, isErrorCode, problem, type Problem, statusOf } from "../schema/Errors.ts"
import { Malformed } from "./api/Common.ts"
import { RequestContext } from "./RequestContext.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const where: Readonly<Record<string, string>> = { Params: "path", Query: "query", Headers: "headers" }

const detailsOf = (kind: string, error: Schema.SchemaError): ReadonlyArray<Detail> =>
  format(error.issue).issues.map((issue) => {
    const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part))
    const prefix = where[kind]
    return { path: [...(prefix === undefined ? [] : [prefix]), ...path].join("."), message: issue.message }
  })

/** Requests that the contract refuses: the field by name, never an empty 400. */
export const MalformedLayer = HttpApiMiddleware.layerSchemaErrorTransform(Malformed, (error) => {
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
  const details = detailsOf(error.kind, error.cause)
  const first = details[0]
  const message =
    first === undefined ? "The request is not valid." : `${first.path === "" ? "body" : first.path}: ${first.message}`
  return Effect.fail(problem("invalid_request", message, details))
})

const answer = (body: Problem, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status: statusOf[body.error.code], headers })

const internal = problem(
  "internal_error",
  "Something went wrong on our side; nothing was charged for it. Quote the request_id when you report it."
)

const outage = problem(
  "service_unavailable",
  "The service can't reach its storage right now; nothing was charged for this request. Try again with the same Idempotency-Key."
)

const ErrorBody = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, details: Schema.optionalKey(Schema.Json) })
})
const decodeError = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorBody))

const textOf = (response: HttpServerResponse.HttpServerResponse): string | null =>
  response.body._tag === "Uint8Array" ? new TextDecoder().decode(response.body.body) : null

/** A body that could not be read is the client's mistake, though the library dies of it; null for a defect of ours. */
const unreadable = (defect: unknown): Problem | null => {
  if (!HttpServerError.isHttpServerError(defect) || defect.reason._tag !== "RequestParseError") return null
  if (defect.reason.reason === "BodyTooLarge")
    return problem("payload_too_large", "The request body is larger than 1 MiB.")
  return problem("invalid_request", "The request body could not be read.")
}

/** Adds the request id to an error, or wraps an answer that some library left without a body. */
const finishError = (response: HttpServerResponse.HttpServerResponse, request_id: string, wantsProblem: boolean) => {
  const decoded = decodeError(textOf(response) ?? "")
  const known = decoded._tag === "Some" && isErrorCode(decoded.value.error.code) ? decoded.value.error : undefined
  const fallback = byStatus(response.status)
  const error = known ?? fallback?.error
  if (error === undefined) return response
  const status = response.status
  const { "content-type": _type, "content-length": _length, ...headers } = response.headers
  if (!wantsProblem) return HttpServerResponse.jsonUnsafe({ error, request_id }, { status, headers })
  const body = { type: "about:blank", title: error.code, status, detail: error.message, code: error.code, request_id }
  const details = "details" in error && error.details !== undefined ? { errors: error.details } : {}
  return HttpServerResponse.text(JSON.stringify({ ...body, ...details }), {
    status,
    headers,
    contentType: "application/problem+json"
  })
}

const byStatus = (status: number): Problem | undefined => {
  if (status === 404) return problem("not_found", "There is no such path; see /docs for what there is.")
  if (status === 405) return problem("method_not_allowed", "This path does not take that method; see /docs.")
  if (status === 413) return problem("payload_too_large", "The request body is larger than 1 MiB.")
  if (status === 415) return problem("invalid_request", "Send the body as application/json.")
  if (status === 400) return problem("invalid_request", "The request is not valid.")
  return status >= 500 ? internal : undefined
}

export const bodyBytesMax = 1024 * 1024

/**
 * A body that says its length is judged by it. Only one that does not say (chunked) is read as a counted stream, which costs more
 * than everything else the boundary does.
 */
const limited = <E, R>(
  httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  request: HttpServerRequest.HttpServerRequest
) => {
  const length = request.headers["content-length"]
  if (length === undefined) {
    return Effect.provideService(httpEffect, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bodyBytesMax))
  }
  if (Number(length) <= bodyBytesMax) return httpEffect
  return Effect.succeed(answer(problem("payload_too_large", "The request body is larger than 1 MiB.")))
}

/** A run's own answer carries an error inside the run and is left as it is. */
const isRun = (response: HttpServerResponse.HttpServerResponse) => response.headers["run-id"] !== undefined

/** A page says itself, to a person, what is wrong. */
const isPage = (response: HttpServerResponse.HttpServerResponse) =>
  response.body._tag === "Uint8Array" && response.body.contentType.startsWith("text/html")

/** An error of the Model Context Protocol, whose clients know no other form. */
const isMessage = (response: HttpServerResponse.HttpServerResponse) =>
  textOf(response)?.startsWith('{"jsonrpc":') === true

export const Boundary = HttpRouter.middleware(
  (httpEffect) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const request_id = newId("req")
      const arrived = yield* Clock.currentTimeMillis
      const address = request.remoteAddress._tag === "Some" ? request.remoteAddress.value : ""
      const response = yield* limited(httpEffect, request).pipe(
        Effect.provideService(RequestContext, { request_id, arrived, address }),
        Effect.catchDefect((defect) => {
          const refused = unreadable(defect)
          if (refused !== null) return Effect.succeed(answer(refused))
          // Without its query: that may be about somebody.
          const path = request.url.split("?")[0] ?? ""
          return Effect.as(
            Effect.logError(`${request_id} ${request.method} ${path}: ${inWords(defect)}`),
            isOutage(defect) ? answer(outage, { "retry-after": "1" }) : answer(internal)
          )
        })
      )
      const finished =
        response.status < 400 || isRun(response) || isPage(response) || isMessage(response)
          ? response
          : finishError(response, request_id, (request.headers["accept"] ?? "").includes("application/problem+json"))
      const named = HttpServerResponse.setHeader(finished, "x-request-id", request_id)
      return named.status === 401 ? HttpServerResponse.setHeader(named, "www-authenticate", "Bearer") : named
    }),
  { global: true }
)

export const BoundaryLayer = Layer.mergeAll(MalformedLayer, Boundary)
