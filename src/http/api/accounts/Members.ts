/** The contract of an organization's people: members with roles, and invitations by e-mail. Keys may not call it. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { about, byAdmins, operation, optional, pages } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { Code, Email, LinkToken, Password } from "../shapes/AccountFields.ts"
import { NewSession } from "../../../schema/nouns/Session.ts"
import { FollowedKeys, Invitation, Member, NewInvitation, RemovedFactors, Role } from "../../../schema/nouns/Member.ts"
import { component, email, idOf, organization, withExample, removed } from "../../../schema/nouns/Noun.ts"

export class MembersApi extends HttpApiGroup.make("members").add(
  operation({ role: "viewer", keys: "people", command: "members list" }, "List members", "").get(
    "list",
    "/members",
    pages(Member)
  ),
  operation(
    { role: "owner", keys: "people", command: "members set-role" },
    "Change a member's role",
    "The new role counts from the member's next request. A member's keys without a scope get one; a viewer's keys, connections and allowances are revoked. The last owner keeps the role until there is another one."
  ).patch("setRole", "/members/:member_id", {
    payload: component("MemberChange", { role: Role }).pipe(withExample({ role: "member" })),
    success: Member,
    error: [Wire.not_found]
  }),
  operation(
    { role: "owner", keys: "people", command: "members remove-second-factors" },
    "Remove a member's second factors",
    "For another person who has lost phone and recovery codes. Removes the second factor and all passkeys, ends all sessions, and the person gets a mail. The password stays. For yourself, and for people who are in other organizations too, ask another owner or the operator of the service."
  ).delete("removeFactors", "/members/:member_id/second-factors", {
    success: RemovedFactors,
    error: [Wire.not_found]
  }),
  operation(
    { role: "viewer", keys: "people", command: "members remove" },
    "Remove a member",
    "An owner removes others, and everybody may leave. Ends the member's sessions in this organization, withdraws their invitations, and revokes the API keys and connections that they created. keep_keys=true keeps the keys, with the scope of a member's; it needs an owner. The account itself stays. The last owner can't be removed."
  ).delete("remove", "/members/:member_id", {
    query: { keep_keys: Schema.optionalKey(Schema.Literals(["true", "false"])) },
    success: component("RemovedMember", {
      id: Member.fields.id,
      removed: Schema.Literal(true),
      revoked_keys: Schema.Array(idOf("key")),
      keys: FollowedKeys
    }),
    error: [Wire.not_found]
  })
) {}

export class InvitationsApi extends HttpApiGroup.make("invitations").add(
  byAdmins("List invitations", "Newest first, without accepted and withdrawn ones.", "invite list").get(
    "list",
    "/invitations",
    pages(Invitation)
  ),
  operation(
    { role: "admin", keys: "people", verified: true, command: "invite" },
    "Invite a person",
    "An admin can invite up to the role admin, an owner up to owner. The link works once, for seven days, and only for this address. Another invitation of the address replaces it. The response is the same whether or not the address has an account."
  ).post("create", "/invitations", {
    payload: component("InvitationRequest", { email: Email, role: Role }),
    success: NewInvitation
  }),
  byAdmins("Withdraw an invitation", "The link stops working at once.", "invite withdraw").delete(
    "withdraw",
    "/invitations/:invitation_id",
    {
      success: removed("inv", "WithdrawnInvitation"),
      error: [Wire.not_found]
    }
  ),
  about(
    "Read an invitation",
    "Says what the link is for: the organization, the invited address and the role. It does not use the link up. Attempts are rate-limited."
  ).post("preview", "/invitations/preview", {
    payload: component("InvitationPreviewRequest", { token: LinkToken }),
    success: component("InvitationPreview", { organization, email, role: Role })
  }),
  about(
    "Accept an invitation",
    "The token is in the invitation's link. If the address has an account, password is its password, and the account becomes a member of this organization too. Otherwise password is the password of a new account, with at least ten characters. Returns a session of the organization. Attempts are rate-limited."
  ).post("accept", "/invitations/accept", {
    payload: component("InvitationAcceptance", { token: LinkToken, password: Password, code: optional(Code) }),
    success: NewSession,
    error: [Wire.unauthorized]
  })
) {}
