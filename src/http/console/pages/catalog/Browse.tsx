/** The catalog without a search: all capabilities, or what one provider has. */
import { useCapabilities } from "../../data/lists.ts"
import { useService } from "../../data/session.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { Empty, Loaded, OutLink, Panel, Skeleton, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { capabilityPage, endpointPage } from "../../running/request.ts"
import { CostWords, HealthBadge, healthSentence, JobName, PriceFrom, ProviderCount } from "./prices.tsx"
import { useEndpoints, useProviders } from "./useCatalog.ts"

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

export const AllCapabilities = () => (
  <Loaded query={useCapabilities()} skeleton={<Skeleton lines={12} height={28} />}>
    {(items) => (
      <DataTable
        label="Capabilities"
        rows={items.toSorted(byCategory)}
        columns={capabilityColumns}
        keyOf={({ capability }) => capability}
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

export const OfProvider = ({ provider }: { readonly provider: string }) => (
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
      keyOf={({ method, endpoint }) => `${method} ${endpoint}`}
      toOf={(one) => endpointPage(one.provider, one.endpoint, one.method)}
      empty="This provider has no raw endpoints here."
    />
  </div>
)
