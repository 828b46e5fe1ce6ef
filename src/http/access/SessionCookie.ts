/**
 * The session of a browser: a cookie that scripts can't read, and the proof that a request comes from the console's own pages.
 *
 * The cookie is `HttpOnly`, `Secure`, `SameSite=Strict` and bound to this host (`__Host-`). Browsers keep such a cookie over https, and at
 * http://localhost and http://127.0.0.1. A cookie alone changes nothing: a request that is not a read must also prove its origin with
 * `Sec-Fetch-Site` or `Origin`, and carry the header `X-Rungate-Console`, which other sites can't send without a CORS permission.
 */
import { Clock, Effect, Redacted } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Problem, problem } from "../../schema/Errors.ts"

export const sessionCookie = "__Host-rungate_session"
/** Any value counts: the header's presence is the proof. */
export const consoleHeader = "x-rungate-console"

type Headers = Readonly<Record<string, string | undefined>>

const otherSite = problem(
  "forbidden",
  "A browser's session works from the console's own pages only, and this request comes from another site. Programs send Authorization: Bearer <token>."
)
const noHeader = problem(
  "forbidden",
  "A request with a session cookie that changes something needs the header X-Rungate-Console: 1. Programs send Authorization: Bearer <token> instead."
)
const noOrigin = problem(
  "forbidden",
  "A request with a session cookie that changes something needs the headers that browsers add: Sec-Fetch-Site, or Origin. Programs send Authorization: Bearer <token> instead."
)
const plainHttp = problem(
  "forbidden",
  "Browsers keep a session over https, or at http://localhost and http://127.0.0.1. Open the console at one of these addresses."
)

const isLoopback = (hostname: string) =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "127.0.0.1" || hostname === "[::1]"

/** The address of the page that sent the request. Null if the header is missing or is no address. */
const originOf = (headers: Headers): URL | null => {
  const text = headers["origin"]
  return text !== undefined && URL.canParse(text) ? new URL(text) : null
}

/** Whether `Origin` names this service: the host that was asked, or the service's public address. */
const isOwnOrigin = (headers: Headers, publicUrl: string | null) => {
  const origin = originOf(headers)
  if (origin === null) return false
  return origin.host === headers["host"] || (publicUrl !== null && origin.origin === new URL(publicUrl).origin)
}

/** Why a request may not use a browser's session. Null if it may. */
export const crossSiteProblem = (
  method: string,
  headers: Headers,
  publicUrl: string | null
): Problem<"forbidden"> | null => {
  const site = headers["sec-fetch-site"]
  const isRead = method === "GET" || method === "HEAD"
  // "none" is a person who typed the address. Only a read can come that way.
  if (site !== undefined && site !== "same-origin" && !(isRead && site === "none")) return otherSite
  if (isRead) return null
  if (site === undefined) {
    if (headers["origin"] === undefined) return noOrigin
    if (!isOwnOrigin(headers, publicUrl)) return otherSite
  }
  return headers[consoleHeader] === undefined ? noHeader : null
}

/** Fails unless the request comes from a page of this service, at an address at which browsers keep the cookie. */
export const requireOwnPage = (publicUrl: string | null) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ method, headers }): Effect.Effect<void, Problem<"forbidden">> => {
      const refused = crossSiteProblem(method, headers, publicUrl)
      if (refused !== null) return Effect.fail(refused)
      const origin = originOf(headers)
      const isKept = origin === null || origin.protocol === "https:" || isLoopback(origin.hostname)
      return isKept ? Effect.void : Effect.fail(plainHttp)
    }
  )

const withHeaders = (headers: Record<string, string>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

/** An answer to one person: no cache may keep it. */
export const notStored = withHeaders({ "cache-control": "no-store" })

/** A cookie that holds the token of a session. Its name begins with `__Host-`, so it is this host's and every path's. */
export const hostCookie = (name: string) => {
  const pattern = new RegExp(`(?:^|;)\\s*${name}=([^;\\s]+)`)
  const written = (value: string, seconds: number) =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Strict`
  return {
    /** The token in the cookie of a request without an `Authorization` header. Null if there is none. */
    token: (headers: Headers): Redacted.Redacted | null => {
      if (headers["authorization"] !== undefined) return null
      const token = pattern.exec(headers["cookie"] ?? "")?.[1]
      return token === undefined ? null : Redacted.make(token)
    },
    /** The browser forgets the cookie when the session ends. */
    set: (token: Redacted.Redacted, expires_at: Date) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const seconds = Math.max(0, Math.floor((expires_at.getTime() - now) / 1_000))
        return withHeaders({ "set-cookie": written(Redacted.value(token), seconds), "cache-control": "no-store" })
      }),
    clear: withHeaders({ "set-cookie": written("", 0) })
  }
}

export const { token: cookieToken, set: setSessionCookie, clear: clearSessionCookie } = hostCookie(sessionCookie)

/** Clears the cookie if the request came with one. */
export const forgetSessionCookie = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
  cookieToken(headers) === null ? Effect.void : clearSessionCookie
)
