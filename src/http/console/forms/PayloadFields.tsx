/** The fields of an operation's payload inside an `ActionForm` or a question: `payloadForm` reads them from the contract, and `payloadIn` what was typed. */
import { useContext, useState } from "react"
import { textIn } from "../actions/Actions.tsx"
import { detailsOf, FormError } from "../parts/Field.tsx"
import { draftOf, payloadOf } from "./draft.ts"
import { OwnForm, type Wording } from "./Inputs.tsx"
import type { ObjectField } from "./schema.ts"
import { SchemaForm } from "./SchemaForm.tsx"

const name = "payload"

const someOf = (stored: object = {}) => Object.fromEntries(Object.entries(stored).filter(([, value]) => value !== null))

export const PayloadFields = ({
  form,
  words = {},
  initial = {},
  before,
  disabled = false
}: {
  readonly form: ObjectField
  /** By the path of a field. */
  readonly words?: Readonly<Record<string, Wording>>
  /** What the fields have at first. */
  readonly initial?: object
  /** What is stored: only what differs from it is sent. */
  readonly before?: object
  readonly disabled?: boolean
}) => {
  const [draft, setDraft] = useState(() => draftOf(form, { ...initial, ...someOf(before) }))
  const problems = detailsOf(useContext(FormError))
  return (
    <OwnForm value={{ words, disabled }}>
      <div className="max-w-3xl">
        <SchemaForm field={form} draft={draft} onChange={setDraft} path="" problems={problems} />
      </div>
      <input type="hidden" name={name} value={JSON.stringify(payloadOf(form, draft, before))} />
    </OwnForm>
  )
}

/** The payload that a form with these fields says. */
export const payloadIn = (form: FormData) => JSON.parse(textIn(form, name) || "{}")
