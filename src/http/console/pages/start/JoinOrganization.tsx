/** Accepts an invitation to an organization (`/join-organization?token=…`). One form serves new people and people with an account. */
import { useCode } from "../../account/useCode.tsx"
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { sessionChanged } from "../../data/session.ts"
import { FormProblem, PasswordField, passwordLengthMin } from "../../parts/Field.tsx"
import { FormPage } from "./FormPage.tsx"

const rights = {
  owner: "an owner, who also decides who is a member",
  admin: "an admin, who manages keys, limits and invitations",
  member: "a member, who runs and creates own API keys",
  viewer: "a viewer, who reads"
} as const

/** What the link is for. Reading it does not use the link up. */
const Lead = ({ token }: { readonly token: string }) => {
  const invited = useRead(["invitation", token], () => api.invitations.preview({ payload: { token } }), {
    staleTime: Number.POSITIVE_INFINITY
  })
  if (invited.error !== null) return <FormProblem error={invited.error} signsIn />
  if (invited.data === undefined) return "Somebody invited you to their organization on Rungate."
  const { organization, email, role } = invited.data
  return (
    <>
      You can join <strong className="break-words text-text">{organization}</strong> as {rights[role]}. The invitation
      is for <span className="wrap-anywhere">{email}</span>.
    </>
  )
}

const JoinOrganization = () => {
  const [{ token = "" }] = useFilters()
  const { codeField, withCode } = useCode()

  if (token === "")
    return (
      <FormPage
        title="This link is not complete"
        lead="Open the whole link of the invitation, or ask for another one."
      />
    )
  return (
    <FormPage lead={<Lead token={token} />}>
      <ActionForm
        send={(form) =>
          withCode(form, (code) =>
            api.browser.accept({ payload: { token, password: textIn(form, "password"), ...code } })
          )
        }
        after={() => sessionChanged("/")}
        submit="Join"
        signsIn
        narrow
      >
        <PasswordField
          label="Password"
          name="password"
          hint={`If you have an account here, its password. Otherwise a new one of at least ${passwordLengthMin} characters.`}
        />
        {codeField}
      </ActionForm>
    </FormPage>
  )
}

export default JoinOrganization
