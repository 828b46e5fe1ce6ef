/** A checkbox with its words, and a group of them for a set of names. */
import { type InputHTMLAttributes, type ReactNode, useId, useState } from "react"
import { inputLook } from "../parts/Field.tsx"

interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "type"> {
  readonly label: ReactNode
  readonly hint?: string
}

export const Checkbox = ({ label, hint, ...rest }: CheckboxProps) => {
  const id = useId()
  return (
    <div className="flex items-start gap-2">
      <input
        {...rest}
        id={id}
        type="checkbox"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-0.5 h-4 w-4 shrink-0 accent-(--color-accent)"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="break-words">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-small text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}

/** Above this number of choices, a field narrows them. */
const searchedFrom = 12

interface ChoicesProps {
  readonly legend: string
  readonly hint: string
  readonly problem: string | null
  readonly options: ReadonlyArray<readonly [value: string, words: string]>
  readonly chosen: ReadonlyArray<string>
  readonly onChange: (chosen: ReadonlyArray<string>) => void
}

/** Names to choose from. One that is chosen stays so while the field above hides it. */
export const Choices = ({ legend, hint, problem, options, chosen, onChange }: ChoicesProps) => {
  const [text, setText] = useState("")
  const id = useId()
  const wanted = text.trim().toLowerCase()
  // A name that does not exist any more can still be taken away.
  const missing = chosen.filter((one) => !options.some(([value]) => value === one)).map((one) => [one, one] as const)
  const all = [...missing, ...options]
  const toggle = (value: string) =>
    onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])
  return (
    <fieldset aria-describedby={`${id}-hint`} className="min-w-0 sm:col-span-2">
      <legend className="mb-1 font-medium">
        {legend}
        {chosen.length > 0 && <span className="ml-2 font-normal text-muted">{chosen.length} chosen</span>}
      </legend>
      <p id={`${id}-hint`} className="mb-2 text-small text-muted">
        {hint}
      </p>
      {all.length > searchedFrom && (
        <input
          aria-label={`Narrow the list: ${legend}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="Narrow the list"
          className={`${inputLook} mb-2 max-w-80`}
        />
      )}
      <div className="grid max-h-52 gap-x-4 gap-y-1.5 overflow-y-auto rounded border border-line p-3 sm:grid-cols-2">
        {all
          .filter(([value, words]) => `${value} ${words}`.toLowerCase().includes(wanted))
          .map(([value, words]) => (
            <Checkbox
              key={value}
              label={words === "" ? <code className="font-mono text-small">{value}</code> : words}
              checked={chosen.includes(value)}
              onChange={() => toggle(value)}
            />
          ))}
      </div>
      {problem !== null && <p className="mt-1 text-small text-red">{problem}</p>}
    </fieldset>
  )
}
