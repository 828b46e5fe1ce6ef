/** The spend guard of an organization: an operator may raise, lower and remove its limits. */
import { type AnswerOf, api } from "../../../data/api.ts"
import { ActionForm, useAction } from "../../../actions/Actions.tsx"
import { exactDollars } from "../../../data/money.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { payloadForm } from "../../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../../forms/PayloadFields.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Money } from "../../../parts/Values.tsx"
import { auditNote } from "../Ask.tsx"

const form = payloadForm("operatorOrganizations", "setGuard")
const fieldWords = { per_run_limit: { label: "Per run, in USD" }, daily_limit: { label: "Per day, in USD" } }
const words = (limit: string | null) => (limit === null ? "no limit" : exactDollars(limit))
export const Guard = ({ detail }: { readonly detail: AnswerOf<"operatorOrganizations", "get"> }) => {
  const { org_id, name, guard } = detail
  const set = useAction(
    (sent: FormData) => api.operatorOrganizations.setGuard({ params: { org_id }, payload: payloadIn(sent) }),
    { says: "The limits are set.", after: operatorChanged }
  )
  const question = (sent: FormData) => {
    const { per_run_limit, daily_limit } = { ...guard, ...payloadIn(sent) }
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
        <Money amount={guard.spent_today} /> spent today. An empty field is no limit.
      </p>
      <ActionForm
        key={`${guard.per_run_limit} ${guard.daily_limit}`}
        action={set}
        submit="Change the limits…"
        look="plain"
        question={question}
      >
        <PayloadFields form={form} words={fieldWords} before={guard} />
      </ActionForm>
    </Panel>
  )
}
