/** The spend guard of an organization: an operator may raise, lower and remove its limits. */
import type { AnswerOf } from "../../../../client/Browser.ts"
import { ActionForm } from "../../../actions/Actions.tsx"
import { amountIn, useAction } from "../../../actions/useAction.ts"
import { api } from "../../../data/api.ts"
import { exactDollars } from "../../../data/money.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { AmountField } from "../../../parts/Field.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Money } from "../../../parts/Values.tsx"
import { auditNote } from "../Ask.tsx"

const limitIn = (form: FormData, name: string): string | null => {
  const amount = amountIn(form, name)
  return amount === "" ? null : amount
}
const limitsIn = (form: FormData) => ({
  per_run_limit: limitIn(form, "per_run_limit"),
  daily_limit: limitIn(form, "daily_limit")
})
const words = (limit: string | null) => (limit === null ? "no limit" : exactDollars(limit))
const pattern = "\\$?\\s*\\d{1,9}(\\.\\d{1,6})?"

export const Guard = ({ detail }: { readonly detail: AnswerOf<"operatorOrganizations", "get"> }) => {
  const { org_id, name, guard } = detail
  const set = useAction(
    (form: FormData) => api.operatorOrganizations.setGuard({ params: { org_id }, payload: limitsIn(form) }),
    { says: "The limits are set.", after: operatorChanged }
  )
  const question = (form: FormData) => {
    const { per_run_limit, daily_limit } = limitsIn(form)
    return {
      title: `Change the limits of ${name}?`,
      confirm: "Change the limits",
      look: "primary" as const,
      children: (
        <>
          <p>
            Per run: from {words(guard.per_run_limit)} to {words(per_run_limit)}. Per day: from{" "}
            {words(guard.daily_limit)} to {words(daily_limit)}.
          </p>
          <p>Runs above a limit are blocked at once.</p>
          {auditNote}
        </>
      )
    }
  }
  return (
    <Panel title="Spend guard">
      <p className="mb-3 text-muted">
        <Money amount={guard.spent_today} /> spent today (UTC). An empty field is no limit.
      </p>
      <ActionForm
        key={`${guard.per_run_limit} ${guard.daily_limit}`}
        action={set}
        submit="Change the limits…"
        look="plain"
        question={question}
      >
        <div className="flex flex-wrap gap-4">
          <AmountField
            label="Per run, in USD"
            name="per_run_limit"
            defaultValue={guard.per_run_limit ?? ""}
            pattern={pattern}
            className="w-full max-w-40"
          />
          <AmountField
            label="Per day, in USD"
            name="daily_limit"
            defaultValue={guard.daily_limit ?? ""}
            pattern={pattern}
            className="w-full max-w-40"
          />
        </div>
      </ActionForm>
    </Panel>
  )
}
