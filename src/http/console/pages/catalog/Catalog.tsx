/** The catalog: a search that answers while one types, over capabilities and raw endpoints. Without one, all capabilities, or what one provider has. The address has the search. */
import { useEffect, useRef, useState } from "react"
import { counted } from "../../../client/Words.ts"
import { useFilters } from "../../data/address.ts"
import { useCapabilities } from "../../data/lists.ts"
import { useService } from "../../data/session.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { inputLook } from "../../parts/Field.tsx"
import { ButtonLink, Empty, Loaded, OutLink, PageHead, Panel, Skeleton, TextLink, Untried } from "../../parts/Page.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { capabilityPage, endpointPage } from "../../running/request.ts"
import { useRested } from "../../running/useQuote.ts"
import { CostWords, HealthBadge, healthSentence, JobName, PriceFrom, ProviderCount } from "./prices.tsx"
import { type FoundItem, useEndpoints, useProviders, useSearch } from "./useCatalog.ts"

type Capability = NonNullable<ReturnType<typeof useCapabilities>["data"]>[number]
type Provider = NonNullable<ReturnType<typeof useProviders>["data"]>[number]

const byCategory = (a: Capability, b: Capability) =>
  a.category.localeCompare(b.category) || a.capability.localeCompare(b.capability)

const capabilityColumns = columnsOf("ListedCapability", {
  capability: ({ capability, status, ...job }) => (
    <JobName {...job} to={capabilityPage(capability)} slug={capability} isComing={status === "coming_soon"} />
  ),
  starting_price: ({ starting_price }) => <PriceFrom price={starting_price} />,
  providers: ProviderCount
})

const AllCapabilities = () => (
  <Loaded query={useCapabilities()} skeleton={<Skeleton lines={12} height={28} />}>
    {(items) => (
      <DataTable
        label="Capabilities"
        rows={items.toSorted(byCategory)}
        columns={capabilityColumns}
        toOf={({ capability }) => capabilityPage(capability)}
        empty="The catalog is empty."
      />
    )}
  </Loaded>
)

const endpointColumns = columnsOf("ListedEndpoint", {
  endpoint: ({ provider, endpoint, method, title }) => (
    <JobName to={endpointPage(provider, endpoint, method)} title={title} slug={`${method} ${endpoint}`} />
  ),
  cost: CostWords
})

