/** The rules of a key as a form: name, budget, expiry and scope. An empty field means that there is no such rule. */
import { type ReactNode, useState } from "react"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { Field, problemOf, Select } from "../../parts/Field.tsx"
import { amountPattern, ScopeFields } from "./ScopeFields.tsx"
import { type ApiKey, useScopeNames } from "./useKeys.ts"

const periodWords: ReadonlyArray<readonly [string, string]> = [
  ["day", "per day (UTC)"],
  ["week", "per week, from Monday"],
  ["month", "per calendar month"],
  ["total", "in total"]
]

const Budget = ({ before, error }: { readonly before: ApiKey | null; readonly error: unknown }) => (
  <div className="flex flex-wrap items-start gap-3">
    <Field
      label="Budget in USD"
      name="limit"
      inputMode="decimal"
      pattern={amountPattern}
      defaultValue={before?.budget?.limit ?? ""}
      hint="Empty: no budget. A run that does not fit into it is blocked."
      problem={problemOf(error, "budget.limit")}
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

/** Whether the lists of names are there is part of the form: without them, sending it would take the scope away. */
export const RulesForm = ({
  before,
  error,
  children
}: {
  /** Null for a new key. */
  readonly before: ApiKey | null
  readonly error: unknown
  /** The button. */
  readonly children: (isReady: boolean) => ReactNode
}) => {
  const isReady = useScopeNames().data !== undefined
  const [showsScope, setShowsScope] = useState(before?.allow !== null && before !== null)
  return (
    <>
      <Field
        label="Name"
        name="name"
        required
        maxLength={200}
        defaultValue={before?.name ?? ""}
        hint="Says what uses the key, such as the name of an agent."
        problem={problemOf(error, "name")}
        className="max-w-md"
      />
      <Budget before={before} error={error} />
      <Field
        label="Last day (UTC)"
        name="expires"
        type="date"
        defaultValue={before?.expires_at?.slice(0, 10) ?? ""}
        hint="Empty: the key does not expire."
        problem={problemOf(error, "expires_at")}
        className="max-w-52"
      />
      <Checkbox
        label="Limit what the key may run"
        checked={showsScope}
        onChange={(event) => setShowsScope(event.target.checked)}
        hint="A key with such limits can run and read, but change nothing else in the organization."
      />
      {showsScope && <ScopeFields allow={before?.allow ?? null} error={error} />}
      {children(!showsScope || isReady)}
    </>
  )
}
