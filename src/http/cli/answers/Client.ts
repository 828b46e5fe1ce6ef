/**
 * The service as a command asks it: over HTTP like any other client, at the address and with the credential of the user's settings.
 *
 * Answers are kept as the text they came as, because `--json` prints exactly that; `typed` is the contract's own client for what is
 * read rather than printed. No credential appears in any message.
 */
import { Context, Effect, Layer, type Redacted } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { publicError } from "../../api/shapes/PublicError.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { failureFor } from "./problems.ts"
import { Screen } from "../terminal/Screen.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import type { RungateClient } from "../../client/Rungate.ts"
import { isLost, Manner, mannerDefault, type MannerShape, transport } from "../../client/Transport.ts"

export { CommandFailed } from "../terminal/CommandFailed.ts"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body exactly as it came. */
  readonly text: string
  readonly request: { readonly method: string; readonly path: string }
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Ask {
  /** A value is sent as JSON; `text` is sent as it is. */
  readonly body?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the key of the settings: a session, or a key that is being tried. */
  readonly token?: Redacted.Redacted
  /** How long the answer may take, in seconds; 30 when left out. */
  readonly seconds?: number
  /** Ask again also when nobody listens: what was started before goes on when the service is back. */
  readonly patient?: boolean
  /** Ask once: who goes on asking does it at a pace of their own, and sees refusals and losses as they are. */
  readonly once?: boolean
}

const answerSeconds = 30

export class Client extends Context.Service<
  Client,
  {
    readonly url: string
    readonly send: (method: Method, path: string, ask?: Ask) => Effect.Effect<Answer, CommandFailed>
    /** By the typed client, which is loaded when it is first used; with another token than the key where one is given. */
    readonly ask: <A>(
      use: (rungate: RungateClient) => Effect.Effect<A, unknown>,
      token?: Redacted.Redacted
    ) => Effect.Effect<A, CommandFailed>
  }
>()("rungate/http/cli/answers/Client") {
  static readonly layer = Layer.effect(
    Client,
    Effect.gen(function* () {
      const http = yield* HttpClient.HttpClient
      const screen = yield* Screen
      const credentials = yield* Credentials
      const { url, key } = credentials

      /** `underWay`: something was started that may go on, so nobody knows how it ends. */
      const explain = (underWay: boolean) => (error: HttpClientError.HttpClientError) => {
        const { reason } = error
        const detail = "description" in reason && reason.description !== undefined ? ` (${reason.description})` : ""
        return isLost(error)
          ? fail(underWay ? "pending" : "failed", `The connection to ${url} was lost before the answer came${detail}.`)
          : fail(
              "failed",
              `Can't reach the service at ${url}; is it running (npm start)? Set RUNGATE_URL to its address.`
            )
      }

      const manner = (ask: Ask): MannerShape => ({
        ...mannerDefault,
        answer_seconds: ask.seconds ?? answerSeconds,
        patient: ask.patient ?? false,
        again_seconds: ask.once === true ? 0 : mannerDefault.again_seconds,
        onAgain: (why, seconds) => screen.say(`${why}; trying again in ${seconds} s.`)
      })

      const send = Effect.fnUntraced(function* (method: Method, path: string, ask: Ask = {}) {
        const asked = HttpClientRequest.make(method)(path).pipe(
          HttpClientRequest.setHeaders({ accept: "application/json", ...ask.headers }),
          (request) =>
            ask.text !== undefined
              ? HttpClientRequest.bodyText(request, ask.text, "application/json")
              : ask.body !== undefined
                ? HttpClientRequest.bodyJsonUnsafe(request, ask.body)
                : request
        )
        const explained = explain(method !== "GET" || ask.patient === true)
        const response = yield* transport({ url, token: ask.token ?? key })(http)
          .execute(asked)
          .pipe(Effect.provideService(Manner, manner(ask)), Effect.mapError(explained))
        const text = yield* Effect.mapError(response.text, explained)
        if (response.status >= 300 && response.status < 400 && response.status !== 304) {
          return yield* fail("failed", `${url} answers with a redirect; set RUNGATE_URL to the service's own address.`)
        }
        return { status: response.status, headers: response.headers, text, request: { method, path } }
      })

      const understood = (error: unknown) => {
        if (HttpClientError.isHttpClientError(error)) return explain(false)(error)
        const told = publicError(error)
        return told === null
          ? fail("failed", `${url} answered what this version of rungate doesn't know; is it the service, and as new?`)
          : failureFor(credentials, told)
      }
      const ask = <A>(use: (rungate: RungateClient) => Effect.Effect<A, unknown>, token?: Redacted.Redacted) =>
        Effect.promise(() => import("../../client/Rungate.ts")).pipe(
          Effect.flatMap(({ Rungate }) => Rungate.make({ url, token: token ?? key })),
          Effect.provideService(HttpClient.HttpClient, http),
          Effect.flatMap(use),
          Effect.provideService(Manner, manner({})),
          Effect.mapError(understood)
        )
      return Client.of({ url, send, ask })
    })
  )
}
