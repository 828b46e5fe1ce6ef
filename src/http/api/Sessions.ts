/** The contract of sign-up and sign-in. Every answer of them is a session token; attempts are rate-limited. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Wire } from "../../schema/Errors.ts"
import { Auth, optional } from "./Common.ts"

const Email = Schema.String.check(
  Schema.isMaxLength(254),
  Schema.isPattern(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, { message: "expected an e-mail address" })
)
const Password = Schema.String.check(Schema.isMinLength(10), Schema.isMaxLength(500))

export const Session = Schema.Struct({
  expires_at: Schema.String,
  organization: Schema.Struct({ id: Schema.String, name: Schema.String }),
  user: Schema.Struct({ id: Schema.String, email: Schema.String })
}).annotate({ identifier: "Session" })

export const NewSession = Schema.Struct({ session_token: Schema.String, ...Session.fields }).annotate({
  identifier: "NewSession"
})

export class SessionsApi extends HttpApiGroup.make("auth").add(
  HttpApiEndpoint.post("signUp", "/auth/sign-up", {
    payload: Schema.Struct({
      email: Email,
      password: Password,
      organization: Schema.NonEmptyString.check(Schema.isMaxLength(200)),
      referral_code: optional(Schema.NonEmptyString.check(Schema.isMaxLength(100)))
    }).annotate({ identifier: "SignUpRequest" }),
    success: NewSession,
    error: [Wire.invalid_request, Wire.rate_limited]
  }).annotateMerge(
    OpenApi.annotations({
      summary: "Sign up",
      description:
        "Creates an organization with its first user. A referral_code, in any case, is for people who have no account here yet; GET /v1/referrals shows the bonus that comes with it."
    })
  ),
  HttpApiEndpoint.post("signIn", "/auth/sign-in", {
    payload: Schema.Struct({ email: Email, password: Schema.String.check(Schema.isMaxLength(500)) }).annotate({
      identifier: "SignInRequest"
    }),
    success: NewSession,
    error: [Wire.invalid_request, Wire.unauthorized, Wire.rate_limited]
  }).annotateMerge(OpenApi.annotations({ summary: "Sign in" })),
  HttpApiEndpoint.post("signOut", "/auth/sign-out", {
    success: Schema.Struct({ signed_out: Schema.Boolean }),
    error: [Wire.forbidden]
  })
    .annotateMerge(OpenApi.annotations({ summary: "Sign out" }))
    .middleware(Auth),
  HttpApiEndpoint.get("session", "/auth/session", { success: Session, error: [Wire.forbidden] })
    .annotateMerge(OpenApi.annotations({ summary: "Read the session" }))
    .middleware(Auth)
) {}
