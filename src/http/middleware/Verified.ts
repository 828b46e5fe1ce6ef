/**
 * Requires a verified e-mail address of people who create a key, run or pay. Operations that need it state `verified` (CallerChecks.ts).
 *
 * Requests with an API key need no check here, because creating the key required it.
 */
import type { Caller } from "../../schema/accounts/KeyAccess.ts"
import type { SettingsShape } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { withCommands } from "../../schema/Hints.ts"
import { viaApi } from "../../schema/Steps.ts"

const unverified = problem(
  "forbidden",
  withCommands`Verify your e-mail address first: open the link that was mailed to you. To get another one, call ${viaApi("POST", "/v1/auth/verify-email/resend")} with your session token.`
)

/** Whether the user of a session still has to verify the e-mail address. */
export const mustVerify = (
  { emailVerification }: Pick<SettingsShape, "emailVerification">,
  pending: boolean
): boolean => emailVerification && pending

/** Why a caller may not do it yet. Null for one who has nothing left to verify. */
export const verificationProblem = (settings: Pick<SettingsShape, "emailVerification">, { pending }: Caller) =>
  mustVerify(settings, pending) ? unverified : null
