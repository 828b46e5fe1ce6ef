/** Filters of a list. They live in the address, so a link shows the same list. */
import { useFilters } from "../data/address.ts"
import { inputLook, Select } from "../parts/Field.tsx"

export const FilterSelect = ({
  name,
  options,
  initial = "",
  keeps = false,
  ...select
}: {
  /** Of the filter in the address. */
  readonly name: string
  /** For screen readers, in place of a visible label. */
  readonly label: string
  /** Values and their words. */
  readonly options: ReadonlyArray<readonly [string, string]>
  /** The value of an address without the filter. */
  readonly initial?: string
  /** Whether the address may have values that are not among the options. */
  readonly keeps?: boolean
  readonly className?: string
}) => {
  const [{ [name]: chosen = initial }, change] = useFilters()
  const isOption = options.some(([value]) => value === chosen)
  return (
    <Select
      hideLabel
      {...select}
      value={isOption || keeps ? chosen : initial}
      options={isOption || !keeps ? options : [...options, [chosen, chosen]]}
      onChange={(event) => change({ [name]: event.target.value })}
    />
  )
}

/** Two dates that bound a list, as `from` and `to`. Both days belong to the period, in UTC. */
export const Period = () => {
  const [search, change] = useFilters()
  return (["from", "to"] as const).map((name) => (
    <label key={name} className="flex items-center gap-1.5">
      <span className="text-muted">{name === "from" ? "From" : "to"}</span>
      <input
        type="date"
        value={search[name] ?? ""}
        onChange={(event) => change({ [name]: event.target.value })}
        className={inputLook}
      />
    </label>
  ))
}
