/**
 * The HTTP client of all commands. It uses the address and the credential of the user's settings.
 *
 * Responses keep their original text, because `--json` prints it unchanged. Commands call operations (operation.ts), which name the paths.
 * No credential appears in any message.
 */
import { Context, Effect, Layer, type Redacted, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { Credentials } from "../state/Credentials.ts"
import { type CommandFailed, fail, failedWith } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { type Answer, failureOf } from "./show.ts"
import type { EventOptions, ReceivedEvent } from "../../client/Events.ts"
import {
  isLost,
  isWithoutTls,
  RequestPolicy,
  requestPolicyDefault,
  type RequestPolicyShape,
  transport
} from "../../client/Transport.ts"

export type { Answer } from "./show.ts"
export { CommandFailed } from "../terminal/exits.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Ask {
  /** Sent as JSON; `text` is sent unchanged. */
  readonly body?: unknown
  readonly text?: string
  /** The media type of `text`; JSON by default. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Used instead of the key of the settings: a session, or a key to test. */
  readonly token?: Redacted.Redacted
  /** Response timeout in seconds; 30 by default. */
  readonly seconds?: number
  /** Retry even when the connection is refused, for a run that already started. */
  readonly patient?: boolean
  /** Never retry. For callers that retry by themselves. */
  readonly once?: boolean
}

const answerSeconds = 30

/** The request, without address and credential. */
export const requestFor = (method: Method, path: string, ask: Ask) =>
  HttpClientRequest.make(method)(path).pipe(
    HttpClientRequest.setHeaders({ accept: "application/json", ...ask.headers }),
    (request) =>
      ask.text !== undefined
        ? HttpClientRequest.bodyText(request, ask.text, ask.type ?? "application/json")
        : ask.body !== undefined
          ? HttpClientRequest.bodyJsonUnsafe(request, ask.body)
          : request
  )

export class Client extends Context.Service<
  Client,
  {
    readonly url: string
    readonly send: (method: Method, path: string, ask?: Ask) => Effect.Effect<Answer, CommandFailed>
    /**
     * Follows events over lost connections, and says when the service is away and when it is back. `connected` runs when the first
     * connection is open.
     */
    readonly events: (
      options: EventOptions,
      connected?: Effect.Effect<void>
    ) => Stream.Stream<ReceivedEvent, CommandFailed>
  }
>()("rungate/http/cli/answers/Client") {
  static readonly layer = Layer.effect(
    Client,
    Effect.gen(function* () {
      const http = yield* HttpClient.HttpClient
      const screen = yield* Screen
      const credentials = yield* Credentials
      const { url, key } = credentials

      /** `underWay`: the request may have started something, so its outcome is unknown. */
      const explain = (underWay: boolean) => (error: HttpClientError.HttpClientError) => {
        const { reason } = error
        const detail = "description" in reason && reason.description !== undefined ? ` (${reason.description})` : ""
        return isLost(error)
          ? fail(
              underWay ? "pending" : "failed",
              `The connection to ${url} was lost before the response arrived${detail}.`
            )
          : isWithoutTls(error)
            ? failedWith(
                `The service does not speak TLS at ${url}. Set RUNGATE_URL to an http:// address, or to the address of the proxy that has TLS.`
              )
            : failedWith(
                `Can't reach the service at ${url}. Start it with npm start, or set RUNGATE_URL to its address.`
              )
      }

      const redirected = failedWith(
        `${url} answers with a redirect. Set RUNGATE_URL to the final address of the service.`
      )

      const policyOf = (ask: Ask): RequestPolicyShape => ({
        ...requestPolicyDefault,
        timeout_seconds: ask.seconds ?? answerSeconds,
        retry_refused: ask.patient ?? false,
        retry_seconds: ask.once === true ? 0 : requestPolicyDefault.retry_seconds,
        onRetry: (why, seconds) => screen.say(`${why}; retrying in ${seconds} s.`)
      })

      const send = Effect.fnUntraced(function* (method: Method, path: string, ask: Ask = {}) {
        const explained = explain(method !== "GET" || ask.patient === true)
        const response = yield* transport({ url, token: ask.token ?? key })(http)
          .execute(requestFor(method, path, ask))
          .pipe(Effect.provideService(RequestPolicy, policyOf(ask)), Effect.mapError(explained))
        const text = yield* Effect.mapError(response.text, explained)
        if (response.status >= 300 && response.status < 400 && response.status !== 304) {
          return yield* redirected
        }
        return { status: response.status, headers: response.headers, text, request: { method, path } }
      })

      const refused = ({ status, headers, text: body }: HttpClientResponse.HttpClientResponse) =>
        Effect.gen(function* () {
          const answer = { status, headers, text: yield* body, request: { method: "GET", path: "/v1/events" } as const }
          const failure = yield* Effect.provideService(failureOf(answer), Credentials, credentials)
          return yield* failure ?? redirected
        })
      const events = (options: EventOptions, connected = Effect.void) =>
        Stream.suspend(() => {
          let opened = false
          let isAway = false
          const back = Effect.suspend(() => {
            const [first, wasAway] = [!opened, isAway]
            opened = true
            isAway = false
            return first ? connected : wasAway ? screen.say("Reconnected. Continuing.") : Effect.void
          })
          const away = (status: number | null) =>
            Effect.suspend(() => {
              if (isAway) return Effect.void
              isAway = true
              const why = status === null ? `Can't reach the service at ${url}.` : `${url} answers HTTP ${status}.`
              return screen.warn(`${why} Retrying until it answers.`)
            })
          return Stream.unwrap(
            Effect.map(
              Effect.promise(() => import("../../client/Events.ts")),
              ({ followEvents }) =>
                followEvents({ url, token: key }, options, refused, { connected: back, away }).pipe(
                  Stream.mapError((error) => (HttpClientError.isHttpClientError(error) ? explain(false)(error) : error))
                )
            )
          )
        }).pipe(Stream.provideService(HttpClient.HttpClient, http))
      return Client.of({ url, send, events })
    })
  )
}
