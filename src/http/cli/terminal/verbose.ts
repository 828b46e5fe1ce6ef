/** `--verbose`: prints one line on stderr for each request and each response. Headers and bodies are not printed, so no secret is. */
import { Clock, Effect, identity, Layer } from "effect"
import { HttpClient, type HttpClientError } from "effect/http"
import { Verbose } from "./globals.ts"
import { Screen } from "./Screen.ts"

/** The HTTP client below the one that retries, so every attempt is printed. */
export const spokenHttp = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const http = yield* HttpClient.HttpClient
    const screen = yield* Screen
    const logging = HttpClient.transform<
      HttpClientError.HttpClientError,
      never,
      HttpClientError.HttpClientError,
      never
    >(
      Effect.fnUntraced(function* (sending, request) {
        const began = yield* Clock.currentTimeMillis
        yield* screen.warn(`> ${request.method} ${request.url}`, "dim")
        const lasted = Effect.map(Clock.currentTimeMillis, (now) => `${now - began} ms`)
        const response = yield* Effect.tapError(sending, ({ reason }) =>
          Effect.flatMap(lasted, (time) => screen.warn(`< no answer (${reason._tag}) in ${time}`, "dim"))
        )
        const id = response.headers["x-request-id"]
        yield* screen.warn(`< ${response.status} in ${yield* lasted}${id === undefined ? "" : `, ${id}`}`, "dim")
        return response
      })
    )
    return http.pipe((yield* Verbose) ? logging : identity)
  })
)
