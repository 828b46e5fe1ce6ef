/** Roles and what each may do, and changes of a member after a question: another role, removal, and leaving the organization. */
import { useState } from "react"
import { removedSentence } from "../../../client/Words.ts"
import { ActionDialog, ConfirmAction, textIn, useAction } from "../../actions/Actions.tsx"
import { type AnswerOf, api } from "../../data/api.ts"
import { sessionChanged, useSession } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { Select } from "../../parts/Field.tsx"

const article = (role: Role) => (role === "admin" || role === "owner" ? "an" : "a")

export const RoleOf = ({ member }: { readonly member: Member }) => {
  const [wanted, setWanted] = useState<Role | null>(null)
  const change = useAction(
    () => api.members.setRole({ params: { member_id: member.id }, payload: { role: wanted ?? member.role } }),
    {
      says: ({ email, role, keys = [] }) => `${email} is ${article(role)} ${role} now.${keysDone(keys)}`,
      // The person may have changed the own role.
      changes: ["members", "keys", "session"]
    }
  )
  const next = wanted ?? member.role
  return (
    <>
      <Select
        label={`Role of ${member.email}`}
        hideLabel
        value={member.role}
        onChange={(event) => setWanted(roleOf(event.target.value))}
        options={roleWords.map(([role]) => role)}
        className="w-28"
      />
      <ActionDialog
        open={wanted !== null}
        onClose={() => setWanted(null)}
        action={change}
        title={`Make ${member.email} ${article(next)} ${next}?`}
        confirm={`Make ${article(next)} ${next}`}
      >
        <p>
          The role counts from the next request. The role {next} {roleWords.find(([role]) => role === next)?.[1]}.
        </p>
        {keysOfRole(next) !== null && <p>{keysOfRole(next)}</p>}
      </ActionDialog>
    </>
  )
}

/** Removes a member, or leaves the organization. The keys that the person created are revoked, unless an owner keeps them. */
export const RemoveMember = ({ member, isSelf }: { readonly member: Member; readonly isSelf: boolean }) => {
  const isOwner = useSession()?.role === "owner"
  return (
    <ConfirmAction
      send={(form) =>
        api.members.remove({
          params: { member_id: member.id },
          query: { keep_keys: textIn(form, "keep_keys") === "" ? "false" : "true" }
        })
      }
      says={({ keys }) => (isSelf ? "You have left." : `${member.email} is removed.${keysDone(keys)}`)}
      // A session ends with the membership.
      after={() => isSelf && sessionChanged("/sign-in")}
      changes={isSelf ? [] : ["members", "keys"]}
      word={isSelf ? "Leave" : "Remove"}
      label={isSelf ? undefined : `Remove ${member.email}`}
      title={isSelf ? "Leave this organization?" : `Remove ${member.email}?`}
      confirm={isSelf ? "Leave the organization" : "Remove the member"}
    >
      <p>
        {isSelf ? "Your sessions here end at once." : "Their sessions in this organization end at once."} Invitations
        that {isSelf ? "you" : "they"} sent are withdrawn, and apps that {isSelf ? "you" : "they"} connected are cut
        off. The account itself stays.
      </p>
      {isOwner ? (
        <Checkbox
          name="keep_keys"
          label={isSelf ? "Keep the API keys that you created" : "Keep the API keys that they created"}
          hint="Keys without a scope get one: they start runs and change nothing else. Otherwise the keys are revoked, and calls with them fail at once."
        />
      ) : (
        <p>API keys that you created are revoked, and calls with them fail at once.</p>
      )}
    </ConfirmAction>
  )
}
export type Member = AnswerOf<"members", "list">["items"][number]
export type Role = Member["role"]

/** Each role may do what the roles above it may do. */
export const roleWords: ReadonlyArray<readonly [Role, string]> = [
  ["viewer", "reads everything but the audit log"],
  ["member", "also runs, and creates and ends own API keys"],
  [
    "admin",
    "also revokes every key, sets limits, pays in, manages senders, webhooks and invitations, and reads the audit log"
  ],
  ["owner", "also changes roles and removes members"]
]
export const roleOf = (text: string): Role => roleWords.find(([role]) => role === text)?.[0] ?? "viewer"

/** What a role means for keys that the person created, said before it happens. Null if nothing happens to them. */
export const keysOfRole = (role: Role): string | null => {
  if (role === "viewer") return "API keys, connected apps and allowances that the person created are revoked at once."
  return role === "member"
    ? "API keys without a scope that the person created get one: they start runs and change nothing else."
    : null
}
export const keysDone = (keys: AnswerOf<"members", "remove">["keys"]): string => {
  const names = (change: "narrowed" | "revoked") =>
    keys.flatMap((key) => (key.change === change ? [key.name] : [])).join(", ")
  const [narrowed, revoked] = [names("narrowed"), names("revoked")]
  return `${narrowed === "" ? "" : ` Keys that got a scope: ${narrowed}.`}${revoked === "" ? "" : ` Revoked keys: ${revoked}.`}`
}

/** Removes the second factor and the passkeys of a person who has lost them: an owner does it for a member, the operator for everybody. */
export const RemoveFactors = ({
  email,
  send
}: {
  readonly email: string
  readonly send: () => Promise<AnswerOf<"members", "removeFactors">>
}) => (
  <ConfirmAction
    send={send}
    says={removedSentence}
    word="Lost phone"
    label={`Remove the second factor of ${email}`}
    buttonLook="plain"
    confirm="Remove it"
  >
    <p>
      For somebody who has lost phone and recovery codes. The second factor and all passkeys go, and all of their
      sessions end. The password alone signs in, and the person gets a mail. Make sure that it is the person who asks.
    </p>
  </ConfirmAction>
)
