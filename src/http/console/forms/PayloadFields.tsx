/**
 * A form of an operation's payload: `payloadForm` reads its fields from the contract. The fields alone are for other forms and questions,
 * where `payloadIn` reads what was typed.
 */
import { type ReactNode, useContext, useState } from "react"
import { ActionForm, type FormProps, type Outcome, textIn, useAction } from "../actions/Actions.tsx"
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

interface PayloadFormProps<A>
  extends Omit<FieldsProps, "disabled">,
    Outcome<A>,
    Omit<FormProps, "action" | "children" | "question" | "saved"> {
  readonly send: (payload: ReturnType<typeof payloadIn>, form: FormData) => Promise<A>
  /** Of the panel around it. */
  readonly title?: string
  /** Above and below the fields of the payload. */
  readonly first?: ReactNode
  readonly children?: ReactNode
  readonly saved?: string | ((answer: A) => string)
  /** In place of the form once it is done, such as a secret. `again` shows the form. */
  readonly instead?: (answer: A, again: () => void) => ReactNode
  readonly question?: (payload: ReturnType<typeof payloadIn>) => ReturnType<NonNullable<FormProps["question"]>>
}

export const PayloadForm = <A,>({
  form,
  words = {},
  initial = {},
  before,
  send,
  says,
  after,
  changes,
  title,
  first,
  children,
  saved,
  instead,
  question,
  ...rest
}: PayloadFormProps<A>) => {
  const action = useAction((sent: FormData) => send(payloadIn(sent), sent), { says, after, changes })
  const { data } = action
  if (instead !== undefined && data !== undefined) return instead(data, action.reset)
  const content = (
    <ActionForm
      className="space-y-3"
      {...rest}
      action={action}
      saved={typeof saved === "function" ? data !== undefined && saved(data) : saved}
      question={question && ((sent) => question(payloadIn(sent)))}
    >
      {first}
      <PayloadFields {...{ form, words, initial, before }} disabled={(rest.denied ?? null) !== null} />
      {children}
    </ActionForm>
  )
  return title === undefined ? content : <Panel title={title}>{content}</Panel>
}
