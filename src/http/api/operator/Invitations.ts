/** The contract of invitations to sign up, which the operator gives. Members invite to their own organization elsewhere. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { NewSignUpInvitation, SignUpInvitation } from "../../../schema/nouns/operator/Session.ts"
import { Email } from "../shapes/AccountFields.ts"
import { forOperators } from "./OperatorAuth.ts"
import { component } from "../../../schema/nouns/Noun.ts"

export class OperatorInvitationsApi extends HttpApiGroup.make("operatorInvitations").add(
  forOperators("List invitations to sign up", "The newest hundred, without their links.").get(
    "list",
    "/operator/invitations",
    {
      success: Schema.Struct({ items: Schema.Array(SignUpInvitation) })
    }
  ),
  forOperators("Invite somebody to sign up", "Makes a link for one address and sends nothing.", "admin invite").post(
    "create",
    "/operator/invitations",
    {
      payload: component("SignUpInvitationRequest", { email: Email }),
      success: NewSignUpInvitation
    }
  )
) {}
