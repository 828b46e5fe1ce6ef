/** Filters of Activity. They live in the address, so a link shows the same list. */
import { X } from "lucide-react"
import { useEffect, useMemo } from "react"
import { runStatuses } from "../../../client/operations.ts" with { type: "macro" }
import { onForm, textIn } from "../../actions/Actions.tsx"
import { useFilters, useGo } from "../../data/address.ts"
import { useApiKeys } from "../../data/lists.ts"
import { FilterSelect, Period } from "../../lists/Filters.tsx"
import { Button, TextLink } from "../../parts/Page.tsx"
import { inputLook } from "../../parts/Field.tsx"
import { statusWord } from "../../parts/Values.tsx"
import { useProviders } from "../catalog/useCatalog.ts"
import { meaningOf } from "./searchText.ts"

const statuses = runStatuses()
const groupings = { day: "By day", capability: "By capability", provider: "By provider", key: "By key" }

/** A text that is no filter stays in the address as `q`, with where else it may be found. */
const NotFound = ({ q }: { readonly q: string }) => {
  const meaning = meaningOf(q, [])
  return (
    <p role="alert" className="mt-1 text-small">
      {meaning.kind === "run" ? (
        <TextLink to={`/runs/${meaning.run_id}`}>Open {meaning.run_id}</TextLink>
      ) : (
        <>
          <span className="text-red">
            Type a run id, a capability such as email.find, a provider, or a label as name=value.
          </span>{" "}
          <TextLink to={`/history?q=${encodeURIComponent(q)}`}>Look it up in History</TextLink>, which finds runs by an
          e-mail address, a domain or a phrase.
        </>
      )}
    </p>
  )
}

const SearchBox = ({ providers }: { readonly providers: ReadonlyArray<string> }) => {
  const [{ q = "" }, change] = useFilters()
  const go = useGo()
  const search = (form: FormData) => {
    const text = textIn(form, "q").trim()
    const meaning = meaningOf(text, providers)
    if (meaning.kind === "run") return go(`/runs/${meaning.run_id}`)
    return change(meaning.kind === "filter" ? { [meaning.name]: meaning.value, q: "" } : { q: text })
  }
  // A link may have the text, such as the one of the palette.
  useEffect(() => {
    const meaning = meaningOf(q, providers)
    if (meaning.kind === "filter") change({ [meaning.name]: meaning.value, q: "" })
  }, [q, providers, change])
  return (
    <form onSubmit={onForm(search)} role="search" className="w-full">
      <label className="sr-only" htmlFor="find-runs">
        Find runs by id, capability, provider or label
      </label>
      <input
        id="find-runs"
        name="q"
        data-search
        defaultValue={q}
        placeholder="Run, capability, provider, label=value"
        className={inputLook}
      />
      {q !== "" && <NotFound q={q} />}
    </form>
  )
}

export const Filters = () => {
  const [search, change] = useFilters()
  const keys = useApiKeys().data ?? []
  const providers = useProviders().data
  const slugs = useMemo(() => (providers ?? []).map(({ provider }) => provider), [providers])

  const chips = Object.entries(search).filter(
    ([name, text]) => text !== "" && (["capability", "endpoint"].includes(name) || name.startsWith("metadata."))
  )
  return (
    <div className="mb-4 space-y-3">
      <div className="flex flex-wrap items-start gap-2">
        <SearchBox providers={slugs} />
        <FilterSelect
          name="status"
          label="Status"
          keeps
          any="Any status"
          options={statuses.map((one) => [one, statusWord(one)] as const)}
        />
        <FilterSelect
          name="provider"
          label="Provider"
          keeps
          any="Any provider"
          options={(providers ?? []).map(({ provider, title }) => [provider, title] as const)}
          className="max-w-44"
        />
        <FilterSelect
          name="key"
          label="Key"
          any="Any key"
          options={keys.map(({ id, name, revoked }) => [id, revoked ? `${name} (revoked)` : name] as const)}
          className="max-w-44"
        />
        <Period />
        <FilterSelect name="group" label="Group" any="Runs one by one" options={groupings} />
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
