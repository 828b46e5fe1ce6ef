/**
 * `rungate discover <words>` searches the catalog, free and without a key. `rungate inspect` shows input, price and health of a capability or of a
 * provider's endpoint.
 */
import { Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import type { Hinted } from "../../../schema/Hints.ts"
import {
  Discovered,
  type DiscoverItem as Item,
  InspectedCapability,
  InspectedEndpoint,
  InspectedOffer
} from "../../../schema/nouns/Catalog.ts"
import { CatalogApi } from "../../api/Catalog.ts"
import { DiscoveryApi } from "../../api/Discovery.ts"
import { percent } from "../../client/Words.ts"
import { cliHints } from "../answers/commands.ts"
import { drawn, nounTable, type Shown, tableLines } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { type Lines, show, wire } from "../answers/show.ts"
import type { ScreenShape, Style } from "../terminal/Screen.ts"
import { argument, int, optionalArgument } from "../terminal/flags.ts"
import { facts } from "../terminal/table.ts"
import { harmless, harmlessLines, wrap } from "../terminal/text.ts"
import { dollars, durationOf } from "../terminal/values.ts"
import { fieldLines } from "./FieldTable.ts"

type DiscoverItem = typeof Item.Encoded
type Capability = typeof InspectedCapability.Encoded
type Endpoint = typeof InspectedEndpoint.Encoded
type Health = DiscoverItem["health"]

const priceOf = (item: DiscoverItem): string | null => {
  if (item.kind === "endpoint") return dollars(item.cost.estimate)
  return item.starting_price === null ? null : `from ${dollars(item.starting_price.amount)}`
}

const healthStyles: Readonly<Record<Health["status"], Style>> = {
  healthy: "green",
  stable: "green",
  degraded: "yellow",
  outage: "red",
  unknown: "dim"
}

const healthOf = ({ status, success_rate, latency_ms_p50 }: Health) =>
  [
    status,
    success_rate === null ? "" : percent(success_rate),
    latency_ms_p50 === null ? "" : durationOf(latency_ms_p50)
  ]
    .filter((part) => part !== "")
    .join(", ")

const discoverLines = (page: typeof Discovered.Encoded, shown: Shown): Lines => {
  const { screen } = shown
  const rows = tableLines(
    page.items,
    [
      { title: "WHAT", of: (item) => (item.kind === "capability" ? item.capability : item.provider) },
      { title: "", of: (item) => (item.kind === "capability" ? item.title : item.endpoint), least: 16 },
      { title: "PRICE", of: priceOf, right: true },
      { title: "HEALTH", of: (item) => item.health.status }
    ],
    shown
  )
  // Hints are copied, so they are never truncated.
  const hints = page.items.map((item) => `  ${harmless(item.hint)}`)
  const next = page.items.length === 0 ? [] : ["", "Inspect:", ...hints]
  const more = forPeople(page).map((hint) => screen.paint("dim", hint))
  return [...(page.items.length === 0 ? ["No matches."] : rows), ...next, ...(more.length === 0 ? [] : ["", ...more])]
}

/** A body without named fields, such as a list, is shown as its schema. */
const bodyLines = (body: unknown, screen: ScreenShape): Lines => {
  const fields = fieldLines(body, screen)
  return fields.length > 0 || body === null ? fields : harmlessLines(JSON.stringify(body, null, 2)).split("\n")
}

const section = (screen: ScreenShape, title: string, body: Lines): Lines =>
  body.length === 0 ? [] : ["", screen.paint("bold", title), ...body]

const forPeople = (answer: Hinted) => cliHints(answer).map(harmless)

const hintLines = (screen: ScreenShape, answer: Hinted) =>
  section(
    screen,
    "Next",
    forPeople(answer).map((hint) => `  ${hint}`)
  )

const capabilityLines = (capability: Capability, screen: ScreenShape): Lines => [
  `${screen.paint("bold", harmless(capability.capability))}  ${harmless(capability.title)}${capability.status === "live" ? "" : screen.paint("yellow", "  coming soon")}${capability.sandbox ? screen.paint("yellow", "  sandbox") : ""}`,
  ...wrap(harmless(capability.description), screen.width),
  "",
  ...wrap(harmless(capability.billing.description), screen.width),
  ...(capability.warranty === undefined
    ? []
    : wrap(`Warranty: ${harmless(capability.warranty.description)}`, screen.width)),
  "",
  ...nounTable(InspectedOffer, capability.offers, { screen, now: 0 }),
  ...section(screen, "Input", fieldLines(capability.input_schema, screen)),
  ...section(screen, "Output fields", wrap(harmless(capability.output_fields.join(", ")), screen.width)),
  ...hintLines(screen, capability)
]

const endpointLines = (endpoint: Endpoint, screen: ScreenShape): Lines => [
  `${screen.paint("bold", harmless(`${endpoint.provider} ${endpoint.method} ${endpoint.endpoint}`))}${endpoint.sandbox ? screen.paint("yellow", "  sandbox") : ""}`,
  ...wrap(harmless(endpoint.title), screen.width),
  ...wrap(harmless(endpoint.description), screen.width),
  "",
  ...facts(
    [
      ["runs", endpoint.status === "live" ? "yes" : "no account here yet"],
      ["price", dollars(endpoint.cost.estimate) ?? "not published"],
      ["billing", endpoint.cost.note],
      ["health", healthOf(endpoint.health)],
      ["wrapped by", endpoint.wrapped_by.join(", ")]
    ],
    screen.width,
    (name) => screen.paint(name.startsWith("health") ? healthStyles[endpoint.health.status] : "dim", name)
  ),
  ...section(
    screen,
    "What changes the price",
    (endpoint.cost.drivers ?? []).flatMap(({ description }) => wrap(`  ${harmless(description)}`, screen.width))
  ),
  ...section(screen, "Path", fieldLines(endpoint.input.pathParams, screen)),
  ...section(screen, "Query", fieldLines(endpoint.input.queryParams, screen)),
  ...section(screen, "Body", bodyLines(endpoint.input.body, screen)),
  ...section(screen, "Run it", [`  ${harmless(endpoint.run.cli)}`]),
  ...hintLines(screen, endpoint)
]

const inspectLines = (text: string, screen: ScreenShape): Lines | null => {
  const capability = wire(InspectedCapability, text)
  if (capability !== null) return capabilityLines(capability, screen)
  const endpoint = wire(InspectedEndpoint, text)
  return endpoint === null ? null : endpointLines(endpoint, screen)
}

export const discover = row(DiscoveryApi.endpoints.discover, {
  lists: "items",
  fields: {
    query: Argument.String("query").pipe(
      Argument.withDescription("description of the job, in plain words"),
      Argument.variadic({ min: 1 }),
      Argument.map((words) => words.join(" "))
    ),
    limit: int("limit", "results to show, 1 to 50").pipe(Flag.withDefault(10)),
    kind: "only capabilities, or only raw endpoints",
    provider: "only this provider"
  },
  examples: { "rungate discover find a work email": "In plain words" },
  show: drawn(Discovered, discoverLines)
})

export const inspect = rowWith(
  CatalogApi.endpoints.inspect,
  {
    target: argument("target", "a capability or a provider"),
    endpoint: optionalArgument(Argument.String("endpoint"), "the provider's path, as discover shows it")
  },
  ({ target, endpoint }) => Effect.succeed(endpoint === null ? { capability: target } : { provider: target, endpoint }),
  {
    about: "Show input, price and health of a capability or a raw endpoint",
    fields: { capability: false, provider: false, endpoint: false, method: "HTTP method, when the path has several" },
    show: (answer, shown) => show(answer, shown, (text) => inspectLines(text, shown.screen))
  }
)
