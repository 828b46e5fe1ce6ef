/**
 * The typed client for pages of this service: every operation of the contract as a function that returns a promise, with requests and
 * responses as JSON carries them.
 *
 * The session is a cookie that this code can't read. It loads no schema, so it adds about two kilobytes to a page.
 */
import type { Schema } from "effect"
import type { HttpApiClient, HttpApiEndpoint } from "effect/http-api"
import type { Api } from "../api/Api.ts"
import type { PublicError } from "../api/shapes/PublicError.ts"
import type { Detail } from "../../schema/Errors.ts"
import { segmentOf } from "../../schema/Ids.ts"
import { operations } from "./operations.ts" with { type: "macro" }

type Body = Partial<PublicError> & { readonly run_id?: string }

/** A refused or failed request. `code` is the public error code, or `unreachable` if no answer came. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  readonly code: string
  readonly details: ReadonlyArray<Detail>
  readonly request_id: string | null
  readonly run_id: string | null
  readonly retry_after: number | null

  constructor(status: number, code: string, message: string, body: Body, headers: Headers | null) {
    super(message)
    this.status = status
    this.code = code
    this.details = body.error?.details ?? []
    this.request_id = body.request_id ?? headers?.get("x-request-id") ?? null
    this.run_id = body.run_id ?? null
    const seconds = Number(headers?.get("retry-after") ?? Number.NaN)
    this.retry_after = Number.isFinite(seconds) ? seconds : null
  }
}

type Groups = (typeof Api)["groups"]
/** A value as JSON carries it: an amount, which programs have as bigint, is its decimal text, and a Date its ISO text. */
type Written<T> = T extends bigint | Date
  ? string
  : T extends string | number | boolean | null | undefined
    ? T
    : Schema.Json extends T
      ? T
      : { readonly [K in keyof T]: Written<T[K]> }

type Part<Name extends string, S extends { readonly Type: unknown }> = [S["Type"]] extends [never]
  ? { readonly [N in Name]?: never }
  : { readonly [N in Name]: Written<S["Type"]> }

type Request<E extends HttpApiEndpoint.ConstraintRequest> = Part<"params", E["~Params"]> &
  Part<"query", E["~Query"]> &
  Part<"payload", E["~Payload"]>

interface CallOptions {
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

type Call<E extends HttpApiEndpoint.ConstraintRequest> = (
  request: Request<E>,
  options?: CallOptions
) => Promise<HttpApiClient.SuccessType<E["~Success"]>>

/** Every operation by group and name, except for streams of events. */
type BrowserClient = {
  readonly [G in Exclude<keyof Groups, "events">]: {
    readonly [E in keyof Groups[G]["endpoints"]]: Groups[G]["endpoints"][E] extends HttpApiEndpoint.ConstraintRequest
      ? Call<Groups[G]["endpoints"][E]>
      : never
  }
}

/** The body of a successful response of an operation, such as `AnswerOf<"runs", "get">`. */
export type AnswerOf<G extends keyof BrowserClient, E extends keyof BrowserClient[G]> = BrowserClient[G][E] extends (
  ...all: never
) => Promise<infer A>
  ? A
  : never

/** Such as `runs.get`. */
export type OperationId = {
  readonly [G in keyof BrowserClient]: `${G}.${keyof BrowserClient[G] & string}`
}[keyof BrowserClient]

interface Sent {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | null | undefined>>
  readonly payload?: unknown
}

/** The path with its parameters and query. */
export const addressOf = (path: string, { params = {}, query = {} }: Sent): string => {
  const filled = path.replace(/:([a-z_]+)/g, (_all, name: string) => segmentOf(params[name] ?? ""))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value))
  const text = search.toString()
  return text === "" ? filled : `${filled}?${text}`
}

const bodyOf = (text: string): Body => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === "object" && body !== null ? body : {}
  } catch {
    return {}
  }
}

const unreachable = (cause: unknown) =>
  new ApiError(
    0,
    "unreachable",
    "The service can't be reached. Check the network connection; what you typed stays here.",
    {},
    cause instanceof Response ? cause.headers : null
  )

/** `onEnded` hears of every 401: the session has ended. */
export const browserClient = (onEnded: () => void) => {
  /** For an answer that is not JSON, or whose headers matter. Rejects with an `ApiError`, or with the signal's reason. */
  const request = async (
    method: string,
    address: string,
    sent: Sent,
    { signal, headers = {} }: CallOptions = {}
  ): Promise<Response> => {
    // Text is a CSV. Nothing else is sent as it stands.
    const isText = typeof sent.payload === "string"
    const json = sent.payload === undefined ? {} : { "content-type": isText ? "text/csv" : "application/json" }
    const response = await fetch(address, {
      method,
      headers: { accept: "application/json", "x-rungate-console": "1", ...json, ...headers },
      ...(sent.payload === undefined ? {} : { body: isText ? String(sent.payload) : JSON.stringify(sent.payload) }),
      ...(signal === undefined ? {} : { signal }),
      credentials: "same-origin",
      redirect: "error"
    }).catch((cause: unknown) => {
      if (signal?.aborted === true) throw cause
      throw unreachable(cause)
    })
    if (response.ok) return response
    if (response.status === 401) onEnded()
    const body = bodyOf(await response.text())
    const { code = "unexpected_answer", message = `The service answered with HTTP ${response.status}.` } =
      body.error ?? {}
    throw new ApiError(response.status, code, message, body, response.headers)
  }
  const call = (operation: string) => {
    const [method = "GET", path = "/"] = operation.split(" ")
    return async (sent: Sent, options?: CallOptions): Promise<unknown> => {
      const response = await request(method, addressOf(path, sent), sent, options)
      return response.status === 204 ? null : await response.json()
    }
  }
  const groups = Object.entries(operations()).map(([group, endpoints]) => [
    group,
    Object.fromEntries(Object.entries(endpoints).map(([name, operation]) => [name, call(operation)]))
  ])
  const api = Object.fromEntries(groups) as BrowserClient // justified: the contract's own groups, by the same walk as their types
  return { api, request }
}
