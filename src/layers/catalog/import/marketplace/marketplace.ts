/**
 * Imports the public store of the actor marketplace: one endpoint per actor.
 *
 * The import does not read input schemas, because there are too many. `actorInput` reads a schema when it is first needed. An invalid actor
 * is left out with a warning. The length of the listing is limited.
 */
import { Effect } from "effect"
import type { Endpoint, Imported, ProviderDocument, Warning } from "../../../../schema/catalog/Endpoint.ts"
import * as Money from "../../../../schema/money/Money.ts"
import { actorCost } from "./actorPrices.ts"
import { isRecord, type Json } from "../kit/fields.ts"
import { ImportFailed } from "../kit/Import.ts"

export interface MarketplaceOptions {
  /** Maximum number of actors. The most used ones come first. */
  readonly actorsMax?: number
  readonly pageSize?: number
}

export interface Marketplace {
  /** Reads a path such as `/v2/store?limit=1000` as JSON. The caller provides the address and the token. */
  readonly fetchJson: (path: string) => Effect.Effect<unknown, ImportFailed>
}

/** The store has several thousand actors. A far longer listing would be a mistake. */
const actorsMaxDefault = 20_000
const pageSizeMax = 1_000
/** Maximum number of warnings, because nobody reads ten thousand. */
const warningsMax = 200
const descriptionLengthMax = 2_000

export const apify = {
  provider: "apify",
  title: "Apify",
  homepage: "https://apify.com",
  base_url: "https://api.apify.com/v2",
  auth: { kind: "bearer" }
} as const

const text = (value: unknown): string | null => (typeof value === "string" && value.trim() !== "" ? value.trim() : null)
const name = (value: unknown): string | null => {
  const said = text(value)
  return said !== null && /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/.test(said) ? said : null
}
const count = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null

/** The runs of the last 30 days, from an actor's statistics. */
export const reportedOf = (stats: unknown): Endpoint["reported"] => {
  const month = isRecord(stats) ? stats["publicActorRunStats30Days"] : undefined
  if (!isRecord(month)) return null
  const succeeded = count(month["SUCCEEDED"])
  const total = count(month["TOTAL"])
  return succeeded === null || total === null || total < succeeded ? null : { succeeded, total }
}

const capMinOf = (pricing: unknown): string | null => {
  const least = isRecord(pricing) ? pricing["minimalMaxTotalChargeUsd"] : undefined
  if (typeof least !== "number" || !(least > 0 && least < 1_000_000)) return null
  return Money.usd(Money.dollars(least.toFixed(6)))
}

/** The categories as tags: `LEAD_GENERATION` becomes `lead-generation`. */
const tagsOf = (categories: unknown): ReadonlyArray<string> =>
  Array.isArray(categories)
    ? [...new Set(categories.flatMap((one) => text(one)?.toLowerCase().replaceAll("_", "-") ?? []))].slice(0, 20)
    : []

export const actorEndpoint = (actor: {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly body: Endpoint["body"]
  readonly input: Readonly<Record<string, Json>> | null
  readonly cost: Endpoint["cost"]
  readonly cap_min: string | null
  readonly reported: Endpoint["reported"]
  readonly deprecated: boolean
}): Endpoint => ({
  method: "POST",
  path: actor.path,
  title: actor.title,
  description: actor.description,
  tags: [...actor.tags],
  body_type: "actor_input",
  path_params: nothing,
  query_params: nothing,
  body: actor.body,
  encoding: "json",
  example: actor.input === null ? {} : { input: actor.input },
  cost: actor.cost,
  cap_min: actor.cap_min,
  reported: actor.reported,
  deprecated: actor.deprecated
})

const nothing = { type: "object", properties: {}, additionalProperties: false }

/** Whether an actor requires full permissions: its token could read all data of the account that runs it. */
export const wantsFullPermissions = (actor: Readonly<Record<string, unknown>>): boolean =>
  actor["actorPermissionLevel"] === "FULL_PERMISSIONS"

const endpointOf = (item: Readonly<Record<string, unknown>>): Endpoint | string => {
  const username = name(item["username"])
  const actor = name(item["name"])
  if (username === null || actor === null) return "it has no usable name"
  if (item["isPublic"] === false) return "it is not public"
  if (wantsFullPermissions(item)) return "it asks for full permissions over the account that runs it"
  const pricing = item["currentPricingInfo"]
  return actorEndpoint({
    path: `${username}/${actor}`,
    title: text(item["title"]) ?? actor,
    description: (text(item["description"]) ?? "").slice(0, descriptionLengthMax),
    tags: ["actor", ...tagsOf(item["categories"])],
    body: null,
    input: null,
    cost: actorCost(pricing),
    cap_min: capMinOf(pricing),
    reported: reportedOf(item["stats"]),
    deprecated: item["isDeprecated"] === true
  })
}

export const marketplaceDocument = (
  endpoints: Iterable<Endpoint>,
  source: ReadonlyArray<string>
): ProviderDocument => ({
  ...apify,
  source: [...source],
  definitions: {},
  endpoints: [...endpoints].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
})

export const importMarketplace = (
  { fetchJson }: Marketplace,
  options: MarketplaceOptions = {}
): Effect.Effect<Imported, ImportFailed> =>
  Effect.gen(function* () {
    const actorsMax = Math.max(1, Math.min(options.actorsMax ?? actorsMaxDefault, actorsMaxDefault))
    const pageSize = Math.max(1, Math.min(options.pageSize ?? pageSizeMax, pageSizeMax))
    const endpoints = new Map<string, Endpoint>()
    const warnings: Array<Warning> = []
    const warn = (where: string, message: string) => {
      if (warnings.length < warningsMax) warnings.push({ where, message })
      else if (warnings.length === warningsMax) warnings.push({ where: "", message: "there are more of these" })
    }
    let offset = 0
    let total = 0
    while (offset < actorsMax) {
      const limit = Math.min(pageSize, actorsMax - offset)
      const answer = yield* fetchJson(`/v2/store?limit=${limit}&offset=${offset}`)
      const data = isRecord(answer) && isRecord(answer["data"]) ? answer["data"] : undefined
      const items = data?.["items"]
      if (!Array.isArray(items))
        return yield* new ImportFailed({ message: `The store's page at ${offset} is no list of actors.` })
      total = count(data?.["total"]) ?? offset + items.length
      for (const [index, item] of items.slice(0, limit).entries()) {
        const where = `store item ${offset + index}`
        const endpoint = isRecord(item) ? endpointOf(item) : "it is no object"
        if (typeof endpoint === "string") warn(where, `left out: ${endpoint}`)
        else if (endpoints.has(endpoint.path)) warn(endpoint.path, "left out: it is listed twice")
        else endpoints.set(endpoint.path, endpoint)
      }
      // The store may change meanwhile, so the offset grows by the requested number and not by the received one.
      offset += limit
      if (items.length === 0 || offset >= total) break
      yield* Effect.sleep(0)
    }
    if (total > actorsMax) warn("", `the store lists ${total} actors, of which the first ${actorsMax} were read`)
    return { document: marketplaceDocument(endpoints.values(), ["/v2/store"]), warnings, undescribed: [] }
  })
