/** Asks for a link that sets a new password. The answer is the same for an address without an account. */
import { ActionForm, textIn, useAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { EmailField } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Page.tsx"
import { FormPage } from "./FormPage.tsx"

const Forgot = () => {
  const ask = useAction((form: FormData) =>
    api.recovery.requestPasswordReset({ payload: { email: textIn(form, "email") } })
  )
  if (ask.data !== undefined) return <FormPage title="Check your mailbox" lead={ask.data.note} />
  return (
    <FormPage title="Forgot your password" lead="A link to set a new one is mailed to the address of your account.">
      <ActionForm action={ask} submit="Send the link" narrow>
        <EmailField autoComplete="username" />
      </ActionForm>
      <p className="mt-6">
        <TextLink to="/sign-in">Sign in</TextLink>
      </p>
    </FormPage>
  )
}

export default Forgot
