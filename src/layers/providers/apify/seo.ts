/**
 * Offers for search engines through Apify actors: a page of Google's results, and the traffic of a domain.
 */
import { seoDomain, seoDomainDefaultLimit } from "../../../schema/capabilities/seo.domain.ts"
import { serpSearch, serpSearchDefaultDepth } from "../../../schema/capabilities/serp.search.ts"
import { defined } from "../../../schema/defined.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { at, flag, host, isRecord, list, number, text, texts, whole } from "../kit/read.ts"
import { actorOffer } from "./runs.ts"

const actors = {
  results: "thescrappa/google-search",
  traffic: "thescrappa/similarweb-traffic-analytics-scraper"
} as const

/** USD per result. */
const resultCost = 0.0003
/** The number of results that the flat price of a search covers. */
const resultsMax = 10

/** Features of a results page, by the actor's field name. */
const featureNames: Readonly<Record<string, string>> = {
  knowledge_graph: "knowledge_graph",
  related_questions: "people_also_ask",
  related_searches: "related_searches",
  local_results: "local_pack",
  inline_images: "images",
  inline_videos: "video",
  popular_products: "shopping"
}
const isShown = (part: unknown): boolean => (Array.isArray(part) ? part.length > 0 : isRecord(part))

export const results = actorOffer(serpSearch, {
  // 10 results × $0.0003
  price: inUsd.flat("0.003"),
  note: "The actor publishes $0.30 per 1,000 results. Ten results at most.",
  actors: [actors.results],
  serves: (input) =>
    (input.depth ?? serpSearchDefaultDepth) <= resultsMax && input.type !== "maps" && input.device !== "mobile",
  start: (input) => ({
    actor: actors.results,
    input: {
      query: input.query,
      gl: (input.country ?? "us").toLowerCase(),
      // The actor takes two letters.
      hl: (input.language ?? "en").slice(0, 2).toLowerCase(),
      amount: resultsMax,
      ...defined({ location: input.location })
    },
    price: resultsMax * resultCost,
    itemsMax: resultsMax
  }),
  extra: (record) => ({
    features: Object.entries(featureNames).flatMap(([part, name]) => (isShown(at(record, part)) ? [name] : [])),
    total: whole(record, "search_information", "total_results") ?? whole(record, "total_results")
  }),
  read: (results, _input, cost, page) => {
    const items = results.slice(0, resultsMax).flatMap((one, index) => {
      const url = text(one, "link")
      return url === null
        ? []
        : {
            type: "organic",
            position: whole(one, "position") ?? index + 1,
            title: text(one, "title"),
            url,
            domain: host(url),
            snippet: text(one, "snippet")
          }
    })
    // The provider charges for a miss, so unreadable items are a failure and not a miss.
    if (items.length === 0)
      return results.length === 0 ? noMatch("no results on the page", cost) : unreadable("results")
    const total_results = whole(page, "total")
    return match(
      { items, features: texts(page, "features") ?? [], total_results, total: total_results, next_cursor: null },
      cost
    )
  }
})

export const traffic = actorOffer(seoDomain, {
  // 1 result × $0.0003
  price: inUsd.flat("0.0003"),
  note: "The actor publishes no price of its own; assumed at $0.30 per 1,000 results, like similar actors. Its figures are of all countries: the rank, the visits from search (paid ones included), and top keywords without positions. So searches for one country or language use other providers.",
  actors: [actors.traffic],
  serves: (input) => input.country === undefined && input.language === undefined,
  start: (input) => ({ actor: actors.traffic, input: { domain: input.domain }, price: resultCost, itemsMax: 1 }),
  read: ([item], input, cost) => {
    // The provider charges for a miss, so it is a miss only if the actor says so.
    if (flag(item, "success") === false)
      return noMatch(text(item, "error")?.slice(0, 200) ?? "no traffic data for this domain", cost)
    const visits = number(item, "latest_month_visits") ?? number(item, "visits")
    const share = number(item, "traffic_search")
    const keywords = list(item, "top_keywords")
    const rank = whole(item, "global_rank_value")
    if (rank === null && visits === null && keywords === null) return unreadable("traffic data")
    return match(
      {
        organic_keywords: null,
        organic_traffic: visits === null || share === null ? null : Math.round(visits * share),
        paid_keywords: null,
        top_keywords: (keywords ?? []).slice(0, input.limit ?? seoDomainDefaultLimit).flatMap((one) => {
          const keyword = text(one, "keyword")
          return keyword === null ? [] : { keyword, position: null, volume: whole(one, "volume"), url: null }
        }),
        rank
      },
      cost
    )
  }
})