const About = ({ provider }: { readonly provider: Provider }) => {
  const { title, homepage, capabilities, configured, health, endpoints } = provider
  const isSandbox = useService().data?.environment === "test"
  return (
    <Panel title={title} actions={<HealthBadge health={health} />}>
      <p className="text-muted">
        {configured
          ? "This service can call it."
          : isSandbox
            ? "This sandbox simulates its answers."
            : "This service has no account at this provider."}{" "}
        {healthSentence(health)}
        {endpoints.reason !== null && ` ${endpoints.reason}`}
      </p>
      {homepage !== null && /^https?:/.test(homepage) && (
        <p className="mt-2">
          <OutLink href={homepage}>{homepage}</OutLink>
        </p>
      )}
      {capabilities.length > 0 && (
        <ul aria-label="Its capabilities" className="mt-3 flex flex-wrap gap-x-4 gap-y-1">
          {capabilities.map((one) => (
            <li key={one}>
              <TextLink to={capabilityPage(one)}>{one}</TextLink>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

const OfProvider = ({ provider }: { readonly provider: string }) => (
  <div className="grid grid-cols-1 gap-6">
    <Loaded query={useProviders()}>
      {(items) => {
        const chosen = items.find((one) => one.provider === provider)
        return chosen === undefined ? <Empty title="There is no such provider." /> : <About provider={chosen} />
      }}
    </Loaded>
    <PagedTable
      paged={useEndpoints(provider)}
      label="Raw endpoints"
      columns={endpointColumns}
      toOf={(one) => endpointPage(one.provider, one.endpoint, one.method)}
      empty="This provider has no raw endpoints here."
    />
  </div>
)

const pageOf = (item: FoundItem) =>
  item.kind === "capability" ? capabilityPage(item.capability) : endpointPage(item.provider, item.endpoint, item.method)

const slugOf = (item: FoundItem) =>
  item.kind === "capability" ? item.capability : `${item.provider} ${item.method} ${item.endpoint}`

const columns: ReadonlyArray<Column<FoundItem>> = [
  {
    title: "Job",
    cell: (item) => (
      <JobName
        to={pageOf(item)}
        title={item.title}
        slug={slugOf(item)}
        description={item.kind === "capability" ? item.description : undefined}
      />
    )
  },
  {
    title: "Kind",
    cell: (item) => (item.kind === "capability" ? "capability" : "raw endpoint"),
    wide: true
  },
  {
    title: "Price",
    align: "right",
    cell: (item) =>
      item.kind === "capability" ? <PriceFrom price={item.starting_price} /> : <CostWords cost={item.cost} />
  },
  {
    title: "Providers",
    cell: (item) => (item.kind === "capability" ? <ProviderCount {...item} /> : item.provider),
    wide: true
  },
  { title: "Health", cell: ({ health }) => <HealthBadge health={health} />, wide: true }
]

const FoundList = ({ query, search }: { readonly query: string; readonly search: ReturnType<typeof useSearch> }) => (
  <div aria-busy={!search.isCurrent}>
    <Loaded query={search.query} skeleton={<Skeleton lines={8} height={24} />}>
      {({ items }) => (
        <>
          <p role="status" className="mb-3 text-muted">
            {search.isCurrent ? `${items.length} found for “${query}”` : "Searching…"}
          </p>
          {items.length === 0 ? (
            <Empty title="Nothing fits these words.">
              <p className="text-muted">Short noun phrases work best, such as “work email of a person”.</p>
              <ButtonLink to="/catalog">Show all capabilities</ButtonLink>
            </Empty>
          ) : (
            <DataTable label="Found in the catalog" rows={items} columns={columns} toOf={pageOf} />
          )}
        </>
      )}
    </Loaded>
  </div>
)

const kinds = { capability: "Capabilities", endpoint: "Raw endpoints" }
/** The service reads no more characters. */
const queryMax = 1_000

/** Searches while one types: after so long without a key. */
const restMillis = 150

/** The text of the box, as it is and as it rested last. The address follows when it rests, and it follows the address when somebody goes back. */
const useSearchText = (query: string, change: (changes: { readonly q: string }) => void) => {
  const [text, setText] = useState(query)
  const rested = useRested(text.trim(), restMillis)
  const sent = useRef(query)
  useEffect(() => {
    if (rested === sent.current) return
    sent.current = rested
    change({ q: rested })
  }, [rested, change])
  useEffect(() => {
    if (query === sent.current) return
    sent.current = query
    setText(query)
  }, [query])
  return [text, setText, rested] as const
}

const Catalog = () => {
  const [search, change] = useFilters()
  const [text, setText, rested] = useSearchText(search["q"] ?? "", change)
  const { kind = "", provider = "" } = search
  const providers = useProviders().data ?? []
  const query = text.trim()
  const results = useSearch({ query, rested, kind, provider })
  return (
    <>
      <PageHead>
        What this service can run{providers.length > 0 && `, at ${counted(providers.length, "provider")}`}. Searching,
        reading and quotes are free. <Untried />
      </PageHead>
      <form
        role="search"
        onSubmit={(event) => event.preventDefault()}
        className="mb-4 flex flex-wrap items-start gap-2"
      >
        <div className="min-w-52 flex-1">
          <input
            aria-label="Search the catalog"
            type="search"
            data-search
            value={text}
            maxLength={queryMax}
            onChange={({ target }) => setText(target.value)}
            placeholder="What do you need? Such as: work email of a person"
            className={inputLook}
          />
        </div>
        <FilterSelect name="kind" label="Kind" any="Capabilities and endpoints" options={kinds} />
        <FilterSelect
          name="provider"
          label="Provider"
          any="Any provider"
          options={providers.map((one) => [one.provider, one.title] as const)}
          className="max-w-52"
        />
      </form>
      {query !== "" ? (
        <FoundList query={query} search={results} />
      ) : provider !== "" ? (
        <OfProvider key={provider} provider={provider} />
      ) : (
        <AllCapabilities />
      )}
    </>
  )
}

export default Catalog
