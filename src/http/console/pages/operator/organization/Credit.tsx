/** Credits or refunds an organization, after a question that repeats amount and organization. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { onForm, textIn } from "../../../account/forms.ts"
import { api } from "../../../data/api.ts"
import { exactDollars } from "../../../data/money.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { announce } from "../../../parts/Announcer.tsx"
import { Button } from "../../../parts/Button.tsx"
import { Field, FormProblem, problemOf, Select } from "../../../parts/Field.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Ask } from "../Ask.tsx"

interface Asked {
  readonly type: "bonus" | "refund"
  readonly amount: string
  readonly note: string
}

const askedIn = (form: FormData): Asked => ({
  type: textIn(form, "type") === "refund" ? "refund" : "bonus",
  amount: textIn(form, "amount")
    .trim()
    .replace(/^\$\s*/, ""),
  note: textIn(form, "note").trim()
})

const newReference = () => `console-${crypto.randomUUID()}`

export const Credit = ({ detail }: { readonly detail: AnswerOf<"operatorOrganizations", "get"> }) => {
  const { org_id, name } = detail
  const [asked, setAsked] = useState<Asked | null>(null)
  // The same one until something is booked, so that a lost answer books nothing twice.
  const [reference, setReference] = useState(newReference)
  const credit = useMutation({
    mutationFn: (payload: Asked) =>
      api.operatorOrganizations.credit({ params: { org_id }, payload: { ...payload, reference } }),
    onSuccess: ({ amount, type }) => {
      announce(`${type === "refund" ? "Refunded" : "Credited"} ${exactDollars(amount)}.`)
      setAsked(null)
      setReference(newReference())
      operatorChanged()
    }
  })
  const verb = asked?.type === "refund" ? "Refund" : "Credit"
  return (
    <Panel title="Credit or refund">
      <form
        key={reference}
        onSubmit={onForm((form) => {
          credit.reset()
          setAsked(askedIn(form))
        })}
        className="space-y-4"
      >
        <div className="flex flex-wrap gap-4">
          <Select
            label="Kind"
            name="type"
            options={[
              ["bonus", "Credit"],
              ["refund", "Refund"]
            ]}
          />
          <Field
            label="Amount in USD"
            name="amount"
            inputMode="decimal"
            required
            pattern="\$?\s*\d{1,7}(\.\d{1,6})?"
            className="max-w-40"
            problem={problemOf(credit.error, "amount")}
          />
        </div>
        <Field
          label="Reason"
          name="note"
          required
          maxLength={500}
          hint="The organization sees it in its ledger."
          problem={problemOf(credit.error, "note")}
        />
        {asked === null && <FormProblem error={credit.error} />}
        <Button type="submit">Check the amount…</Button>
      </form>
      {asked !== null && (
        <Ask
          open
          title={`${verb} ${exactDollars(asked.amount)} to ${name}?`}
          action={`${verb} ${exactDollars(asked.amount)}`}
          busy={credit.isPending}
          error={credit.error}
          onConfirm={() => credit.mutate(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            The available balance of {name} rises from {exactDollars(detail.available)} by {exactDollars(asked.amount)}.
            An entry of the ledger can't be removed.
          </p>
          <p>Reason: {asked.note}</p>
        </Ask>
      )}
    </Panel>
  )
}
