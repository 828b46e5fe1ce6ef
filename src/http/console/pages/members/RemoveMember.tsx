/** Removes a member, or leaves the organization. The keys that the person created are revoked, unless an owner keeps them. */
import { ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { sessionChanged, useSession } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { keysDone, type Member } from "./roles.ts"

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
