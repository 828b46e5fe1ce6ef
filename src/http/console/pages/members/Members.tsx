/** The people of the organization with their roles, and invitations that are open. */
import { api } from "../../data/api.ts"
import { useSession } from "../../data/session.ts"
import { Facts } from "../../lists/Facts.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Page, Panel } from "../../parts/Page.tsx"
import { Badge } from "../../parts/Values.tsx"
import { Invitations } from "./Invitations.tsx"
import { type Member, RemoveFactors, RemoveMember, RoleOf, roleWords } from "./MemberActions.tsx"

const Members = () => {
  const session = useSession()
  const members = usePaged<Member>(["members"], (from) => api.members.list({ query: from }), { pageSize: 100 })
  const isOwner = session?.role === "owner"
  const owners = members.items?.filter(({ role }) => role === "owner").length ?? 0
  /** An organization keeps an owner, so the only one can neither leave nor take another role. */
  const isSole = (member: Member) => member.role === "owner" && owners === 1 && !members.hasMore
  const columns = columnsOf("Member", {
    email: ({ id, email, verified }) => (
      <span className="block min-w-28 wrap-anywhere">
        {email}
        {id === session?.user.id && <span className="text-muted"> (you)</span>}
        {!verified && (
          <span className="ml-2">
            <Badge tone="amber">not verified</Badge>
          </span>
        )}
      </span>
    ),
    role: (member) => {
      const isSelf = member.id === session?.user.id
      if (isSole(member)) return "owner, the only one"
      return (
        <div className="flex flex-wrap items-center justify-between gap-2">
          {isOwner ? <RoleOf member={member} /> : member.role}
          {isOwner && !isSelf && (
            <RemoveFactors
              email={member.email}
              send={() => api.members.removeFactors({ params: { member_id: member.id } })}
            />
          )}
          {(isOwner || isSelf) && <RemoveMember member={member} isSelf={isSelf} />}
        </div>
      )
    }
  })
  return (
    <Page
      title="Members"
      lead={
        isOwner
          ? "You are an owner, so you may change roles and remove members."
          : "Owners change roles and remove members."
      }
    >
      <Panel title="People">
        <PagedTable paged={members} label="Members" columns={columns} empty="Members will be here." />
        <details className="mt-4">
          <summary className="text-muted">What each role may do</summary>
          <div className="mt-2">
            <Facts facts={roleWords} />
          </div>
        </details>
      </Panel>
      <Invitations />
    </Page>
  )
}

export default Members
