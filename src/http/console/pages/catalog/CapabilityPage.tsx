/** A capability: what it does, what it costs at which provider, how well that went, its schema, and a form to try it. */
import { useParam } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { Empty, LoadedPage, Page, RowLink, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Badge, CodeBlock, Id, Money } from "../../parts/Values.tsx"
import { About, Json, type Tab } from "../run/Tabs.tsx"
import { TryFrom } from "./TryIt.tsx"
import { HealthBadge, PriceFrom, PricingWords } from "./prices.tsx"
import { type InspectedCapability, isCapability } from "./useForm.ts"

const columns = columnsOf("InspectedOffer", {
  provider: ({ provider, executable }) => (
    <>
      <RowLink to={`/catalog?provider=${encodeURIComponent(provider)}`}>{provider}</RowLink>{" "}
      {!executable && <Badge tone="grey">not available</Badge>}
    </>
  ),
  "price.amount": ({ price, pricing }) => (
    <div title={price.note ?? undefined}>
      <Money amount={price.amount} />
      <PricingWords pricing={pricing} />
    </div>
  ),
  "health.status": ({ health }) => <HealthBadge health={health} />
})

const partsOf = (inspected: InspectedCapability): ReadonlyArray<Tab> => [
  {
    name: "Providers",
    content: (
      <DataTable
        label="Providers and prices"
        rows={inspected.offers}
        columns={columns}
        toOf={({ provider }) => `/catalog?provider=${encodeURIComponent(provider)}`}
        empty="No provider offers it yet."
      />
    )
  },
  { name: "Input schema", content: <Json value={inspected.input_schema} label="the input schema" /> },
  {
    name: "Output",
    content: <CodeBlock label="the fields of the result" text={inspected.output_fields.join("\n")} />
  },
  { name: "Example", content: <Json value={inspected.example} label="the example" /> }
]

const Shown = ({ inspected }: { readonly inspected: InspectedCapability }) => {
  const { capability, title, description, status, billing, warranty, starting_price, hints, sandbox } = inspected
  return (
    <Page
      title={title}
      lead={
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <Id id={capability} what="the capability's name" />
          <PriceFrom price={starting_price} />
          {status === "coming_soon" && <Badge tone="grey">coming soon</Badge>}
          {sandbox && <Badge tone="amber">simulated</Badge>}
          <TextLink to={`/activity?capability=${capability}`}>Its runs</TextLink>
        </div>
      }
    >
      <div className="max-w-prose space-y-2">
        <p>{description}</p>
        <p className="text-muted">{billing.description}</p>
        {warranty !== undefined && <p className="text-muted">Warranty: {warranty.description}</p>}
      </div>
      <TryFrom key={capability} inspected={inspected} />
      <About label="Parts of the capability" tabs={partsOf(inspected)} hints={hints} />
    </Page>
  )
}

const CapabilityPage = () => {
  const capability = useParam("capability")
  const inspected = useRead(
    ["catalog", "inspect", capability],
    () => api.catalog.inspect({ payload: { capability } }),
    { staleTime: 60_000 }
  )
  return (
    <LoadedPage query={inspected}>
      {(data) => (isCapability(data) ? <Shown inspected={data} /> : <Empty title="This is not a capability." />)}
    </LoadedPage>
  )
}

export default CapabilityPage
