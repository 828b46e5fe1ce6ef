/** The contract of invitations to sign up, which the operator gives. Members invite to their own organization elsewhere. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { Email } from "../shapes/AccountFields.ts"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

export const SignUpInvitation = Schema.Struct({
  email: Schema.String,
  status: Schema.Literals(["open", "used", "expired"]),
  created_at: Schema.String,
  expires_at: Schema.String,
  org_id: Schema.NullOr(Schema.String).annotate({ description: "The organization that it made." })
}).annotate({ identifier: "SignUpInvitation" })

export class OperatorInvitationsApi extends HttpApiGroup.make("operatorInvitations")
  .add(
    HttpApiEndpoint.get("list", "/operator/invitations", {
      success: Schema.Struct({ items: Schema.Array(SignUpInvitation) })
    }).annotateMerge(forOperators("List invitations to sign up", "The newest hundred, without their links.")),
    HttpApiEndpoint.post("create", "/operator/invitations", {
      payload: Schema.Struct({ email: Email }).annotate({ identifier: "SignUpInvitationRequest" }),
      success: Schema.Struct({
        email: Schema.String,
        link: Schema.String.annotate({ description: "Shown once. It signs up this address, once, for seven days." }),
        expires_at: Schema.String
      }).annotate({ identifier: "NewSignUpInvitation" }),
      error: [Wire.invalid_request]
    }).annotateMerge(
      forOperators("Invite somebody to sign up", "Makes a link for one address and sends nothing.", "admin invite")
    )
  )
  .middleware(OperatorAuth) {}
