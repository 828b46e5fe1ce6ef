/** A session as sign-in, sign-up, invitations and `GET /v1/auth/session` answer it. */
import { Schema } from "effect"
import type { SessionRow } from "../../../layers/accounts/Accounts.ts"
import type { SettingsShape } from "../../../layers/platform/Settings.ts"
import { Session } from "../../../schema/nouns/Session.ts"
import { mustVerify } from "../../middleware/Verified.ts"

const sessionJson = Schema.encodeSync(Session)

export const shownSession = (settings: Pick<SettingsShape, "emailVerification">, session: SessionRow) =>
  sessionJson({
    ...session,
    organization: { id: session.org_id, name: session.organization },
    user: { id: session.user_id, email: session.email },
    ...(mustVerify(settings, session.pending) ? { verification: "pending" as const } : {})
  })
