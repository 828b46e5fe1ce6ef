/** E-mail and password. Also stands in the dialog of a session that has ended. */
import { useMutation } from "@tanstack/react-query"
import { api } from "../data/api.ts"
import { Button } from "../parts/Button.tsx"
import { Field, FormProblem } from "../parts/Field.tsx"
import { onForm, textIn } from "./forms.ts"

export const SignInForm = ({
  email = "",
  organization_id = null,
  onDone
}: {
  readonly email?: string
  readonly organization_id?: string | null
  readonly onDone: () => void
}) => {
  const signIn = useMutation({
    mutationFn: async (form: FormData) => {
      const chosen = organization_id === null ? {} : { organization_id }
      await api.browser.signIn({
        payload: { email: textIn(form, "email"), password: textIn(form, "password"), ...chosen }
      })
      // Some browsers keep no secure cookie at http://localhost. Then the session is missing from the next request.
      await api.auth.session({}).catch(() => {
        throw new Error(
          "The password is right, but this browser did not keep the session cookie. Allow cookies for this address, or open the console over https."
        )
      })
    },
    onSuccess: onDone
  })
  return (
    <form onSubmit={onForm((form) => signIn.mutate(form))} className="space-y-4">
      <Field
        label="E-mail address"
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={254}
        defaultValue={email}
      />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        maxLength={500}
      />
      <FormProblem error={signIn.error} signsIn />
      <Button type="submit" look="primary" busy={signIn.isPending} className="w-full">
        Sign in
      </Button>
    </form>
  )
}
