/** The person's own account: address, password, sessions, theme. */
import { useSignOut } from "../../account/useSignOut.ts"
import { ActionButton, ActionForm, ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { api, useRead } from "../../data/api.ts"
import { sessionChanged, useSession } from "../../data/session.ts"
import { exactly } from "../../data/time.ts"
import { Facts } from "../../lists/Facts.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PasswordField, passwordLengthMin } from "../../parts/Field.tsx"
import { Button, Loaded, Page, Panel } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Badge, Id, Time } from "../../parts/Values.tsx"
import { Passkeys, SecondFactor } from "./Factors.tsx"

const columns = columnsOf("OpenSession", {
  created_at: ({ created_at, current }) => (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Time at={created_at} />
      {current && <Badge tone="green">this browser</Badge>}
    </span>
  ),
  actions: ({ id, current, created_at }) =>
    !current && (
      <ActionButton
        send={() => api.auth.endSession({ params: { session_id: id } })}
        says="The session has ended."
        changes={["sessions"]}
        aria-label={`End the session that began at ${exactly(created_at)}`}
      >
        End
      </ActionButton>
    )
})

const Sessions = () => {
  const signOut = useSignOut()
  const sessions = useRead(["sessions"], () => api.auth.sessions({}))
  return (
    <Panel title="Sessions">
      <div className="space-y-4">
        <Loaded query={sessions}>
          {({ items }) => <DataTable label="Your open sessions" rows={items} columns={columns} />}
        </Loaded>
        <div className="flex flex-wrap gap-2">
          <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
            Sign out here
          </Button>
          <ConfirmAction
            send={() => api.auth.endSessions({})}
            after={() => sessionChanged("/sign-in")}
            word="End all my sessions"
            title="End all your sessions?"
            confirm="End all sessions"
          >
            <p>
              Every browser and every command line that is signed in as you signs out, this page too. API keys still
              work.
            </p>
          </ConfirmAction>
        </div>
      </div>
    </Panel>
  )
}

const Password = () => (
  <Panel title="Password">
    <ActionForm
      send={(form) =>
        api.recovery.changePassword({
          payload: { current_password: textIn(form, "current_password"), new_password: textIn(form, "new_password") }
        })
      }
      says="Your password is changed."
      changes={["sessions"]}
      submit="Change the password"
      look="plain"
      saved="Your password is changed. Other sessions have ended."
      className="max-w-sm space-y-4"
    >
      <PasswordField label="Current password" name="current_password" />
      <PasswordField
        label="New password"
        name="new_password"
        isNew
        hint={`At least ${passwordLengthMin} characters. It ends all your other sessions.`}
      />
    </ActionForm>
  </Panel>
)

const Account = () => {
  const session = useSession()
  if (session === null) return null
  return (
    <Page>
      <Panel title="You">
        <Facts
          facts={[
            ["E-mail address", session.user.email],
            [
              "Organization",
              <>
                {session.organization.name} <Id id={session.organization.id} what="the organization's id" />
              </>
            ],
            ["Role", session.role],
            ["Session ends", <Time at={session.expires_at} />]
          ]}
        />
      </Panel>
      <Password />
      <Passkeys />
      <SecondFactor />
      <Sessions />
    </Page>
  )
}

export default Account
