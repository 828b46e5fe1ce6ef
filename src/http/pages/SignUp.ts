/**
 * Sign-up, shared by the API and the invitation page: who may sign up, what is stored for a new organization, and which e-mail is sent.
 *
 * If e-mail verification is on, the response does not reveal whether the address has an account. The organization is created either way, and only
 * the mail to the address says more.
 */
import { Effect, Option, Redacted } from "effect"
import { AccountMails } from "../../actors/accounts/AccountMails.ts"
import { Accounts, type EmailTaken, type JoiningRefused, type NewUser } from "../../layers/accounts/Accounts.ts"
import { Directory } from "../../layers/accounts/Directory.ts"
import { Invitations } from "../../layers/accounts/Invitations.ts"
import { Mails } from "../../layers/accounts/Mails.ts"
import { Referrals } from "../../layers/accounts/Referrals.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem, refused } from "../../schema/Errors.ts"
import { dollars } from "../../schema/money/Money.ts"
import { codeOf } from "../../schema/wallet/Referral.ts"
import type { SignUpRequest } from "../api/shapes/Credentials.ts"
import { allowAttempt } from "../middleware/Attempts.ts"
import { Limits } from "../middleware/Limits.ts"
import { RequestContext } from "../middleware/RequestContext.ts"

/** New organizations in production start with a daily limit, so that a leaked key can't empty a wallet in a night. */
const dailyLimitInProduction = dollars("100.00")

const emailTaken = refused("email", "already has an account; sign in instead")
const codeRefused = {
  unknown_code: refused("referral_code", "is not an existing referral code; leave it out"),
  known_person: refused(
    "referral_code",
    "is for new customers only, and this e-mail address or another spelling of it has an account already; leave it out"
  )
}

const closed = problem("forbidden", "Sign-up is closed. Ask the operator of this service to open it.")
const needsInvitation = problem(
  "forbidden",
  "Sign-up here is by invitation: ask the operator of this service for a link (rungate admin invite), and send its token in the field invitation."
)
const invitationRefused = refused(
  "invitation",
  "is not valid for this address: it was used, expired after a week, or is for another address; ask the operator for another one"
)

export const makeSignUp = Effect.gen(function* () {
  const accounts = yield* Accounts
  const limits = yield* Limits
  const referrals = yield* Referrals
  const invitations = yield* Invitations
  const directory = yield* Directory
  const mails = yield* Mails
  const accountMails = yield* AccountMails
  const { emailVerification, mode, referral: terms, signUp } = yield* Settings

  /** The token of an invitation that this address can redeem. Null if none was given and none is needed. */
  const invitationOf = Effect.fnUntraced(function* (given: string | null, email: string) {
    if (signUp === "closed") return yield* Effect.fail(closed)
    if (given === null) return signUp === "invite" ? yield* Effect.fail(needsInvitation) : null
    const token = Redacted.make(given)
    const invited = yield* invitations.email(token)
    if (Option.isNone(invited) || invited.value.toLowerCase() !== email.toLowerCase()) return yield* invitationRefused
    return token
  })

  const refusal = (why: EmailTaken | JoiningRefused) => {
    if (why._tag === "EmailTaken") return emailTaken
    return why._tag === "ReferralRefused" ? codeRefused[why.reason] : invitationRefused
  }

  /** `vouched`: somebody has verified the address already, and this is to be stored with the account. */
  return Effect.fnUntraced(function* (
    payload: SignUpRequest,
    vouched: ((user: NewUser) => Effect.Effect<void>) | null = null
  ) {
    const { email } = payload
    yield* allowAttempt(limits, email)
    const invitation = yield* invitationOf(payload.invitation ?? null, email)
    // The operator sent the invitation to this address, so it needs no verification.
    const address = invitation !== null || vouched !== null ? "verified" : emailVerification ? "pending" : "trusted"
    const typed = payload.referral_code ?? null
    const code = typed === null ? null : codeOf(typed)
    if (typed !== null && code === null) return yield* codeRefused.unknown_code
    const trustedEmail = address === "pending" ? null : email
    if (code !== null)
      yield* referrals.admit(code, trustedEmail).pipe(Effect.catch(({ reason }) => codeRefused[reason]))
    if (trustedEmail !== null) yield* directory.claim(trustedEmail).pipe(Effect.catch(() => emailTaken))
    const account = yield* accounts
      .signUp({
        email,
        password: Redacted.make(payload.password),
        organization: payload.organization,
        daily_limit: mode === "production" ? dailyLimitInProduction : null,
        address,
        client: (yield* RequestContext).address,
        joining: Effect.fnUntraced(function* ({ org_id, user_id }) {
          if (code !== null) yield* referrals.refer({ org_id, email: trustedEmail, code, terms })
          if (invitation !== null) yield* invitations.redeem(invitation, email, org_id)
          if (vouched !== null) yield* vouched({ org_id, user_id })
          if (address === "pending") yield* mails.signedUp(user_id, email)
        })
      })
      .pipe(Effect.catch(refusal))
    if (address === "pending") yield* accountMails.wake
    return account
  })
})
