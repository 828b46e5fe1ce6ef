/** Sessions of operators in the console: sign-in with a printed link, and sign-out. */
import { Effect, Redacted, Schema } from "effect"
import { OperatorSessions } from "../../../layers/operator/OperatorSessions.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { problem } from "../../../schema/Errors.ts"
import { OperatorSession } from "../../../schema/nouns/operator/Session.ts"
import { clearOperatorCookie, makeAsOperator, setOperatorCookie } from "../../access/OperatorCookie.ts"
import { requireOwnPage } from "../../access/SessionCookie.ts"
import { group } from "../group.ts"
import { CurrentOperator, type Operator } from "../../api/operator/OperatorAuth.ts"
import { RequestContext } from "../../middleware/RequestContext.ts"

const badLink = problem(
  "unauthorized",
  "This sign-in link is unknown, was used, or has expired. Print a new one on the server with: rungate admin console"
)

const sessionJson = Schema.encodeSync(OperatorSession)
const shown = (session: Operator) => sessionJson(session)

export const OperatorSessionsHandlers = group(
  "operatorSession",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* OperatorSessions
    const asOperator = yield* makeAsOperator
    const { publicUrl } = yield* Settings
    const ownPage = requireOwnPage(publicUrl)
    return handlers.handleAll({
      signIn: Effect.fnUntraced(function* ({ payload }) {
        yield* ownPage
        const { address } = yield* RequestContext
        const opened = yield* sessions.open(Redacted.make(payload.token), address)
        if (opened === null) return yield* Effect.fail(badLink)
        yield* setOperatorCookie(opened.token, opened.session.expires_at)
        return shown(opened.session)
      }),

      get: () => Effect.map(CurrentOperator, shown),

      signOut: Effect.fnUntraced(function* () {
        const { session_id } = yield* CurrentOperator
        yield* asOperator(sessions.end(session_id))
        yield* clearOperatorCookie
        return { signed_out: true }
      })
    })
  })
)
