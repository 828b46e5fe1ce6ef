/** Removes a member, or leaves the organization. The keys that the person created are revoked, unless an owner keeps them. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../../data/api.ts"
import { sessionChanged, useMay } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { keysChanged } from "../keys/useKeys.ts"
import { keysDone, type Member, membersChanged } from "./roles.ts"

export const RemoveMember = ({ member, isSelf }: { readonly member: Member; readonly isSelf: boolean }) => {
  const [asks, setAsks] = useState(false)
  const [keepsKeys, setKeepsKeys] = useState(false)
  const isOwner = useMay("owner")
  const remove = useMutation({
    mutationFn: () =>
      api.members.remove({ params: { member_id: member.id }, query: { keep_keys: keepsKeys ? "true" : "false" } }),
    onSuccess: async ({ keys }) => {
      // This session has ended with the membership.
      if (isSelf) return sessionChanged("/sign-in")
      announce(`${member.email} is removed.${keysDone(keys)}`)
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
          that {isSelf ? "you" : "they"} sent are withdrawn, and apps that {isSelf ? "you" : "they"} connected are cut
          off. The account itself stays.
        </p>
        {isOwner ? (
          <Checkbox
            label={isSelf ? "Keep the API keys that you created" : "Keep the API keys that they created"}
            hint="Keys without a scope get one: they start runs and change nothing else. Otherwise the keys are revoked, and calls with them fail at once."
            checked={keepsKeys}
            onChange={(event) => setKeepsKeys(event.target.checked)}
          />
        ) : (
          <p>API keys that you created are revoked, and calls with them fail at once.</p>
        )}
      </Confirm>
    </>
  )
}
