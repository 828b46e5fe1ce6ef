/** Shows a raw endpoint in inspect: everything about one call, and a command that makes it (specification 2.5). */
import { Schema } from "effect"
import type { ActorInput } from "../../../layers/catalog/CatalogStore.ts"
import { scaledPrice } from "../../../layers/catalog/repriced.ts"
import { isMetered, type RawProvider, type Snapshot } from "../../../layers/catalog/Endpoints.ts"
import { reachable } from "../../../schema/catalog/Definitions.ts"
import { withTopLevelFields } from "../../../schema/catalog/TopLevelFields.ts"
import { type CostDriver, offeredSentence } from "../../../schema/catalog/CostDriver.ts"
import { defined } from "../../../schema/defined.ts"
import type { Endpoint } from "../../../schema/catalog/Endpoint.ts"
import * as Decimal from "../../../schema/money/Decimal.ts"
import * as Money from "../../../schema/money/Money.ts"
import { driverSentence } from "../../../schema/catalog/CostWords.ts"
import { holdOf, rateCardOf } from "../../../schema/runs/RawHold.ts"
import { checkHints, type RunChecks } from "../../../schema/guards/RunChecks.ts"
import { nouns } from "../../../schema/catalog/Resources.ts"
import { addSender, quoted } from "../../../schema/Steps.ts"
import { costView, type endpointHealth } from "./CatalogItems.ts"
import { hinted, withCommands, type Sentence } from "../../../schema/Hints.ts"

const decodeObject = Schema.decodeUnknownSync(Schema.JsonObject)

/** What an offer or endpoint says about the caller's own account at its provider. */
export interface OwnAccountView {
  readonly own_account?: { readonly fee: string; readonly fallback: boolean }
}

/** Adds the shared schemas that a schema refers to, and no others. */
const shown = (schema: Schema.JsonObject, definitions: Readonly<Record<string, Schema.JsonObject>>) => {
  const used = reachable(definitions, [schema])
  return Object.keys(used).length === 0 ? schema : decodeObject({ ...schema, $defs: used })
}

/** The input's schema. It always has `properties` and `required` (specification 2.5), also where the provider's document has none. */
const shownBody = (body: Schema.JsonObject, definitions: Readonly<Record<string, Schema.JsonObject>>) =>
  shown(decodeObject({ properties: {}, required: [], ...withTopLevelFields(body, definitions) }), definitions)

const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0

/** What describes `input`, which becomes the query of GET. */
export const inputSchemas = (
  raw: RawProvider,
  endpoint: Endpoint,
  loaded: ActorInput | null
): ReadonlyArray<unknown> => {
  const schema = endpoint.method === "GET" ? endpoint.query_params : (loaded?.body ?? endpoint.body)
  return [endpoint.path_params, schema, reachable(raw.document?.definitions ?? {}, [schema])]
}

interface Example {
  readonly path?: Schema.JsonObject
  readonly query?: Schema.JsonObject
  readonly input: Schema.Json
}

/** On GET the input becomes the query, so the example shows it as input only. */
const exampleOf = (endpoint: Endpoint, loaded: ActorInput | null): Example => {
  const { path, query, input } = endpoint.example
  const head = path === undefined || isEmpty(path) ? {} : { path }
  if (endpoint.method === "GET") return { ...head, input: query ?? {} }
  const tail = query === undefined || isEmpty(query) ? {} : { query }
  return { ...head, ...tail, input: (loaded === null ? input : loaded.example) ?? {} }
}

const cliOf = (raw: RawProvider, endpoint: Endpoint, example: Example, several: boolean, max_cost: string) => {
  const words = ["rungate", "call", raw.slug, quoted(endpoint.path)]
  if (several) words.push("--method", endpoint.method)
  if (example.path !== undefined) words.push("--path", quoted(JSON.stringify(example.path)))
  if (example.query !== undefined) words.push("--query", quoted(JSON.stringify(example.query)))
  words.push("-i", quoted(JSON.stringify(example.input)), "--max-cost", max_cost)
  return words.join(" ")
}

/** The hold of the example. If its cost can't be computed, the hold of an ordinary call. */
const exampleHold = (raw: RawProvider, endpoint: Endpoint, { path = {}, query = {}, input }: Example) => {
  const { card, issues } = rateCardOf(endpoint, raw.free, { path, query, input })
  const { estimate } = endpoint.cost
  const ordinary = estimate === null ? null : { estimate: Money.dollars(estimate) }
  return holdOf(endpoint, issues.length === 0 ? card : ordinary, null)
}

const fieldsIn = (drivers: ReadonlyArray<CostDriver>) =>
  [...new Set(drivers.map(({ field }) => (field === "." ? "the number of items in input" : field)))].join(", ")

const costOf = (endpoint: Endpoint) => {
  const { price, filled = [] } = endpoint
  if (price === undefined) return costView(endpoint)
  const isFilled = ({ field }: CostDriver) => filled.some((one) => one.field === field)
  const { base, drivers } = scaledPrice(price, Decimal.usd)
  return {
    ...costView(endpoint),
    base,
    drivers: drivers.map((driver) => ({ ...driver, description: driverSentence(driver, isFilled(driver)) }))
  }
}

