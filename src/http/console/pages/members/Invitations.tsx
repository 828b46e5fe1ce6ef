/** Invites people, and lists invitations that nobody has accepted yet. */
import { type AnswerOf, api } from "../../data/api.ts"
import { ActionForm, ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { useMay, useService, useSession } from "../../data/session.ts"
import { Allowed, Panel } from "../../parts/Page.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { EmailField, Select } from "../../parts/Field.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Badge, Time } from "../../parts/Values.tsx"
import { roleOf, roleWords } from "./MemberActions.tsx"

type Invitation = AnswerOf<"invitations", "list">["items"][number]

const sentTo = (email: string) => `The invitation is on its way to ${email}.`

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

export const Invitations = () => {
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
