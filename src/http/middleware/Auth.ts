/**
 * Middleware that authenticates requests by bearer token: an API key or a session token.
 *
 * A session may do what its user's role allows (Access.ts). The role is read with the session, so a changed role counts from the next request.
 *
 * A browser's session comes in a cookie in place of the header (SessionCookie.ts), and only from the console's own pages.
 *
 * Every request reads the token's row from the database, so revocation is immediate. Only `POST /v1/run` may use a cached caller, because
 * admission checks the key again in its own statement.
 */
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { Accounts, digest, type Principal } from "../../layers/accounts/Accounts.ts"
import { type Mode, Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { Auth, CurrentCaller } from "../api/shapes/Common.ts"
import { ownReadsOnly, refusalFor } from "../access/Access.ts"
import { cookieToken, crossSiteProblem, notStored } from "../access/SessionCookie.ts"
import { ScopedKeys } from "../api/shapes/ScopedKeys.ts"
import { checkBody, enforceRateLimit, hasPayload } from "./RequestChecks.ts"
import { FactsOfRequests } from "../../layers/observability/RequestFacts.ts"
import { Limits, TakenFromLimit } from "./Limits.ts"
import { withCommands, type Sentence } from "../../schema/Hints.ts"
import { createKey, signIn } from "../../schema/Steps.ts"

export type Environment = "test" | "live"

const unauthorized = (message: string | Sentence) => problem("unauthorized", message)

const missing = unauthorized(
  "The request has no credential. Send an API key or a session token in the header Authorization: Bearer <token>."
)
const malformed = unauthorized(
  "This is not a token of this service. An API key starts with rg_test_ or rg_live_, a session token with rg_sess_; check that you copied all of it."
)
const otherEnvironment: Readonly<Record<Environment, ReturnType<typeof unauthorized>>> = {
  test: unauthorized("This is a live key (rg_live_), and this service is a sandbox. Use a test key (rg_test_)."),
  live: unauthorized("This is a test key (rg_test_), and this service is in production. Use a live key (rg_live_).")
}
/** One message for both causes, so nobody learns whether a guessed key existed. */
const unknownKey = unauthorized(
  withCommands`This API key is unknown, revoked or expired. Create another one with ${createKey} and a session token.`
)
const unknownSession = unauthorized(
  withCommands`This session token is unknown, or the session has ended. Sign in with ${signIn}.`
)

/** The form of every token. */
export const tokenForm = /^rg_(test|live|sess)_[0-9A-Za-z]{20,100}$/

/** The error for a credential whose form alone is wrong. Null if it has to be looked up. */
const formProblem = (text: string, environment: Environment) => {
  if (text === "") return missing
  const kind = tokenForm.exec(text)?.[1]
  if (kind === undefined) return malformed
  return kind === "sess" || kind === environment ? null : otherEnvironment[environment]
}

/** Why the session in a cookie is refused before it is looked up. An API key does not belong in a cookie. */
const cookieProblem = (
  { method, headers }: HttpServerRequest.HttpServerRequest,
  token: Redacted.Redacted,
  publicUrl: string | null
) => {
  const isSession = tokenForm.exec(Redacted.value(token))?.[1] === "sess"
  return crossSiteProblem(method, headers, publicUrl) ?? (isSession ? null : unknownSession)
}

export const environmentOf = (mode: Mode): Environment => (mode === "sandbox" ? "test" : "live")

/** Milliseconds for which `POST /v1/run` may use a caller that it has found, and how many it keeps. */
const keptMillis = 30_000
const keptMax = 10_000

/** The callers that `POST /v1/run` found by their API keys, so that a run needs no query for its key. */
export class CachedCallers extends Context.Service<
  CachedCallers,
  {
    /** The caller with this token, if it was kept less than half a minute before `now` (milliseconds since 1970). */
    readonly find: (token: string, now: number) => Principal | null
    /** Keeps the caller of an API key. Does nothing for a session. */
    readonly keep: (token: string, principal: Principal, now: number) => void
  }
>()("rungate/http/middleware/Auth/CachedCallers") {
  static readonly layer = Layer.sync(CachedCallers, () => {
    const kept = new Map<string, { readonly principal: Principal; readonly until: number }>()
    // A digest, so that a dump of the memory shows no key of a caller who has left.
    const nameOf = (token: string) => Buffer.from(digest(token)).toString("base64")
    return CachedCallers.of({
      find: (token, now) => {
        const found = kept.get(nameOf(token))
        return found !== undefined && found.until > now ? found.principal : null
      },
      keep: (token, principal, now) => {
        if (principal.key_id === null) return
        if (kept.size >= keptMax) kept.clear()
        const expiry = principal.access?.expires_at?.getTime() ?? Number.POSITIVE_INFINITY
        kept.set(nameOf(token), { principal, until: Math.min(now + keptMillis, expiry) })
      }
    })
  })
}

const closed = problem(
  "forbidden",
  withCommands`This API key has a scope (allow), so it can't change anything but its own runs. Sign in with ${signIn} and use the session token.`
)
const readOnly = problem("forbidden", "This API key is read-only, so it can't cancel runs. Nothing was changed.")

/** Why the scope of a key forbids the endpoint. Admission decides about runs. */
const scopeProblem = ({ access }: Principal, endpoint: Pick<HttpApiEndpoint.Top, "method" | "annotations">) => {
  const allow = access?.allow ?? null
  if (allow === null || endpoint.method === "GET" || endpoint.method === "HEAD") return null
  const use = Context.get(endpoint.annotations, ScopedKeys)
  if (use === "changes" || (use === "mints" && allow.mint !== true)) return closed
  return use === "stops" && allow.read_only === true ? readOnly : null
}

const withThisKey = "requests with this key"

export const AuthLayer = Layer.effect(
  Auth,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const limits = yield* Limits
    const callers = yield* CachedCallers
    const taken = yield* TakenFromLimit
    const facts = yield* FactsOfRequests
    const { mode, publicUrl } = yield* Settings
    const environment = environmentOf(mode)

    const lookUp = Effect.fnUntraced(function* (credential: Redacted.Redacted, mayUseCache: boolean) {
      if (!mayUseCache) return Option.getOrNull(yield* accounts.principal(credential))
      const now = yield* Clock.currentTimeMillis
      const token = Redacted.value(credential)
      const cached = callers.find(token, now)
      if (cached !== null) return cached
      const principal = Option.getOrNull(yield* accounts.principal(credential))
      if (principal !== null) callers.keep(token, principal, now)
      return principal
    })

    return Auth.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential: sent, endpoint, group }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const cookie = cookieToken(request.headers)
        if (cookie !== null) {
          const refused = cookieProblem(request, cookie, publicUrl)
          if (refused !== null) return yield* Effect.fail(refused)
          yield* notStored
        }
        const credential = cookie ?? sent
        const text = Redacted.value(credential)
        const wrong = formProblem(text, environment)
        if (wrong !== null) return yield* Effect.fail(wrong)
        const principal = yield* lookUp(credential, group.identifier === "runs" && endpoint.identifier === "run")
        if (principal === null) return yield* Effect.fail(text.startsWith("rg_sess_") ? unknownSession : unknownKey)
        const known = request.source instanceof Request ? facts.get(request.source) : undefined
        if (known !== undefined) known.org_id = principal.org_id
        if (principal.environment !== null && principal.environment !== environment)
          return yield* Effect.fail(otherEnvironment[environment])
        const caller = principal.key_id ?? principal.user_id ?? principal.org_id
        const before = request.source instanceof Request ? taken.get(request.source) : undefined
        yield* enforceRateLimit(before === undefined ? yield* limits.request(caller) : before, withThisKey)
        if (hasPayload(endpoint)) yield* checkBody((requests) => limits.request(caller, requests), withThisKey)
        const operation = `${group.identifier}.${endpoint.identifier}`
        const refused = refusalFor(operation, principal.role) ?? ownReadsOnly(operation, principal.access)
        if (refused !== null) return yield* Effect.fail(refused)
        if (principal.key_id !== null) accounts.used(principal.key_id)
        const denied = scopeProblem(principal, endpoint)
        if (denied !== null) return yield* Effect.fail(denied)
        return yield* Effect.provideService(httpEffect, CurrentCaller, principal)
      })
    })
  })
)
