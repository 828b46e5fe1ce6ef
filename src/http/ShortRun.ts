/**
 * The short route of `POST /v1/run`, for requests that need nothing special: a JSON body of known length, and an API key that this process
 * has seen within the last half minute.
 *
 * It makes the checks of the API's route in the same order, with the same functions, but in one fiber and without the general router,
 * which would cost half as much again as the run itself. Every other request, and every one that is refused before it is submitted,
 * goes to the API's route, which says why. So only the API's route decides who is refused and how.
 */
import { Clock, Effect, type Fiber, Result, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { Admission } from "../actors/runs/Admission.ts"
import { Accounts, type Principal } from "../layers/accounts/Accounts.ts"
import { newId } from "../layers/platform/Ids.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { RunRequest } from "./api/Runs.ts"
import { retryAfterSeconds, submitRun } from "./submission/SubmitRun.ts"
import { CachedCallers, environmentOf } from "./middleware/Auth.ts"
import { BodySeconds, jsonProblem, readBody } from "./middleware/Body.ts"
import { answer, answerToDefect, concluded } from "./middleware/Boundary.ts"
import { type Allowance, bytesPerRequest, Limits, TakenFromLimit } from "./middleware/Limits.ts"
import { Readiness } from "./middleware/Readiness.ts"
import { isJson, limitHeaders } from "./middleware/RequestChecks.ts"
import { mustVerify } from "./middleware/Verified.ts"

/** Answers a request by the API's route. The first argument is the request as it came, the second one to answer in its place. */
export type ApiRoute = (came: Request, request: Request) => Promise<Response>

const isRun = ({ method, url }: Request): boolean => method === "POST" && /^[a-z]+:\/\/[^/]*\/v1\/run$/.test(url)

const bearer = /^bearer +(\S+)$/i

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

/** The status that nginx gives a request whose client has left. Nobody reads it. */
const clientLeft = 499

/** A request that the API's route must answer after all, with what was taken from its key's limit for it. */
interface PassedOn {
  readonly body: ArrayBuffer
  readonly allowance: Allowance | null
}

type Answered = HttpServerResponse.HttpServerResponse | PassedOn | null

/** Returns null for a request that the API's route must answer. */
export const shortRunRoute = Effect.gen(function* () {
  const admission = yield* Admission
  const accounts = yield* Accounts
  const callers = yield* CachedCallers
  const limits = yield* Limits
  const readiness = yield* Readiness
  const settings = yield* Settings
  const taken = yield* TakenFromLimit
  const seconds = yield* BodySeconds
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const environment = environmentOf(settings.mode)
  const submit = submitRun(admission)
  const fork = Effect.runForkWith(context)

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

  const respond = Effect.fnUntraced(function* (request: Request, caller: Principal, allowance: Allowance | null) {
    const request_id = newId("req")
    const arrived = clock.currentTimeMillisUnsafe()
    const { headers } = request
    const body = yield* Effect.result(readBody(request, seconds))
    let response: HttpServerResponse.HttpServerResponse
    if (Result.isFailure(body)) response = answer(body.failure)
    else {
      const bytes = body.success
      const written = jsonProblem(new Uint8Array(bytes)) === null ? textOf(bytes) : null
      const payload = written === null ? null : parsed(written)
      if (written === null || payload === null) return { body: bytes, allowance }
      if (caller.key_id !== null) accounts.used(caller.key_id)
      response = yield* submit({
        caller,
        request_id,
        arrived,
        idempotencyKey: headers.get("idempotency-key") ?? undefined,
        payload,
        text: Effect.succeed(written)
      }).pipe(
        Effect.catch((refused) =>
          Effect.succeed(
            answer(refused, refused.error.code === "rate_limited" ? { "retry-after": retryAfterSeconds } : {})
          )
        ),
        Effect.catchDefect((defect) => answerToDefect(readiness, `${request_id} POST /v1/run`, defect))
      )
    }
    const limited = allowance === null ? response : HttpServerResponse.setHeaders(response, limitHeaders(allowance))
    return concluded(limited, request_id, headers.get("accept") ?? undefined)
  })

  /** The rate limit comes first: a refused request costs no parsing. */
  const limited = (request: Request, caller: Principal) =>
    Effect.flatMap(limits.request(caller.key_id ?? caller.org_id), (allowance) =>
      allowance === null || allowance.allowed ? respond(request, caller, allowance) : Effect.succeed(null)
    )

  return (request: Request, api: ApiRoute): Promise<Response> | null => {
    if (!isRun(request)) return null
    const caller = callerOf(request)
    if (caller === null) return null
    const elsewhere = (left: PassedOn | null): Promise<Response> => {
      if (left === null) return api(request, request)
      const { method, url, headers, signal } = request
      const again = new Request(url, { method, headers, signal, body: left.body })
      taken.set(again, left.allowance)
      return api(request, again)
    }
    return new Promise((resolve) => {
      const fiber: Fiber.Fiber<Answered> = fork(limited(request, caller))
      const leave = () => fiber.interruptUnsafe()
      request.signal.addEventListener("abort", leave, { once: true })
      fiber.addObserver((exit) => {
        request.signal.removeEventListener("abort", leave)
        if (exit._tag === "Failure") return resolve(new Response(null, { status: clientLeft }))
        const answered = exit.value
        resolve(
          HttpServerResponse.isHttpServerResponse(answered)
            ? HttpServerResponse.toWeb(answered, { context })
            : elsewhere(answered)
        )
      })
    })
  }
})
