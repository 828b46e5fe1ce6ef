/**
 * What the short routes share: a request is answered by one fiber, and a client that waits for a run keeps no fiber.
 *
 * The fiber ends when the run is stored and only its end is missing. Then a place among the waiters is left, with the run as it was stored
 * and the function that resolves the response. When the client hangs up, the place is released and the run continues.
 */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Admission, type Submitted, type Waiting } from "../../actors/runs/Admission.ts"
import type { Place } from "../../actors/mailbox/Places.ts"
import { Waiters } from "../../actors/mailbox/Waiters.ts"
import type { RunRow } from "../../layers/runs/RunStore.ts"
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

/** What an answer says besides the run. */
export interface Envelope extends Told {
  readonly request_id: string
  /** What the request took from the limit of its key. Null when limits are off. */
  readonly allowance: Allowance | null
  /** The client's Accept header. */
  readonly accept: string | undefined
  /** Names the request in the log. */
  readonly asked: string
}

/** A request that the API's route must answer after all, with what was taken from its key's limit for it. */
export interface PassedOn {
  readonly _tag: "PassedOn"
  readonly body: ArrayBuffer | null
  readonly allowance: Allowance | null
}

/** A client that waits for the end of a run. */
export interface ClientWaits {
  readonly _tag: "ClientWaits"
  readonly waiting: Waiting
  readonly envelope: Envelope
  /** The answer to this kind of request. `now` in milliseconds since 1970. */
  readonly shown: (submitted: Submitted, now: number, told: Told) => HttpServerResponse.HttpServerResponse
}

/** Null stands for a request that the API's route must answer, and from whose limit nothing was taken. */
export type Outcome = HttpServerResponse.HttpServerResponse | ClientWaits | PassedOn | null

/** The answer with its request id and its rate limit, and an error in the form that the client accepts. */
export const enveloped = (
  response: HttpServerResponse.HttpServerResponse,
  { request_id, allowance, accept }: Pick<Envelope, "request_id" | "allowance" | "accept">
): HttpServerResponse.HttpServerResponse => {
  const limited = allowance === null ? response : HttpServerResponse.setHeaders(response, limitHeaders(allowance))
  return concluded(limited, request_id, accept)
}

/** The status that nginx gives a request whose client has left. Nobody reads it. */
const clientLeft = 499
const left = () => new Response(null, { status: clientLeft })

type Resolve = (response: Response | Promise<Response>) => void
type Send = (response: HttpServerResponse.HttpServerResponse) => Response | Promise<Response>

/** Runs the fiber of a request, which registers `place` for the run that its client waits for. */
export const shortRoutes = Effect.gen(function* () {
  const admission = yield* Admission
  const waiters = yield* Waiters
  const readiness = yield* Readiness
  const taken = yield* TakenFromLimit
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const web = (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.toWeb(response, { context })
  const inPromise = Effect.runPromiseWith(context)
  /** Most answers are small, and then nothing but their size is looked at. */
  const sending =
    (acceptEncoding: string | null): Send =>
    (response) => {
      const asked = { path: "/v1/run", acceptEncoding, cookie: false }
      return isCompressible(asked, response) ? inPromise(Effect.map(encoded(asked, response), web)) : web(response)
    }

  const passOn = (request: Request, api: ApiRoute, passed: PassedOn | null): Promise<Response> => {
    if (passed === null) return api(request, request)
    const { method, url, headers, signal } = request
    const again = new Request(url, { method, headers, signal, body: passed.body })
    taken.set(again, passed.allowance)
    return api(request, again)
  }

  /** Answers with the run as it is after the wait. */
  const answer = (
    { waiting, envelope, shown }: ClientWaits,
    after: RunRow | Effect.Effect<RunRow>,
    resolve: Resolve,
    send: Send
  ) => {
    const answerOf = (run: RunRow) => {
      const { replayed } = waiting
      return enveloped(shown({ run, replayed }, clock.currentTimeMillisUnsafe(), envelope), envelope)
    }
    const orDefect = (answered: Effect.Effect<HttpServerResponse.HttpServerResponse>) =>
      Effect.catchDefect(answered, (defect) =>
        Effect.map(answerToDefect(readiness, `${envelope.request_id} ${envelope.asked}`, defect), (response) =>
          enveloped(response, envelope)
        )
      )
    // Whoever signals the end goes on, also if this answer can't be written.
    const attempt = Effect.isEffect(after) ? Effect.map(after, answerOf) : Effect.sync(() => answerOf(after))
    fork(orDefect(attempt)).addObserver((exit) => resolve(exit._tag === "Success" ? send(exit.value) : left()))
  }

  /** Nothing but what this function holds is kept in memory for a client that waits. */
  const wait = (signal: AbortSignal, place: Place, waits: ClientWaits, resolve: Resolve, send: Send) => {
    const leave = () => {
      place.release()
      resolve(left())
    }
    signal.addEventListener("abort", leave, { once: true })
    place.wait(waits.waiting.millis, (_signalled, end) => {
      signal.removeEventListener("abort", leave)
      answer(waits, admission.afterWait(waits.waiting.run, end), resolve, send)
    })
  }

  return (request: Request, api: ApiRoute, work: (place: Place) => Effect.Effect<Outcome>): Promise<Response> =>
    new Promise((resolve) => {
      const { signal } = request
      const place = waiters.place()
      const fiber = fork(work(place))
      const leave = () => fiber.interruptUnsafe()
      signal.addEventListener("abort", leave, { once: true })
      fiber.addObserver((exit) => {
        signal.removeEventListener("abort", leave)
        const outcome = exit._tag === "Success" ? exit.value : left()
        const waits = outcome !== null && "_tag" in outcome && outcome._tag === "ClientWaits" && !signal.aborted
        const send = sending(request.headers.get("accept-encoding"))
        if (waits) return wait(signal, place, outcome, resolve, send)
        place.release()
        if (outcome instanceof Response) return resolve(outcome)
        if (HttpServerResponse.isHttpServerResponse(outcome)) return resolve(send(outcome))
        if (outcome?._tag === "ClientWaits") return resolve(left())
        resolve(passOn(request, api, outcome))
      })
    })
})
