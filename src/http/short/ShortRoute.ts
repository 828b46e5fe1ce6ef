/**
 * What the short routes share: one fiber answers a request, the wait for its run included, and is interrupted when the client leaves. The run
 * continues.
 */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Place } from "../../actors/mailbox/Places.ts"
import { Admission } from "../../actors/runs/Admission.ts"
import { PendingRun, type Submitted } from "../../actors/mailbox/PendingRun.ts"
import { answerToDefect, concluded } from "../middleware/Boundary.ts"
import { type Allowance, TakenFromLimit } from "../middleware/Limits.ts"
import { Readiness } from "../middleware/Readiness.ts"
import type { Told } from "../submission/SubmitRun.ts"
import { limitHeaders } from "../middleware/RequestChecks.ts"
import { encoded, isCompressible } from "../standards/Compression.ts"

/** Answers a request by the API's route. The first argument is the request as it came, the second one to answer in its place. */
export type ApiRoute = (came: Request, request: Request) => Promise<Response>

/** Answers a request, or returns null for one that the API's route must answer. */
export type ShortRoute = (request: Request, api: ApiRoute) => Promise<Response> | null

/** The token of an Authorization header. */
export const bearer = /^bearer +(\S+)$/i

/** What every answer says. */
export interface AnswerBase {
  readonly request_id: string
  /** What the request took from the limit of its key. Null when limits are off. */
  readonly allowance: Allowance | null
  /** The client's Accept header. */
  readonly accept: string | undefined
  /** Names the request in the log. */
  readonly operation: string
}

/** What an answer says besides the run. */
export interface Envelope extends AnswerBase, Told {}

/** A request that the API's route must answer after all, with what was taken from its key's limit for it. */
export interface PassedOn {
  readonly _tag: "PassedOn"
  readonly body: ArrayBuffer | null
  readonly allowance: Allowance | null
}

/** Null stands for a request that the API's route must answer, and from whose limit nothing was taken. */
export type Outcome = HttpServerResponse.HttpServerResponse | PassedOn | null

/** The answer with its request id and its rate limit, and an error in the form that the client accepts. */
export const enveloped = (
  response: HttpServerResponse.HttpServerResponse,
  { request_id, allowance, accept }: AnswerBase
): HttpServerResponse.HttpServerResponse => {
  const limited = allowance === null ? response : HttpServerResponse.setHeaders(response, limitHeaders(allowance))
  return concluded(limited, request_id, accept)
}

/** The status that nginx gives a request whose client has left. Nobody reads it. */
const clientLeft = 499

/** Runs the fiber of a request. */
export const shortRoutes = Effect.gen(function* () {
  const admission = yield* Admission
  const readiness = yield* Readiness
  const taken = yield* TakenFromLimit
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const web = (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.toWeb(response, { context })
  const inPromise = Effect.runPromiseWith(context)
  /** Most answers are small, and then nothing but their size is looked at. */
  const send = (acceptEncoding: string | null, response: HttpServerResponse.HttpServerResponse) => {
    const exchange = { path: "/v1/run", acceptEncoding, cookie: false }
    return isCompressible(exchange, response) ? inPromise(Effect.map(encoded(exchange, response), web)) : web(response)
  }

  const passOn = (request: Request, api: ApiRoute, passed: PassedOn | null): Promise<Response> => {
    if (passed === null) return api(request, request)
    const { method, url, headers, signal } = request
    const again = new Request(url, { method, headers, signal, body: passed.body })
    taken.set(again, passed.allowance)
    return api(request, again)
  }

  const orDefect = <A>(envelope: AnswerBase, work: Effect.Effect<A>) =>
    Effect.catchDefect(work, (defect) =>
      Effect.map(answerToDefect(readiness, `${envelope.request_id} ${envelope.operation}`, defect), (response) =>
        enveloped(response, envelope)
      )
    )

  /** Begins a run or a wait, and answers with the run as it is at the end. `begin` may answer at once. */
  const untilEnd = (
    envelope: Envelope,
    shown: (submitted: Submitted, now: number, told: Told) => HttpServerResponse.HttpServerResponse,
    begin: (
      place: Place,
      answered: (one: Submitted | PendingRun) => Outcome | PendingRun
    ) => Effect.Effect<Outcome | PendingRun>
  ): Effect.Effect<Outcome> => {
    const answer = (submitted: Submitted): Outcome =>
      enveloped(shown(submitted, clock.currentTimeMillisUnsafe(), envelope), envelope)
    const answered = (one: Submitted | PendingRun) => (one instanceof PendingRun ? one : answer(one))
    return admission.toEnd(
      (place) => orDefect(envelope, begin(place, answered)),
      (ended) => orDefect(envelope, Effect.map(ended, answer))
    )
  }

  const inFiber = (request: Request, api: ApiRoute, work: Effect.Effect<Outcome>): Promise<Response> =>
    new Promise((resolve) => {
      const { signal } = request
      const fiber = fork(work)
      const leave = () => fiber.interruptUnsafe()
      signal.addEventListener("abort", leave, { once: true })
      fiber.addObserver((exit) => {
        signal.removeEventListener("abort", leave)
        const outcome = exit._tag === "Success" ? exit.value : new Response(null, { status: clientLeft })
        if (outcome instanceof Response) return resolve(outcome)
        if (HttpServerResponse.isHttpServerResponse(outcome))
          return resolve(send(request.headers.get("accept-encoding"), outcome))
        resolve(passOn(request, api, outcome))
      })
    })
  return { inFiber, orDefect, untilEnd }
})
