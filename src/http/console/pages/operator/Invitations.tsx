/** Invitations to sign up: a link for one address, shown once. */
import { useState } from "react"
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { useService } from "../../data/session.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { CodeBlock, Time } from "../../parts/Values.tsx"
import { EmailField } from "../../parts/Field.tsx"
import { LoadedPanel, Page, Panel, TextLink } from "../../parts/Page.tsx"
import { SmallTable } from "./parts.tsx"

const Invite = () => {
  const isClosed = useService().data?.sign_up === "closed"
  const [invited, setInvited] = useState<AnswerOf<"operatorInvitations", "create"> | null>(null)
  return (
    <Panel title="Invite somebody">
      {isClosed && (
        <p className="mb-3 text-amber">Sign-up is closed. Links work after RUNGATE_SIGN_UP is set to invite or open.</p>
      )}
      <ActionForm
        send={(form) => api.operatorInvitations.create({ payload: { email: textIn(form, "email").trim() } })}
        after={setInvited}
        changes={["operator"]}
        submit="Make a sign-up link"
        inline
      >
        <EmailField className="w-full max-w-sm" />
      </ActionForm>
      <div className="mt-3 space-y-2">
        {invited !== null && (
          <>
            <p>
              Send this link only to {invited.email}. It is shown once, works once, and ends{" "}
              <Time at={invited.expires_at} />.
            </p>
            <CodeBlock text={invited.link} label="the sign-up link" />
          </>
        )}
      </div>
    </Panel>
  )
}

const columns = columnsOf("SignUpInvitation", {
  org_id: ({ org_id }) =>
    org_id === null ? "" : <TextLink to={`/operator/organizations/${org_id}`}>{org_id}</TextLink>
})

const Invitations = () => (
  <Page lead="Links to sign up. Members invite people to their own organization themselves.">
    <Invite />
    <LoadedPanel
      title="Newest invitations"
      query={useRead(["operator", "invitations"], () => api.operatorInvitations.list({}))}
    >
      {({ items }) => (
        <SmallTable label="Newest invitations" rows={items} none="Nobody was invited yet." columns={columns} />
      )}
    </LoadedPanel>
  </Page>
)

export default Invitations
