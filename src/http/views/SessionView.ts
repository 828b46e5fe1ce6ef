/** A session as the API shows it. */
import type { SessionRow } from "../../layers/accounts/Accounts.ts"
import type { SettingsShape } from "../../layers/platform/Settings.ts"
import { mustVerify } from "../middleware/Verified.ts"

export const sessionView = (settings: Pick<SettingsShape, "emailVerification">, session: SessionRow) => ({
  expires_at: session.expires_at.toISOString(),
  organization: { id: session.org_id, name: session.organization },
  user: { id: session.user_id, email: session.email },
  role: session.role,
  ...(mustVerify(settings, session.pending) ? { verification: "pending" as const } : {})
})
