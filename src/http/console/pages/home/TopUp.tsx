/** Pays in: opens the payment page, or credits a simulated amount in the sandbox. */
import { useMutation } from "@tanstack/react-query"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { onForm, textIn } from "../../account/forms.ts"

export const TopUp = ({
  environment,
  primary
}: {
  readonly environment: "test" | "live"
  readonly primary: boolean
}) => {
  const may = useMay("admin")
  const pay = useMutation({
    mutationFn: (form: FormData) => api.topups.checkout({ payload: { amount: textIn(form, "amount") } }),
    onSuccess: (answer) => {
      if (answer.status === "checkout") return location.assign(answer.checkout_url)
      announce("The simulated amount is credited.")
      void queries.invalidateQueries({ queryKey: ["wallet"] })
    }
  })
  if (!may) return <p className="text-muted">An owner or an admin of the organization can top up.</p>
  return (
    <form onSubmit={onForm((form) => pay.mutate(form))} className="flex flex-wrap items-end gap-3">
      <Field
        label="Amount in USD"
        name="amount"
        inputMode="decimal"
        required
        pattern="\d{1,7}(\.\d{1,2})?"
        defaultValue="25.00"
        problem={problemOf(pay.error, "amount")}
        className="w-full max-w-40"
      />
      <Button type="submit" look={primary ? "primary" : "plain"} busy={pay.isPending}>
        {environment === "test" ? "Credit a simulated amount" : "Go to the payment page"}
      </Button>
      <FormProblem error={pay.error} />
    </form>
  )
}
