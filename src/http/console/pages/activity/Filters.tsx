/** Filters of Activity. They live in the address, so a link shows the same list. */
import { X } from "lucide-react"
import { useState } from "react"
import { type Search, useGo } from "../../data/address.ts"
import { useApiKeys } from "../../data/apiKeys.ts"
import { Button } from "../../parts/Button.tsx"
import { inputLook, Select } from "../../parts/Field.tsx"
import { statusWord } from "../../parts/Status.tsx"
import { onForm, textIn } from "../../account/forms.ts"

const statuses = [
  "succeeded",
  "no_match",
  "failed",
  "timed_out",
  "blocked",
  "cancelled",
  "running",
  "queued",
  "reserved"
]
export const groupings: ReadonlyArray<readonly [string, string]> = [
  ["", "Runs one by one"],
  ["day", "By day"],
  ["capability", "By capability"],
  ["provider", "By provider"],
  ["key", "By key"]
]

const runId = /^run_[0-9a-z]{6,40}$/
const label = /^([^=\s]{1,100})=(.*)$/

/** What somebody typed: a run id opens it, `name=value` filters by a label, anything else is a capability. */
const SearchBox = ({ change }: { readonly change: (changes: Search) => void }) => {
  const [problem, setProblem] = useState<string | null>(null)
  const go = useGo()
  const search = (form: FormData) => {
    const text = textIn(form, "q").trim()
    setProblem(null)
    if (runId.test(text)) return go(`/runs/${text}`)
    const [, name, value] = label.exec(text) ?? []
    if (name !== undefined && value !== undefined) return change({ [`metadata.${name}`]: value })
    if (/^[a-z_]+\.[a-z_.]+$/.test(text)) return change({ capability: text })
    if (text !== "") setProblem("Type a run id, a capability such as email.find, or a label as name=value.")
  }
  return (
    <form onSubmit={onForm(search)} role="search" className="min-w-52 flex-1">
      <label className="sr-only" htmlFor="find-runs">
        Find runs by id, capability or label
      </label>
      <input id="find-runs" name="q" data-search placeholder="Run, capability, label=value" className={inputLook} />
      {problem !== null && (
        <p role="alert" className="mt-1 text-small text-red">
          {problem}
        </p>
      )}
    </form>
  )
}

export const Filters = ({
  search,
  change
}: {
  readonly search: Search
  readonly change: (changes: Search) => void
}) => {
  const keys = useApiKeys().data ?? []
  const value = (name: string) => search[name] ?? ""
  const set = (name: string) => (event: { readonly target: { readonly value: string } }) =>
    change({ [name]: event.target.value })
  const chips = Object.entries(search).filter(
    ([name, text]) =>
      text !== "" && (["capability", "provider", "endpoint"].includes(name) || name.startsWith("metadata."))
  )
  return (
    <div className="mb-4 space-y-3">
      <div className="flex flex-wrap items-start gap-2">
        <SearchBox change={change} />
        <Select
          label="Status"
          hideLabel
          value={value("status")}
          onChange={set("status")}
          options={[["", "Any status"], ...statuses.map((one) => [one, statusWord(one)] as const)]}
        />
        <Select
          label="Key"
          hideLabel
          value={value("key")}
          onChange={set("key")}
          options={[
            ["", "Any key"],
            ...keys.map(({ id, name, revoked }) => [id, revoked ? `${name} (revoked)` : name] as const)
          ]}
          className="max-w-44"
        />
        <label className="flex items-center gap-1.5">
          <span className="text-muted max-sm:w-9">From</span>
          <input type="date" value={value("from")} onChange={set("from")} className={inputLook} />
        </label>
        <label className="flex items-center gap-1.5">
          <span className="text-muted max-sm:w-9">to</span>
          <input type="date" value={value("to")} onChange={set("to")} className={inputLook} />
        </label>
        <Select label="Group" hideLabel value={value("group")} onChange={set("group")} options={groupings} />
      </div>
      {chips.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {chips.map(([name, text]) => (
            <li key={name}>
              <Button look="plain" onClick={() => change({ [name]: "" })} title={`Remove the filter ${name}`}>
                {name.replace("metadata.", "label ")}: {text}
                <X size={14} aria-hidden="true" />
                <span className="sr-only">remove the filter</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
