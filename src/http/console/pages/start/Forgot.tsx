/** Asks for a link that sets a new password. The answer is the same for an address without an account. */
import { useMutation } from "@tanstack/react-query"
import { api } from "../../data/api.ts"
import { Button } from "../../parts/Button.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { FormPage } from "./FormPage.tsx"
import { onForm, textIn } from "../../account/forms.ts"

const Forgot = () => {
  const ask = useMutation({
    mutationFn: (form: FormData) => api.recovery.requestPasswordReset({ payload: { email: textIn(form, "email") } })
  })
  if (ask.data !== undefined)
    return (
      <FormPage title="Check your mailbox" lead={ask.data.note}>
        {null}
      </FormPage>
    )
  return (
    <FormPage title="Forgot your password" lead="A link to set a new one is mailed to the address of your account.">
      <form onSubmit={onForm((form) => ask.mutate(form))} className="space-y-4">
        <Field
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="username"
          required
          maxLength={254}
          problem={problemOf(ask.error, "email")}
        />
        <FormProblem error={ask.error} />
        <Button type="submit" look="primary" busy={ask.isPending} className="w-full">
          Send the link
        </Button>
      </form>
      <p className="mt-6">
        <TextLink to="/sign-in">Sign in</TextLink>
      </p>
    </FormPage>
  )
}

export default Forgot
