/** Sets a new password with the token of a mailed link (`/reset-password?token=…`), and signs in with it. */
import { useState } from "react"
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { sessionChanged } from "../../data/session.ts"
import { ButtonLink, TextLink } from "../../parts/Page.tsx"
import { PasswordField } from "../../parts/Field.tsx"
import { FormPage } from "./FormPage.tsx"

const setPassword = async (token: string, new_password: string) => {
  const { email } = await api.recovery.resetPassword({ payload: { token, new_password } })
  // A second factor refuses this. Then the sign-in page asks for its code.
  return api.browser.signIn({ payload: { email, password: new_password } }).then(
    () => true,
    () => false
  )
}

const Reset = () => {
  const [{ token = "" }] = useFilters()
  const [isSet, setIsSet] = useState(false)
  if (token === "")
    return (
      <FormPage title="This link is not complete" lead="Open the whole link of the mail, or ask for another one.">
        <TextLink to="/forgot">Ask for another link</TextLink>
      </FormPage>
    )
  if (isSet)
    return (
      <FormPage title="Your password is set" lead="All sessions of your account have ended. API keys still work.">
        <ButtonLink to="/sign-in" look="primary">
          Sign in
        </ButtonLink>
      </FormPage>
    )
  return (
    <FormPage title="Set a new password" lead="A new password ends all your sessions and removes your passkeys.">
      <ActionForm
        send={(form) => setPassword(token, textIn(form, "new_password"))}
        after={(isSignedIn) => (isSignedIn ? sessionChanged("/") : setIsSet(true))}
        submit="Set the password"
        narrow
      >
        <PasswordField label="New password" name="new_password" isNew />
      </ActionForm>
    </FormPage>
  )
}

export default Reset
