/** Sessions of browsers: the same sign-in, sign-up and invitations as for programs, with the token in a cookie. */
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts, type NewSession } from "../../../layers/accounts/Accounts.ts"
import { Members } from "../../../layers/members/Members.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { problem } from "../../../schema/Errors.ts"
import { requireOwnPage, setSessionCookie } from "../../access/SessionCookie.ts"
import { Api } from "../../api/Api.ts"
import { bearer } from "../../middleware/Bearer.ts"
import { makeAccept } from "../../pages/AcceptInvitation.ts"
import { makeSignIn } from "../../pages/SignIn.ts"
import { makeSignUp } from "../../pages/SignUp.ts"
import { shownSession } from "./shownSession.ts"

const notMember = problem("invalid_request", "organization_id is not an organization of yours.", [
  { path: "organization_id", message: "is not an organization of yours; GET /v1/auth/session lists them" }
])

export const BrowserSessionsHandlers = HttpApiBuilder.group(
  Api,
  "browser",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const members = yield* Members
    const settings = yield* Settings
    const accept = yield* makeAccept
    const signIn = yield* makeSignIn
    const signUp = yield* makeSignUp
    const ownPage = requireOwnPage(settings.publicUrl)

    const opened = Effect.fnUntraced(function* ({ token, session }: NewSession) {
      yield* setSessionCookie(token, session.expires_at)
      return shownSession(settings, session)
    })

    return handlers.handleAll({
      signIn: ({ payload }) => Effect.andThen(ownPage, Effect.flatMap(signIn(payload), opened)),
      signUp: ({ payload }) => Effect.andThen(ownPage, Effect.flatMap(signUp(payload), opened)),
      accept: ({ payload }) =>
        Effect.andThen(ownPage, Effect.flatMap(accept(payload.token, payload.password, payload.code ?? null), opened)),
      switch: Effect.fnUntraced(function* ({ payload: { organization_id } }) {
        yield* ownPage
        const token = yield* members.switchTo(yield* bearer, organization_id)
        const session = token === null ? Option.none() : yield* accounts.session(token)
        if (token === null || Option.isNone(session)) return yield* Effect.fail(notMember)
        return yield* opened({ token, session: session.value })
      })
    })
  })
)
