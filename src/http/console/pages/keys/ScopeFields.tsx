/** The scope of a key, or of an allowance, as fields of a form. An empty field means that there is no such rule. */
import { Checkbox, Choices } from "../../forms/Checkbox.tsx"
import { AmountField, Select } from "../../parts/Field.tsx"
import { Loaded, Skeleton } from "../../parts/Page.tsx"
import { type ApiKey, useScopeNames } from "./useKeys.ts"

interface ScopeFieldsProps {
  /** Null for a new key, and for one without a scope. */
  readonly allow: ApiKey["allow"]
}

const Names = ({ allow }: ScopeFieldsProps) => (
  <Loaded query={useScopeNames()} skeleton={<Skeleton lines={4} />}>
    {(names) => (
      <>
        <Choices
          legend="Capabilities"
          name="allow.capabilities"
          hint="None chosen: every capability may run."
          options={names.capabilities}
          chosen={allow?.capabilities ?? []}
        />
        <Choices
          legend="Providers"
          name="allow.providers"
          hint="None chosen: runs may call every provider."
          options={names.providers}
          chosen={allow?.providers ?? []}
        />
      </>
    )}
  </Loaded>
)

const rawOf = (allow: ApiKey["allow"]) => {
  const raw = allow?.raw
  return raw === undefined ? "" : raw ? "allowed" : "refused"
}

export const ScopeFields = ({ allow }: ScopeFieldsProps) => (
  <>
    <Names allow={allow} />
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
      <AmountField
        label="Most that one run may hold, in USD"
        name="allow.max_cost"
        defaultValue={allow?.max_cost ?? ""}
        className="w-full max-w-72"
      />
    </div>
  </>
)
