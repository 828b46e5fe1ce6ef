/** The contract of e-mail verification and passwords: what a person does with an account besides signing in. Attempts are rate-limited. */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { about, operation, own } from "../shapes/Common.ts"
import { Code, Email, LinkToken, NewPassword, Password } from "../shapes/AccountFields.ts"
import { component, email } from "../../../schema/nouns/Noun.ts"

const Verification = component("VerificationSent", {
  verification: Schema.Literals(["sent", "not_needed"])
})

export class RecoveryApi extends HttpApiGroup.make("recovery").add(
  about(
    "Verify an e-mail address",
    "The token is in the link that was mailed to the address. It works once, within three days."
  ).post("verifyEmail", "/auth/verify-email", {
    payload: component("VerifyEmailRequest", { token: LinkToken }),
    success: component("VerifiedEmail", { verified: Schema.Literal(true), email })
  }),
  own("Send the verification link again", "An address gets only a few mails per hour.").post(
    "resendVerification",
    "/auth/verify-email/resend",
    {
      success: Verification
    }
  ),
  own("Change the password", "Ends all your other sessions. API keys stay valid.").post(
    "changePassword",
    "/auth/password",
    {
      payload: component("PasswordChangeRequest", { current_password: Password, new_password: NewPassword }),
      success: component("PasswordChanged", { password_changed: Schema.Literal(true) })
    }
  ),
  own("Read the second factor", "Whether your sign-ins with the password need a code too.").get(
    "secondFactor",
    "/auth/second-factor",
    {
      success: component("SecondFactor", {
        enabled: Schema.Boolean,
        recovery_codes: Schema.Int.annotate({ description: "Those that were not used." })
      })
    }
  ),
  operation(
    { role: "viewer", keys: "people", verified: true },
    "Start a second factor",
    "Returns a new secret (TOTP) for an authenticator app. It counts once you confirm a code of it."
  ).post("startSecondFactor", "/auth/second-factor", {
    payload: component("SecondFactorRequest", { current_password: Password }),
    success: component("NewSecondFactor", { secret: Schema.String, uri: Schema.String })
  }),
  operation(
    { role: "viewer", keys: "people", verified: true },
    "Turn the second factor on",
    "With a code of the secret that was started last. Returns ten recovery codes, once. Each stands in for one code."
  ).post("confirmSecondFactor", "/auth/second-factor/confirm", {
    payload: component("SecondFactorConfirmation", { code: Code }),
    success: component("RecoveryCodes", { recovery_codes: Schema.Array(Schema.String) })
  }),
  own("Remove the second factor", "With the password, and a code or a recovery code.").post(
    "removeSecondFactor",
    "/auth/second-factor/remove",
    {
      payload: component("SecondFactorRemoval", { current_password: Password, code: Code }),
      success: component("SecondFactorRemoved", { removed: Schema.Literal(true) })
    }
  ),
  about(
    "Request a password reset",
    "Mails a link to the address if it has an account. The response is the same if it has none."
  ).post("requestPasswordReset", "/auth/password-reset", {
    payload: component("PasswordResetRequest", { email: Email }),
    success: component("PasswordResetAccepted", { status: Schema.Literal("accepted"), note: Schema.String }).pipe(
      HttpApiSchema.status(202)
    )
  }),
  about(
    "Set a new password with a link",
    "The token is in the link that was mailed. It works once, within an hour. The new password ends all your sessions and removes your passkeys. A second factor stays."
  ).post("resetPassword", "/auth/password-reset/confirm", {
    payload: component("PasswordResetConfirmation", { token: LinkToken, new_password: NewPassword }),
    success: component("PasswordSet", { password_changed: Schema.Literal(true), email })
  })
) {}
