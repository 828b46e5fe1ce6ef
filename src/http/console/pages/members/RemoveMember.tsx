/** Removes a member, or leaves the organization. The keys that the person created are revoked, unless somebody keeps them. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../../data/api.ts"
import { sessionChanged } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { keysChanged } from "../keys/useKeys.ts"
import { type Member, membersChanged } from "./roles.ts"

export const RemoveMember = ({ member, isSelf }: { readonly member: Member; readonly isSelf: boolean }) => {
  const [asks, setAsks] = useState(false)
  const [keepsKeys, setKeepsKeys] = useState(false)
  const remove = useMutation({
    mutationFn: () =>
      api.members.remove({ params: { member_id: member.id }, query: { keep_keys: keepsKeys ? "true" : "false" } }),
    onSuccess: async ({ revoked_keys }) => {
      // This session has ended with the membership.
      if (isSelf) return sessionChanged("/sign-in")
      const keys = revoked_keys.length === 0 ? "" : ` Revoked keys: ${revoked_keys.length}.`
      announce(`${member.email} is removed.${keys}`)
      await Promise.all([membersChanged(), keysChanged()])
    },
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={remove.error} />
      <Button look="danger" onClick={() => setAsks(true)} aria-label={isSelf ? undefined : `Remove ${member.email}`}>
        {isSelf ? "Leave" : "Remove"}
      </Button>
      <Confirm
        open={asks}
        title={isSelf ? "Leave this organization?" : `Remove ${member.email}?`}
        action={isSelf ? "Leave the organization" : "Remove the member"}
        cancel="Cancel"
        busy={remove.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => remove.mutate()}
      >
        <p>
          {isSelf ? "Your sessions here end at once." : "Their sessions in this organization end at once."} Invitations
          that {isSelf ? "you" : "they"} sent are withdrawn. The account itself stays.
        </p>
        <Checkbox
          label={isSelf ? "Keep the API keys that you created" : "Keep the API keys that they created"}
          hint="Otherwise these keys are revoked, and calls with them fail at once."
          checked={keepsKeys}
          onChange={(event) => setKeepsKeys(event.target.checked)}
        />
      </Confirm>
    </>
  )
}
