/**
 * Middleware that authenticates requests by bearer token: an API key or a session token.
 *
 * Every request reads the token's row from the database, so revocation is immediate. Only `POST /v1/run` may use a cached caller, because
 * admission checks the key again in its own statement.
 */
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { Accounts, digest, type Principal } from "../../layers/accounts/Accounts.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { Auth, CurrentCaller } from "../api/shapes/Common.ts"
import { checkBody, enforceRateLimit, hasPayload } from "./RequestChecks.ts"
import { Limits } from "./Limits.ts"
import { withCommands, type Sentence } from "../../schema/Hints.ts"
import { createKey, signIn } from "../../schema/Steps.ts"

/** Time to live and size of the cache of callers. */
const cacheMillis = 30_000
const cacheMax = 10_000

type Environment = "test" | "live"

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
  withCommands`This API key is unknown or revoked. Create another one with ${createKey} and a session token.`
)
const unknownSession = unauthorized(
  withCommands`This session token is unknown, or the session has ended. Sign in with ${signIn}.`
)

const tokenForm = /^rg_(test|live|sess)_[0-9A-Za-z]{20,100}$/

/** The error for a credential whose form alone is wrong. Null if it has to be looked up. */
const formProblem = (text: string, environment: Environment) => {
  if (text === "") return missing
  const kind = tokenForm.exec(text)?.[1]
  if (kind === undefined) return malformed
  return kind === "sess" || kind === environment ? null : otherEnvironment[environment]
}

const withThisKey = "requests with this key"

export const AuthLayer = Layer.effect(
  Auth,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const limits = yield* Limits
    const { mode } = yield* Settings
    const environment: Environment = mode === "sandbox" ? "test" : "live"
    const cache = new Map<string, { readonly principal: Principal; readonly until: number }>()

    const store = (name: string, principal: Principal, now: number) => {
      if (cache.size >= cacheMax) cache.clear()
      cache.set(name, { principal, until: now + cacheMillis })
    }

    const lookUp = Effect.fnUntraced(function* (credential: Redacted.Redacted, mayUseCache: boolean) {
      if (!mayUseCache) return Option.getOrNull(yield* accounts.principal(credential))
      const now = yield* Clock.currentTimeMillis
      const name = Buffer.from(digest(Redacted.value(credential))).toString("base64")
      const cached = cache.get(name)
      if (cached !== undefined && cached.until > now) return cached.principal
      const principal = Option.getOrNull(yield* accounts.principal(credential))
      // A session has no second check at admission, so it is never cached.
      if (principal !== null && principal.key_id !== null) store(name, principal, now)
      return principal
    })

    return Auth.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential, endpoint }) {
        const text = Redacted.value(credential)
        const wrong = formProblem(text, environment)
        if (wrong !== null) return yield* Effect.fail(wrong)
        const principal = yield* lookUp(credential, endpoint.identifier === "run")
        if (principal === null) return yield* Effect.fail(text.startsWith("rg_sess_") ? unknownSession : unknownKey)
        if (principal.environment !== null && principal.environment !== environment)
          return yield* Effect.fail(otherEnvironment[environment])
        const caller = principal.key_id ?? principal.user_id ?? principal.org_id
        yield* enforceRateLimit(yield* limits.request(caller), withThisKey)
        if (hasPayload(endpoint)) yield* checkBody((requests) => limits.request(caller, requests), withThisKey)
        if (principal.key_id !== null) accounts.used(principal.key_id)
        return yield* Effect.provideService(httpEffect, CurrentCaller, principal)
      })
    })
  })
)
