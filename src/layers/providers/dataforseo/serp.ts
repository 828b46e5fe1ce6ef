/**
 * DataForSEO's offers for Google results: web pages, places on the map, and news.
 *
 * The provider charges per requested page of ten results (a hundred on the map), even if the page has fewer.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../../schema/capabilities/news.search.ts"
import { placesSearch, placesSearchDefaultLimit } from "../../../schema/capabilities/places.search.ts"
import { serpSearch, serpSearchDefaultDepth } from "../../../schema/capabilities/serp.search.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { countryCode, isCountry, languageCode, placeName } from "./locale.ts"
import { instant, itemsOf, keyword, readResult, task, taskAt } from "./task.ts"
import { pageFrom } from "../kit/outcome.ts"
import { entryIn, host, list, number, text, texts, whole } from "../kit/read.ts"

/** Results that the provider charges as one page. */
const pageSize = 10

const organicPath = "/v3/serp/google/organic/live/advanced"
const mapsPath = "/v3/serp/google/maps/live/advanced"

const depthOf = (input: InputOf<typeof serpSearch>): number => input.depth ?? serpSearchDefaultDepth

/** The provider's item types for results on the map. */
const typeNames: Readonly<Record<string, string>> = { maps_search: "maps", maps_paid_item: "maps_paid" }
const typeOf = (item: unknown): string | null => {
  const type = text(item, "type")
  return type === null ? null : (entryIn(typeNames, type) ?? type)
}

/** Related questions and searches are not results. The answer lists them as features of the page. */
const isResult = (item: unknown): boolean => text(item, "title") !== null || text(item, "url") !== null

export const results = offer(serpSearch, {
  price: inUsd.paged("0.002", "0.0015", pageSize),
  note: "Live rate of 2026-07 per page of ten results. Captured calls cost $0.002 at depth 10, and $0.0155 at depth 100.",
  wraps: [`POST ${organicPath}`, `POST ${mapsPath}`],
  serves: (input) => isCountry(input.country),
  request: (input) =>
    taskAt(input.type === "maps" ? mapsPath : organicPath, {
      keyword: keyword(input.query),
      ...(input.location === undefined
        ? { location_code: countryCode(input.country) }
        : { location_name: placeName(input.location, input.country) }),
      language_code: languageCode(input.language),
      device: input.device ?? "desktop",
      depth: depthOf(input)
    }),
  response: (reply, input) =>
    readResult(reply, "no results on the page", (result) => {
      const plain = new Set(["organic", "paid", "maps_search", "maps_paid_item"])
      const total = whole(result, "se_results_count")
      return pageFrom(result, "items", {
        values: itemsOf(result)?.filter(isResult) ?? null,
        none: "no results on the page",
        limit: depthOf(input),
        item: (item) => ({
          type: typeOf(item),
          position: whole(item, "rank_absolute"),
          title: text(item, "title"),
          url: text(item, "url"),
          domain: host(text(item, "domain") ?? text(item, "url")),
          snippet: text(item, "description") ?? text(item, "snippet")
        }),
        total,
        more: {
          features: (texts(result, "item_types") ?? []).filter((type) => !plain.has(type)),
          total_results: total
        }
      })
    })
})

/** A block of top stories contains several articles. */
const articlesOf = (item: unknown): ReadonlyArray<unknown> =>
  text(item, "type") === "top_stories" ? (list(item, "items") ?? []) : [item]

export const news = offer(newsSearch, {
  // 1 page
  price: inUsd.flat("0.002"),
  note: "Published live rate for a page of ten results.",
  wraps: ["POST /v3/serp/google/news/live/advanced"],
  // The provider searches by words only. Articles that merely mention a domain are not news about the company.
  serves: (input) =>
    (input.limit ?? newsSearchDefaultLimit) <= pageSize &&
    input.company_domain === undefined &&
    isCountry(input.country),
  request: (input) =>
    task({
      keyword: keyword(input.query),
      location_code: countryCode(input.country),
      language_code: languageCode(input.language),
      depth: pageSize,
      ...(input.recency === undefined ? {} : { search_param: `&tbs=qdr:${input.recency.charAt(0)}` })
    }),
  response: (reply, input) =>
    readResult(reply, "no articles found", (result) =>
      pageFrom(result, "items", {
        values:
          itemsOf(result)
            ?.flatMap(articlesOf)
            .filter((article) => text(article, "url") !== null) ?? null,
        none: "no articles found",
        limit: input.limit ?? newsSearchDefaultLimit,
        item: (article) => ({
          title: text(article, "title"),
          url: text(article, "url"),
          source: text(article, "source") ?? host(text(article, "domain") ?? text(article, "url")),
          published_at: instant(text(article, "timestamp")) ?? text(article, "time_published") ?? text(article, "date"),
          snippet: text(article, "snippet"),
          image_url: text(article, "image_url")
        }),
        total: whole(result, "se_results_count")
      })
    )
})

export const places = offer(placesSearch, {
  // $0.002, and a tenth of a further page: $0.0015 ÷ 10
  price: inUsd.metered("0.002", "0.00015", placesSearchDefaultLimit),
  note: "Published live rate for a page of ten results. Further pages cost 75 percent of it.",
  wraps: [`POST ${mapsPath}`],
  serves: (input) => isCountry(input.country),
  request: (input) =>
    task({
      // The place becomes part of the query, because Google Maps understands more spellings than the provider's list of locations.
      keyword: keyword(input.location === undefined ? input.query : `${input.query} ${input.location}`),
      location_code: countryCode(input.country),
      language_code: "en",
      depth: input.limit ?? placesSearchDefaultLimit
    }),
  response: (reply, input) =>
    readResult(reply, "no places found", (result) =>
      pageFrom(result, "items", {
        values: itemsOf(result)?.filter((item) => text(item, "type") === "maps_search") ?? null,
        none: "no places found",
        limit: input.limit ?? placesSearchDefaultLimit,
        item: (item) => ({
          name: text(item, "title"),
          address: text(item, "address"),
          phone: text(item, "phone"),
          website: text(item, "url"),
          rating: number(item, "rating", "value"),
          reviews: whole(item, "rating", "votes_count"),
          lat: number(item, "latitude"),
          lng: number(item, "longitude"),
          place_id: text(item, "place_id") ?? text(item, "cid"),
          category: text(item, "category")
        })
      })
    )
})
