/**
 * Bearer token to caller. Every request asks the database, so revocation is immediate; only `POST /v1/run` may use what the
 * process remembers, because admission checks the key again in the statement that admits.
 */
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { Accounts, digest, type Principal } from "../../layers/accounts/Accounts.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { Auth, CurrentCaller } from "../api/shapes/Common.ts"
import { admit, checkedBody, takesBody } from "./Door.ts"
import { Limits } from "./Limits.ts"

/** How long a key may be remembered for admission, and how many. */
const rememberMillis = 30_000
const rememberMax = 10_000

const unauthorized = problem(
  "unauthorized",
  "Send an API key or a session token: Authorization: Bearer rg_…; this one is missing, unknown, revoked or of the other environment."
)

const withThisKey = "requests with this key"

export const AuthLayer = Layer.effect(
  Auth,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const limits = yield* Limits
    const { mode } = yield* Settings
    const environment = mode === "sandbox" ? "test" : "live"
    const remembered = new Map<string, { readonly principal: Principal; readonly until: number }>()

    const remember = (name: string, principal: Principal, now: number) => {
      if (remembered.size >= rememberMax) remembered.clear()
      remembered.set(name, { principal, until: now + rememberMillis })
    }

    const lookUp = Effect.fnUntraced(function* (credential: Redacted.Redacted, mayRemember: boolean) {
      const text = Redacted.value(credential)
      if (!/^rg_(test|live|sess)_[0-9A-Za-z]{20,100}$/.test(text)) return null
      if (!mayRemember) return Option.getOrNull(yield* accounts.principal(credential))
      const now = yield* Clock.currentTimeMillis
      const name = Buffer.from(digest(text)).toString("base64")
      const known = remembered.get(name)
      if (known !== undefined && known.until > now) return known.principal
      const principal = Option.getOrNull(yield* accounts.principal(credential))
      // A session has no second check at admission, so it is never remembered.
      if (principal !== null && principal.key_id !== null) remember(name, principal, now)
      return principal
    })

    return Auth.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential, endpoint }) {
        const principal = yield* lookUp(credential, endpoint.identifier === "run")
        if (principal === null || (principal.environment !== null && principal.environment !== environment)) {
          return yield* Effect.fail(unauthorized)
        }
        const caller = principal.key_id ?? principal.user_id ?? principal.org_id
        yield* admit(yield* limits.request(caller), withThisKey)
        if (takesBody(endpoint)) yield* checkedBody((requests) => limits.request(caller, requests), withThisKey)
        if (principal.key_id !== null) accounts.used(principal.key_id)
        return yield* Effect.provideService(httpEffect, CurrentCaller, principal)
      })
    })
  })
)
