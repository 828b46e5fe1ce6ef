/** All runs, live: filtered, grouped, exported. */
import { X } from "lucide-react"
import { useEffect, useMemo } from "react"
import { firstRun } from "../../../client/Shell.ts"
import { runStatuses } from "../../../client/operations.ts" with { type: "macro" }
import { onForm, textIn } from "../../actions/Actions.tsx"
import { type Search, useFilters, useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useApiKeys, useKeyNames } from "../../data/lists.ts"
import { connection, refreshSoon, useLive } from "../../data/live.ts"
import { exactDollars } from "../../data/money.ts"
import { useStore } from "../../data/store.ts"
import { Export, FilterSelect, Period } from "../../lists/Filters.tsx"
import { PagedList, PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { inputLook } from "../../parts/Field.tsx"
import { Button, PageHead, TextLink } from "../../parts/Page.tsx"
import { Badge, CodeBlock, statusWord } from "../../parts/Values.tsx"
import { useProviders } from "../catalog/useCatalog.ts"
import { usageColumns } from "../usage/UsageTable.tsx"
import { chargedIn, periodIn } from "../usage/groupings.ts"
import { RunTable } from "./RunTable.tsx"
import { meaningOf } from "./searchText.ts"
import { queryOf, useRuns } from "./useRuns.ts"

const statuses = runStatuses()
const groupings = { day: "By day", capability: "By capability", provider: "By provider", key: "By key" }
const isGrouping = (text: string): text is keyof typeof groupings => Object.hasOwn(groupings, text)

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
      <input
        aria-label="Find runs by id, capability, provider or label"
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

const Filters = () => {
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

const Groups = ({ search }: { readonly search: Search }) => {
  const { group = "day" } = search
  const by = isGrouping(group) ? group : "day"
  const period = useMemo(() => periodIn(search), [search])
  const paged = usePaged(
    ["usage", by, period],
    (from) => api.usage.get({ query: { ...period, group_by: by, ...from } }),
    { pageSize: 200 }
  )
  const { items, hasMore } = paged
  const names = useKeyNames(by === "key")
  useLive(({ type }) => {
    if (type === "run.finished") refreshSoon("usage")
  })
  return (
    <>
      <PagedTable
        paged={paged}
        label={`Runs by ${by}`}
        columns={usageColumns([by], {}, names)}
        empty="No run ended in this time."
        hint={<TextLink to="/activity">Show runs one by one</TextLink>}
      />
      {items !== null && items.length > 0 && (
        <p className="mt-3 text-muted">
          {!hasMore && `${exactDollars(chargedIn(items))} in total. `}
          Finished runs by day of the time zone; other filters do not apply to groups.
        </p>
      )}
    </>
  )
}

const Live = () => (useStore(connection) === "live" ? <Badge tone="green">live</Badge> : null)

const Runs = ({ query }: { readonly query: Record<string, string> }) => {
  const { paged, changed, hasNew, show, hold } = useRuns(query)
  const { error, hasMore, more } = paged
  return (
    <PagedList
      // The table reads more by itself, but a page that was refused is asked for again by a person only.
      paged={{ ...paged, hasMore: false }}
      empty="Runs will be here, newest first."
      hint={
        <>
          <p className="text-muted">
            <TextLink to="/catalog">The catalog</TextLink> has forms that make the first. With a key, this command does:
          </p>
          <div className="w-full max-w-3xl">
            <CodeBlock label="the command" text={firstRun} />
          </div>
        </>
      }
      filtered={Object.keys(query).length > 0 && ["No run matches these filters.", "/activity", "Show all runs"]}
    >
      {(items) => (
        <div>
          {/* Over the rows, and without a height of its own: no row moves when it comes. */}
          <div className="sticky top-2 z-10 flex h-0 items-start justify-center max-lg:top-14">
            {hasNew && (
              <Button className="shadow-float" onClick={show}>
                Show new runs
              </Button>
            )}
          </div>
          <RunTable items={items} changed={changed} more={hasMore && error === null} loadMore={more} onHold={hold} />
        </div>
      )}
    </PagedList>
  )
}

const Activity = () => {
  const [search] = useFilters()
  const { group = "" } = search
  const query = useMemo(() => queryOf(search), [search])
  return (
    <>
      <PageHead actions={<Export path="/v1/runs" query={query} name="runs.csv" />}>
        <Live />
      </PageHead>
      <Filters />
      {group === "" ? <Runs query={query} /> : <Groups key={group} search={search} />}
    </>
  )
}

export default Activity
