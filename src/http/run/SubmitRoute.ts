/** `POST /v1/run` with a bearer token and a JSON body of known length, as clients of the API send it. */
import { Clock, Effect, Result, Schema } from "effect"
import { Admission } from "../../actors/runs/Admission.ts"
import { FactsOfRequests } from "../../layers/observability/RequestFacts.ts"
import { CallerChecks } from "../middleware/CallerChecks.ts"
import { parseOptions } from "../api/Api.ts"
import { RunRequest, RunsApi } from "../api/Runs.ts"
import { Deprecations } from "../api/shapes/Deprecations.ts"
import { bodyBytesMax, BodySeconds, readBody } from "../middleware/Body.ts"
import { malformedBody } from "../middleware/MalformedRequest.ts"
import { checkBytes, isJson } from "../middleware/RequestChecks.ts"
import { concerning } from "../standards/Deprecation.ts"
import { plannedOf, showSubmitted, extrasOf, waitsOf } from "../submission/SubmitRun.ts"
import { type AnswerFacts, answerFacts, bearerToken, tellLimit, type UntilEnd } from "./AnswerAtEnd.ts"

const runUrl = /^[a-z]+:\/\/[^/]*\/v1\/run$/
const operation = { name: "runs.run", endpoint: RunsApi.endpoints.run }

const isOrdinary = ({ method, url, headers }: Request): boolean => {
  if (method !== "POST" || !runUrl.test(url)) return false
  const length = headers.get("content-length")
  if (length === null || !(Number(length) <= bodyBytesMax) || headers.has("content-encoding")) return false
  return isJson(headers.get("content-type") ?? undefined)
}

const decodePayload = Schema.decodeUnknownResult(Schema.toCodecJson(RunRequest), parseOptions)
const utf8 = new TextDecoder()

const payloadOf = (text: string) => {
  const json = Result.try(() => (text === "" ? undefined : JSON.parse(text)))
  return Result.mapError(decodePayload(Result.getOrUndefined(json)), (error) => malformedBody(text, error))
}

export const submitRoute = Effect.fnUntraced(function* (untilEnd: UntilEnd) {
  const admission = yield* Admission
  const checks = yield* CallerChecks
  const seconds = yield* BodySeconds
  const noted = yield* FactsOfRequests
  const clock = yield* Clock.Clock
  // The API's route says what of a request is deprecated.
  const closed = concerning(yield* Deprecations, operation.name) !== null

  const planned = Effect.fnUntraced(function* (request: Request, token: string, facts: AnswerFacts) {
    const arrived = clock.currentTimeMillisUnsafe()
    const { headers } = request
    const { caller, body } = yield* checks.admit({
      token,
      operation,
      source: request,
      tell: tellLimit(facts),
      receive: (takeMore) =>
        Effect.tap(readBody(request, seconds), (bytes) =>
          checkBytes(bytes, "/v1/run", headers.get("content-type") ?? undefined, takeMore)
        )
    })
    const text = utf8.decode(body)
    const decoded = payloadOf(text)
    if (Result.isFailure(decoded)) return yield* Effect.fail(decoded.failure)
    const payload = decoded.success
    const waits = waitsOf(payload, headers.get("prefer") ?? undefined)
    Object.assign(facts, extrasOf(caller, waits.applied))
    return yield* plannedOf({
      caller,
      request_id: facts.request_id,
      arrived,
      idempotencyKey: headers.get("idempotency-key") ?? undefined,
      waits,
      payload,
      trace: noted.get(request)?.trace ?? null,
      text: Effect.succeed(text)
    })
  })

  return (request: Request) => {
    const token = closed || !isOrdinary(request) ? null : bearerToken(request)
    if (token === null) return null
    const facts = answerFacts(request, "POST /v1/run")
    return untilEnd(facts, showSubmitted, (place) =>
      Effect.flatMap(planned(request, token, facts), (plan) => admission.begin(plan, place))
    )
  }
})
