/** Changes a member's role. It asks first, because the new role counts from the member's next request. */
import { useState } from "react"
import { ActionDialog, useAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { Select } from "../../parts/Field.tsx"
import { keysDone, keysOfRole, type Member, type Role, roleOf, roleWords } from "./roles.ts"

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
        options={roleWords.map(([role]) => [role, role])}
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
