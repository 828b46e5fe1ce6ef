/** Pays in: opens the payment page, or credits a simulated amount in the sandbox. */
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { api, queries } from "../../data/api.ts"
import { useService } from "../../data/session.ts"
import { Allowed } from "../../parts/Page.tsx"
import { announce } from "../../parts/Values.tsx"
import { AmountField } from "../../parts/Field.tsx"

export const TopUp = ({ primary }: { readonly primary: boolean }) => {
  const isSandbox = useService().data?.environment === "test"

  return (
    <Allowed operation="topups.checkout">
      <ActionForm
        send={(form) => api.topups.checkout({ payload: { amount: textIn(form, "amount") } })}
        after={(answer) => {
          if (answer.status === "checkout") return location.assign(answer.checkout_url)
          announce("The simulated amount is credited.")
          return queries.invalidateQueries({ queryKey: ["wallet"] })
        }}
        submit={isSandbox ? "Credit a simulated amount" : "Go to the payment page"}
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
    </Allowed>
  )
}
