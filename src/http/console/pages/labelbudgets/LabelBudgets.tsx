/** Budgets of labels, such as of each customer: what the runs with a value may cost, what they have cost, and statements to pass on. */
import { useState } from "react"
import { ConfirmAction, SaveButton } from "../../actions/Actions.tsx"
import { type AnswerOf, api } from "../../data/api.ts"
import { save } from "../../data/save.ts"
import { useMay } from "../../data/session.ts"
import { present, utcDay } from "../../data/time.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { Export } from "../../lists/Filters.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { Field } from "../../parts/Field.tsx"
import { Allowed, Page, Panel } from "../../parts/Page.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { BudgetBar } from "../keys/KeyState.tsx"

const firstChosen = () => ({ label: "customer", value: "", period: utcDay(present(), 0).slice(0, 7) })
type Chosen = ReturnType<typeof firstChosen>

const pageSize = 200

/** As `rungate label-budgets statement` writes it. */
const saveSigned = async (chosen: Chosen) => {
  const receipts: Array<string> = []
  for (let from: { readonly cursor?: string } = {}; ; ) {
    const query = { ...chosen, limit: pageSize, ...from }
    const page: Awaited<ReturnType<typeof api.labelBudgets.statement>> = await api.labelBudgets.statement({ query })
    receipts.push(...page.items.flatMap(({ receipt }) => receipt ?? []))
    if (page.statement !== null) {
      const { signed, runs, charged } = page.statement
      save(`${[signed, ...receipts].join("\n")}\n`, `statement-${chosen.period}.jws`, "application/jose")
      return `Saved ${runs} runs, $${charged} charged.`
    }
    from = page.next_cursor === null ? {} : { cursor: page.next_cursor }
  }
}

const Statement = () => {
  const [chosen, setChosen] = useState(firstChosen)
  const field = (name: keyof Chosen) => ({
    value: chosen[name],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      setChosen({ ...chosen, [name]: event.target.value })
  })
  return (
    <Panel title="Statement of one value">
      <p className="mb-3 max-w-prose text-muted">
        All runs with the value that ended in a month or on a day, with their ledger entries. Whoever gets the signed
        file verifies it without this service. The receipts in it show the balance of your wallet.
      </p>
      <div className="flex flex-wrap items-end gap-3">
        <Field label="Label" maxLength={64} {...field("label")} />
        <Field label="Value" maxLength={500} {...field("value")} />
        <Field label="Month or day" maxLength={10} placeholder="2026-11" {...field("period")} />
        {chosen.label === "" || chosen.value === "" ? (
          <p className="py-1.5 text-muted">Give a label and a value to save its statement.</p>
        ) : (
          <>
            <SaveButton send={() => saveSigned(chosen)}>Save the signed statement</SaveButton>
            <Export path="/v1/label-budgets/statement" query={{ ...chosen }} name={`statement-${chosen.period}.csv`} />
          </>
        )}
      </div>
      <details className="mt-3">
        <summary className="text-muted">Verify it</summary>
        <div className="mt-2">
          <CodeBlock
            label="the command that verifies a statement"
            text={`rungate receipt keys -o jwks.json\nrungate receipt verify statement-${chosen.period}.jws --jwks jwks.json`}
          />
        </div>
      </details>
    </Panel>
  )
}

type Budget = AnswerOf<"labelBudgets", "list">["items"][number]

const form = payloadForm("labelBudgets", "set")
const changes = ["label-budgets"]

const words = {
  label: { label: "Label", placeholder: "customer" },
  value: { label: "Value (optional)", hint: "Without one, each value has the budget by itself." },
  limit: { label: "Most that the runs may charge and hold, in USD" },
  time_zone: {
    label: "Time zone whose days are counted (optional)",
    hint: "Without one, those of the organization. It can change once a month.",
    options: [["", "As it is"] as const, "UTC", ...Intl.supportedValuesOf("timeZone")]
  }
}

const ofWhom = ({ label, value }: Budget) => `${label}: ${value ?? "each value"}`

const Remove = ({ budget }: { readonly budget: Budget }) => (
  <ConfirmAction
    send={() => api.labelBudgets.remove({ params: { label_budget_id: budget.id } })}
    says="The budget is removed."
    changes={changes}
    word="Remove"
    label={`Remove the budget of ${ofWhom(budget)}`}
    confirm="Remove the budget"
    cancel="Keep it"
  >
    <p>Runs with the label are no longer blocked by it.</p>
  </ConfirmAction>
)

const columnsFor = (may: boolean) =>
  columnsOf("LabelBudget", {
    spent: ({ spent, ...budget }) => (
      <BudgetBar budget={spent === null ? null : { ...budget, spent }} none="by value" />
    ),
    actions: may && ((budget) => <Remove budget={budget} />)
  })

const valueColumns = columnsOf("LabelValue", {
  spent: (value) => <BudgetBar budget={value} />
})

/** Each value that was counted, also of budgets that each value has by itself. */
const Values = () => (
  <PagedTable
    paged={usePaged(["label-budgets", "values"], (from) => api.labelBudgets.values({ query: from }))}
    label="What is spent by value"
    columns={valueColumns}
    empty={<p className="text-muted">What is spent by value will be here.</p>}
  />
)

const LabelBudgets = () => {
  const may = useMay("labelBudgets.set")
  const paged = usePaged(["label-budgets"], (from) => api.labelBudgets.list({ query: from }), { pageSize: 100 })
  return (
    <Page lead="What the runs with a label of yours, such as a customer, may cost. A run above a budget is blocked.">
      <Allowed operation="labelBudgets.set">
        <PayloadForm
          title="Set a budget"
          form={form}
          words={words}
          initial={{ period: "month" }}
          send={(payload) => api.labelBudgets.set({ payload })}
          says="The budget is set."
          changes={changes}
          submit="Set the budget"
        />
      </Allowed>
      <PagedTable
        paged={paged}
        label="Label budgets"
        columns={columnsFor(may)}
        empty="Budgets will be here, each with what is spent of it."
        hint={'Label runs with metadata, such as {"customer": "acme"}.'}
      />
      <Values />
      <Statement />
    </Page>
  )
}

export default LabelBudgets
