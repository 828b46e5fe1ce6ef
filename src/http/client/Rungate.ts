/**
 * The typed client, derived from the API contract. It is the package's `client` export (docs/client.md).
 *
 * `Rungate.make` and `Rungate.layer` are for Effect programs: they have every endpoint by group and name, check inputs, decode
 * responses and type errors. `connect` offers the same with promises.
 */
import { Context, Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, type HttpClientResponse } from "effect/http"
import { HttpApiClient, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { PublicError } from "../api/shapes/PublicError.ts"
import type { Detail } from "../../schema/Errors.ts"
import { type EventOptions, followEvents, type ReceivedEvent } from "./Events.ts"
import { isUnreached, isWithoutTls, type Target, transport } from "./Transport.ts"

export { dollars } from "../../schema/money/Money.ts"
export type { EventOptions, ReceivedEvent } from "./Events.ts"
export { RequestPolicy, type RequestPolicyShape, type Target } from "./Transport.ts"

export type RungateClient = HttpApiClient.ForApi<typeof Api>

export class Rungate extends Context.Service<Rungate, RungateClient>()("rungate/http/client/Rungate") {
  static readonly make = (target: Target): Effect.Effect<RungateClient, never, HttpClient.HttpClient> =>
    Effect.flatMap(HttpClient.HttpClient, (http) =>
      HttpApiClient.makeWith(Api, { httpClient: transport(target)(http) })
    )

  static readonly layer = (target: Target) =>
    Layer.effect(Rungate, Rungate.make(target)).pipe(Layer.provide(FetchHttpClient.layer))
}

/**
 * The rejection of a promise of `connect`. `code` is the public error code, or `connection_lost`, `unreachable` or
 * `unexpected_answer` when the service sent no valid response. `message` contains no secret.
 */
export class RungateError extends Error {
  override readonly name = "RungateError"
  readonly code: string
  readonly details: ReadonlyArray<Detail>
  readonly request_id: string | null
  /** The failed run of `runs.run`, if it was created. Read it with `runs.get`. */
  readonly run_id: string | null

  constructor(fields: PublicError["error"] & Omit<typeof ErrorBody.Type, "error">) {
    super(fields.message)
    this.code = fields.code
    this.details = fields.details ?? []
    this.request_id = fields.request_id ?? null
    this.run_id = fields.run_id ?? null
  }
}

const ErrorBody = Schema.fromJsonString(
  Schema.Struct({ ...PublicError.fields, run_id: Schema.optionalKey(Schema.String) })
)
const decodeErrorBody = Schema.decodeUnknownOption(ErrorBody)

const unexpected = (status: number) =>
  new RungateError({
    code: "unexpected_answer",
    message: `HTTP ${status} without an error body of Rungate. Check the address.`
  })

const withoutTls =
  "The service does not speak TLS at this address. Use an http:// address, or the address of the proxy that has TLS."

const checkedUrl = (url: string): string => {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url
  const message = `connect needs url: the address of the service, such as "http://127.0.0.1:8787". It is ${JSON.stringify(url) ?? "undefined"}.`
  throw new RungateError({ code: "unreachable", message })
}

const rejection = (error: unknown): unknown => {
  if (error instanceof RungateError) return error
  if (HttpClientError.isHttpClientError(error)) {
    return isUnreached(error)
      ? new RungateError({
          code: "unreachable",
          message: isWithoutTls(error)
            ? withoutTls
            : "Can't reach the service. Check that it runs and that the address is right."
        })
      : new RungateError({ code: "connection_lost", message: "The connection was lost before the response arrived." })
  }
  if (Schema.isSchemaError(error)) return new RungateError({ code: "unexpected_answer", message: error.message })
  return error
}

type Groups = (typeof Api)["groups"]

type Call<E extends HttpApiEndpoint.ConstraintRequest> = (
  request: Omit<
    Extract<
      HttpApiEndpoint.ClientRequest<E["~Params"], E["~Query"], E["~Payload"], E["~Headers"], "decoded-only">,
      object
    >,
    "responseMode" | "sseOptions"
  >,
  options?: { readonly signal?: AbortSignal }
) => Promise<HttpApiClient.SuccessType<E["~Success"]>>

/** Every endpoint of the contract by group and name, as a function that returns a promise. */
type Methods = {
  readonly [G in Exclude<keyof Groups, "events">]: {
    readonly [E in keyof Groups[G]["endpoints"]]: Groups[G]["endpoints"][E] extends HttpApiEndpoint.ConstraintRequest
      ? Call<Groups[G]["endpoints"][E]>
      : never
  }
}

export interface Connection extends Methods {
  /**
   * Follows events: `for await (const event of rungate.events({ types: ["run.finished"] }))`. After a lost connection it continues with
   * the next event. It ends with its run, or when the loop is left.
   */
  readonly events: (options?: EventOptions) => AsyncIterable<ReceivedEvent>
}

/** The error of a response with an error status. */
const refusalOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.flatMap(response.text, (text) => {
    const body = Option.getOrNull(decodeErrorBody(text))
    if (body === null) return Effect.fail(unexpected(response.status))
    const { error, ...ids } = body
    return Effect.fail(new RungateError({ ...error, ...ids }))
  })

/** The client for programs that use promises. It sends nothing until a method is called. */
export const connect = (options: {
  /** Such as http://127.0.0.1:8787. */
  readonly url: string
  /** API key or session token; not needed for public endpoints. */
  readonly key?: string
}): Connection => {
  const target = { url: checkedUrl(options.url), token: options.key === undefined ? null : Redacted.make(options.key) }
  const raising = (http: HttpClient.HttpClient) =>
    transport(target)(http).pipe(
      HttpClient.transformResponse(
        Effect.flatMap((response) => (response.status < 400 ? Effect.succeed(response) : refusalOf(response)))
      )
    )
  const client = HttpClient.HttpClient.pipe(
    Effect.flatMap((http) => HttpApiClient.makeWith(Api, { httpClient: raising(http) })),
    Effect.provide(FetchHttpClient.layer),
    Effect.runSync
  )
  type Method = (request: unknown) => Effect.Effect<unknown, unknown>
  const promised =
    (method: Method) =>
    (request: unknown, how: { readonly signal?: AbortSignal } = {}) =>
      Effect.runPromise(Effect.mapError(method(request), rejection), how)
  const events = (chosen: EventOptions = {}) =>
    Stream.toAsyncIterable(
      followEvents(target, chosen, refusalOf).pipe(Stream.mapError(rejection), Stream.provide(FetchHttpClient.layer))
    )
  const groups = Object.entries<object>(client).map(([group, endpoints]) => [
    group,
    Object.fromEntries(Object.entries<Method>({ ...endpoints }).map(([name, method]) => [name, promised(method)]))
  ])
  return { ...Object.fromEntries(groups), events } as Connection // justified: the contract's own groups, by the same walk as their types
}
