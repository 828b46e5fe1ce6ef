/**
 * Sends one request: adds address and credential, applies a timeout, and repeats the request where that is safe.
 *
 * Repeated are reads, and requests with an Idempotency-Key, which the service executes once. Any request may be repeated after a 429, because the
 * service did not execute it. The credential goes to the given address only: redirects are not followed.
 */
import { RungateError, refusal, retryAfterOf } from "./errors.ts"

export interface ConnectOptions {
  /** The service's address, such as http://127.0.0.1:8787. A path after it is kept, except a `/v1` at its end. */
  readonly url: string
  /** API key or session token. Public operations need none. */
  readonly key?: string | undefined
  /** Timeout of one attempt in seconds. The default, 150, is longer than the longest wait for a run. */
  readonly timeout_seconds?: number | undefined
  /** How long a lost request is repeated, in seconds. The default is 20. 0 turns it off. */
  readonly retry_seconds?: number | undefined
  /** In place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Stands for this request, for operations that take one: a request with the same key joins the first. Without it, the client makes one up, so that
   * it can repeat the request itself. Give your own to be safe against a crash of your program too.
   */
  readonly idempotency_key?: string | undefined
}

export interface Outgoing {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly accept: string
  /** `text` is sent as it is. */
  readonly body?: { readonly type: string; readonly text: string } | undefined
  readonly idempotency_key?: string | undefined
  readonly repeatable: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const timeoutSecondsDefault = 150
const retrySecondsDefault = 20
const pausesSeconds = [0.1, 0.3, 1, 2, 4]
/** With a longer Retry-After the program gets the error, and decides. */
export const pauseSecondsMax = 10

export const headersOf = ({ key }: ConnectOptions, accept: string): Record<string, string> => ({
  accept,
  ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
})

export const addressOf = ({ url }: ConnectOptions, path: string): string =>
  `${url.replace(/([^/:])(\/+v1)?\/*$/, "$1")}${path}`

/** One segment of a path. An address would lose `..`, and the request would be another one. */
export const segment = (name: string, value: unknown): string => {
  if (typeof value !== "string" || value === "" || value === "." || value === "..")
    throw new TypeError(`${name} must be an id. It is ${JSON.stringify(value) ?? "missing"}.`)
  return encodeURIComponent(value)
}

/** Refuses an address that no request could reach, such as that of an environment variable that is not set. */
export const checked = (to: ConnectOptions): ConnectOptions => {
  if (/^https?:\/\/./.test(to.url)) return to
  const message = `connect needs url: the address of the service, such as "http://127.0.0.1:8787". It is ${JSON.stringify(to.url) ?? "undefined"}.`
  throw new RungateError({ code: "unreachable", message })
}

/** The system's error code, which Bun puts on the error and Node on its cause. Browsers tell none. */
const systemCode = (error: unknown, depth = 3): string => {
  if (typeof error !== "object" || error === null || depth === 0) return ""
  if ("code" in error && typeof error.code === "string") return error.code
  return "cause" in error ? systemCode(error.cause, depth - 1) : ""
}
const unreached = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ConnectionRefused"]
/** Bun and Node fail so if the other side does not speak TLS. */
const withoutTls = ["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"]

/** The error of a request that got no response. */
export const connectionError = (cause: unknown): RungateError => {
  const code = systemCode(cause)
  const message = withoutTls.includes(code)
    ? "The service does not speak TLS at this address. Use an http:// address, or the address of the proxy that has TLS."
    : unreached.includes(code)
      ? "Can't reach the service. Check that it runs and that the address is right."
      : null
  return message === null
    ? new RungateError({ code: "connection_lost", message: "The connection was lost before the response arrived." })
    : new RungateError({ code: "unreachable", message })
}

/** Waits. Rejects with the signal's reason as soon as it is aborted. */
export const pause = (seconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, seconds * 1000)
    if (signal?.aborted === true) return stop()
    signal?.addEventListener("abort", stop, { once: true })
  })

/** One attempt. The body is read here, because the connection may be lost in the middle of it. */
const attempt = async (to: ConnectOptions, request: Outgoing, signal?: AbortSignal): Promise<Answer> => {
  const stopping = new AbortController()
  const stop = () => stopping.abort(signal?.reason)
  const timer = setTimeout(() => stopping.abort(), (to.timeout_seconds ?? timeoutSecondsDefault) * 1000)
  if (signal?.aborted === true) stop()
  signal?.addEventListener("abort", stop, { once: true })
  try {
    const response = await (to.fetch ?? globalThis.fetch)(addressOf(to, request.path), {
      method: request.method,
      headers: {
        ...headersOf(to, request.accept),
        ...(request.body === undefined ? {} : { "content-type": request.body.type }),
        ...(request.idempotency_key === undefined ? {} : { "idempotency-key": request.idempotency_key })
      },
      ...(request.body === undefined ? {} : { body: request.body.text }),
      signal: stopping.signal,
      redirect: "manual"
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", stop)
  }
}

/** The seconds after which a response asks for the request again. Null if the request is not repeated. */
const repeatAfter = ({ status, headers }: Answer, repeatable: boolean): number | null => {
  if (status !== 429 && !(status === 503 && repeatable)) return null
  const seconds = retryAfterOf(headers)
  return seconds === null || seconds > pauseSecondsMax ? null : Math.max(seconds, 0.1)
}

/** The successful response. Rejects with a `RungateError`, or with the signal's reason. */
export const send = async (to: ConnectOptions, request: Outgoing, signal?: AbortSignal): Promise<Answer> => {
  const until = Date.now() + (to.retry_seconds ?? retrySecondsDefault) * 1000
  // After one lost attempt the outcome is unknown, whatever the later errors are.
  let lost: RungateError | null = null
  for (let count = 0; ; count += 1) {
    let wait: number
    try {
      const answer = await attempt(to, request, signal)
      if (answer.status >= 200 && answer.status < 300) return answer
      const after = repeatAfter(answer, request.repeatable)
      if (after === null || Date.now() + after * 1000 > until) throw refusal(answer.status, answer.headers, answer.text)
      wait = after
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason
      if (error instanceof RungateError) throw error
      const failure = connectionError(error)
      if (failure.code === "connection_lost") lost ??= failure
      wait = pausesSeconds[Math.min(count, pausesSeconds.length - 1)] ?? 1
      const isDown = failure.code === "unreachable" && count === 0
      if (!request.repeatable || isDown || Date.now() + wait * 1000 > until) throw lost ?? failure
    }
    await pause(wait, signal)
  }
}
