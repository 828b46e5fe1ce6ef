/** The scope of a key, or of an allowance, as fields of a form. An empty field means that there is no such rule. */
import { Checkbox, Choices } from "../../forms/Checkbox.tsx"
import { Field, problemOf, Select } from "../../parts/Field.tsx"
import { Failed, Skeleton } from "../../parts/States.tsx"
import { problemIn } from "./rules.ts"
import { type ApiKey, useScopeNames } from "./useKeys.ts"

/** Of an amount in USD that somebody types. */
export const amountPattern = "\\d{1,9}(\\.\\d{1,6})?"

interface ScopeFieldsProps {
  /** Null for a new key, and for one without a scope. */
  readonly allow: ApiKey["allow"]
  readonly error: unknown
}

const Names = ({ allow, error }: ScopeFieldsProps) => {
  const names = useScopeNames()
  if (names.data === undefined)
    return names.error === null ? (
      <Skeleton lines={4} />
    ) : (
      <Failed error={names.error} retry={() => void names.refetch()} />
    )
  return (
    <>
      <Choices
        legend="Capabilities"
        name="capabilities"
        hint="None chosen: every capability may run."
        options={names.data.capabilities}
        chosen={allow?.capabilities ?? []}
        problem={problemIn(error, "allow.capabilities")}
      />
      <Choices
        legend="Providers"
        name="providers"
        hint="None chosen: runs may call every provider."
        options={names.data.providers}
        chosen={allow?.providers ?? []}
        problem={problemIn(error, "allow.providers")}
      />
    </>
  )
}

const rawOf = (allow: ApiKey["allow"]) => {
  const raw = allow?.raw
  return raw === undefined ? "" : raw ? "allowed" : "refused"
}

export const ScopeFields = ({ allow, error }: ScopeFieldsProps) => (
  <>
    <Names allow={allow} error={error} />
    <Checkbox
      name="read_only"
      value="yes"
      defaultChecked={allow?.read_only === true}
      label="Reads and look-ups only"
      hint="The key can start no run that acts outside, such as sending a message. Of raw endpoints it may call those with GET."
    />
    <Checkbox
      name="mint"
      value="yes"
      defaultChecked={allow?.mint === true}
      label="May give allowances"
      hint="Keys with an amount of its money, for example for the agents that a program starts."
    />
    <div className="flex flex-wrap items-start gap-3">
      <Select
        label="Raw endpoints"
        name="raw"
        defaultValue={rawOf(allow)}
        options={[
          ["", "Allowed, unless capabilities are chosen"],
          ["allowed", "Allowed"],
          ["refused", "Not allowed"]
        ]}
        className="w-full max-w-80"
      />
      <Select
        label="What it reads"
        name="read"
        defaultValue={allow?.read ?? ""}
        options={[
          ["", "By default: all, or own runs for allowances and connected apps"],
          ["own", "Its own runs and its budget"],
          ["organization", "Everything of the organization"]
        ]}
        className="w-full max-w-80"
      />
      <Field
        label="Most that one run may hold, in USD"
        name="max_cost"
        inputMode="decimal"
        pattern={amountPattern}
        defaultValue={allow?.max_cost ?? ""}
        problem={problemOf(error, "allow.max_cost")}
        className="w-full max-w-72"
      />
    </div>
  </>
)
