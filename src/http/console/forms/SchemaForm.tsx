/** A form made from a JSON Schema: nested objects as groups, lists of objects with buttons, and optional fields below the others. */
import { Plus, Trash2 } from "lucide-react"
import { type ReactNode, useContext, useEffect, useState } from "react"
import { Button } from "../parts/Page.tsx"
import { type InputProps, OwnForm, ScalarInput, useWording } from "./Inputs.tsx"
import { type Draft, emptyDraft, itemsOf, meaningOf, membersOf } from "./draft.ts"
import { nameWords } from "./providerText.ts"
import type { Field, ObjectField } from "./schema.ts"

interface DisclosureProps {
  readonly title: string
  /** Something in it has to be seen. */
  readonly needed: boolean
  readonly children: ReactNode
}

/** Fields behind a heading. It opens by itself when one of them is used or wrong, and does not close by itself. */
export const Disclosure = ({ title, needed, children }: DisclosureProps) => {
  const [isOpen, setOpen] = useState(needed)
  useEffect(() => {
    if (needed) setOpen(true)
  }, [needed])
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="w-fit rounded text-accent underline underline-offset-2">{title}</summary>
      <div className="mt-3 grid items-start gap-4 sm:grid-cols-2">{children}</div>
    </details>
  )
}

/** So many optional fields are shown at once. More wait behind a heading. */
const shownMax = 8
/** A larger optional group of our own operations waits behind its heading. */
const pairMax = 2

const groupLook = "min-w-0 rounded border border-line p-3 sm:col-span-2"

interface GroupProps {
  readonly title: string
  readonly hint: string
  readonly problem: string | undefined
  readonly children: ReactNode
}

const Group = ({ title, hint, problem, children }: GroupProps) => (
  <fieldset className={groupLook}>
    <legend className="px-1 font-medium">{title}</legend>
    {hint !== "" && <p className="mb-2 text-small break-words text-muted">{hint}</p>}
    {problem !== undefined && <p className="mb-2 text-small text-red">{problem}</p>}
    {children}
  </fieldset>
)

const titleOf = ({ name, required }: Field, label: string | undefined) =>
  `${label ?? nameWords(name)}${required && label === undefined ? " (required)" : ""}`

const ListInput = ({ field, item, draft, onChange, path, problems, label }: InputProps & { readonly item: Field }) => {
  const items = itemsOf(draft)
  return (
    <Group title={titleOf(field, label)} hint={field.hint} problem={problems.get(path)}>
      <ol className="space-y-3">
        {items.map((one, index) => (
          // The place is the item's identity: items have no other.
          <li key={index} className="space-y-2">
            <div className="grid gap-3 sm:grid-cols-2">
              <FieldInput
                field={item}
                label={`Item ${index + 1}`}
                draft={one}
                onChange={(next) => onChange(items.map((before, at) => (at === index ? next : before)))}
                path={`${path}.${index}`}
                problems={problems}
              />
            </div>
            <Button look="quiet" onClick={() => onChange(items.filter((_, at) => at !== index))}>
              <Trash2 size={14} aria-hidden="true" /> Remove item {index + 1}
            </Button>
          </li>
        ))}
      </ol>
      <Button className="mt-2" onClick={() => onChange([...items, emptyDraft(item)])}>
        <Plus size={14} aria-hidden="true" /> Add an item to {label ?? nameWords(field.name)}
      </Button>
    </Group>
  )
}

const FieldInput = (props: InputProps) => {
  const { field, draft, path, problems, label } = props
  const isOwn = useContext(OwnForm) !== null
  const { title, hint = field.hint, open = false } = useWording(field, path)
  if (field.kind === "list") return <ListInput {...props} item={field.item} />
  if (field.kind !== "object") return <ScalarInput {...props} />
  const isNeeded = field.required || meaningOf(field, draft).value !== undefined
  if (isOwn && !field.required && !open && field.fields.length > pairMax)
    return (
      <div className="sm:col-span-2">
        <Disclosure title={title} needed={isUsed(path, draft, problems)}>
          {hint !== "" && <p className="text-small text-muted sm:col-span-2">{hint}</p>}
          <div className="sm:col-span-2">
            <ObjectInputs {...{ field, draft, path, problems }} onChange={props.onChange} needed={isNeeded} />
          </div>
        </Disclosure>
      </div>
    )
  return (
    <Group title={isOwn ? title : titleOf(field, label)} hint={hint} problem={problems.get(path)}>
      <ObjectInputs {...{ field, draft, path, problems }} onChange={props.onChange} needed={isNeeded} />
    </Group>
  )
}

type ObjectProps = Omit<InputProps, "field" | "label"> & { readonly field: ObjectField }

const below = (path: string, name: string) => (path === "" ? name : `${path}.${name}`)

const isUsed = (path: string, draft: Draft | undefined, problems: ReadonlyMap<string, string>) =>
  (draft !== undefined && draft !== "" && JSON.stringify(draft) !== "{}" && JSON.stringify(draft) !== "[]") ||
  [...problems.keys()].some((one) => one === path || one.startsWith(`${path}.`))

const ObjectInputs = ({ field, draft, onChange, path, problems, needed = true }: ObjectProps) => {
  const members = membersOf(draft)
  const first = field.fields.filter(({ required }) => required)
  const optional = field.fields.filter(({ required }) => !required)
  const isShort = field.fields.length <= shownMax || first.length === 0
  const later = isShort ? [] : optional
  const shown = isShort ? [...first, ...optional] : first
  const placed = (one: Field) => (
    <FieldInput
      key={one.name}
      field={one}
      draft={members[one.name]}
      onChange={(next) => onChange({ ...members, [one.name]: next })}
      path={below(path, one.name)}
      problems={problems}
      needed={needed}
    />
  )
  return (
    <div className="space-y-4">
      <div className="grid items-start gap-4 sm:grid-cols-2">{shown.map(placed)}</div>
      {later.length > 0 && (
        <Disclosure
          title={`${later.length} optional fields`}
          needed={later.some(({ name }) => isUsed(below(path, name), members[name], problems))}
        >
          {later.map(placed)}
        </Disclosure>
      )}
    </div>
  )
}

/** The whole form. `path` is where its JSON stands in the request, such as `input`. */
export const SchemaForm = (props: Omit<ObjectProps, "field"> & { readonly field: Field }) =>
  props.field.kind === "object" ? (
    <ObjectInputs {...props} field={props.field} />
  ) : (
    <FieldInput {...props} label={props.path} />
  )
