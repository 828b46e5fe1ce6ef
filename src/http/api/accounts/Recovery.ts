/** The contract of e-mail verification and passwords: what a person does with an account besides signing in. Attempts are rate-limited. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { about, operation } from "../shapes/Rights.ts"
import { Wire } from "../../../schema/Errors.ts"
import { Email, LinkToken, NewPassword, Password } from "../shapes/AccountFields.ts"
import { Auth } from "../shapes/Common.ts"

const Verification = Schema.Struct({
  verification: Schema.Literals(["sent", "not_needed"])
}).annotate({ identifier: "VerificationSent" })
const PasswordSet = Schema.Struct({ password_changed: Schema.Literal(true) }).annotate({
  identifier: "PasswordChanged"
})

export class RecoveryApi extends HttpApiGroup.make("recovery").add(
  HttpApiEndpoint.post("verifyEmail", "/auth/verify-email", {
    payload: Schema.Struct({ token: LinkToken }).annotate({ identifier: "VerifyEmailRequest" }),
    success: Schema.Struct({ verified: Schema.Literal(true), email: Schema.String }).annotate({
      identifier: "VerifiedEmail"
    }),
    error: [Wire.invalid_request, Wire.rate_limited]
  }).annotateMerge(
    about(
      "Verify an e-mail address",
      "The token is in the link that was mailed to the address. It works once, within three days."
    )
  ),
  HttpApiEndpoint.post("resendVerification", "/auth/verify-email/resend", {
    success: Verification,
    error: [Wire.forbidden, Wire.rate_limited]
  })
    .annotateMerge(
      operation(
        { role: "viewer", keys: "people" },
        "Send the verification link again",
        "An address gets only a few mails per hour."
      )
    )
    .middleware(Auth),
  HttpApiEndpoint.post("changePassword", "/auth/password", {
    payload: Schema.Struct({ current_password: Password, new_password: NewPassword }).annotate({
      identifier: "PasswordChangeRequest"
    }),
    success: PasswordSet,
    error: [Wire.invalid_request, Wire.forbidden, Wire.rate_limited]
  })
    .annotateMerge(
      operation(
        { role: "viewer", keys: "people" },
        "Change the password",
        "Ends all your other sessions. API keys stay valid."
      )
    )
    .middleware(Auth),
  HttpApiEndpoint.post("requestPasswordReset", "/auth/password-reset", {
    payload: Schema.Struct({ email: Email }).annotate({ identifier: "PasswordResetRequest" }),
    success: Schema.Struct({ status: Schema.Literal("accepted"), note: Schema.String })
      .annotate({ identifier: "PasswordResetAccepted" })
      .pipe(HttpApiSchema.status(202)),
    error: [Wire.invalid_request, Wire.rate_limited]
  }).annotateMerge(
    about(
      "Request a password reset",
      "Mails a link to the address if it has an account. The response is the same if it has none."
    )
  ),
  HttpApiEndpoint.post("resetPassword", "/auth/password-reset/confirm", {
    payload: Schema.Struct({ token: LinkToken, new_password: NewPassword }).annotate({
      identifier: "PasswordResetConfirmation"
    }),
    success: PasswordSet,
    error: [Wire.invalid_request, Wire.rate_limited]
  }).annotateMerge(
    about(
      "Set a new password with a link",
      "The token is in the link that was mailed. It works once, within an hour. The new password ends all your sessions."
    )
  )
) {}
