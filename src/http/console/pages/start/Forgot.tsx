/** Asks for a link that sets a new password. The answer is the same for an address without an account. */
import { useState } from "react"
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { EmailField } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Page.tsx"
import { FormPage } from "./FormPage.tsx"

const Forgot = () => {
  const [note, setNote] = useState<string | null>(null)
  if (note !== null) return <FormPage title="Check your mailbox" lead={note} />
  return (
    <FormPage lead="A link to set a new one is mailed to the address of your account.">
      <ActionForm
        send={(form) => api.recovery.requestPasswordReset({ payload: { email: textIn(form, "email") } })}
        after={(answer) => setNote(answer.note)}
        submit="Send the link"
        narrow
      >
        <EmailField autoComplete="username" />
      </ActionForm>
      <p className="mt-6">
        <TextLink to="/sign-in">Sign in</TextLink>
      </p>
    </FormPage>
  )
}

export default Forgot
