/** The contract of sign-up, sign-in and sessions. Sign-up and sign-in return a session token; attempts are rate-limited. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { about, own } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { SignInRequest, SignUpRequest } from "../shapes/Credentials.ts"
import { NewSession, OpenSession, OwnSession } from "../../../schema/nouns/Session.ts"
import { component } from "../../../schema/nouns/Noun.ts"

export class SessionsApi extends HttpApiGroup.make("auth").add(
  about(
    "Sign up",
    "Creates an organization with its first user. If sign-up is by invitation, invitation is the token of the invitation link. If the service verifies e-mail addresses, the response is the same for an address that has an account, and its owner gets a mail. referral_code ignores upper and lower case, and is for people who have no account yet. GET /v1/referrals shows its bonus."
  ).post("signUp", "/auth/sign-up", {
    payload: SignUpRequest,
    success: NewSession,
    error: [Wire.forbidden]
  }),
  about(
    "Sign in",
    "Returns a session token for one organization. organization_id chooses it for a user who is in several; the default is the one that the user signed up with. Attempts are rate-limited per account and address.",
    "login"
  ).post("signIn", "/auth/sign-in", {
    payload: SignInRequest,
    success: NewSession,
    error: [Wire.unauthorized, Wire.forbidden]
  }),
  own("Sign out", "Ends this session. Other sessions and API keys stay valid.", "logout").post(
    "signOut",
    "/auth/sign-out",
    {
      success: Schema.Struct({ signed_out: Schema.Boolean })
    }
  ),
  own(
    "End all your sessions",
    "Including this one. API keys stay valid; revoke them with DELETE /v1/api-keys/{key_id}."
  ).delete("endSessions", "/auth/sessions", {
    success: Schema.Struct({ sessions_ended: Schema.Int })
  }),
  own(
    "List your sessions",
    "Open sessions of yours in all your organizations, newest first, at most 200: browsers and command lines that are signed in."
  ).get("sessions", "/auth/sessions", {
    success: Schema.Struct({ items: Schema.Array(OpenSession), next_cursor: Schema.Null })
  }),
  own("End one of your sessions", "Whoever uses that session must sign in again. API keys stay valid.").delete(
    "endSession",
    "/auth/sessions/:session_id",
    {
      success: component("EndedSession", { id: OpenSession.fields.id, ended: Schema.Literal(true) }),
      error: [Wire.not_found]
    }
  ),
  own(
    "Read the session",
    "The organization, the user and the role of this session, when it expires, and the user's other organizations."
  ).get("session", "/auth/session", { success: OwnSession })
) {}
