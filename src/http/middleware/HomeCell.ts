/**
 * Answers sign-up, sign-in and password resets in the cell of the e-mail address, whichever cell the router has chosen.
 *
 * A request without a token names no cell, and only the directory knows where its address belongs. So this cell passes it on, and the client
 * sees the other cell's answer, cookie included. A redirect would not do: clients that send passwords follow none.
 * Without a directory there is no such middleware.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Directory } from "../../layers/accounts/Directory.ts"
import { forgotPath } from "../../schema/accounts/AccountMail.ts"
import { problem } from "../../schema/Errors.ts"
import { limitByAddress } from "./RequestChecks.ts"
import { receiveBody } from "./Body.ts"
import { Limits } from "./Limits.ts"
import { problemAnswer } from "../standards/ProblemType.ts"
import { parsedOrText } from "../../schema/json/Json.ts"

const doors = new Set([
  ...["/v1/auth/sign-up", "/v1/auth/sign-in", "/v1/auth/password-reset"],
  ...["/v1/auth/browser/sign-up", "/v1/auth/browser/sign-in", forgotPath]
])

/** A cell has passed the request on. Its value is that cell's name. */
const passedOn = "rungate-passed-on"
/** Of one connection, or of the body as this process has read it. */
const own = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "accept-encoding", "expect"])
/** As long as a client waits for a password that is checked. */
const millisMax = 15_000

const unreachable = problem(
  "service_unavailable",
  "The part of the service that has this account can't be reached right now. Try again in a moment."
)

const textIn = (fields: unknown, name: string): string | null => {
  const value = typeof fields === "object" && fields !== null ? Reflect.get(fields, name) : null
  return typeof value === "string" && value !== "" ? value : null
}

const fieldsOf = (text: string): unknown => {
  const json = parsedOrText(text)
  return typeof json === "string" ? Object.fromEntries(new URLSearchParams(json)) : json
}

/** Read from a copy, because a body is read once. What is wrong with it, the request's handler says. */
const bodyOf = ({ source }: HttpServerRequest.HttpServerRequest): Effect.Effect<string> =>
  source instanceof Request
    ? Effect.match(receiveBody(HttpServerRequest.fromWeb(source.clone())), {
        onFailure: () => "",
        onSuccess: (bytes) => new TextDecoder().decode(bytes)
      })
    : Effect.succeed("")

/** What an invitation or a referral code is for is in the cell that the request has come to. */
const addressOf = (text: string): string | null => {
  const fields = fieldsOf(text)
  const bound = textIn(fields, "invitation") ?? textIn(fields, "referral_code")
  return bound === null ? textIn(fields, "email") : null
}

const passOn = (
  request: HttpServerRequest.HttpServerRequest,
  body: string,
  to: { readonly url: string },
  from: string
) => {
  const headers = Object.entries(request.headers).filter(([name]) => !own.has(name))
  return Effect.tryPromise(async (signal) => {
    const reply = await fetch(new URL(request.url, to.url), {
      method: "POST",
      body,
      redirect: "manual",
      headers: [...headers, [passedOn, from]],
      signal: AbortSignal.any([signal, AbortSignal.timeout(millisMax)])
    })
    const kept = new Headers([...reply.headers].filter(([name]) => !own.has(name) && name !== "content-encoding"))
    return HttpServerResponse.fromWeb(new Response(await reply.arrayBuffer(), { status: reply.status, headers: kept }))
  }).pipe(
    Effect.catch((error) =>
      Effect.as(
        Effect.logWarning(`a request could not be passed on to ${to.url}: ${error.message}`),
        problemAnswer(unreachable)
      )
    )
  )
}

export const HomeCellLayer = Layer.unwrap(
  Effect.gen(function* () {
    const { cells, cell } = yield* Directory
    const limits = yield* Limits
    if (cells === null) return Layer.empty
    return HttpRouter.middleware(
      Effect.succeed((httpEffect) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const isDoor = request.method === "POST" && doors.has(request.url.split("?")[0] ?? "")
          if (!isDoor || request.headers[passedOn] !== undefined) return yield* httpEffect
          const refused = yield* Effect.match(limitByAddress(limits.anonymous), {
            onFailure: problemAnswer,
            onSuccess: () => null
          })
          if (refused !== null) return refused
          const text = yield* bodyOf(request)
          const email = addressOf(text)
          const home = email === null ? null : yield* cells.home(email)
          return home === null ? yield* httpEffect : yield* passOn(request, text, home, cell)
        })
      ),
      { global: true }
    )
  })
)
