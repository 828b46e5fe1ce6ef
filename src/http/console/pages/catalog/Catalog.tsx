/** The catalog: a search that answers while one types, over capabilities and raw endpoints. The address has the search. */
import { useEffect, useRef, useState } from "react"
import { useFilters } from "../../data/address.ts"
import { counted } from "../../data/words.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { inputLook } from "../../parts/Field.tsx"
import { PageHead, Untried } from "../../parts/Page.tsx"
import { useRested } from "../../running/useQuote.ts"
import { AllCapabilities, OfProvider } from "./Browse.tsx"
import { FoundList } from "./Found.tsx"
import { restMillis, useProviders, useSearch } from "./useCatalog.ts"

const kinds: ReadonlyArray<readonly [string, string]> = [
  ["", "Capabilities and endpoints"],
  ["capability", "Capabilities"],
  ["endpoint", "Raw endpoints"]
]
/** The service reads no more characters. */
const queryMax = 1_000

/** The text of the box. The address follows when it rests, and it follows the address when somebody goes back. */
const useSearchText = (query: string, change: (changes: { readonly q: string }) => void) => {
  const [text, setText] = useState(query)
  const rested = useRested(text.trim(), restMillis)
  const sent = useRef(query)
  const send = useRef(change)
  send.current = change
  useEffect(() => {
    if (rested === sent.current) return
    sent.current = rested
    send.current({ q: rested })
  }, [rested])
  useEffect(() => {
    if (query === sent.current) return
    sent.current = query
    setText(query)
  }, [query])
  return [text, setText] as const
}

const Catalog = () => {
  const [search, change] = useFilters()
  const [text, setText] = useSearchText(search["q"] ?? "", change)
  const { kind = "", provider = "" } = search
  const providers = useProviders().data ?? []
  const wanted = { query: text, kind, provider }
  const results = useSearch(wanted)
  return (
    <>
      <PageHead title="Catalog">
        What this service can run{providers.length > 0 && `, at ${counted(providers.length, "provider")}`}. Searching,
        reading and quotes are free. <Untried />
      </PageHead>
      <form
        role="search"
        onSubmit={(event) => event.preventDefault()}
        className="mb-4 flex flex-wrap items-start gap-2"
      >
        <div className="min-w-52 flex-1">
          <label className="sr-only" htmlFor="find-jobs">
            Search the catalog
          </label>
          <input
            id="find-jobs"
            type="search"
            data-search
            value={text}
            maxLength={queryMax}
            onChange={({ target }) => setText(target.value)}
            placeholder="What do you need? Such as: work email of a person"
            className={inputLook}
          />
        </div>
        <FilterSelect name="kind" label="Kind" options={kinds} />
        <FilterSelect
          name="provider"
          label="Provider"
          options={[["", "Any provider"], ...providers.map((one) => [one.provider, one.title] as const)]}
          className="max-w-52"
        />
      </form>
      {text.trim() !== "" ? (
        <FoundList wanted={wanted} search={results} />
      ) : provider !== "" ? (
        <OfProvider provider={provider} />
      ) : (
        <AllCapabilities />
      )}
    </>
  )
}

export default Catalog
