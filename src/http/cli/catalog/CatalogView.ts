/** Formats discover and inspect for a terminal. Loaded on demand, because it imports the API contract. */
import { InspectedCapability, InspectedEndpoint } from "../../api/Catalog.ts"
import { Discovered, type DiscoverItem as Item } from "../../api/Discovery.ts"
import type { Hinted } from "../../../schema/Hints.ts"
import type { ScreenShape, Style } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { fieldLines } from "./FieldTable.ts"
import { facts, table } from "../terminal/table.ts"
import { cliHints } from "../answers/commands.ts"
import { harmless, harmlessLines, wrap } from "../terminal/text.ts"
import { dollars, durationOf } from "../terminal/values.ts"

type DiscoverItem = typeof Item.Type
type Capability = typeof InspectedCapability.Type
type Endpoint = typeof InspectedEndpoint.Type
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

const percent = (rate: number | null) => (rate === null ? null : `${Math.round(rate * 100)} %`)
const healthOf = ({ status, success_rate, latency_ms_p50 }: Health) =>
  [status, percent(success_rate) ?? "", latency_ms_p50 === null ? "" : durationOf(latency_ms_p50)]
    .filter((part) => part !== "")
    .join(", ")

export const discoverLines = (text: string, screen: ScreenShape): Lines | null => {
  const found = decoded(Discovered, text)
  if (found === null) return null
  const bold = (line: string) => screen.paint("bold", line)
  const rows = table(
    found.items,
    [
      { title: "WHAT", of: (item) => (item.kind === "capability" ? item.capability : item.provider) },
      { title: "", of: (item) => (item.kind === "capability" ? item.title : item.endpoint), least: 16 },
      { title: "PRICE", of: priceOf, right: true },
      { title: "HEALTH", of: (item) => item.health.status }
    ],
    screen.width,
    bold
  )
  // Hints are copied, so they are never truncated.
  const hints = found.items.map((item) => `  ${harmless(item.hint)}`)
  const next = found.items.length === 0 ? [] : ["", "Inspect:", ...hints]
  const more = forPeople(found).map((hint) => screen.paint("dim", hint))
  return [...(found.items.length === 0 ? ["No matches."] : rows), ...next, ...(more.length === 0 ? [] : ["", ...more])]
}

/** A body without named fields, such as a list, is shown as its schema. */
const bodyLines = (body: unknown, screen: ScreenShape): Lines => {
  const fields = fieldLines(body, screen)
  return fields.length > 0 || body === null ? fields : harmlessLines(JSON.stringify(body, null, 2)).split("\n")
}

const section = (screen: ScreenShape, title: string, body: Lines): Lines =>
  body.length === 0 ? [] : ["", screen.paint("bold", title), ...body]

const forPeople = (found: Hinted) => cliHints(found).map(harmless)

const hintLines = (screen: ScreenShape, found: Hinted) =>
  section(
    screen,
    "Next",
    forPeople(found).map((hint) => `  ${hint}`)
  )

const capabilityLines = (found: Capability, screen: ScreenShape): Lines => [
  `${screen.paint("bold", harmless(found.capability))}  ${harmless(found.title)}${found.status === "live" ? "" : screen.paint("yellow", "  coming soon")}${found.sandbox ? screen.paint("yellow", "  sandbox") : ""}`,
  ...wrap(harmless(found.description), screen.width),
  "",
  ...wrap(harmless(found.billing.description), screen.width),
  ...(found.warranty === undefined ? [] : wrap(`Warranty: ${harmless(found.warranty.description)}`, screen.width)),
  "",
  ...table(
    found.offers,
    [
      { title: "PROVIDER", of: (offer) => offer.provider },
      { title: "RUNS", of: (offer) => (offer.executable ? "yes" : "no") },
      { title: "AT MOST", of: (offer) => dollars(offer.price.amount), right: true },
      { title: "HEALTH", of: (offer) => healthOf(offer.health), least: 9 },
      { title: "NOTE", of: (offer) => offer.price.note, least: 10 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  ),
  ...section(screen, "Input", fieldLines(found.input_schema, screen)),
  ...section(screen, "Output fields", wrap(harmless(found.output_fields.join(", ")), screen.width)),
  ...hintLines(screen, found)
]

const endpointLines = (found: Endpoint, screen: ScreenShape): Lines => [
  `${screen.paint("bold", harmless(`${found.provider} ${found.method} ${found.endpoint}`))}${found.sandbox ? screen.paint("yellow", "  sandbox") : ""}`,
  ...wrap(harmless(found.title), screen.width),
  ...wrap(harmless(found.description), screen.width),
  "",
  ...facts(
    [
      ["runs", found.status === "live" ? "yes" : "no account here yet"],
      ["price", dollars(found.cost.estimate) ?? "not published"],
      ["billing", found.cost.note],
      ["health", healthOf(found.health)],
      ["wrapped by", found.wrapped_by.join(", ")]
    ],
    screen.width,
    (name) => screen.paint(name.startsWith("health") ? healthStyles[found.health.status] : "dim", name)
  ),
  ...section(
    screen,
    "What changes the price",
    (found.cost.drivers ?? []).flatMap(({ description }) => wrap(`  ${harmless(description)}`, screen.width))
  ),
  ...section(screen, "Path", fieldLines(found.input.pathParams, screen)),
  ...section(screen, "Query", fieldLines(found.input.queryParams, screen)),
  ...section(screen, "Body", bodyLines(found.input.body, screen)),
  ...section(screen, "Run it", [`  ${harmless(found.run.cli)}`]),
  ...hintLines(screen, found)
]

export const inspectLines = (text: string, screen: ScreenShape): Lines | null => {
  const capability = decoded(InspectedCapability, text)
  if (capability !== null) return capabilityLines(capability, screen)
  const endpoint = decoded(InspectedEndpoint, text)
  return endpoint === null ? null : endpointLines(endpoint, screen)
}
