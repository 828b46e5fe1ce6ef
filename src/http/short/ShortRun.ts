/**
 * The short route of `POST /v1/run`, for requests that need nothing special: a JSON body of known length, and an API key that this process
 * has seen within the last half minute.
 *
 * It makes the checks of the API's route in the same order, with the same functions, but in one fiber and without the general router,
 * which would cost half as much again as the run itself. Every other request, and every one that is refused before it is submitted,
 * goes to the API's route, which says why. So only the API's route decides who is refused and how.
 */
import { Clock, Effect, Result, Schema } from "effect"
import { Admission } from "../../actors/runs/Admission.ts"
import { Accounts, type Principal } from "../../layers/accounts/Accounts.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { RunRequest } from "../api/Runs.ts"
import { Deprecations } from "../api/shapes/Deprecations.ts"
import { concerning } from "../standards/Deprecation.ts"
import { CachedCallers, environmentOf } from "../middleware/Auth.ts"
import { BodySeconds, jsonProblem, readBody } from "../middleware/Body.ts"
import { answer } from "../middleware/Boundary.ts"
import { type Allowance, bytesPerRequest, Limits } from "../middleware/Limits.ts"
import { isJson } from "../middleware/RequestChecks.ts"
import { mustVerify } from "../middleware/Verified.ts"
import { FactsOfRequests } from "../../layers/observability/RequestFacts.ts"
import {
  plannedOf,
  retryAfterSeconds,
  type RunSubmission,
  showSubmitted,
  toldOf,
  waitsOf
} from "../submission/SubmitRun.ts"
import { bearer, type Envelope, enveloped, type Outcome, type ShortRoute, shortRoutes } from "./ShortRoute.ts"

const operation = "POST /v1/run"

const isRun = ({ method, url }: Request): boolean => method === "POST" && /^[a-z]+:\/\/[^/]*\/v1\/run$/.test(url)

/** Unknown fields are refused, as the API's route refuses them. */
const decodePayload = Schema.decodeUnknownResult(Schema.toCodecJson(RunRequest), { onExcessProperty: "error" })

const parsed = (text: string): RunRequest | null => {
  try {
    const decoded = decodePayload(JSON.parse(text))
    return Result.isSuccess(decoded) ? decoded.success : null
  } catch {
    return null
  }
}

const text = new TextDecoder("utf-8", { fatal: true })
const textOf = (bytes: ArrayBuffer): string | null => {
  try {
    return text.decode(bytes)
  } catch {
    return null
  }
}

/** A request that needs nothing special. */
interface Ordinary {
  readonly _tag: "Ordinary"
  readonly submission: RunSubmission
  readonly envelope: Envelope
}

export const shortRunRoute = Effect.gen(function* () {
  const admission = yield* Admission
  const accounts = yield* Accounts
  const callers = yield* CachedCallers
  const limits = yield* Limits
  const settings = yield* Settings
  const seconds = yield* BodySeconds
  const clock = yield* Clock.Clock
  const environment = environmentOf(settings.mode)
  const facts = yield* FactsOfRequests
  const { inFiber, untilEnd } = yield* shortRoutes
  // The API's route says what of a request is deprecated.
  const closed = concerning(yield* Deprecations, "runs.run") !== null

  const callerOf = (request: Request): Principal | null => {
    const { headers } = request
    const length = headers.get("content-length")
    if (length === null || !(Number(length) <= bytesPerRequest) || headers.has("content-encoding")) return null
    if (!isJson(headers.get("content-type") ?? undefined)) return null
    const token = bearer.exec(headers.get("authorization") ?? "")?.[1]
    const caller = token === undefined ? null : callers.find(token, clock.currentTimeMillisUnsafe())
    if (caller === null || caller.environment !== environment || mustVerify(settings, caller.pending)) return null
    return caller
  }

  const submit = ({ submission, envelope }: Ordinary) =>
    untilEnd(envelope, showSubmitted, (place, answered) =>
      Effect.flatMap(plannedOf(submission), (planned) => admission.begin(planned, place)).pipe(
        Effect.map(answered),
        Effect.catch((refused) => {
          const headers = refused.error.code === "rate_limited" ? { "retry-after": retryAfterSeconds } : {}
          return Effect.succeed(enveloped(answer(refused, headers), envelope))
        })
      )
    )

  const read = Effect.fnUntraced(function* (
    request: Request,
    caller: Principal,
    allowance: Allowance | null
  ): Effect.fn.Return<Ordinary | Outcome> {
    const request_id = newId("req")
    const arrived = clock.currentTimeMillisUnsafe()
    const { headers } = request
    const envelope = { request_id, allowance, accept: headers.get("accept") ?? undefined, operation, ...toldOf(caller) }
    const body = yield* Effect.result(readBody(request, seconds))
    if (Result.isFailure(body)) return enveloped(answer(body.failure), envelope)
    const bytes = body.success
    const written = jsonProblem(new Uint8Array(bytes)) === null ? textOf(bytes) : null
    const payload = written === null ? null : parsed(written)
    if (written === null || payload === null) return { _tag: "PassedOn" as const, body: bytes, allowance }
    if (caller.key_id !== null) accounts.used(caller.key_id)
    const idempotencyKey = headers.get("idempotency-key") ?? undefined
    const waits = waitsOf(payload, headers.get("prefer") ?? undefined)
    const trace = facts.get(request)?.trace ?? null
    const text = Effect.succeed(written)
    const submission = { caller, request_id, arrived, idempotencyKey, waits, payload, trace, text }
    return { _tag: "Ordinary", submission, envelope: { ...envelope, applied: waits.applied } }
  })

  /** The rate limit comes first: a refused request costs no parsing. */
  const limited = (request: Request, caller: Principal) =>
    Effect.flatMap(limits.request(caller.key_id ?? caller.org_id), (allowance) =>
      allowance === null || allowance.allowed ? read(request, caller, allowance) : Effect.succeed(null)
    )
  const respond = (request: Request, caller: Principal) =>
    Effect.flatMap(limited(request, caller), (one) =>
      one !== null && "_tag" in one && one._tag === "Ordinary" ? submit(one) : Effect.succeed(one)
    )

  const route: ShortRoute = (request, api) => {
    const caller = !closed && isRun(request) ? callerOf(request) : null
    if (caller === null) return null
    const known = facts.get(request)
    if (known !== undefined) known.org_id = caller.org_id
    return inFiber(request, api, respond(request, caller))
  }
  return route
})
