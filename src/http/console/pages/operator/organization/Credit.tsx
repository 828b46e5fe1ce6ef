/** Credits or refunds an organization, after a question that repeats amount and organization. */
import { useState } from "react"
import { type AnswerOf, api } from "../../../data/api.ts"
import { ActionForm, useAction } from "../../../actions/Actions.tsx"
import { exactDollars } from "../../../data/money.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { payloadForm } from "../../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../../forms/PayloadFields.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { auditNote } from "../Ask.tsx"

const form = payloadForm("operatorOrganizations", "credit", ["reference"])
const words = {
  type: {
    label: "Kind",
    options: [
      ["bonus", "Credit"],
      ["refund", "Refund"]
    ]
  },
  amount: { label: "Amount in USD" },
  note: { label: "Reason", hint: "The organization sees it in its ledger." }
} as const

const newReference = () => `console-${crypto.randomUUID()}`

export const Credit = ({ detail }: { readonly detail: AnswerOf<"operatorOrganizations", "get"> }) => {
  const { org_id, name } = detail
  // The same one until something is booked, so that a lost answer books nothing twice.
  const [reference, setReference] = useState(newReference)
  const credit = useAction(
    (sent: FormData) =>
      api.operatorOrganizations.credit({ params: { org_id }, payload: { ...payloadIn(sent), reference } }),
    {
      says: ({ amount, type }) => `${type === "refund" ? "Refunded" : "Credited"} ${exactDollars(amount)}.`,
      after: () => {
        setReference(newReference())
        operatorChanged()
      }
    }
  )
  const question = (sent: FormData) => {
    const { type, amount = "0", note } = payloadIn(sent)
    const title = `${type === "refund" ? "Refund" : "Credit"} ${exactDollars(amount)}`
    return {
      title: `${title} to ${name}?`,
      confirm: title,
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
        <PayloadFields form={form} words={words} initial={{ type: "bonus" }} />
      </ActionForm>
    </Panel>
  )
}
