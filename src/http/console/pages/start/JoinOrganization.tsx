/** Accepts an invitation to an organization (`/join?token=…`). One form serves new people and people with an account. */
import { useMutation } from "@tanstack/react-query"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { sessionChanged } from "../../data/session.ts"
import { Button } from "../../parts/Button.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { FormPage } from "./FormPage.tsx"
import { onForm, passwordLengthMin, textIn } from "../../account/forms.ts"

const JoinOrganization = () => {
  const [{ token = "" }] = useFilters()
  const join = useMutation({
    mutationFn: (form: FormData) => api.browser.accept({ payload: { token, password: textIn(form, "password") } }),
    onSuccess: () => sessionChanged("/")
  })
  if (token === "")
    return (
      <FormPage title="This link is not complete" lead="Open the whole link of the invitation, or ask for another one.">
        {null}
      </FormPage>
    )
  return (
    <FormPage title="Join an organization" lead="Somebody invited you to their organization on Rungate.">
      <form onSubmit={onForm((form) => join.mutate(form))} className="space-y-4">
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={500}
          hint={`If you have an account here, its password. Otherwise a new one of at least ${passwordLengthMin} characters.`}
          problem={problemOf(join.error, "password")}
        />
        <FormProblem error={join.error} signsIn />
        <Button type="submit" look="primary" busy={join.isPending} className="w-full">
          Join
        </Button>
      </form>
    </FormPage>
  )
}

export default JoinOrganization
