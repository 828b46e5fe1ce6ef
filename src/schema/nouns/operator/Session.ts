/** The operator's session, its look into an organization's runs, and the operator's invitations to sign up. */
import { Schema } from "effect"
import { withColumns } from "../../Columns.ts"
import { component, email, org_id, such, text, time } from "../Noun.ts"

export const OperatorSession = component("OperatorSession", {
  operator: Schema.NullOr(
    text("The operating system's user who printed the sign-in link. The audit log has this name.")
  ),
  created_at: time,
  expires_at: time
})

export const Impersonation = component("OperatorImpersonation", {
  org_id,
  reason: such("The customer asked about a run."),
  expires_at: time
})
export type Impersonation = typeof Impersonation.Type

export const SignUpInvitation = component("SignUpInvitation", {
  email,
  status: Schema.Literals(["open", "used", "expired"]),
  created_at: time,
  expires_at: time,
  org_id: Schema.NullOr(org_id).annotate({ description: "The organization that it made." })
}).pipe(
  withColumns({
    list: ["email", "status", "created_at", "expires_at", "org_id"],
    titles: {
      email: "E-mail address",
      status: "State",
      created_at: "Made",
      expires_at: "Ends",
      org_id: "Organization"
    }
  })
)

export const NewSignUpInvitation = component("NewSignUpInvitation", {
  email,
  link: such(
    "https://rungate.example/join/TOKEN_OF_THE_LINK",
    "Shown once. It signs up this address, once, for seven days."
  ),
  expires_at: time
})
