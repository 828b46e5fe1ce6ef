/**
 * Offers for the web through Apify actors: pages, places, news, and whether a domain name is available.
 *
 * If an actor could not read a page, its run still succeeds and the item has the error.
 */
import { domainCheck, registration } from "../../../schema/capabilities/domain.check.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../../schema/capabilities/news.search.ts"
import { placesSearch, placesSearchDefaultLimit } from "../../../schema/capabilities/places.search.ts"
import { webScrape } from "../../../schema/capabilities/web.scrape.ts"
import { withoutNulls } from "../../../schema/defined.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { failure } from "../../../schema/catalog/Provider.ts"
import { actorOffer } from "./runs.ts"
import { match, noMatch, pageFrom, unreadable } from "../kit/outcome.ts"
import { flag, number, text, texts, whole } from "../kit/read.ts"

const assumed = "The actor publishes no price of its own; assumed at $0.30 per 1,000 results, like similar actors."
/** USD per result. */
const resultCost = 0.0003
const oneResult = inUsd.flat("0.0003")

const actors = {
  page: "thescrappa/website-content-extractor-scraper",
  places: "thescrappa/google-maps-search-scraper",
  news: "thescrappa/google-news-scraper",
  domain: "thescrappa/domain-availability-checker"
} as const

/** Providers' error texts can be whole pages. */
const wordsMax = 200

export const scrape = actorOffer(webScrape, {
  price: oneResult,
  note: `${assumed} Markdown of the content, or the text of the whole page.`,
  actors: [actors.page],
  // The format decides what the actor leaves out: markdown has the main content, text the whole page. It can't wait for scripts.
  serves: (input) =>
    input.wait_ms === undefined &&
    (input.format === "text"
      ? input.only_main_content === false
      : (input.format ?? "markdown") === "markdown" && input.only_main_content !== false),
  start: (input) => ({
    actor: actors.page,
    input: { urls: [input.url], response_type: input.format === "text" ? "json" : "markdown" },
    price: resultCost,
    itemsMax: 1
  }),
  read: ([item], input, cost) => {
    const wrong = text(item, "error")?.slice(0, wordsMax) ?? null
    if (item === undefined || flag(item, "success") === false)
      return noMatch(wrong ?? "the page could not be read", cost)
    const content = input.format === "text" ? text(item, "body_text") : text(item, "markdown")
    if (content === null) return wrong === null ? unreadable("content") : noMatch(wrong, cost)
    return match(
      {
        url: input.url,
        final_url: text(item, "final_url"),
        status_code: whole(item, "site_status_code"),
        title: text(item, "title"),
        content,
        links: texts(item, "data", "links"),
        metadata: withoutNulls({
          description: text(item, "description"),
          language: text(item, "languages_detected", 0)
        })
      },
      cost
    )
  }
})

/** Places or articles on one page. The actors read one page and charge per result. */
const pageItems = 100

export const places = actorOffer(placesSearch, {
  price: inUsd.metered("0", "0.0003", placesSearchDefaultLimit),
  note: `${assumed} One page of the map.`,
  actors: [actors.places],
  start: (input) => ({
    actor: actors.places,
    input: {
      query: input.location === undefined ? input.query : `${input.query} in ${input.location}`,
      gl: input.country?.toLowerCase()
    },
    price: pageItems * resultCost,
    itemsMax: input.limit ?? placesSearchDefaultLimit
  }),
  read: (results, input, cost) =>
    pageFrom(results, "items", {
      values: results.filter((one) => text(one, "name") !== null),
      none: "no places found",
      limit: input.limit ?? placesSearchDefaultLimit,
      cost,
      item: (one) => ({
        name: text(one, "name"),
        address: text(one, "full_address") ?? text(one, "address"),
        phone: text(one, "phone_numbers", 0) ?? text(one, "phone"),
        website: text(one, "website"),
        rating: number(one, "rating"),
        reviews: whole(one, "review_count"),
        lat: number(one, "latitude"),
        lng: number(one, "longitude"),
        place_id: text(one, "place_id"),
        category: text(one, "type")
      })
    })
})

/** The number of results that the flat price of a search covers. */
const articlesMax = 10

export const news = actorOffer(newsSearch, {
  // 10 results × $0.0003
  price: inUsd.flat("0.003"),
  note: `${assumed} Ten results at most, without a filter by age.`,
  actors: [actors.news],
  serves: (input) =>
    (input.limit ?? newsSearchDefaultLimit) <= articlesMax &&
    input.recency === undefined &&
    input.company_domain === undefined,
  start: (input) => ({
    actor: actors.news,
    input: {
      queries: [input.query],
      gl: input.country?.toLowerCase(),
      hl: input.language?.slice(0, 2).toLowerCase()
    },
    price: pageItems * resultCost,
    itemsMax: input.limit ?? newsSearchDefaultLimit
  }),
  read: (results, input, cost) => {
    const articles = results.filter((one) => text(one, "title") !== null || text(one, "link") !== null)
    // The provider charges for a miss, so unreadable items are a failure and not a miss.
    if (articles.length === 0 && results.length > 0) return unreadable("articles")
    return pageFrom(results, "items", {
      values: articles,
      none: "no articles found",
      limit: input.limit ?? newsSearchDefaultLimit,
      cost,
      item: (one) => ({
        title: text(one, "title"),
        url: text(one, "link"),
        source: text(one, "source_name"),
        published_at: text(one, "iso_date") ?? text(one, "date"),
        snippet: text(one, "snippet"),
        image_url: text(one, "thumbnail")
      })
    })
  }
})

export const availability = actorOffer(domainCheck, {
  price: oneResult,
  note: `${assumed} Says whether a domain is available, but not its price.`,
  actors: [actors.domain],
  start: (input) => ({ actor: actors.domain, input: { domains: [input.domain] }, price: resultCost, itemsMax: 1 }),
  read: ([item], input, cost) => {
    const available = flag(item, "available")
    if (flag(item, "success") === false || available === null) {
      const words = text(item, "error") ?? text(item, "message")
      return words === null ? unreadable("available") : failure("provider_error", words.slice(0, wordsMax))
    }
    return match(registration({ domain: text(item, "domain") ?? input.domain, available }), cost)
  }
})
