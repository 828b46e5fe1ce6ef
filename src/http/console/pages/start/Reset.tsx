/** Sets a new password with the token of a mailed link (`/reset?token=…`). */
import { useMutation } from "@tanstack/react-query"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { Button, ButtonLink } from "../../parts/Button.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { FormPage } from "./FormPage.tsx"
import { onForm, passwordLengthMin, textIn } from "../../account/forms.ts"

const Reset = () => {
  const [{ token = "" }] = useFilters()
  const reset = useMutation({
    mutationFn: (form: FormData) =>
      api.recovery.resetPassword({ payload: { token, new_password: textIn(form, "password") } })
  })
  if (token === "")
    return (
      <FormPage title="This link is not complete" lead="Open the whole link of the mail, or ask for another one.">
        <TextLink to="/forgot">Ask for another link</TextLink>
      </FormPage>
    )
  if (reset.isSuccess)
    return (
      <FormPage title="Your password is set" lead="All sessions of your account have ended. API keys still work.">
        <ButtonLink to="/sign-in" look="primary">
          Sign in
        </ButtonLink>
      </FormPage>
    )
  return (
    <FormPage title="Set a new password" lead="A new password ends all your sessions.">
      <form onSubmit={onForm((form) => reset.mutate(form))} className="space-y-4">
        <Field
          label="New password"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={passwordLengthMin}
          maxLength={500}
          hint={`At least ${passwordLengthMin} characters.`}
          problem={problemOf(reset.error, "new_password")}
        />
        <FormProblem error={reset.error} />
        <Button type="submit" look="primary" busy={reset.isPending} className="w-full">
          Set the password
        </Button>
      </form>
    </FormPage>
  )
}

export default Reset
