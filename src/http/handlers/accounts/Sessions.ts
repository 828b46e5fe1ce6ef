/** Sign-up, sign-in and sessions of programs. Browsers get theirs as a cookie (BrowserSessions.ts). */
import { Effect, Redacted, Schema } from "effect"
import { Accounts, type NewSession, type SessionRow } from "../../../layers/accounts/Accounts.ts"
import { Passwords } from "../../../layers/accounts/Passwords.ts"
import { type OpenSessionRow, Sessions } from "../../../layers/accounts/Sessions.ts"
import { Members } from "../../../layers/members/Members.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { problem } from "../../../schema/Errors.ts"
import { OpenSession } from "../../../schema/nouns/Session.ts"
import { shownName } from "../../../schema/json/StorableText.ts"
import { forgetSessionCookie } from "../../access/SessionCookie.ts"
import { group } from "../group.ts"
import { makeAsCaller, makeOwnSession } from "../../middleware/Bearer.ts"
import { makeSignIn } from "../../pages/SignIn.ts"
import { makeSignUp } from "../../pages/SignUp.ts"
import { shownSession } from "./shownSession.ts"

const openSessionJson = Schema.encodeSync(OpenSession)
const openSessionView = (row: OpenSessionRow) =>
  openSessionJson({ ...row, organization: { id: row.org_id, name: row.organization } })

const unknownSession = (session_id: string) =>
  problem("not_found", `You have no open session "${shownName(session_id)}". List them with GET /v1/auth/sessions.`, [
    { path: "path.session_id", message: "is not an open session of yours" }
  ])

export const SessionsHandlers = group(
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const members = yield* Members
    const passwords = yield* Passwords
    const openSessions = yield* Sessions
    const asCaller = yield* makeAsCaller
    const settings = yield* Settings
    const own = yield* makeOwnSession
    const signIn = yield* makeSignIn
    const signUp = yield* makeSignUp

    const shown = (session: SessionRow) => shownSession(settings, session)
    const opened = ({ token, session }: NewSession) => ({ session_token: Redacted.value(token), ...shown(session) })

    return handlers.handleAll({
      signUp: ({ payload }) => Effect.map(signUp(payload), opened),

      signIn: ({ payload }) => Effect.map(signIn(payload), opened),

      signOut: Effect.fnUntraced(function* () {
        const { token } = yield* own
        yield* asCaller(accounts.signOut(token))
        yield* forgetSessionCookie
        return { signed_out: true }
      }),

      endSessions: Effect.fnUntraced(function* () {
        const { user_id } = yield* own
        const sessions_ended = yield* asCaller(passwords.endSessions(user_id))
        yield* forgetSessionCookie
        return { sessions_ended }
      }),

      sessions: Effect.fnUntraced(function* () {
        const { user_id, token } = yield* own
        const rows = yield* openSessions.list(user_id, token)
        return { items: rows.map(openSessionView), next_cursor: null }
      }),

      endSession: Effect.fnUntraced(function* ({ params: { session_id } }) {
        const { user_id, token } = yield* own
        const ended = yield* asCaller(openSessions.end(user_id, session_id, token))
        if (ended === null) return yield* Effect.fail(unknownSession(session_id))
        if (ended.current) yield* forgetSessionCookie
        return { id: session_id, ended: true as const }
      }),

      session: Effect.fnUntraced(function* () {
        const mine = yield* own
        const organizations = yield* members.of(mine.user_id)
        return {
          ...shown(mine),
          organizations: organizations.map(({ org_id, name, role }) => ({ id: org_id, name, role }))
        }
      })
    })
  })
)
