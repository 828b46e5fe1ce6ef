/** Pays in: opens the payment page, or credits a simulated amount in the sandbox. */
import { ActionForm, textIn, useAction } from "../../actions/Actions.tsx"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Denied } from "../../parts/Page.tsx"
import { announce } from "../../parts/Values.tsx"
import { AmountField } from "../../parts/Field.tsx"

export const TopUp = ({
  environment,
  primary
}: {
  readonly environment: "test" | "live"
  readonly primary: boolean
}) => {
  const may = useMay("topups.checkout")
  const pay = useAction((form: FormData) => api.topups.checkout({ payload: { amount: textIn(form, "amount") } }), {
    after: (answer) => {
      if (answer.status === "checkout") return location.assign(answer.checkout_url)
      announce("The simulated amount is credited.")
      return queries.invalidateQueries({ queryKey: ["wallet"] })
    }
  })
  if (!may) return <Denied operation="topups.checkout" />
  return (
    <ActionForm
      action={pay}
      submit={environment === "test" ? "Credit a simulated amount" : "Go to the payment page"}
      look={primary ? "primary" : "plain"}
      inline
    >
      <AmountField
        label="Amount in USD"
        name="amount"
        required
        pattern="\d{1,7}(\.\d{1,2})?"
        defaultValue="25.00"
        className="w-full max-w-40"
      />
    </ActionForm>
  )
}
