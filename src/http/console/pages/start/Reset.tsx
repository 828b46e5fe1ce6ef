/**
 * Sets a new password with the token of a mailed or printed link (`/reset-password?token=…`), and signs in with it. If the sign-in needs a
 * code or is refused, the form stays: the password is set, and the link is used up.
 */
import { useState } from "react"
import { signIn } from "../../account/SignInForm.tsx"
import { useCode } from "../../account/useCode.tsx"
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { sessionChanged } from "../../data/session.ts"
import { TextLink } from "../../parts/Page.tsx"
import { PasswordField } from "../../parts/Field.tsx"
import { FormPage } from "./FormPage.tsx"

const Reset = () => {
  const [{ token = "" }] = useFilters()
  const { codeField, withCode } = useCode()
  /** The account's address, once its password is set. */
  const [email, setEmail] = useState<string | null>(null)
  if (token === "")
    return (
      <FormPage title="This link is not complete" lead="Open the whole link of the mail, or ask for another one.">
        <TextLink to="/forgot">Ask for another link</TextLink>
      </FormPage>
    )
  const send = async (form: FormData) => {
    const password = textIn(form, "new_password")
    const account = email ?? (await api.recovery.resetPassword({ payload: { token, new_password: password } })).email
    setEmail(account)
    await withCode(form, (code) => signIn({ email: account, password, ...code }))
  }
  return (
    <FormPage
      title={email === null ? undefined : "Your password is set"}
      lead={
        email === null
          ? "A new password ends all your sessions and removes your passkeys."
          : "All sessions of your account have ended. API keys still work. Sign in with the new password to go on."
      }
    >
      <ActionForm
        send={send}
        after={() => sessionChanged("/")}
        submit={email === null ? "Set the password" : "Sign in"}
        signsIn
        narrow
      >
        <PasswordField label="New password" name="new_password" isNew />
        {codeField}
      </ActionForm>
    </FormPage>
  )
}

export default Reset