/** In production; the sandbox's objects are everybody's. */
const ownershipHints = ({ resources }: Endpoint): ReadonlyArray<Sentence> => {
  const fields = Map.groupBy(resources?.uses ?? [], (one) => one.kind)
  return [...fields].map(
    ([kind, those]) =>
      withCommands`In production ${those.map((one) => one.field).join(" and ")} must name ${nouns[kind]} that your organization owns${kind === "sender" ? withCommands`; prove a domain with ${addSender()}` : ""}.`
  )
}

const hintsOf = (
  raw: RawProvider,
  endpoint: Endpoint,
  wrapped_by: ReadonlyArray<string>,
  loaded: ActorInput | null,
  rawMinCap: Money.MicroUsd,
  scenarios: string | null,
  { own_account }: OwnAccountView
) => [
  ...(own_account === undefined
    ? []
    : [`Runs call ${raw.slug} through your own account, for $${own_account.fee}. The cost is what your account pays.`]),
  ...(wrapped_by.length === 0
    ? []
    : [
        `Prefer ${wrapped_by.join(" or ")}: normalized output, a fixed price and other providers to fall back to, unless you need a field of ${raw.slug} that it does not expose.`
      ]),
  ...(raw.status === "ready" && own_account === undefined
    ? [`This service has no account at ${raw.slug} yet, so a run fails with provider_not_available.`]
    : []),
  ...(endpoint.deprecated ? ["The provider has deprecated this endpoint."] : []),
  ...(endpoint.body_type === "task"
    ? ["input is one task object, or an array of up to 10; each is billed by the provider."]
    : []),
  ...(endpoint.body_type === "actor_input" && endpoint.body === null && loaded === null
    ? ["The actor's input schema could not be loaded: the actor itself checks the input."]
    : []),
  ...(endpoint.method === "GET" ? ["input becomes the query parameters."] : []),
  ...ownershipHints(endpoint),
  ...(endpoint.method !== "GET" && endpoint.body === null && endpoint.body_type === "json"
    ? ["This endpoint takes no body: send input {} and put parameters into query."]
    : []),
  ...(scenarios === null && !isMetered(raw, endpoint)
    ? [
        `${raw.slug} neither publishes what a call costs nor reports it, so this service makes none through its own account.`
      ]
    : []),
  ...(endpoint.cost.model === "unpublished" && !raw.free
    ? [
        `The provider publishes no rates for this endpoint: a run holds $1.00 unless routing.max_cost lowers it (to ${Money.usd(rawMinCap)} at least). It is charged what the provider reports, and nothing if the provider reports nothing.`
      ]
    : []),
  ...(endpoint.price === undefined
    ? []
    : [
        `The price of a call depends on its input; cost.drivers explains how. To limit it, set ${fieldsIn(endpoint.price.drivers)}.`
      ]),
  ...(endpoint.filled ?? []).map(offeredSentence),
  ...(endpoint.cost.model === "unpublished" || endpoint.body_type === "actor_input" || raw.free
    ? []
    : ["A run holds 1.5 times its estimate. A routing.max_cost below the estimate is refused."]),
  "A raw run is one call: no other provider is tried. The run is charged if the provider answers with success.",
  ...(scenarios === null ? [] : [scenarios])
]

export const endpointInspection = (
  raw: RawProvider,
  endpoint: Endpoint,
  snapshot: Snapshot,
  health: ReturnType<typeof endpointHealth>,
  loaded: ActorInput | null,
  rawMinCap: Money.MicroUsd,
  scenarios: string | null,
  checks: RunChecks,
  own: OwnAccountView
) => {
  const definitions = raw.document?.definitions ?? {}
  const several = (raw.byPath.get(endpoint.path)?.length ?? 0) > 1
  const example = exampleOf(endpoint, loaded)
  const wrapped_by = snapshot.wrappedBy(raw.slug, endpoint)
  const body = loaded?.body ?? endpoint.body
  const max_cost = Money.usd(exampleHold(raw, endpoint, example))
  return {
    provider: raw.slug,
    ...own,
    endpoint: endpoint.path,
    method: endpoint.method,
    title: endpoint.title,
    description: endpoint.description,
    status: raw.status === "live" ? ("live" as const) : ("ready" as const),
    sandbox: scenarios !== null,
    input: {
      pathParams: shown(endpoint.path_params, definitions),
      queryParams: shown(endpoint.query_params, definitions),
      body: body === null ? null : shownBody(body, definitions),
      bodyType: endpoint.body_type
    },
    example: {
      provider: raw.slug,
      endpoint: endpoint.path,
      ...(several ? { method: endpoint.method } : {}),
      ...example,
      routing: { max_cost }
    },
    cost: costOf(endpoint),
    health,
    ...defined({ filled: endpoint.filled }),
    wrapped_by,
    checks,
    run: { cli: cliOf(raw, endpoint, example, several, max_cost) },
    ...hinted([...checkHints(checks), ...hintsOf(raw, endpoint, wrapped_by, loaded, rawMinCap, scenarios, own)])
  }
}
