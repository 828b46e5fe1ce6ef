/**
 * The service as a command asks it: over HTTP like any other client, at `RUNGATE_URL`, with `RUNGATE_API_KEY`.
 *
 * The key comes from the environment only, and appears in no message.
 */
import { Config, Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"

export interface Answer {
  readonly status: number
  /** The body exactly as it came. */
  readonly text: string
}

/** A command that ends without success. `exit_code` is what the shell sees; an empty message was said already. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  exit_code: Schema.Int
}) {}

const defaultUrl = "http://127.0.0.1:8787"

export class Client extends Context.Service<
  Client,
  { readonly post: (path: string, body: unknown) => Effect.Effect<Answer, CommandFailed> }
>()("rungate/http/client/Client") {
  static readonly layer = Layer.effect(
    Client,
    Effect.gen(function* () {
      const http = yield* HttpClient.HttpClient
      const url = (yield* Config.String("RUNGATE_URL").pipe(Config.withDefault(defaultUrl))).replace(/\/+$/, "")
      const key = yield* Config.Redacted("RUNGATE_API_KEY").pipe(Config.withDefault(Redacted.make("")))
      const unreachable = new CommandFailed({
        message: `Can't reach the service at ${url}; is it running (npm start)? Set RUNGATE_URL to its address.`,
        exit_code: 1
      })
      const post = (path: string, body: unknown) =>
        Effect.gen(function* () {
          const secret = Redacted.value(key)
          const request = HttpClientRequest.post(`${url}${path}`).pipe(
            HttpClientRequest.bodyJsonUnsafe(body),
            (asked) => (secret === "" ? asked : HttpClientRequest.bearerToken(asked, secret))
          )
          const response = yield* http.execute(request)
          return { status: response.status, text: yield* response.text }
        }).pipe(Effect.mapError(() => unreachable))
      return Client.of({ post })
    })
  )
}
