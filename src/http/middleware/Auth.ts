/**
 * Finds the caller of a bearer token.
 *
 * Every request asks the database, so revocation is immediate. Only `POST /v1/run` may use a cached caller, because admission checks the key
 * again in its own statement.
 */
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { Accounts, digest, type Principal } from "../../layers/accounts/Accounts.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { Auth, CurrentCaller } from "../api/shapes/Common.ts"
import { admit, checkedBody, takesBody } from "./RequestChecks.ts"
import { Limits } from "./Limits.ts"
import { said, type Sentence } from "../../schema/Hints.ts"
import { createKey, signIn } from "../../schema/Steps.ts"

/** How long a key may be remembered for admission, and how many. */
const rememberMillis = 30_000
const rememberMax = 10_000

type Environment = "test" | "live"

const unauthorized = (message: string | Sentence) => problem("unauthorized", message)

const missing = unauthorized(
  "There is no credential. Send an API key or a session token in the header Authorization: Bearer <token>."
)
const malformed = unauthorized(
  "This is not a token of this service. An API key starts with rg_test_ or rg_live_, a session token with rg_sess_; check that you copied all of it."
)
const otherEnvironment: Readonly<Record<Environment, ReturnType<typeof unauthorized>>> = {
  test: unauthorized("This is a live key (rg_live_), and this service is a sandbox. Use a test key (rg_test_)."),
  live: unauthorized("This is a test key (rg_test_), and this service is in production. Use a live key (rg_live_).")
}
/** One message for both: nobody may learn whether a key that they guessed existed. */
const unknownKey = unauthorized(
  said`This API key is unknown or revoked. Create another one with ${createKey} and a session token.`
)
const unknownSession = unauthorized(
  said`This session token is unknown, or the session has ended. Sign in with ${signIn}.`
)

const tokenForm = /^rg_(test|live|sess)_[0-9A-Za-z]{20,100}$/

/** What a credential's own form says against it, before any look-up; null when it may be looked up. */
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
    const remembered = new Map<string, { readonly principal: Principal; readonly until: number }>()

    const remember = (name: string, principal: Principal, now: number) => {
      if (remembered.size >= rememberMax) remembered.clear()
      remembered.set(name, { principal, until: now + rememberMillis })
    }

    const lookUp = Effect.fnUntraced(function* (credential: Redacted.Redacted, mayRemember: boolean) {
      if (!mayRemember) return Option.getOrNull(yield* accounts.principal(credential))
      const now = yield* Clock.currentTimeMillis
      const name = Buffer.from(digest(Redacted.value(credential))).toString("base64")
      const known = remembered.get(name)
      if (known !== undefined && known.until > now) return known.principal
      const principal = Option.getOrNull(yield* accounts.principal(credential))
      // A session has no second check at admission, so it is never remembered.
      if (principal !== null && principal.key_id !== null) remember(name, principal, now)
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
        yield* admit(yield* limits.request(caller), withThisKey)
        if (takesBody(endpoint)) yield* checkedBody((requests) => limits.request(caller, requests), withThisKey)
        if (principal.key_id !== null) accounts.used(principal.key_id)
        return yield* Effect.provideService(httpEffect, CurrentCaller, principal)
      })
    })
  })
)
