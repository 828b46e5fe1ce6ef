/** The person's own account: address, password, sessions, theme. */
import { ActionForm, textIn, useAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { useSession } from "../../data/session.ts"
import { Facts } from "../../lists/Facts.tsx"
import { Id, Time } from "../../parts/Values.tsx"
import { PasswordField, passwordLengthMin } from "../../parts/Field.tsx"
import { Page, Panel } from "../../parts/Page.tsx"
import { Passkeys } from "./Passkeys.tsx"
import { SecondFactor } from "./SecondFactor.tsx"
import { Sessions } from "./Sessions.tsx"

const Password = () => {
  const change = useAction(
    (form: FormData) =>
      api.recovery.changePassword({
        payload: { current_password: textIn(form, "current_password"), new_password: textIn(form, "new_password") }
      }),
    { says: "Your password is changed.", changes: ["sessions"] }
  )
  return (
    <Panel title="Password">
      <ActionForm
        action={change}
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
}

const Account = () => {
  const session = useSession()
  if (session === null) return null
  return (
    <Page title="Account">
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
