/** `rungate members`: who belongs to the organization, with which role. Needs a session; changes need an owner's. */
import { Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { roles } from "../../../schema/accounts/Role.ts"
import { FollowedKeys, Member, RemovedFactors } from "../../../schema/nouns/Member.ts"
import { MembersApi } from "../../api/accounts/Members.ts"
import { removedSentence } from "../../client/Words.ts"
import { listed, said } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { wire } from "../answers/show.ts"
import { boolean } from "../terminal/flags.ts"

const { endpoints } = MembersApi

const list = row(endpoints.list, {
  show: listed(Member, "There are no members.")
})

const Removed = Schema.Struct({ id: Schema.String, keys: FollowedKeys })
const Changed = Schema.Struct({ ...Removed.fields, role: Schema.String })

/** What happened to the keys of a member. */
const keysSentence = (keys: typeof FollowedKeys.Encoded): string => {
  const ids = (change: "narrowed" | "revoked") =>
    keys.flatMap((key) => (key.change === change ? [key.id] : [])).join(", ")
  const [narrowed, revoked] = [ids("narrowed"), ids("revoked")]
  return `${narrowed === "" ? "" : ` These keys start runs and change nothing else now: ${narrowed}.`}${revoked === "" ? "" : ` These keys are revoked: ${revoked}.`}`
}

const setRole = row(endpoints.setRole, {
  about: "Change a member's role, and take from their keys what it may not do; needs an owner's session",
  fields: {
    role: Argument.Literals("role", roles).pipe(Argument.withDescription(roles.join(", ")))
  },
  show: said((text) => {
    const changed = wire(Changed, text)
    return changed === null
      ? "Changed."
      : `${changed.id} has the role ${changed.role} now.${keysSentence(changed.keys)}`
  })
})

const keep = boolean("keep-keys", "keep the API keys that the member created, with the scope of a member at most")

const remove = row(endpoints.remove, {
  about: "Remove a member, end their sessions and revoke their keys; needs an owner's session",
  fields: { keep_keys: Flag.map(keep, (isGiven) => (isGiven ? "true" : null)) },
  confirm: ({ member_id, keep_keys }) =>
    `Remove ${String(member_id)}? Their sessions and connected apps end. The API keys that they created ${keep_keys === undefined ? "are revoked" : "start runs and change nothing else"}.`,
  show: said((text) => {
    const removed = wire(Removed, text)
    return removed === null ? "Removed." : `Removed ${removed.id}.${keysSentence(removed.keys)}`
  })
})

const removeFactors = row(endpoints.removeFactors, {
  about: "Remove the second factor and all passkeys of a member who has lost them; needs an owner's session",
  confirm:
    "Remove the second factor and all passkeys of {member_id}? Their sessions end, and their password alone signs in.",
  show: said((text) => {
    const removed = wire(RemovedFactors, text)
    return removed === null ? "Removed." : removedSentence(removed)
  })
})

export const members = Command.make("members").pipe(
  Command.withDescription("List members, change their roles and remove them"),
  Command.withSubcommands([list, setRole, remove, removeFactors])
)
