/** One input of a form by the kind of its field, each with its label, hint and problem. */
import { inputLook, Labelled } from "../parts/Field.tsx"
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

const boxRows = (field: Field) => (field.kind === "json" ? 6 : field.kind === "lines" ? 3 : 4)
const sentence = (text: string) => (text === "" || /[.!?:]$/.test(text) ? text : `${text}.`)
const hintOf = (field: Field) =>
  [sentence(field.hint), field.kind === "lines" ? "One a line." : field.kind === "json" ? "As JSON." : ""]
    .filter((one) => one !== "")
    .join(" ")

/** A field without fields in it. */
export const ScalarInput = ({ field, draft, onChange, path, problems, label }: InputProps) => {
  const common = {
    value: textOf(draft),
    "aria-required": field.required,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange(target.value)
  }
  const isBox = field.kind === "json" || field.kind === "lines" || (field.kind === "text" && field.long)
  const isChoice = field.kind === "choice" || field.kind === "boolean"
  return (
    <Labelled
      label={
        <>
          <span title={label === undefined ? field.name : undefined}>{label ?? nameWords(field.name)}</span>
          {field.required && <span className="font-normal text-muted"> (required)</span>}
        </>
      }
      hint={hintOf(field)}
      problem={problemAt(path, problems)}
      className={isBox ? "sm:col-span-2" : ""}
    >
      {(attributes) =>
        isChoice ? (
          <select {...attributes} {...common} className={inputLook}>
            <option value="">{field.required ? "Choose one" : "not set"}</option>
            {choicesOf(field).map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        ) : isBox ? (
          <textarea
            {...attributes}
            {...common}
            rows={boxRows(field)}
            spellCheck={field.kind === "text"}
            className={`${inputLook} ${field.kind === "json" ? "font-mono text-small" : ""}`}
          />
        ) : (
          <input
            {...attributes}
            {...common}
            type="text"
            inputMode={field.kind === "number" ? "decimal" : field.kind === "text" ? modes[field.format] : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            className={inputLook}
          />
        )
      }
    </Labelled>
  )
}
