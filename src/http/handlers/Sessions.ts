/** Sign-up, sign-in and sessions of programs. Browsers get theirs as a cookie (control/BrowserSessions.ts). */
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts, type NewSession, type SessionRow } from "../../layers/accounts/Accounts.ts"
import { Passwords } from "../../layers/accounts/Passwords.ts"
import { Members } from "../../layers/members/Members.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { forgetSessionCookie } from "../access/SessionCookie.ts"
import { Api } from "../api/Api.ts"
import { bearer, makeAsCaller, needsSession } from "../middleware/Bearer.ts"
import { makeSignIn } from "../pages/SignIn.ts"
import { makeSignUp } from "../pages/SignUp.ts"
import { sessionView } from "../views/SessionView.ts"

export const SessionsHandlers = HttpApiBuilder.group(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const members = yield* Members
    const passwords = yield* Passwords
    const asCaller = yield* makeAsCaller
    const settings = yield* Settings
    const signIn = yield* makeSignIn
    const signUp = yield* makeSignUp

    const shown = (session: SessionRow) => sessionView(settings, session)
    const opened = ({ token, session }: NewSession) => ({ session_token: Redacted.value(token), ...shown(session) })

    return handlers.handleAll({
      signUp: ({ payload }) => Effect.map(signUp(payload), opened),

      signIn: ({ payload }) => Effect.map(signIn(payload), opened),

      signOut: Effect.fnUntraced(function* () {
        const token = yield* bearer
        if (Option.isNone(yield* accounts.session(token))) return yield* Effect.fail(needsSession)
        yield* asCaller(accounts.signOut(token))
        yield* forgetSessionCookie
        return { signed_out: true }
      }),

      endSessions: Effect.fnUntraced(function* () {
        const mine = yield* accounts.session(yield* bearer)
        if (Option.isNone(mine)) return yield* Effect.fail(needsSession)
        const sessions_ended = yield* asCaller(passwords.endSessions(mine.value.user_id))
        yield* forgetSessionCookie
        return { sessions_ended }
      }),

      session: Effect.fnUntraced(function* () {
        const mine = yield* accounts.session(yield* bearer)
        if (Option.isNone(mine)) return yield* Effect.fail(needsSession)
        const organizations = yield* members.of(mine.value.user_id)
        return {
          ...shown(mine.value),
          organizations: organizations.map(({ org_id, name, role }) => ({ id: org_id, name, role }))
        }
      })
    })
  })
)
