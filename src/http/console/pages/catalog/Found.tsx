/** What the search found, best match first: capabilities, and endpoints of providers. */
import { ButtonLink, Empty, Loaded, Skeleton } from "../../parts/Page.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { capabilityPage, endpointPage } from "../../running/request.ts"
import { CostWords, HealthBadge, JobName, PriceFrom, ProviderCount } from "./prices.tsx"
import type { FoundItem, useSearch, Wanted } from "./useCatalog.ts"

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

export const FoundList = ({
  wanted,
  search
}: {
  readonly wanted: Wanted
  readonly search: ReturnType<typeof useSearch>
}) => (
  <div aria-busy={!search.isCurrent}>
    <Loaded query={search.query} skeleton={<Skeleton lines={8} height={24} />}>
      {({ items }) => (
        <>
          <p role="status" className="mb-3 text-muted">
            {search.isCurrent ? `${items.length} found for “${wanted.query.trim()}”` : "Searching…"}
          </p>
          {items.length === 0 ? (
            <Empty title="Nothing fits these words.">
              <p className="text-muted">Short noun phrases work best, such as “work email of a person”.</p>
              <ButtonLink to="/catalog">Show all capabilities</ButtonLink>
            </Empty>
          ) : (
            <DataTable label="Found in the catalog" rows={items} columns={columns} keyOf={slugOf} toOf={pageOf} />
          )}
        </>
      )}
    </Loaded>
  </div>
)
