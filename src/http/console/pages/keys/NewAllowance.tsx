/** Gives an allowance, and shows its key once. */
import { useState } from "react"
import { ActionForm } from "../../actions/Actions.tsx"
import { textIn, useAction } from "../../actions/useAction.ts"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { present } from "../../data/clock.ts"
import { useMay } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { AmountField, Field, Select } from "../../parts/Field.tsx"
import { PageHead } from "../../parts/Page.tsx"
import { scopeIn } from "./rules.ts"
import { ScopeFields } from "./ScopeFields.tsx"
import { useScopeNames } from "./useKeys.ts"

/** Seconds until its end. */
const lengths: ReadonlyArray<readonly [string, string]> = [
  ["3600", "in one hour"],
  ["28800", "in eight hours"],
  ["86400", "in one day"],
  ["604800", "in seven days"],
  ["2592000", "in thirty days"]
]

const bodyOf = (form: FormData) => ({
  name: textIn(form, "name"),
  amount: textIn(form, "amount").trim(),
  expires_at: new Date(present() + Number.parseInt(textIn(form, "length"), 10) * 1_000).toISOString(),
  allow: scopeIn(form)
})

const Form = () => {
  const go = useGo()
  const hasNames = useScopeNames().data !== undefined
  const [showsScope, setShowsScope] = useState(false)
  const give = useAction((form: FormData) => api.allowances.create({ payload: bodyOf(form) }), {
    changes: ["keys", "wallet"]
  })
  if (give.data !== undefined)
    return (
      <Secret
        title="This is the key of the allowance. It is shown only now: give it to the program that may spend the money."
        label="the key of the allowance"
        text={give.data.api_key}
        done="I have stored the key"
        onStored={() => go("/settings/keys")}
      />
    )
  return (
    <ActionForm action={give} submit="Give the allowance" disabled={showsScope && !hasNames} className="space-y-5">
      <Field
        label="Name"
        name="name"
        required
        maxLength={200}
        hint="Says who gets it, such as the name of an agent."
        className="max-w-md"
      />
      <div className="flex flex-wrap items-start gap-3">
        <AmountField
          label="Amount in USD"
          name="amount"
          required
          hint="It is held at once. What is unused returns."
          className="w-full max-w-52"
        />
        <Select label="It ends" name="length" defaultValue="86400" options={lengths} className="w-full max-w-52" />
      </div>
      <Checkbox
        label="Limit what it may run"
        checked={showsScope}
        onChange={(event) => setShowsScope(event.target.checked)}
        hint="An allowance can run and read, and change nothing else in the organization."
      />
      {showsScope && <ScopeFields allow={null} />}
    </ActionForm>
  )
}

const NewAllowance = () => {
  const may = useMay("allowances.create")
  return (
    <>
      <PageHead title="Give an allowance">A key with an amount of the wallet's money.</PageHead>
      {may ? (
        <Form />
      ) : (
        <p className="text-muted">Your role is viewer. An owner, an admin or a member can give an allowance.</p>
      )}
    </>
  )
}

export default NewAllowance
