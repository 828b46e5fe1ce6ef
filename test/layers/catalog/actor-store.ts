/**
 * A stand-in for the actor marketplace's store, with as many actors as asked for.
 *
 * Owners have 40 actors each. Titles and descriptions are made of the words of the shipped catalog, so that searches have something to decide.
 */
import { synthetic } from "../../bench/corpus.ts"
import { catalogDocuments } from "../search/corpus.ts"

const perOwner = 40
/** The one that tests look for. */
export const needle = {
  path: "needle-owner/moonbeam-harvester",
  title: "Moonbeam harvester",
  query: "moonbeam harvester"
}

const pricings = [
  { pricingModel: "FREE" },
  { pricingModel: "PRICE_PER_DATASET_ITEM", pricePerUnitUsd: 0.001 },
  { pricingModel: "PAY_PER_EVENT", pricingPerEvent: { actorChargeEvents: {} } }
]

export const actorStore = (count: number) => {
  const actors = synthetic(catalogDocuments(), count - 1).map((document, index) => ({
    id: `id${index}`,
    username: `owner${Math.floor(index / perOwner)}`,
    name: `actor-${index}`,
    title: document.title,
    description: document.description,
    categories: ["LEAD_GENERATION", "AUTOMATION"],
    stats: { publicActorRunStats30Days: { SUCCEEDED: 900, FAILED: 100, TOTAL: 1_000 } },
    currentPricingInfo: pricings[index % pricings.length]
  }))
  const [username, name] = needle.path.split("/")
  const all = [
    ...actors,
    {
      id: "needle",
      username,
      name,
      title: needle.title,
      description: "Harvests moonbeams.",
      currentPricingInfo: pricings[0]
    }
  ]
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname !== "/v2/store") return new Response("no such path", { status: 404 })
      const [offset, limit] = ["offset", "limit"].map((name) => Number(searchParams.get(name)))
      return Response.json({
        data: { total: count, offset, limit, items: all.slice(offset, (offset ?? 0) + (limit ?? 0)) }
      })
    }
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    owned: (owner: number) => actors.filter((one) => one.username === `owner${owner}`).length,
    stop: () => server.stop(true)
  }
}
