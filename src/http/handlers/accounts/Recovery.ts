/** E-mail verification and passwords. The pages behind links (AccountPages.ts) redeem the same tokens through the same layer. */
import { Effect, Redacted } from "effect"
import { AccountMails } from "../../../actors/accounts/AccountMails.ts"
import { Mails } from "../../../layers/accounts/Mails.ts"
import { SecondFactors } from "../../../layers/accounts/SecondFactors.ts"
import { Passwords } from "../../../layers/accounts/Passwords.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { group } from "../group.ts"
import { allowAttempt, linkAccount } from "../../middleware/Attempts.ts"
import { makeAsCaller, makeOwnSession } from "../../middleware/Bearer.ts"
import { allowCode, codeRefused } from "../../pages/SignIn.ts"
import { makeWithPassword } from "./withPassword.ts"
import { RequestContext } from "../../middleware/RequestContext.ts"
import { Limits } from "../../middleware/Limits.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { viaApi, resetPassword } from "../../../schema/Steps.ts"

const expiredVerification = refused(
  "token",
  withCommands`is not valid: the link was used, or has expired. Sign in, and get another one with ${viaApi("POST", "/v1/auth/verify-email/resend")}`
)
const expiredReset = refused(
  "token",
  withCommands`is not valid: the link was used, or has expired. Ask for another one with ${resetPassword}`
)
const addressTaken = refused("token", "is for an address that another account has verified; sign in to that account")
const wrongCode = refused(
  "code",
  "is wrong, too old, or was used before; send the app's next code for the secret that was started last"
)
const alreadyOn = problem(
  "invalid_request",
  withCommands`Your account has a second factor already. Remove it first with ${viaApi("POST", "/v1/auth/second-factor/remove")}`
)
const noEncryptionKey = problem(
  "invalid_request",
  "This service can't store the secret of an authenticator app, because it has no key to encrypt it with. The operator can set RUNGATE_ENCRYPTION_KEY. A passkey has no secret here: add one instead."
)

const accepted = {
  status: "accepted" as const,
  note: "If this address has an account, a link to set a new password is on its way. It works once, within an hour."
}

export const RecoveryHandlers = group(
  "recovery",
  Effect.fnUntraced(function* (handlers) {
    const limits = yield* Limits
    const mails = yield* Mails
    const accountMails = yield* AccountMails
    const passwords = yield* Passwords
    const factors = yield* SecondFactors
    const asCaller = yield* makeAsCaller

    const session = yield* makeOwnSession
    const withPassword = yield* makeWithPassword

    return handlers.handleAll({
      verifyEmail: Effect.fnUntraced(function* ({ payload: { token } }) {
        yield* allowAttempt(limits, linkAccount(token))
        const email = yield* passwords.verifyEmail(Redacted.make(token)).pipe(
          Effect.catchTags({
            LinkRefused: () => expiredVerification,
            AddressTaken: () => addressTaken
          })
        )
        return { verified: true as const, email }
      }),

      resendVerification: Effect.fnUntraced(function* () {
        const { user_id, email, pending } = yield* session
        if (!pending) return { verification: "not_needed" as const }
        yield* allowAttempt(limits, email)
        yield* mails.signedUp(user_id, email)
        yield* accountMails.wake
        return { verification: "sent" as const }
      }),

      changePassword: Effect.fnUntraced(function* ({ payload: { current_password, new_password } }) {
        const { address } = yield* RequestContext
        yield* withPassword(current_password, (mine, current) =>
          passwords.change(mine, current, Redacted.make(new_password), address)
        )
        return { password_changed: true as const }
      }),

      secondFactor: () => Effect.flatMap(session, ({ user_id }) => factors.state(user_id)),

      startSecondFactor: Effect.fnUntraced(function* ({ payload: { current_password } }) {
        const { user_id, email } = yield* withPassword(current_password)
        return yield* asCaller(factors.start(user_id, email)).pipe(
          Effect.catchTags({
            AlreadyOn: () => Effect.fail(alreadyOn),
            NoEncryptionKey: () => Effect.fail(noEncryptionKey)
          })
        )
      }),

      confirmSecondFactor: Effect.fnUntraced(function* ({ payload: { code } }) {
        const { user_id, email } = yield* session
        yield* allowCode(limits, email, code)
        const recovery_codes = yield* asCaller(factors.confirm(user_id, code)).pipe(
          Effect.catchTag("WrongCode", () => wrongCode)
        )
        yield* accountMails.wake
        return { recovery_codes }
      }),

      removeSecondFactor: Effect.fnUntraced(function* ({ payload: { current_password, code } }) {
        const { user_id, email } = yield* withPassword(current_password)
        yield* allowCode(limits, email, code)
        yield* factors.check(user_id, code).pipe(Effect.catchTags(codeRefused(limits, email, "invalid_request")))
        yield* asCaller(factors.remove(user_id))
        yield* accountMails.wake
        return { removed: true as const }
      }),

      requestPasswordReset: Effect.fnUntraced(function* ({ payload: { email } }) {
        yield* allowAttempt(limits, email)
        yield* mails.resetAsked(email)
        yield* accountMails.wake
        return accepted
      }),

      resetPassword: Effect.fnUntraced(function* ({ payload: { token, new_password } }) {
        yield* allowAttempt(limits, linkAccount(token))
        const email = yield* passwords
          .reset(Redacted.make(token), Redacted.make(new_password), (yield* RequestContext).address)
          .pipe(Effect.catchTag("LinkRefused", () => expiredReset))
        return { password_changed: true as const, email }
      })
    })
  })
)
