/**
 * A form of an operation's payload: `payloadForm` reads its fields from the contract. The fields alone are for other forms and questions,
 * where `payloadIn` reads what was typed.
 */
import { type ReactNode, useContext, useState } from "react"
import { ActionForm, type FormProps, textIn } from "../actions/Actions.tsx"
import { detailsOf, FormError } from "../parts/Field.tsx"
import { Panel } from "../parts/Page.tsx"
import { draftOf, payloadOf } from "./draft.ts"
import { OwnForm, type Wording } from "./Inputs.tsx"
import type { ObjectField } from "./schema.ts"
import { SchemaForm } from "./SchemaForm.tsx"

const name = "payload"

const someOf = (stored: object = {}) => Object.fromEntries(Object.entries(stored).filter(([, value]) => value !== null))

interface FieldsProps {
  readonly form: ObjectField
  /** By the path of a field. */
  readonly words?: Readonly<Record<string, Wording>>
  /** What the fields have at first. */
  readonly initial?: object
  /** What is stored: only what differs from it is sent. */
  readonly before?: object | undefined
  readonly disabled?: boolean
}

export const PayloadFields = ({ form, words = {}, initial = {}, before, disabled = false }: FieldsProps) => {
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

type Payload = ReturnType<typeof payloadIn>

interface PayloadFormProps<A>
  extends Omit<FieldsProps, "disabled">,
    Omit<FormProps<A>, "send" | "children" | "question"> {
  readonly send: (payload: Payload, form: FormData) => Promise<A>
  /** Of the panel around it. */
  readonly title?: string
  /** Above and below the fields of the payload. */
  readonly first?: ReactNode
  readonly children?: ReactNode
  readonly question?: (payload: Payload) => ReturnType<NonNullable<FormProps<A>["question"]>>
}

export const PayloadForm = <A,>({
  form,
  words = {},
  initial = {},
  before,
  send,
  title,
  first,
  children,
  question,
  ...rest
}: PayloadFormProps<A>) => {
  const content = (
    <ActionForm
      className="space-y-3"
      {...rest}
      send={(sent) => send(payloadIn(sent), sent)}
      question={question && ((sent) => question(payloadIn(sent)))}
    >
      {first}
      <PayloadFields {...{ form, words, initial, before }} disabled={(rest.denied ?? null) !== null} />
      {children}
    </ActionForm>
  )
  return title === undefined ? content : <Panel title={title}>{content}</Panel>
}
