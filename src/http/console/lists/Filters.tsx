/** Filters of a list, and what they leave as a file. They live in the address, so a link shows the same list. */
import { useEffect, useId, useState } from "react"
import { onForm, SaveButton } from "../actions/Actions.tsx"
import { useFilters } from "../data/address.ts"
import { addressOf } from "../data/api.ts"
import { saveAnswer } from "../data/save.ts"
import { present, utcDay } from "../data/time.ts"
import { inputLook, type Options, optionsIn, Select } from "../parts/Field.tsx"
import { Button } from "../parts/Page.tsx"

interface FilterProps {
  /** Of the filter in the address. */
  readonly name: string
  /** For screen readers, unless `hideLabel` is false. */
  readonly label: string
  /** The words for no filter, the first of the options. */
  readonly any?: string
  readonly options: Options
  /** The value of an address without the filter. */
  readonly initial?: string
  /** Whether the address may have values that are not among the options. */
  readonly keeps?: boolean
  readonly hideLabel?: boolean
  readonly className?: string
}

export const FilterSelect = ({ name, any, options: values, initial = "", keeps = false, ...rest }: FilterProps) => {
  const [{ [name]: chosen = initial }, change] = useFilters()
  const options = [...(any === undefined ? [] : [["", any] as const]), ...optionsIn(values)]
  const isOption = options.some(([value]) => value === chosen)
  return (
    <Select
      hideLabel
      {...rest}
      value={isOption || keeps ? chosen : initial}
      options={isOption || !keeps ? options : [...options, [chosen, chosen]]}
      onChange={(event) => change({ [name]: event.target.value })}
    />
  )
}

const dayForm = /^\d{4}-\d{2}-\d{2}$/
const isDay = (text: string) => dayForm.test(text) && !Number.isNaN(Date.parse(text))
/** Days that people look for, for the list below the field. */
const usualDays: ReadonlyArray<readonly [string, number]> = [
  ["today", 0],
  ["yesterday", 1],
  ["a week ago", 7],
  ["30 days ago", 30],
  ["90 days ago", 90]
]

/** A day of UTC as `2026-11-22`, the same in every browser, with usual days to choose from. The address changes when it is one. */
const DayField = ({ name, word }: { readonly name: "from" | "to"; readonly word: string }) => {
  const [{ [name]: day = "" }, change] = useFilters()
  const [text, setText] = useState(day)
  const id = useId()
  useEffect(() => setText(day), [day])
  const typed = (value: string) => {
    setText(value)
    if (value === "" || isDay(value)) change({ [name]: value })
  }
  return (
    <label className="flex items-center gap-1.5">
      <span className="text-muted">{word}</span>
      <input
        list={id}
        value={text}
        placeholder="YYYY-MM-DD"
        maxLength={10}
        aria-invalid={text !== "" && !isDay(text)}
        onChange={(event) => typed(event.target.value.trim())}
        className={`${inputLook} w-30 tabular-nums`}
      />
      <datalist id={id}>
        {usualDays.map(([words, ago]) => (
          <option key={words} value={utcDay(present(), ago)} label={words} />
        ))}
      </datalist>
    </label>
  )
}

/** Two days that bound a list, as `from` and `to`. Both belong to the period, in UTC. */
export const Period = () => (
  <div className="flex flex-wrap items-center gap-2">
    <DayField name="from" word="From" />
    <DayField name="to" word="to" />
  </div>
)

interface SearchBoxProps {
  /** For screen readers, in place of a visible label. */
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onSearch: (text: string) => void
}

/** A field that filters a list when somebody presses enter. `/` focuses it. The address has the text. */
export const SearchBox = ({ label, placeholder, value, onSearch }: SearchBoxProps) => {
  const [text, setText] = useState(value)
  // The back button and links change the address too.
  useEffect(() => setText(value), [value])
  return (
    <form role="search" onSubmit={onForm(() => onSearch(text.trim()))} className="flex min-w-52 flex-1 gap-2">
      <input
        aria-label={label}
        data-search
        maxLength={254}
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder={placeholder}
        className={inputLook}
      />
      <Button type="submit">Filter</Button>
    </form>
  )
}

interface ExportProps {
  readonly path: string
  readonly query: Record<string, string>
  readonly name: string
}

/** Saves a list with its present filters as CSV, up to 10,000 rows. */
export const Export = ({ path, query, name }: ExportProps) => {
  const address = addressOf(path, { query })
  const send = async () => {
    const { headers } = await saveAnswer(address, "text/csv", name)
    return headers.get("link") === null ? undefined : "Saved the first 10,000 rows. Narrow the time for the rest."
  }
  // With other filters, what there is to say is of another file.
  return (
    <SaveButton key={address} send={send}>
      Export CSV
    </SaveButton>
  )
}
