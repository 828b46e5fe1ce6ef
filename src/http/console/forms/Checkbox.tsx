/** A checkbox with its words, and a group of them for a set of names. */
import { type InputHTMLAttributes, type ReactNode, useContext, useId, useState } from "react"
import { FormError, inputLook, problemOf } from "../parts/Field.tsx"

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
        className="mt-0.5 h-4 w-4 shrink-0 accent-(--accent)"
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

/** The service names a refused one by its place in the list, such as `allow.capabilities.0`. */
const placesTried = 200
const listProblemOf = (error: unknown, name: string): string | null =>
  Array.from({ length: placesTried }, (_, place) => problemOf(error, `${name}.${place}`)).find((one) => one !== null) ??
  problemOf(error, name)

/** Above this number of choices, a field narrows them. */
const searchedFrom = 12

/** Names to choose from. What is chosen is sent under `name`, also while the field above hides it. */
export const Choices = ({
  legend,
  hint,
  name,
  options,
  chosen
}: {
  readonly legend: string
  readonly hint: string
  readonly name: string
  readonly options: ReadonlyArray<readonly [value: string, words: string]>
  readonly chosen: ReadonlyArray<string>
}) => {
  const [picked, setPicked] = useState<ReadonlySet<string>>(() => new Set(chosen))
  const [text, setText] = useState("")
  const id = useId()
  const problem = listProblemOf(useContext(FormError), name)
  const wanted = text.trim().toLowerCase()
  // A name that does not exist any more can still be taken away.
  const missing = chosen.filter((one) => !options.some(([value]) => value === one)).map((one) => [one, one] as const)
  const all = [...missing, ...options]
  const toggle = (value: string) =>
    setPicked((before) =>
      before.has(value) ? new Set([...before].filter((one) => one !== value)) : new Set([...before, value])
    )
  return (
    <fieldset aria-describedby={`${id}-hint`}>
      <legend className="mb-1 font-medium">
        {legend}
        {picked.size > 0 && <span className="ml-2 font-normal text-muted">{picked.size} chosen</span>}
      </legend>
      <p id={`${id}-hint`} className="mb-2 text-small text-muted">
        {hint}
      </p>
      {[...picked].map((value) => (
        <input key={value} type="hidden" name={name} value={value} />
      ))}
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
            <Checkbox key={value} label={words} checked={picked.has(value)} onChange={() => toggle(value)} />
          ))}
      </div>
      {problem !== null && <p className="mt-1 text-small text-red">{problem}</p>}
    </fieldset>
  )
}
