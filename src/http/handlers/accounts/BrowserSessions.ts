/** Sessions of browsers: the same sign-in, sign-up and invitations as for programs, with the token in a cookie. */
import { Effect, Option } from "effect"
import { Accounts, type NewSession } from "../../../layers/accounts/Accounts.ts"
import { Passkeys, signInUse } from "../../../layers/accounts/Passkeys.ts"
import { SignInAddresses } from "../../../layers/accounts/SignInAddresses.ts"
import { Members } from "../../../layers/members/Members.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { problem } from "../../../schema/Errors.ts"
import { requireOwnPage, setSessionCookie } from "../../access/SessionCookie.ts"
import { makeSite } from "../../pages/PasskeySite.ts"
import { group } from "../group.ts"
import { allowAttempt } from "../../middleware/Attempts.ts"
import { bearer } from "../../middleware/Bearer.ts"
import { unknownSession } from "../../middleware/CallerChecks.ts"
import { Limits } from "../../middleware/Limits.ts"
import { RequestContext } from "../../middleware/RequestContext.ts"
import { makeAccept } from "../../pages/AcceptInvitation.ts"
import { makeSignIn, notMember } from "../../pages/SignIn.ts"
import { makeSignUp } from "../../pages/SignUp.ts"
import { shownSession } from "./shownSession.ts"

const notMemberOf = problem("invalid_request", "organization_id is not an organization of yours.", [
  { path: "organization_id", message: "is not an organization of yours; GET /v1/auth/session lists them" }
])

export const BrowserSessionsHandlers = group(
  "browser",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const members = yield* Members
    const settings = yield* Settings
    const accept = yield* makeAccept
    const signIn = yield* makeSignIn
    const signUp = yield* makeSignUp
    const addresses = yield* SignInAddresses
    const limits = yield* Limits
    const passkeys = yield* Passkeys
    const site = yield* makeSite
    const ownPage = requireOwnPage(settings.publicUrl)

    const opened = Effect.fnUntraced(function* ({ token, session }: NewSession) {
      yield* setSessionCookie(token, session.expires_at)
      return shownSession(settings, session)
    })

    return handlers.handleAll({
      signIn: ({ payload }) => Effect.andThen(ownPage, Effect.flatMap(signIn(payload), opened)),

      startPasskey: Effect.fnUntraced(function* () {
        yield* ownPage
        return { challenge: yield* passkeys.challenge(signInUse), rp_id: (yield* site).hostname }
      }),

      passkey: Effect.fnUntraced(function* ({ payload: { organization_id = null, ...given } }) {
        yield* ownPage
        yield* allowAttempt(limits, given.credential_id)
        const session = yield* passkeys.signIn(yield* site, given, organization_id)
        if (session === null) return yield* Effect.fail(notMember(organization_id))
        yield* addresses.remember(session.session.user_id, (yield* RequestContext).address)
        return yield* opened(session)
      }),

      signUp: ({ payload }) => Effect.andThen(ownPage, Effect.flatMap(signUp(payload), opened)),
      accept: ({ payload }) =>
        Effect.andThen(ownPage, Effect.flatMap(accept(payload.token, payload.password, payload.code ?? null), opened)),
      switch: Effect.fnUntraced(function* ({ payload: { organization_id } }) {
        yield* ownPage
        const token = yield* members.switchTo(yield* bearer, organization_id)
        if (token === null) return yield* Effect.fail(notMemberOf)
        const session = yield* accounts.session(token)
        // All sessions of the person were ended in between.
        if (Option.isNone(session)) return yield* Effect.fail(unknownSession)
        return yield* opened({ token, session: session.value })
      })
    })
  })
)
