/** What a person sends to sign up and to sign in, whether the session is a token or a cookie. */
import { Schema } from "effect"
import { Code, Email, LinkToken, Name, NewPassword, Password } from "./AccountFields.ts"
import { optional } from "./Common.ts"
import { component } from "../../../schema/nouns/Noun.ts"

export const SignUpRequest = component("SignUpRequest", {
  email: Email,
  password: NewPassword,
  organization: Name,
  referral_code: optional(Schema.NonEmptyString.check(Schema.isMaxLength(100))),
  invitation: optional(LinkToken)
})
export type SignUpRequest = typeof SignUpRequest.Type

export const SignInRequest = component("SignInRequest", {
  email: Email,
  password: Password,
  code: optional(Code).annotate({
    description: "Of an account with a second factor: the code of its app, or a recovery code."
  }),
  organization_id: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
})
export type SignInRequest = typeof SignInRequest.Type
