/** The rules of a key as a form: name, budget, expiry and scope. An empty field means that there is no such rule. */
import { useState } from "react"
import { ActionForm } from "../../actions/Actions.tsx"
import type { FormAction } from "../../actions/useAction.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { AmountField, Field, Select } from "../../parts/Field.tsx"
import { ScopeFields } from "./ScopeFields.tsx"
import { type ApiKey, useScopeNames } from "./useKeys.ts"

const periodWords: ReadonlyArray<readonly [string, string]> = [
  ["day", "per day (UTC)"],
  ["week", "per week, from Monday"],
  ["month", "per calendar month"],
  ["total", "in total"]
]

const Budget = ({ before }: { readonly before: ApiKey | null }) => (
  <div className="flex flex-wrap items-start gap-3">
    <AmountField
      label="Budget in USD"
      name="budget.limit"
      defaultValue={before?.budget?.limit ?? ""}
      hint="Empty: no budget. A run that does not fit into it is blocked."
      className="w-full max-w-52"
    />
    <Select
      label="Period of the budget"
      name="period"
      defaultValue={before?.budget?.period ?? "day"}
      options={periodWords}
      className="w-full max-w-52"
    />
  </div>
)

export const RulesForm = ({
  before,
  action,
  submit,
  saved
}: {
  /** Null for a new key. */
  readonly before: ApiKey | null
  readonly action: FormAction
  readonly submit: string
  readonly saved?: string
}) => {
  // The lists of names are part of the form: without them, sending it would take the scope away.
  const isReady = useScopeNames().data !== undefined
  const [showsScope, setShowsScope] = useState(before?.allow !== null && before !== null)
  return (
    <ActionForm action={action} submit={submit} saved={saved} disabled={showsScope && !isReady} className="space-y-5">
      <Field
        label="Name"
        name="name"
        required
        maxLength={200}
        defaultValue={before?.name ?? ""}
        hint="Says what uses the key, such as the name of an agent."
        className="max-w-md"
      />
      <Budget before={before} />
      <Field
        label="Last day (UTC)"
        name="expires_at"
        type="date"
        defaultValue={before?.expires_at?.slice(0, 10) ?? ""}
        hint="Empty: the key does not expire."
        className="max-w-52"
      />
      <Checkbox
        label="Limit what the key may run"
        checked={showsScope}
        onChange={(event) => setShowsScope(event.target.checked)}
        hint="A key with such limits can run and read, but change nothing else in the organization."
      />
      {showsScope && <ScopeFields allow={before?.allow ?? null} />}
    </ActionForm>
  )
}
