/** Sign-up and sign-in. Attempts are limited before the password is checked, because a check takes about a third of a second. */
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts, type NewSession, type SessionRow } from "../../layers/accounts/Accounts.ts"
import { Passwords } from "../../layers/accounts/Passwords.ts"
import { Members } from "../../layers/members/Members.ts"
import { SignInAddresses } from "../../layers/accounts/SignInAddresses.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { Api } from "../api/Api.ts"
import { allowAttempt } from "../middleware/Attempts.ts"
import { bearer, makeAsCaller, needsSession } from "../middleware/Bearer.ts"
import { Limits } from "../middleware/Limits.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { makeSignUp } from "../pages/SignUp.ts"
import { sessionView } from "../views/SessionView.ts"

/** Whoever gets this has given the right password. */
const notMember = (organization_id: string | null) =>
  organization_id === null
    ? problem("forbidden", "Your account is in no organization. Ask the owner or an admin of one for an invitation.")
    : problem("invalid_request", "You are not a member of the organization organization_id.", [
        {
          path: "organization_id",
          message: "is not an organization of yours; leave it out to sign in to the default one"
        }
      ])

export const SessionsHandlers = HttpApiBuilder.group(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const addresses = yield* SignInAddresses
    const limits = yield* Limits
    const members = yield* Members
    const passwords = yield* Passwords
    const asCaller = yield* makeAsCaller
    const settings = yield* Settings
    const signUp = yield* makeSignUp

    const shown = (session: SessionRow) => sessionView(settings, session)
    const opened = ({ token, session }: NewSession) => ({ session_token: Redacted.value(token), ...shown(session) })

    return handlers.handleAll({
      signUp: ({ payload }) => Effect.map(signUp(payload), opened),

      signIn: Effect.fnUntraced(function* ({ payload }) {
        const { email } = payload
        const { address } = yield* RequestContext
        yield* allowAttempt(limits, email, addresses.isKnown(email, address))
        const session = yield* accounts
          .signIn(email, Redacted.make(payload.password), payload.organization_id ?? null)
          .pipe(Effect.catchTag("NotMember", () => Effect.fail(notMember(payload.organization_id ?? null))))
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
        yield* asCaller(accounts.signOut(token))
        return { signed_out: true }
      }),

      endSessions: Effect.fnUntraced(function* () {
        const mine = yield* accounts.session(yield* bearer)
        if (Option.isNone(mine)) return yield* Effect.fail(needsSession)
        return { sessions_ended: yield* asCaller(passwords.endSessions(mine.value.user_id)) }
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
