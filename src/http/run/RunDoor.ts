/**
 * The door of ordinary requests to run and to read a run, without the general router, which would cost half as much again as the run itself.
 *
 * One fiber answers a request, the wait for its run included, and is interrupted when the client leaves. The run continues. The checks are
 * the API's own. Which requests come in here is decided by their form alone, so nobody can tell by which way a request was answered.
 */
import { Effect, type Fiber } from "effect"
import { HttpServerResponse } from "effect/http"
import { encoded, isCompressible } from "../standards/Compression.ts"
import { answerAtEnd } from "./AnswerAtEnd.ts"
import { readRoute } from "./ReadRoute.ts"
import { submitRoute } from "./SubmitRoute.ts"

/** The status that nginx gives a request whose client has left. Nobody reads it. */
const clientLeft = 499

/** Answers an ordinary request. Null for one that the general router must answer. */
export const runDoor = Effect.gen(function* () {
  const untilEnd = yield* answerAtEnd
  const [submit, read] = [yield* submitRoute(untilEnd), yield* readRoute(untilEnd)]
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const web = (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.toWeb(response, { context })
  const inPromise = Effect.runPromiseWith(context)
  /** Most answers are small, and then nothing but their size is looked at. */
  const send = (acceptEncoding: string | null, response: HttpServerResponse.HttpServerResponse) => {
    const exchange = { path: "/v1/run", acceptEncoding, cookie: false }
    return isCompressible(exchange, response) ? inPromise(Effect.map(encoded(exchange, response), web)) : web(response)
  }

  /** What it holds lives as long as the wait, so the request and the work are not in it. */
  const answerOf = (
    fiber: Fiber.Fiber<HttpServerResponse.HttpServerResponse>,
    signal: AbortSignal,
    acceptEncoding: string | null
  ) =>
    new Promise<Response>((resolve) => {
      const leave = () => fiber.interruptUnsafe()
      signal.addEventListener("abort", leave, { once: true })
      fiber.addObserver((exit) => {
        signal.removeEventListener("abort", leave)
        resolve(exit._tag === "Success" ? send(acceptEncoding, exit.value) : new Response(null, { status: clientLeft }))
      })
    })

  return (request: Request): Promise<Response> | null => {
    const work = submit(request) ?? read(request)
    return work === null ? null : answerOf(fork(work), request.signal, request.headers.get("accept-encoding"))
  }
})
