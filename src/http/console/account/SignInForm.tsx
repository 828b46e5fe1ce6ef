/** E-mail and password. Also stands in the dialog of a session that has ended. */
import { ActionForm } from "../actions/Actions.tsx"
import { textIn, useAction } from "../actions/useAction.ts"
import { api } from "../data/api.ts"
import { useCode } from "./useCode.tsx"
import { EmailField, PasswordField } from "../parts/Field.tsx"

export const SignInForm = ({
  email = "",
  organization_id = null,
  onDone
}: {
  readonly email?: string
  readonly organization_id?: string | null
  readonly onDone: () => void
}) => {
  const { codeField, withCode } = useCode()
  const signIn = useAction(
    async (form: FormData) => {
      const chosen = organization_id === null ? {} : { organization_id }
      await withCode(form, (code) =>
        api.browser.signIn({
          payload: { email: textIn(form, "email"), password: textIn(form, "password"), ...chosen, ...code }
        })
      )
      // Some browsers keep no secure cookie at http://localhost. Then the session is missing from the next request.
      await api.auth.session({}).catch(() => {
        throw new Error(
          "The password is right, but this browser did not keep the session cookie. Allow cookies for this address, or open the console over https."
        )
      })
    },
    { after: onDone }
  )
  return (
    <ActionForm action={signIn} submit="Sign in" signsIn narrow>
      <EmailField autoComplete="username" defaultValue={email} />
      <PasswordField label="Password" name="password" />
      {codeField}
    </ActionForm>
  )
}
