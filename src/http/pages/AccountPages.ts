/** The pages behind links in e-mails: verify an address, request and set a new password, accept an invitation. */
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { AccountMails } from "../../actors/accounts/AccountMails.ts"
import { Invitations } from "../../layers/accounts/Invitations.ts"
import { Mails } from "../../layers/accounts/Mails.ts"
import { Passwords } from "../../layers/accounts/Passwords.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { forgotPath, invitationPath, resetPath, verifyPath } from "../../schema/accounts/AccountMail.ts"
import { Email, LinkToken, Name, NewPassword, passwordLengthMin } from "../api/shapes/AccountFields.ts"
import { allowAttempt, linkAccount } from "../middleware/Attempts.ts"
import { badLink, form, formPage, hidden, opened, openedLink, wrong } from "./Forms.ts"
import { Limits } from "../middleware/Limits.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { escaped, page } from "./Page.ts"
import { makeSignUp } from "./SignUp.ts"

const passwords = `<label>New password, at least ${passwordLengthMin} characters
<input type="password" name="password" minlength="${passwordLengthMin}" maxlength="500" autocomplete="new-password" required></label>
<label>The same password again
<input type="password" name="again" autocomplete="new-password" required></label>`

const signInHint = `<p>Sign in with <code>rungate login</code>, or with <code>POST /v1/auth/sign-in</code>.</p>`
const askAgain = `<p><a href="${forgotPath.slice(1)}">Request another link</a>.</p>`
const expiredVerification = badLink(
  `<p>Sign in, and request another one: <code>rungate api POST /v1/auth/verify-email/resend</code>.</p>`
)
const expiredInvitation = badLink("<p>Ask the person who invited you for another invitation.</p>")

const TokenForm = Schema.Struct({ token: LinkToken })
const ForgotForm = Schema.Struct({ email: Email })
const ResetForm = Schema.Struct({ token: LinkToken, password: NewPassword, again: Schema.String })
const InvitationForm = Schema.Struct({ ...ResetForm.fields, organization: Name })

const same = (password: string, again: string) =>
  password === again ? Effect.void : Effect.fail(wrong("The two passwords differ."))

const forgotten = page(
  200,
  "Set a new password",
  `<p>A link to set a new password is mailed to the address of your account.</p>${form(`<label>E-mail address <input type="email" name="email" maxlength="254" autocomplete="email" required></label>`, "Send the link")}`
)

export const AccountPages = Layer.unwrap(
  Effect.gen(function* () {
    const limits = yield* Limits
    const links = yield* Passwords
    const mails = yield* Mails
    const accountMails = yield* AccountMails
    const invitations = yield* Invitations
    const signUp = yield* makeSignUp
    const address = addressOf(yield* Settings)

    const verify = Effect.gen(function* () {
      const { token } = yield* HttpServerRequest.schemaBodyUrlParams(TokenForm)
      yield* allowAttempt(limits, linkAccount(token))
      const email = yield* links.verifyEmail(Redacted.make(token)).pipe(
        Effect.catchTags({
          LinkRefused: () => Effect.fail(expiredVerification),
          AddressTaken: () =>
            Effect.fail(wrong("Another account has verified this address meanwhile. Sign in to that account."))
        })
      )
      const text = `<p>${escaped(email)} is verified, and your account is ready.</p>${signInHint}`
      return page(200, "Your address is verified", text)
    })

    const forgot = Effect.gen(function* () {
      const { email } = yield* HttpServerRequest.schemaBodyUrlParams(ForgotForm)
      yield* allowAttempt(limits, email)
      yield* mails.resetAsked(email)
      yield* accountMails.wake
      const text = "<p>If this address has an account, a link is on its way. It works once, within an hour.</p>"
      return page(200, "Check your mailbox", text)
    })

    const reset = Effect.gen(function* () {
      const { token, password, again } = yield* HttpServerRequest.schemaBodyUrlParams(ResetForm)
      yield* allowAttempt(limits, linkAccount(token))
      yield* same(password, again)
      const email = yield* links
        .reset(Redacted.make(token), Redacted.make(password), (yield* RequestContext).address)
        .pipe(Effect.catchTag("LinkRefused", () => Effect.fail(badLink(askAgain))))
      const text = `<p>The password of ${escaped(email)} is new, and all its sessions have ended.</p>${signInHint}`
      return page(200, "Your password is set", text)
    })

    const invitation = Effect.fnUntraced(function* (token: string) {
      const email = yield* invitations.email(Redacted.make(token))
      if (Option.isNone(email)) return null
      const name = `<label>Name of your organization <input name="organization" maxlength="200" required></label>`
      return page(
        200,
        "You are invited to Rungate",
        `<p>Rungate runs data and outreach jobs for you, and you pay per run from one prepaid wallet. This invitation is for ${escaped(email.value)}.</p>${form(hidden(token) + name + passwords, "Sign up")}`
      )
    })

    const redeem = Effect.gen(function* () {
      const { token, password, again, organization } = yield* HttpServerRequest.schemaBodyUrlParams(InvitationForm)
      yield* allowAttempt(limits, linkAccount(token))
      yield* same(password, again)
      const email = yield* invitations.email(Redacted.make(token))
      if (Option.isNone(email)) return expiredInvitation
      yield* signUp({ email: email.value, password, organization, invitation: token })
      return page(200, "Your account is ready", `<p>You are signed up as ${escaped(email.value)}.</p>${signInHint}`)
    })

    const confirms = `This confirms that the address is yours, and that you signed up at ${escaped(address)}.`
    const sets = "A new password ends all your sessions and removes your passkeys."
    return Layer.mergeAll(
      formPage(verifyPath, opened("Verify your e-mail address", confirms, "", "Verify the address"), verify),
      formPage(forgotPath, Effect.succeed(forgotten), forgot),
      formPage(resetPath, opened("Set a new password", sets, passwords, "Set the password"), reset),
      formPage(invitationPath, openedLink(expiredInvitation, invitation), redeem)
    )
  })
)
