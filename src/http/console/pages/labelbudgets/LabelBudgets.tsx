/** Budgets of labels, such as of each customer: what the runs with a value may cost, what they have cost, and statements to pass on. */
import { type AnswerOf, api } from "../../data/api.ts"
import { ActionForm, ConfirmAction, useAction } from "../../actions/Actions.tsx"
import { useMay } from "../../data/session.ts"
import { Allowed, Empty, Page, Panel } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { BudgetBar } from "../keys/KeyState.tsx"
import { Statement } from "./Statement.tsx"

type Budget = AnswerOf<"labelBudgets", "list">["items"][number]

const form = payloadForm("labelBudgets", "set")
const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => [zone, zone] as const)
const words = {
  label: { label: "Label", placeholder: "customer" },
  value: { label: "Value (optional)", hint: "Without one, each value has the budget by itself." },
  limit: { label: "Most that the runs may charge and hold, in USD" },
  time_zone: {
    label: "Time zone whose days are counted (optional)",
    hint: "Without one, those of the organization. It can change once a month.",
    options: [["", "As it is"] as const, ...zones]
  }
}

const Set = () => {
  const set = useAction((sent: FormData) => api.labelBudgets.set({ payload: payloadIn(sent) }), {
    says: "The budget is set.",
    changes: ["label-budgets"]
  })
  return (
    <Panel title="Set a budget">
      <ActionForm action={set} submit="Set the budget" className="space-y-3">
        <PayloadFields form={form} words={words} initial={{ period: "month" }} />
      </ActionForm>
    </Panel>
  )
}

const ofWhom = ({ label, value }: Budget) => `${label}: ${value ?? "each value"}`

const Remove = ({ budget }: { readonly budget: Budget }) => (
  <ConfirmAction
    send={() => api.labelBudgets.remove({ params: { label_budget_id: budget.id } })}
    says="The budget is removed."
    changes={["label-budgets"]}
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
const Values = () => {
  const paged = usePaged(["label-budgets", "values"], (from) => api.labelBudgets.values({ query: from }))
  return (
    <PagedTable
      paged={paged}
      label="What is spent by value"
      columns={valueColumns}
      empty={<p className="text-muted">What is spent by value will be here.</p>}
    />
  )
}

const LabelBudgets = () => {
  const may = useMay("labelBudgets.set")
  const paged = usePaged(["label-budgets"], (from) => api.labelBudgets.list({ query: from }), { pageSize: 100 })
  return (
    <Page
      title="Label budgets"
      lead="What the runs with a label of yours, such as a customer, may cost. A run above a budget is blocked."
    >
      <Allowed operation="labelBudgets.set">
        <Set />
      </Allowed>
      <PagedTable
        paged={paged}
        label="Label budgets"
        columns={columnsFor(may)}
        empty={
          <Empty title="Budgets will be here, each with what is spent of it.">
            <p className="text-muted">Label runs with metadata, such as {`{"customer": "acme"}`}.</p>
          </Empty>
        }
      />
      <Values />
      <Statement />
    </Page>
  )
}

export default LabelBudgets
