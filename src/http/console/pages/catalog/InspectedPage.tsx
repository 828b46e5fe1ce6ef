/** A capability, or an endpoint of a provider: what it does, what it costs, how well that went, its schemas, and a form to try it. */
import type { ReactNode } from "react"
import { useFilters, useParam } from "../../data/address.ts"
import { api, ApiError, useRead } from "../../data/api.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { LoadedPage, Page, Panel, RowLink, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Badge, CodeBlock, Id, Money } from "../../parts/Values.tsx"
import { Json, type Tab, Tabs } from "../run/Tabs.tsx"
import { TryFrom } from "./TryIt.tsx"
import { CostWords, HealthBadge, healthSentence, PriceFrom, PricingWords } from "./prices.tsx"
import { type Inspected, type InspectedCapability, type InspectedEndpoint, isCapability } from "./useForm.ts"
import { plainText } from "../../forms/providerText.ts"
import { Bullets } from "../../lists/Facts.tsx"
import { capabilityPage } from "../../running/request.ts"

interface ShownProps {
  readonly inspected: Inspected
  readonly kind: "capability" | "endpoint"
  readonly slug: string
  readonly lead: ReactNode
  readonly tabs: ReadonlyArray<Tab>
  /** What it does. */
  readonly children: ReactNode
}

const Shown = ({ inspected, kind, slug, lead, tabs, children }: ShownProps) => (
  <Page title={inspected.title} lead={<div className="flex flex-wrap items-center gap-x-4 gap-y-1">{lead}</div>}>
    <div className="max-w-prose space-y-2">{children}</div>
    <TryFrom key={slug} inspected={inspected} />
    <Panel title="About it">
      <Tabs label={`Parts of the ${kind}`} tabs={tabs} />
      {inspected.hints.length > 0 && (
        <ul className="mt-4 space-y-1 text-small text-muted">
          {inspected.hints.map((hint) => (
            <li key={hint} className="break-words">
              {hint}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  </Page>
)

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

const capabilityParts = (inspected: InspectedCapability): ReadonlyArray<Tab> => [
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

const Capability = ({ inspected }: { readonly inspected: InspectedCapability }) => {
  const { capability, description, status, billing, warranty, starting_price, sandbox } = inspected
  return (
    <Shown
      {...{ inspected, kind: "capability", slug: capability, tabs: capabilityParts(inspected) }}
      lead={
        <>
          <Id id={capability} what="the capability's name" />
          <PriceFrom price={starting_price} />
          {status === "coming_soon" && <Badge tone="grey">coming soon</Badge>}
          {sandbox && <Badge tone="amber">simulated</Badge>}
          <TextLink to={`/activity?capability=${capability}`}>Its runs</TextLink>
        </>
      }
    >
      <p>{description}</p>
      <p className="text-muted">{billing.description}</p>
      {warranty !== undefined && <p className="text-muted">Warranty: {warranty.description}</p>}
    </Shown>
  )
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const methodOf = (text: string | undefined) => methods.find((one) => one === text) ?? null

const Price = ({ cost }: { readonly cost: InspectedEndpoint["cost"] }) => (
  <div className="space-y-2">
    {cost.note !== null && <p>{cost.note}</p>}
    {cost.model === "unpublished" && (
      <p>
        The provider publishes no rates. A run holds the amount on the button, and is charged what the provider reports.
      </p>
    )}
    {cost.drivers !== undefined && cost.drivers.length > 0 && (
      <>
        <p className="text-muted">The price depends on the input:</p>
        <Bullets items={cost.drivers.map(({ description }) => description)} className="pl-5" />
      </>
    )}
  </div>
)

/** An object without members says nothing. */
const isFilled = (schema: unknown) =>
  typeof schema === "object" &&
  schema !== null &&
  Object.keys("properties" in schema ? (schema.properties ?? {}) : schema).length > 0

const schemaTabs = ({ input }: InspectedEndpoint): ReadonlyArray<Tab> =>
  (
    [
      ["Path", input.pathParams],
      ["Query", input.queryParams],
      ["Body", input.body]
    ] as const
  ).flatMap(([name, schema]) =>
    isFilled(schema)
      ? [{ name: `${name} schema`, content: <Json value={schema} label={`the ${name.toLowerCase()} schema`} /> }]
      : []
  )

const endpointParts = (inspected: InspectedEndpoint): ReadonlyArray<Tab> => [
  { name: "Price", content: <Price cost={inspected.cost} /> },
  { name: "Health", content: <p>{healthSentence(inspected.health)}</p> },
  ...schemaTabs(inspected),
  { name: "Example", content: <Json value={inspected.example} label="the example" /> },
  { name: "Command", content: <CodeBlock label="the command" text={inspected.run.cli} /> }
]

const Endpoint = ({ inspected }: { readonly inspected: InspectedEndpoint }) => {
  const { provider, endpoint, method, description, cost, health, wrapped_by, sandbox } = inspected
  const slug = `${provider} ${method} ${endpoint}`
  return (
    <Shown
      {...{ inspected, kind: "endpoint", slug, tabs: endpointParts(inspected) }}
      lead={
        <>
          <TextLink to={`/catalog?provider=${encodeURIComponent(provider)}`}>{provider}</TextLink>
          <span className="font-mono text-small">{method}</span>
          <Id id={endpoint} what="the endpoint's path" />
          <CostWords cost={cost} />
          <HealthBadge health={health} />
          {sandbox && <Badge tone="amber">simulated</Badge>}
        </>
      }
    >
      {description !== "" && <p className="break-words">{plainText(description)}</p>}
      {wrapped_by.length > 0 && (
        <p>
          The same with one input for all providers:{" "}
          {wrapped_by.map((one) => (
            <TextLink key={one} to={capabilityPage(one)} className="mr-2">
              {one}
            </TextLink>
          ))}
        </p>
      )}
    </Shown>
  )
}

/** Paths begin with a slash, but those of marketplace actors, which have the form `owner/name`. */
const inspectAt = async (provider: string, rest: string, method: ReturnType<typeof methodOf>) => {
  const inspect = (endpoint: string) => api.catalog.inspect({ payload: { provider, endpoint, method } })
  try {
    return await inspect(`/${rest}`)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "endpoint_not_found") throw error
    return inspect(rest).catch(() => {
      throw error
    })
  }
}

/** Of the address `/catalog/$capability`, or `/catalog/$provider/$`. */
const InspectedPage = () => {
  const [{ method }] = useFilters()
  const [capability, provider, rest] = [useParam("capability"), useParam("provider"), useParam("_splat")]
  const inspected = useRead(
    ["catalog", "inspect", capability, provider, rest, method],
    () =>
      capability === ""
        ? inspectAt(provider, rest, methodOf(method))
        : api.catalog.inspect({ payload: { capability } }),
    { staleTime: 60_000 }
  )
  return (
    <LoadedPage query={inspected}>
      {(data) => (isCapability(data) ? <Capability inspected={data} /> : <Endpoint inspected={data} />)}
    </LoadedPage>
  )
}

export default InspectedPage
