/** The people of the organization with their roles, and invitations that are open. */
import { ActionForm, ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { type AnswerOf, api } from "../../data/api.ts"
import { useMay, useService, useSession } from "../../data/session.ts"
import { Secret } from "../../forms/Secret.tsx"
import { Facts } from "../../lists/Facts.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { EmailField, Select } from "../../parts/Field.tsx"
import { Allowed, Page, Panel } from "../../parts/Page.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Badge, Time } from "../../parts/Values.tsx"
import { type Member, RemoveFactors, RemoveMember, RoleOf, roleOf, roleWords } from "./MemberActions.tsx"

type Invitation = AnswerOf<"invitations", "list">["items"][number]

const sentTo = (email: string) => `The invitation is on its way to ${email}.`

/** Invites people, by a mail or by a link that the person sends. */
const Invite = () => {
  const mayInviteOwners = useSession()?.role === "owner"
  const sendsMail = useService().data?.sends_mail ?? true
  return (
    <ActionForm
      send={(form) =>
        api.invitations.create({ payload: { email: textIn(form, "email").trim(), role: roleOf(textIn(form, "role")) } })
      }
      says={({ email, link }) => (link === undefined ? sentTo(email) : `The invitation of ${email} is ready.`)}
      changes={["invitations"]}
      submit={sendsMail ? "Mail an invitation" : "Make a link to send"}
      saved={({ email }) => sentTo(email)}
      instead={({ email, link }, again) =>
        link === undefined ? null : (
          <Secret
            title={`Send this link to ${email}, and to nobody else. It is shown only now.`}
            label="the link of the invitation"
            text={link}
            done="I have sent the link"
            onStored={again}
          />
        )
      }
      note={<p className="text-small text-muted">The link works once, for seven days, and only for this address.</p>}
      className="space-y-3"
    >
      <div className="flex flex-wrap items-start gap-3">
        <EmailField autoComplete="off" className="w-full max-w-72" />
        <Select
          label="Role"
          name="role"
          defaultValue="member"
          options={roleWords.map(([role]) => role).filter((role) => role !== "owner" || mayInviteOwners)}
          className="w-full max-w-40"
        />
      </div>
    </ActionForm>
  )
}

const Withdraw = ({ invitation: { id, email } }: { readonly invitation: Invitation }) => (
  <ConfirmAction
    send={() => api.invitations.withdraw({ params: { invitation_id: id } })}
    says={`The invitation of ${email} is withdrawn.`}
    changes={["invitations"]}
    word="Withdraw"
    label={`Withdraw the invitation of ${email}`}
    confirm="Withdraw the invitation"
    cancel="Keep it"
  >
    <p>Its link stops working at once.</p>
  </ConfirmAction>
)

const columns: ReadonlyArray<Column<Invitation>> = [
  ...columnsOf("Invitation"),
  {
    title: "Invitation",
    cell: (invitation) => (
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span>
          {invitation.role},{" "}
          {invitation.status === "expired" ? (
            <Badge tone="grey">expired</Badge>
          ) : (
            <>
              expires <Time at={invitation.expires_at} />
            </>
          )}
        </span>
        <Withdraw invitation={invitation} />
      </div>
    )
  }
]

const Invitations = () => {
  const may = useMay("invitations.create")
  const paged = usePaged(["invitations"], (from) => api.invitations.list({ query: from }), {
    enabled: may
  })
  return (
    <Panel title="Invite somebody">
      <Allowed operation="invitations.create">
        <div className="space-y-6">
          <Invite />
          <PagedTable
            paged={paged}
            label="Open invitations"
            columns={columns}
            empty="Invitations that nobody has accepted yet will be here."
          />
        </div>
      </Allowed>
    </Panel>
  )
}

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
