/** A provider's own endpoint: what it costs and what changes the price, its schemas, and a form to try it. */
import { useFilters, useParam } from "../../data/address.ts"
import { api, ApiError, useRead } from "../../data/api.ts"
import { plainText } from "../../forms/providerText.ts"
import { Bullets } from "../../lists/Facts.tsx"
import { Empty, LoadedPage, Page, TextLink } from "../../parts/Page.tsx"
import { Badge, CodeBlock, Id } from "../../parts/Values.tsx"
import { capabilityPage } from "../../running/request.ts"
import { About, Json, type Tab } from "../run/Tabs.tsx"
import { TryFrom } from "./TryIt.tsx"
import { CostWords, HealthBadge, healthSentence } from "./prices.tsx"
import { type InspectedEndpoint, isCapability } from "./useForm.ts"

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

const partsOf = (inspected: InspectedEndpoint): ReadonlyArray<Tab> => [
  { name: "Price", content: <Price cost={inspected.cost} /> },
  { name: "Health", content: <p>{healthSentence(inspected.health)}</p> },
  ...schemaTabs(inspected),
  { name: "Example", content: <Json value={inspected.example} label="the example" /> },
  { name: "Command", content: <CodeBlock label="the command" text={inspected.run.cli} /> }
]

const Shown = ({ inspected }: { readonly inspected: InspectedEndpoint }) => {
  const { provider, endpoint, method, title, description, cost, health, wrapped_by, sandbox, hints } = inspected
  return (
    <Page
      title={title}
      lead={
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <TextLink to={`/catalog?provider=${encodeURIComponent(provider)}`}>{provider}</TextLink>
          <span className="font-mono text-small">{method}</span>
          <Id id={endpoint} what="the endpoint's path" />
          <CostWords cost={cost} />
          <HealthBadge health={health} />
          {sandbox && <Badge tone="amber">simulated</Badge>}
        </div>
      }
    >
      <div className="max-w-prose space-y-2">
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
      </div>
      <TryFrom key={`${provider} ${method} ${endpoint}`} inspected={inspected} />
      <About label="Parts of the endpoint" tabs={partsOf(inspected)} hints={hints} />
    </Page>
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

const EndpointPage = () => {
  const [{ method }] = useFilters()
  const provider = useParam("provider")
  const rest = useParam("_splat")
  const inspected = useRead(
    ["catalog", "inspect", provider, rest, method],
    () => inspectAt(provider, rest, methodOf(method)),
    { staleTime: 60_000 }
  )
  return (
    <LoadedPage query={inspected}>
      {(data) => (isCapability(data) ? <Empty title="This is not an endpoint." /> : <Shown inspected={data} />)}
    </LoadedPage>
  )
}

export default EndpointPage
