/** Sign-up and sign-in. Attempts are limited before a password is looked at, because looking at one costs a third of a second. */
import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts, type Opened, type SessionRow } from "../../layers/Accounts.ts"
import { Referrals } from "../../layers/Referrals.ts"
import { SignInAddresses } from "../../layers/SignInAddresses.ts"
import { Settings } from "../../layers/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { dollars } from "../../schema/Money.ts"
import { codeOf } from "../../schema/Referral.ts"
import { Api } from "../api/Api.ts"
import { admit } from "../Door.ts"
import { Limits } from "../Limits.ts"
import { RequestContext } from "../RequestContext.ts"

const view = (session: SessionRow) => ({
  expires_at: session.expires_at.toISOString(),
  organization: { id: session.org_id, name: session.organization },
  user: { id: session.user_id, email: session.email }
})
const opened = ({ token, session }: Opened) => ({ session_token: Redacted.value(token), ...view(session) })

/** New organizations in production start with a daily limit, so that a leaked key can't empty a wallet in a night. */
const dailyLimitInProduction = dollars("100.00")

const refusedField = (path: string, message: string) =>
  problem("invalid_request", `${path} ${message}`, [{ path, message }])

const emailTaken = refusedField("email", "already has an account; sign in instead")
const codeRefused = {
  unknown_code: refusedField("referral_code", "is not a known referral code; leave it out"),
  known_person: refusedField(
    "referral_code",
    "is for people who are new here, and this e-mail address, or another spelling of it, has an account already; leave it out"
  )
}

const needsSession = problem("forbidden", "This needs a session token (rg_sess_…); sign in with POST /v1/auth/sign-in.")

/** Auth has checked the token; here it is read once more to see which session it is. */
const bearer = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  Redacted.make((request.headers["authorization"] ?? "").replace(/^bearer\s+/i, ""))
)

export const SessionsHandlers = HttpApiBuilder.group(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const addresses = yield* SignInAddresses
    const limits = yield* Limits
    const referrals = yield* Referrals
    const { mode, referral: terms } = yield* Settings

    const allow = Effect.fnUntraced(function* (email: string, address: string, isKnown: Effect.Effect<boolean>) {
      yield* admit(yield* limits.attempt(email, address, isKnown), "attempts")
    })

    return handlers.handleAll({
      signUp: Effect.fnUntraced(function* ({ payload }) {
        const { email } = payload
        const { address } = yield* RequestContext
        // No password is guessed here, so nobody is slowed for those that are guessed elsewhere.
        yield* allow(email, address, Effect.succeed(true))
        const typed = payload.referral_code ?? null
        const code = typed === null ? null : codeOf(typed)
        if (typed !== null && code === null) return yield* Effect.fail(codeRefused.unknown_code)
        if (code !== null)
          yield* referrals.admit(code, email).pipe(Effect.catch(({ reason }) => Effect.fail(codeRefused[reason])))
        return yield* accounts
          .signUp({
            email,
            password: Redacted.make(payload.password),
            organization: payload.organization,
            daily_limit: mode === "production" ? dailyLimitInProduction : null,
            joining: (org_id) => (code === null ? Effect.void : referrals.refer({ org_id, email, code, terms }))
          })
          .pipe(
            Effect.map(opened),
            Effect.catch((refused) =>
              Effect.fail(refused._tag === "EmailTaken" ? emailTaken : codeRefused[refused.reason])
            )
          )
      }),

      signIn: Effect.fnUntraced(function* ({ payload }) {
        const { email } = payload
        const { address } = yield* RequestContext
        yield* allow(email, address, addresses.isKnown(email, address))
        const session = yield* accounts.signIn(email, Redacted.make(payload.password))
        if (Option.isSome(session)) {
          yield* addresses.remember(session.value.session.user_id, address)
          return opened(session.value)
        }
        yield* limits.failedAttempt(email)
        return yield* Effect.fail(problem("unauthorized", "The e-mail or the password is wrong."))
      }),

      signOut: Effect.fnUntraced(function* () {
        const token = yield* bearer
        if (Option.isNone(yield* accounts.session(token))) return yield* Effect.fail(needsSession)
        yield* accounts.signOut(token)
        return { signed_out: true }
      }),

      session: Effect.fnUntraced(function* () {
        const found = yield* accounts.session(yield* bearer)
        return Option.isSome(found) ? view(found.value) : yield* Effect.fail(needsSession)
      })
    })
  })
)
