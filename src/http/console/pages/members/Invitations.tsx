/** Invites people, and lists invitations that nobody has accepted yet. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { onForm, textIn } from "../../account/forms.ts"
import type { AnswerOf } from "../../../client/Browser.ts"
import { api, queries } from "../../data/api.ts"
import { useMay, useService } from "../../data/session.ts"
import { Secret } from "../../forms/Secret.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { usePaged } from "../../lists/usePaged.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { Field, FormProblem, problemOf, Select } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Empty } from "../../parts/States.tsx"
import { Badge } from "../../parts/Status.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Time } from "../../parts/Time.tsx"
import { roleOf, roleWords } from "./roles.ts"

type Invitation = AnswerOf<"invitations", "list">["items"][number]

const invitationsChanged = () => queries.invalidateQueries({ queryKey: ["invitations"] })

const Invite = () => {
  const mayInviteOwners = useMay("owner")
  const sendsMail = useService().data?.sends_mail ?? true
  const invite = useMutation({
    mutationFn: (form: FormData) =>
      api.invitations.create({ payload: { email: textIn(form, "email").trim(), role: roleOf(textIn(form, "role")) } }),
    onSuccess: async ({ email, link }) => {
      announce(
        link === undefined ? `The invitation is on its way to ${email}.` : `The invitation of ${email} is ready.`
      )
      await invitationsChanged()
    }
  })
  const link = invite.data?.link
  if (invite.data !== undefined && link !== undefined)
    return (
      <Secret
        title={`Send this link to ${invite.data.email}, and to nobody else. It is shown only now.`}
        label="the link of the invitation"
        text={link}
        done="I have sent the link"
        onStored={() => invite.reset()}
      />
    )
  return (
    <form onSubmit={onForm((form) => invite.mutate(form))} className="space-y-3">
      <div className="flex flex-wrap items-start gap-3">
        <Field
          label="E-mail address"
          name="email"
          type="email"
          required
          maxLength={254}
          autoComplete="off"
          problem={problemOf(invite.error, "email")}
          className="w-full max-w-72"
        />
        <Select
          label="Role"
          name="role"
          defaultValue="member"
          options={roleWords.filter(([role]) => role !== "owner" || mayInviteOwners).map(([role]) => [role, role])}
          className="w-full max-w-40"
        />
      </div>
      <FormProblem error={invite.error} />
      {invite.isSuccess && <p className="text-green">The invitation is on its way to {invite.data.email}.</p>}
      <Button type="submit" look="primary" busy={invite.isPending}>
        {sendsMail ? "Mail an invitation" : "Make a link to send"}
      </Button>
      <p className="text-small text-muted">The link works once, for seven days, and only for this address.</p>
    </form>
  )
}

const Withdraw = ({ invitation }: { readonly invitation: Invitation }) => {
  const [asks, setAsks] = useState(false)
  const withdraw = useMutation({
    mutationFn: () => api.invitations.withdraw({ params: { invitation_id: invitation.id } }),
    onSuccess: async () => {
      announce(`The invitation of ${invitation.email} is withdrawn.`)
      await invitationsChanged()
    },
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={withdraw.error} />
      <Button look="danger" onClick={() => setAsks(true)} aria-label={`Withdraw the invitation of ${invitation.email}`}>
        Withdraw
      </Button>
      <Confirm
        open={asks}
        title={`Withdraw the invitation of ${invitation.email}?`}
        action="Withdraw the invitation"
        busy={withdraw.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => withdraw.mutate()}
      >
        <p>Its link stops working at once.</p>
      </Confirm>
    </>
  )
}

const columns: ReadonlyArray<Column<Invitation>> = [
  { title: "Address", cell: ({ email }) => <span className="wrap-anywhere">{email}</span> },
  { title: "Role", cell: ({ role }) => role },
  {
    title: "State",
    cell: ({ status, expires_at }) =>
      status === "expired" ? (
        <Badge tone="grey">expired</Badge>
      ) : (
        <>
          open, expires <Time at={expires_at} />
        </>
      )
  },
  { title: "Invited by", cell: ({ invited_by }) => <span className="wrap-anywhere">{invited_by}</span>, wide: true },
  { title: "Actions", cell: (invitation) => <Withdraw invitation={invitation} />, align: "right" }
]

export const Invitations = () => {
  const may = useMay("admin")
  const paged = usePaged(["invitations"], (from) => api.invitations.list({ query: { limit: 50, ...from } }), {
    enabled: may
  })
  if (!may)
    return (
      <Panel title="Invitations">
        <p className="text-muted">An owner or an admin of the organization can invite people.</p>
      </Panel>
    )
  return (
    <Panel title="Invite somebody">
      <div className="space-y-6">
        <Invite />
        <PagedTable
          paged={paged}
          label="Open invitations"
          columns={columns}
          keyOf={({ id }) => id}
          empty={<Empty title="Invitations that nobody has accepted yet will be here." />}
        />
      </div>
    </Panel>
  )
}
