/**
 * Adapter for Serper: Google's web results, results pages, places and news.
 *
 * Serper reports the credits of a call. Failed calls are free. Prices are based on the smallest pack, $0.001 per credit.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { placesSearch, placesSearchDefaultLimit } from "../../schema/capabilities/places.search.ts"
import { serpSearch, serpSearchDefaultDepth } from "../../schema/capabilities/serp.search.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { type Call, offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, errorText, httpErrors, match, noMatch, pageFrom, unreadable } from "./kit/outcome.ts"
import { at, host, isRecord, list, number, text, whole } from "./kit/read.ts"
import { withSites } from "./kit/sites.ts"
import { defined } from "../../schema/defined.ts"
import { creditsCall } from "./kit/credits.ts"

const credits = (reply: Reply) => cost("credit", reply.body, "credits")

/** The country and language of a search. Serper's defaults are `us` and `en`. */
const locale = (input: { readonly country?: string; readonly language?: string }) =>
  defined({ gl: input.country?.toLowerCase(), hl: input.language?.toLowerCase() })

const since = (recency: string | undefined) => (recency === undefined ? {} : { tbs: `qdr:${recency.charAt(0)}` })

const pack = "$1.00 per 1,000 searches in the smallest pack, $0.30 in the largest."
const note = `${pack} More than ten results cost two searches, and every search is priced at that.`
/** 2 credits × $0.001 */
const twoCredits = inCredits.flat("2")

