/** The people of an organization: members with roles, and invitations. */
import { Schema } from "effect"
import { roles } from "../accounts/Role.ts"
import { withColumns } from "../Columns.ts"
import { component, idOf, such, text, time, timeAs, withExample } from "./Noun.ts"

export const Role = Schema.Literals(roles)

const FollowedKey = component("FollowedKey", {
  id: idOf("key"),
  name: such("agent"),
  connected: Schema.Boolean,
  change: Schema.Literals(["narrowed", "revoked"])
})
/** What happened to the keys that a demoted or removed member created. `narrowed`: without a scope before, and `{"raw": true}` now. */
export const FollowedKeys = Schema.Array(FollowedKey)

export const Member = component("Member", {
  id: idOf("usr", "Id of the user, `usr_…`."),
  email: Schema.String,
  role: Role,
  verified: Schema.Boolean.annotate({
    description: "Whether the address is verified, or need not be."
  }),
  created_at: timeAs("When the user became a member."),
  keys: Schema.optionalKey(FollowedKeys.annotate({ description: "Keys that may do less now." }))
}).pipe(
  withColumns({
    list: ["id", "email", "created_at", "role"],
    terminal: ["id"],
    wide: ["created_at"],
    titles: { email: "Address", created_at: "Member since" }
  }),
  withExample({
    id: "usr_01m81nzgvweh2hdt7twdxbzz25",
    email: "jane@acme.example",
    role: "owner",
    verified: true,
    created_at: "2026-11-22T09:30:00.000Z"
  })
)

const invitation = {
  id: "inv_01m81nzp3b11p52yv11fpkfhhy",
  email: "ada@acme.example",
  role: "member",
  status: "open",
  invited_by: "jane@acme.example",
  created_at: "2026-11-22T09:30:00.000Z",
  expires_at: "2026-11-29T09:30:00.000Z"
} as const

export const Invitation = component("Invitation", {
  id: idOf("inv"),
  email: Schema.String,
  role: Role,
  status: Schema.Literals(["open", "expired"]),
  invited_by: text("E-mail address of the person who invited."),
  created_at: time,
  expires_at: time
}).pipe(
  withColumns({
    list: ["id", "email", "invited_by", "role", "status", "created_at"],
    terminal: ["id", "role", "status", "created_at"],
    wide: ["created_at", "invited_by"],
    titles: { email: "Address", created_at: "Sent" }
  }),
  withExample(invitation)
)

/** `link` is there if no e-mail brings it. */
export const NewInvitation = component("NewInvitation", {
  ...Invitation.fields,
  link: Schema.optionalKey(
    text(
      "Send this link to the invited person, and to nobody else. Left out if the service sends e-mails, because the link is mailed then."
    )
  )
}).pipe(
  withExample({
    ...invitation,
    link: "https://rungate.example/join-organization?token=rg_join_TOKEN_OF_THE_LINK"
  })
)

/** What was removed of somebody who has lost the ways to sign in. */
export const RemovedFactors = component("RemovedSecondFactors", {
  id: idOf("usr"),
  second_factor: Schema.Boolean.annotate({ description: "Whether there was one." }),
  passkeys: Schema.Int,
  sessions_ended: Schema.Int
})
export type RemovedFactors = typeof RemovedFactors.Type
