/** Accepting an invitation to an organization, shared by the API and the page behind the invitation's link. */
import { Effect, Option, Redacted } from "effect"
import { AccountMails } from "../../actors/accounts/AccountMails.ts"
import { SignInAddresses } from "../../layers/accounts/SignInAddresses.ts"
import { MemberInvitations } from "../../layers/members/MemberInvitations.ts"
import { problem, refused } from "../../schema/Errors.ts"
import { withCommands } from "../../schema/Hints.ts"
import { resetPassword } from "../../schema/Steps.ts"
import { passwordLengthMin } from "../api/shapes/AccountFields.ts"
import { allowAttempt, linkAccount } from "../middleware/Attempts.ts"
import { Limits } from "../middleware/Limits.ts"
import { allowCode, codeRefused } from "./SignIn.ts"
import { RequestContext } from "../middleware/RequestContext.ts"

export const notInvited = refused(
  "token",
  "is not a valid invitation: it was used, withdrawn or replaced, or has expired after a week. Ask the person who invited you for another one"
)
const weak = refused("password", `must have at least ${passwordLengthMin} characters, because it is for a new account`)
const elsewhere = problem(
  "invalid_request",
  "This address has an account in another part of this service, so it can't join here. Ask for an invitation of another address, or ask the operator to move one of the organizations."
)
const wrongPassword = problem(
  "unauthorized",
  withCommands`This address has an account, and the password is not its password. Reset it with ${resetPassword}, then accept the invitation with the new one.`
)

export const makeAccept = Effect.gen(function* () {
  const addresses = yield* SignInAddresses
  const invitations = yield* MemberInvitations
  const limits = yield* Limits
  const accountMails = yield* AccountMails

  return Effect.fnUntraced(function* (text: string, password: string, code: string | null) {
    const token = Redacted.make(text)
    yield* allowAttempt(limits, linkAccount(text))
    const { address: client } = yield* RequestContext
    const invited = yield* invitations.open(token)
    const email = Option.isSome(invited) ? invited.value.email : ""
    // The password may be that of an account. So attempts count as at sign-in, whichever link they come with.
    if (Option.isSome(invited)) {
      yield* allowAttempt(limits, email, addresses.isKnown(email, client))
      yield* allowCode(limits, email, code)
    }
    const session = yield* invitations
      .accept(token, { password: Redacted.make(password), code, passwordLengthMin, client })
      .pipe(
        Effect.catchTags({
          NotInvited: () => notInvited,
          WeakPassword: () => weak,
          AddressElsewhere: () => Effect.fail(elsewhere),
          WrongAccountPassword: () => Effect.andThen(limits.failedAttempt(email), Effect.fail(wrongPassword)),
          ...codeRefused(limits, email, "unauthorized")
        })
      )
    yield* addresses.remember(session.session.user_id, client)
    if (session.session.pending) yield* accountMails.wake
    return session
  })
})
