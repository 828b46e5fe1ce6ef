/** Saves the statement of one value's runs, to pass on to whom they were for: signed with all receipts, or as CSV. */
import { useState } from "react"
import { SaveButton } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { present, utcDay } from "../../data/time.ts"
import { save } from "../../data/save.ts"
import { Export } from "../../lists/Export.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { Field } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"

interface Chosen {
  readonly label: string
  readonly value: string
  readonly period: string
}

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

export const Statement = () => {
  const [chosen, setChosen] = useState<Chosen>({
    label: "customer",
    value: "",
    period: utcDay(present(), 0).slice(0, 7)
  })
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
        {chosen.label !== "" && chosen.value !== "" && (
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
