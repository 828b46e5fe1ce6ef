/**
 * The contract of a browser's session: the sign-in of the web console. The session token is in a cookie that scripts can't read, and in no
 * body. Requests must come from a page of this service (access/SessionCookie.ts).
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { about, optional, own } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { SignInRequest, SignUpRequest } from "../shapes/Credentials.ts"
import { Code, LinkToken, Password } from "../shapes/AccountFields.ts"
import { Assertion, Base64url } from "../../../schema/nouns/Passkey.ts"
import { Session } from "../../../schema/nouns/Session.ts"
import { component } from "../../../schema/nouns/Noun.ts"

const forPages =
  "For pages of this service in a browser; programs use the operation of the same name without /browser. The session is in a cookie that scripts can't read. The request needs X-Rungate-Console: 1 and the Origin that browsers add."

/** An operation that signs in, which may fail because of a wrong password or code. */
const signsIn = <P extends Schema.Top>(payload: P) => ({
  payload,
  success: Session,
  error: [Wire.unauthorized, Wire.forbidden]
})

export const JoinRequest = component("BrowserJoinRequest", {
  token: LinkToken,
  password: Password,
  code: optional(Code)
})
const organization_id = Schema.NonEmptyString.check(Schema.isMaxLength(200))
const PasskeySignIn = component("PasskeySignInRequest", {
  ...Assertion.fields,
  organization_id: optional(organization_id)
})
export const SwitchRequest = component("SwitchOrganizationRequest", {
  organization_id: organization_id.annotate({ examples: ["org_01m81nzgh66f8vfxqbkda58gtf"] })
})

export class BrowserSessionsApi extends HttpApiGroup.make("browser").add(
  about("Sign in with a cookie", forPages).post("signIn", "/auth/browser/sign-in", signsIn(SignInRequest)),
  about(
    "Start a sign-in with a passkey",
    "Returns a challenge for one use within five minutes. It says nothing of any account."
  ).post("startPasskey", "/auth/browser/passkey/start", {
    success: component("PasskeyChallenge", { challenge: Base64url, rp_id: Schema.String }),
    error: [Wire.forbidden]
  }),
  about(
    "Sign in with a passkey",
    "With what the authenticator has signed. It stands for the password and the code of a second factor. The session is in a cookie that scripts can't read."
  ).post("passkey", "/auth/browser/passkey", signsIn(PasskeySignIn)),
  about("Sign up with a cookie", forPages).post("signUp", "/auth/browser/sign-up", {
    payload: SignUpRequest,
    success: Session,
    error: [Wire.forbidden]
  }),
  about(
    "Accept an invitation with a cookie",
    `${forPages} The operation for programs is POST /v1/invitations/accept.`
  ).post("accept", "/auth/browser/accept-invitation", signsIn(JoinRequest)),
  own(
    "Switch to another organization",
    "Replaces the session in the cookie by one of another organization of the same user. It ends when the session before would have ended. Programs sign in with organization_id instead."
  ).post("switch", "/auth/browser/switch", {
    payload: SwitchRequest,
    success: Session
  })
) {}
