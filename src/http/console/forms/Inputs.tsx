/** One input of a form by the kind of its field, each with its label, hint and problem. */
import { createContext, useContext } from "react"
import { Field as TextField, type Options, optionsIn, Select, TextArea } from "../parts/Field.tsx"
import { Skeleton } from "../parts/Page.tsx"
import { Checkbox, Choices } from "./Checkbox.tsx"
import { textOf, type Draft } from "./draft.ts"
import { nameWords } from "./providerText.ts"
import type { Field } from "./schema.ts"

export interface InputProps {
  readonly field: Field
  readonly draft: Draft | undefined
  readonly onChange: (draft: Draft) => void
  /** Path of the field in the request, such as `input.titles`. */
  readonly path: string
  /** Messages by path. */
  readonly problems: ReadonlyMap<string, string>
  /** What the label says in place of the field's name, such as "Item 2". */
  readonly label?: string
  /** False while the optional group that it belongs to is left out. */
  readonly needed?: boolean
}

/** What a page says of a field, where the contract is too short for it. */
export interface Wording {
  readonly label?: string
  readonly hint?: string
  readonly placeholder?: string
  /** Null while they are read. An empty value is for what is left out. */
  readonly options?: Options | null
  readonly type?: "email" | "url" | "password"
  /** Of an optional group: it does not wait behind its heading. */
  readonly open?: boolean
}

/** Set for the form of our own operation. Its fields are checked by the browser too. */
export interface OwnForm {
  /** By path. */
  readonly words: Readonly<Record<string, Wording>>
  readonly disabled: boolean
}
export const OwnForm = createContext<OwnForm | null>(null)

/** What the page says of a field, and what it is called. */
export const useWording = ({ name, kind }: Field, path: string) => {
  const { label, options, ...wording } = useContext(OwnForm)?.words[path] ?? {}
  return {
    ...wording,
    options: options && optionsIn(options),
    title: label ?? `${nameWords(name)}${kind === "amount" ? ", in USD" : ""}`
  }
}

/** The problem of the field, or of an item in it, such as "line 2: is not an e-mail address". */
const problemAt = (path: string, problems: ReadonlyMap<string, string>): string | null => {
  const own = problems.get(path)
  if (own !== undefined) return own
  const inside = [...problems].find(([one]) => one.startsWith(`${path}.`))
  if (inside === undefined) return null
  const [place, message] = inside
  const rest = place.slice(path.length + 1)
  return /^\d+$/.test(rest) ? `line ${Number(rest) + 1}: ${message}` : `${rest}: ${message}`
}

const modes: Readonly<Record<string, "email" | "url" | "tel">> = { email: "email", uri: "url", phone: "tel" }
/** The keyboard of a phone. */
const modeOf = (field: Field) => {
  if (field.kind === "number" || field.kind === "amount") return "decimal"
  return field.kind === "text" ? modes[field.format] : undefined
}

const choicesOf = (field: Field): ReadonlyArray<readonly [value: string, word: string]> => {
  if (field.kind === "boolean")
    return [
      ["true", "yes"],
      ["false", "no"]
    ]
  if (field.kind !== "choice") return []
  return field.options.map((value) => {
    const option: unknown = JSON.parse(value)
    return [value, typeof option === "string" ? option : value]
  })
}

/** The attributes by which the browser checks a field of our own operation. */
const checks = (field: Field, type: Wording["type"]) => ({
  type: field.kind === "time" ? "datetime-local" : (type ?? "text"),
  maxLength: field.kind === "text" && field.lengthMax !== null ? field.lengthMax : undefined,
  pattern: field.kind === "amount" ? "\\$?\\s*\\d{1,10}(\\.\\d{1,6})?" : field.kind === "number" ? "\\d*" : undefined
})

/** A choice is typed as JSON: a text has quotes, and a number none. */
const valueIn = (field: Field, value: string) =>
  field.kind !== "choice" || value === "" || field.options.includes(value) ? value : JSON.stringify(value)

const boxRows = (field: Field) => (field.kind === "json" ? 6 : field.kind === "lines" ? 3 : 4)
const sentence = (text: string) => (text === "" || /[.!?:]$/.test(text) ? text : `${text}.`)
const hintOf = (field: Field) =>
  [sentence(field.hint), field.kind === "lines" ? "One a line." : field.kind === "json" ? "As JSON." : ""]
    .filter((one) => one !== "")
    .join(" ")

/** A field without fields in it. */
export const ScalarInput = ({ field, draft, onChange, path, problems, label, needed = true }: InputProps) => {
  const own = useContext(OwnForm)
  const { title, options, hint = hintOf(field), placeholder, type } = useWording(field, path)
  const text = textOf(draft)
  const problem = problemAt(path, problems)
  const names =
    options ?? (field.kind === "lines" ? field.options?.map((one): readonly [string, string] => [one, ""]) : null)
  if (field.kind === "lines" && options === null) return <Skeleton lines={4} />
  if (field.kind === "lines" && names !== undefined && names !== null)
    return (
      <Choices
        legend={label ?? title}
        hint={hint}
        problem={problem}
        options={names}
        chosen={text.split("\n").filter((one) => one !== "")}
        onChange={(chosen) => onChange(chosen.join("\n"))}
      />
    )
  if (field.kind === "flag" && options === undefined)
    return (
      <div className="sm:col-span-2">
        <Checkbox
          label={title}
          hint={hint}
          disabled={own?.disabled}
          checked={text === "true"}
          onChange={({ target }) => onChange(target.checked ? "true" : "")}
        />
        {problem !== null && <p className="text-small text-red">{problem}</p>}
      </div>
    )
  const isBox = field.kind === "json" || field.kind === "lines" || (field.kind === "text" && field.long)
  const choices = options?.map(([value, word]) => [valueIn(field, value), word] as const) ?? choicesOf(field)
  const common = {
    label: (
      <>
        <span title={label === undefined && own === null ? field.name : undefined}>{label ?? title}</span>
        {field.required && own === null && <span className="font-normal text-muted"> (required)</span>}
      </>
    ),
    hint,
    problem,
    className: isBox ? "sm:col-span-2" : "",
    value: text,
    disabled: own?.disabled,
    placeholder,
    required: own !== null && field.required && needed,
    "aria-required": field.required,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange(target.value)
  }
  if (choices.length > 0) {
    const unset = ["", field.required && needed ? "Choose one" : "not set"] as const
    return <Select {...common} options={choices.some(([value]) => value === "") ? choices : [unset, ...choices]} />
  }
  if (isBox)
    return (
      <TextArea {...common} rows={boxRows(field)} spellCheck={field.kind === "text"} mono={field.kind === "json"} />
    )
  return (
    <TextField
      {...common}
      {...(own === null ? { type: "text" } : checks(field, type))}
      inputMode={modeOf(field)}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
    />
  )
}
