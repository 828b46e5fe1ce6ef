/** What a person sends to sign up and to sign in, whether the session is a token or a cookie. */
import { Schema } from "effect"
import { Code, Email, LinkToken, Name, NewPassword, Password } from "./AccountFields.ts"
import { optional } from "./Common.ts"

export const SignUpRequest = Schema.Struct({
  email: Email,
  password: NewPassword,
  organization: Name,
  referral_code: optional(Schema.NonEmptyString.check(Schema.isMaxLength(100))),
  invitation: optional(LinkToken)
}).annotate({ identifier: "SignUpRequest" })
export type SignUpRequest = typeof SignUpRequest.Type

export const SignInRequest = Schema.Struct({
  email: Email,
  password: Password,
  code: optional(Code).annotate({
    description: "Of an account with a second factor: the code of its app, or a recovery code."
  }),
  organization_id: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
}).annotate({ identifier: "SignInRequest" })
export type SignInRequest = typeof SignInRequest.Type
