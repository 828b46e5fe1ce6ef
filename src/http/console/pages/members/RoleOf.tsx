/** Changes a member's role. It asks first, because the new role counts from the member's next request. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, queries } from "../../data/api.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem, Select } from "../../parts/Field.tsx"
import { keysChanged } from "../keys/useKeys.ts"
import { keysDone, keysOfRole, type Member, membersChanged, type Role, roleOf, roleWords } from "./roles.ts"

const article = (role: Role) => (role === "admin" || role === "owner" ? "an" : "a")

export const RoleOf = ({ member }: { readonly member: Member }) => {
  const [wanted, setWanted] = useState<Role | null>(null)
  const change = useMutation({
    mutationFn: (role: Role) => api.members.setRole({ params: { member_id: member.id }, payload: { role } }),
    onSuccess: async ({ email, role, keys = [] }) => {
      announce(`${email} is ${article(role)} ${role} now.${keysDone(keys)}`)
      // The person may have changed the own role.
      await Promise.all([membersChanged(), keysChanged(), queries.invalidateQueries({ queryKey: ["session"] })])
    },
    onSettled: () => setWanted(null)
  })
  const next = wanted ?? member.role
  return (
    <>
      <Select
        label={`Role of ${member.email}`}
        hideLabel
        value={member.role}
        onChange={(event) => setWanted(roleOf(event.target.value))}
        options={roleWords.map(([role]) => [role, role])}
        className="w-28"
      />
      <FormProblem error={change.error} />
      <Confirm
        open={wanted !== null}
        title={`Make ${member.email} ${article(next)} ${next}?`}
        action={`Make ${article(next)} ${next}`}
        cancel="Cancel"
        busy={change.isPending}
        onClose={() => setWanted(null)}
        onConfirm={() => change.mutate(next)}
      >
        <p>
          The role counts from the next request. The role {next} {roleWords.find(([role]) => role === next)?.[1]}.
        </p>
        {keysOfRole(next) !== null && <p>{keysOfRole(next)}</p>}
      </Confirm>
    </>
  )
}
