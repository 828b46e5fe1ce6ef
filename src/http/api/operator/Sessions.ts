/** The contract of the operator's session: the sign-in with a link that `rungate admin console` has printed. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { about } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { OperatorSession } from "../../../schema/nouns/operator/Session.ts"
import { LinkToken } from "../shapes/AccountFields.ts"
import { forOperators } from "./OperatorAuth.ts"
import { component } from "../../../schema/nouns/Noun.ts"

export class OperatorSessionsApi extends HttpApiGroup.make("operatorSession").add(
  about(
    "Sign in as the operator",
    "For the operator console. Uses up a link that rungate admin console has printed, and sets a cookie that scripts can't read. The request needs X-Rungate-Console: 1 and the Origin that browsers add."
  ).post("signIn", "/operator/sign-in", {
    payload: component("OperatorSignInRequest", { token: LinkToken }),
    success: OperatorSession,
    error: [Wire.unauthorized, Wire.forbidden]
  }),
  forOperators("Read the operator's session", "Whose name the audit log gets, and when the session ends.").get(
    "get",
    "/operator/session",
    { success: OperatorSession }
  ),
  forOperators("Sign out as the operator", "Ends this session.").post("signOut", "/operator/sign-out", {
    success: Schema.Struct({ signed_out: Schema.Boolean })
  })
) {}
