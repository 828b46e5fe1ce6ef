/** Credits or refunds an organization, after a question that repeats amount and organization. */
import { useState } from "react"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { ActionForm } from "../../../actions/Actions.tsx"
import { amountIn, textIn, useAction } from "../../../actions/useAction.ts"
import { api } from "../../../data/api.ts"
import { exactDollars } from "../../../data/money.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { AmountField, Field, Select } from "../../../parts/Field.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { auditNote } from "../Ask.tsx"

const creditIn = (form: FormData) => ({
  type: textIn(form, "type") === "refund" ? ("refund" as const) : ("bonus" as const),
  amount: amountIn(form, "amount"),
  note: textIn(form, "note").trim()
})

const newReference = () => `console-${crypto.randomUUID()}`

export const Credit = ({ detail }: { readonly detail: AnswerOf<"operatorOrganizations", "get"> }) => {
  const { org_id, name } = detail
  // The same one until something is booked, so that a lost answer books nothing twice.
  const [reference, setReference] = useState(newReference)
  const credit = useAction(
    (form: FormData) =>
      api.operatorOrganizations.credit({ params: { org_id }, payload: { ...creditIn(form), reference } }),
    {
      says: ({ amount, type }) => `${type === "refund" ? "Refunded" : "Credited"} ${exactDollars(amount)}.`,
      after: () => {
        setReference(newReference())
        operatorChanged()
      }
    }
  )
  const question = (form: FormData) => {
    const { type, amount, note } = creditIn(form)
    const words = `${type === "refund" ? "Refund" : "Credit"} ${exactDollars(amount)}`
    return {
      title: `${words} to ${name}?`,
      confirm: words,
      look: "primary" as const,
      children: (
        <>
          <p>
            The available balance of {name} rises from {exactDollars(detail.available)} by {exactDollars(amount)}. An
            entry of the ledger can't be removed.
          </p>
          <p>Reason: {note}</p>
          {auditNote}
        </>
      )
    }
  }
  return (
    <Panel title="Credit or refund">
      <ActionForm key={reference} action={credit} submit="Check the amount…" look="plain" question={question}>
        <div className="flex flex-wrap gap-4">
          <Select
            label="Kind"
            name="type"
            options={[
              ["bonus", "Credit"],
              ["refund", "Refund"]
            ]}
          />
          <AmountField
            label="Amount in USD"
            name="amount"
            required
            pattern="\$?\s*\d{1,7}(\.\d{1,6})?"
            className="max-w-40"
          />
        </div>
        <Field label="Reason" name="note" required maxLength={500} hint="The organization sees it in its ledger." />
      </ActionForm>
    </Panel>
  )
}