const search = offer(webSearch, {
  price: twoCredits,
  note,
  wraps: ["POST /search"],
  request: (input) => ({
    body: {
      q: withSites(input),
      num: input.limit ?? webSearchDefaultLimit,
      ...locale(input),
      ...since(input.recency)
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "organic", {
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (page, index) => ({
        title: text(page, "title"),
        url: text(page, "link"),
        snippet: text(page, "snippet"),
        published_at: text(page, "date"),
        score: null,
        position: whole(page, "position") ?? index + 1
      }),
      more: { answer: null }
    })
})

/** Features of a results page, by Serper's field name. */
const featureNames: Readonly<Record<string, string>> = {
  answerBox: "answer_box",
  knowledgeGraph: "knowledge_graph",
  peopleAlsoAsk: "people_also_ask",
  relatedSearches: "related_searches",
  topStories: "top_stories",
  places: "local_pack",
  images: "images",
  videos: "video",
  shopping: "shopping"
}
const isShown = (part: unknown): boolean => (Array.isArray(part) ? part.length > 0 : isRecord(part))

const results = offer(serpSearch, {
  price: twoCredits,
  note,
  wraps: ["POST /search"],
  serves: (input) => input.type !== "maps" && input.device !== "mobile",
  request: (input) => ({
    body: {
      q: input.query,
      num: input.depth ?? serpSearchDefaultDepth,
      ...locale({ country: input.country ?? "us", language: input.language ?? "en" }),
      // Google's correction of the query would return results of another query.
      autocorrect: false,
      ...defined({ location: input.location })
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "organic", {
      none: "no results on the page",
      limit: input.depth ?? serpSearchDefaultDepth,
      item: (page, index) => ({
        type: "organic",
        position: whole(page, "position") ?? index + 1,
        title: text(page, "title"),
        url: text(page, "link"),
        domain: host(text(page, "link")),
        snippet: text(page, "snippet")
      }),
      more: {
        features: Object.entries(featureNames).flatMap(([part, name]) => (isShown(at(reply.body, part)) ? [name] : [])),
        total_results: null
      }
    })
})

/** A page always has up to this many places, whatever number is requested. */
const placesPageSize = 10

/** Fields of a place that the stored state keeps between pages, by Serper's names. */
const placeTexts = ["title", "address", "phoneNumber", "website", "placeId", "cid", "category", "type"] as const
const placeNumbers = ["rating", "ratingCount", "latitude", "longitude"] as const
const keptOf = (place: unknown): Readonly<Record<string, string | number | null>> =>
  Object.fromEntries([
    ...placeTexts.map((field) => [field, text(place, field)] as const),
    ...placeNumbers.map((field) => [field, number(place, field)] as const)
  ])

const placeOf = (place: unknown) => ({
  name: text(place, "title"),
  address: text(place, "address"),
  phone: text(place, "phoneNumber"),
  website: text(place, "website"),
  rating: number(place, "rating"),
  reviews: whole(place, "ratingCount"),
  lat: number(place, "latitude"),
  lng: number(place, "longitude"),
  place_id: text(place, "placeId") ?? text(place, "cid"),
  category: text(place, "category") ?? text(place, "type")
})

const placesPage = (input: InputOf<typeof placesSearch>, page: number): Call => ({
  method: "POST",
  path: "/places",
  body: {
    q: input.location === undefined ? input.query : `${input.query} ${input.location}`,
    ...locale(input),
    ...(page === 1 ? {} : { page })
  }
})

/** The page number in the state. 1 without a state. */
const pageOf = (state: Schema.Json): number => whole(state, "page") ?? 1

const places = offer(placesSearch, {
  // 1 credit × $0.001, and a tenth of one per place, because further pages are searches too
  price: inCredits.metered("1", "0.1", placesSearchDefaultLimit),
  note: pack,
  wraps: ["POST /places", "POST /maps"],
  // A hundred places need ten searches, one after the other.
  timeoutMillis: 60_000,
  request: (input) => placesPage(input, 1),
  next: (state, input) => placesPage(input, pageOf(state)),
  response: (reply, input, state) => {
    const page = list(reply.body, "places")
    if (page === null) return unreadable("places")
    const limit = input.limit ?? placesSearchDefaultLimit
    const collected = [...(list(state, "places") ?? []), ...page].map(keptOf)
    const reports = [number(state, "credits"), number(reply.body, "credits")].filter((report) => report !== null)
    const spent = reports.length === 0 ? null : reports.reduce((sum, report) => sum + report, 0)
    if (collected.length < limit && page.length >= placesPageSize) {
      const next = { page: pageOf(state) + 1, places: collected, credits: spent }
      return { _tag: "Again", state: next, afterMillis: 0, job: false }
    }
    const total = cost("credit", spent)
    if (collected.length === 0) return noMatch("no places found", total)
    return match({ items: collected.slice(0, limit).map(placeOf), total: null, next_cursor: null }, total)
  }
})

const news = offer(newsSearch, {
  price: twoCredits,
  note,
  wraps: ["POST /news"],
  // Serper searches by words only. Articles that merely mention a domain are not news about the company.
  serves: (input) => input.company_domain === undefined,
  request: (input) => ({
    body: { q: input.query, num: input.limit ?? newsSearchDefaultLimit, ...locale(input), ...since(input.recency) }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "news", {
      none: "no articles found",
      limit: input.limit ?? newsSearchDefaultLimit,
      item: (article) => ({
        title: text(article, "title"),
        url: text(article, "link"),
        source: text(article, "source"),
        published_at: text(article, "date"),
        snippet: text(article, "snippet"),
        image_url: text(article, "imageUrl")
      })
    })
})

export const serper = provider({
  slug: "serper",
  title: "Serper",
  homepage: "https://serper.dev",
  base_url: "https://google.serper.dev",
  auth: { kind: "header", name: "X-API-KEY" },
  credit: "0.001",
  concurrency: 50,
  timeoutMillis: 20_000,
  httpErrors: httpErrors({
    // An account without credits is answered with 400, like an invalid request.
    reason: (reply) => (reply.status === 400 && /credits/i.test(errorText(reply)) ? "provider_account" : undefined)
  }),
  measured: credits,
  credits: creditsCall("/account", "credit", (body) => number(body, "balance")),
  offers: [search, results, places, news]
})
