/**
 * Adapter for HasData: Google's results, news and map, and job postings of Indeed.
 *
 * A call costs the same however many results it has, and answers do not report the cost. A block that a page does not have is left out
 * of the answer, so an answer is recognized by its metadata. Google's pages have ten results, its map twenty, Indeed's about fifteen.
 */
import { jobsSearch, jobsSearchDefaultLimit } from "../../schema/capabilities/jobs.search.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { placesSearch, placesSearchDefaultLimit } from "../../schema/capabilities/places.search.ts"
import { serpSearch } from "../../schema/capabilities/serp.search.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { httpErrors, match, pageFrom, unreadable } from "./kit/outcome.ts"
import { host, isRecord, list, number, text, whole } from "./kit/read.ts"
import { withSites } from "./kit/sites.ts"

const note =
  "Published credits at $0.000295 each, as in the smallest plan ($59 for 200,000 a month); larger plans pay less."

const resultsOfPage = 10
const placesOfPage = 20
const jobsOfPage = 10

/** The list of an answer. Empty if the page has none, null if the answer is not one of HasData's. */
const listed = (reply: Reply, name: string): ReadonlyArray<unknown> | null =>
  list(reply.body, name) ?? (text(reply.body, "requestMetadata", "status") === "ok" ? [] : null)

const locale = (input: { readonly country?: string; readonly language?: string }) => ({
  gl: input.country?.toLowerCase(),
  hl: input.language?.toLowerCase()
})

/** Parts of an answer that are no features of the results page. */
const plain = new Set(["requestMetadata", "searchInformation", "organicResults", "pagination"])

const serp = offer(serpSearch, {
  price: inCredits.flat("10"),
  note,
  wraps: ["GET /scrape/google/serp"],
  serves: (input) => (input.depth ?? resultsOfPage) <= resultsOfPage && input.type !== "maps",
  request: (input) => ({
    query: {
      q: input.query,
      ...locale(input),
      location: input.location,
      deviceType: input.device
    }
  }),
  response: (reply) => {
    const results = listed(reply, "organicResults")
    if (results === null) return unreadable("organicResults")
    const blocks = isRecord(reply.body) ? Object.keys(reply.body) : []
    const total = whole(reply.body, "searchInformation", "totalResults")
    return match({
      items: results.map((one) => ({
        type: "organic",
        position: whole(one, "position"),
        title: text(one, "title"),
        url: text(one, "link"),
        domain: host(text(one, "link")),
        snippet: text(one, "snippet")
      })),
      features: blocks.filter((name) => !plain.has(name)),
      total_results: total,
      total,
      next_cursor: null
    })
  }
})

const web = offer(webSearch, {
  price: inCredits.flat("5"),
  note,
  wraps: ["GET /scrape/google-light/serp"],
  serves: (input) => (input.limit ?? webSearchDefaultLimit) <= resultsOfPage,
  request: (input) => ({
    query: {
      q: withSites(input),
      ...locale(input),
      // qdr:d, qdr:w, qdr:m, qdr:y
      tbs: input.recency === undefined ? undefined : `qdr:${input.recency.charAt(0)}`
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "organicResults", {
      values: listed(reply, "organicResults"),
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (one) => ({
        title: text(one, "title"),
        url: text(one, "link"),
        snippet: text(one, "snippet"),
        published_at: text(one, "date"),
        score: null,
        position: whole(one, "position")
      }),
      more: { answer: null }
    })
})

const news = offer(newsSearch, {
  price: inCredits.flat("10"),
  note,
  wraps: ["GET /scrape/google/news"],
  // Articles that mention a domain are not news about the company.
  serves: (input) => input.recency === undefined && input.company_domain === undefined,
  request: (input) => ({ query: { q: input.query, ...locale(input) } }),
  response: (reply, input) =>
    pageFrom(reply.body, "newsResults", {
      values: listed(reply, "newsResults"),
      none: "no articles found",
      limit: input.limit ?? newsSearchDefaultLimit,
      item: (one) => ({
        title: text(one, "title"),
        url: text(one, "link"),
        source: text(one, "source", "name"),
        published_at: text(one, "date"),
        snippet: text(one, "snippet"),
        image_url: text(one, "thumbnail")
      })
    })
})

const places = offer(placesSearch, {
  price: inCredits.metered("5", "0", placesSearchDefaultLimit),
  note,
  wraps: ["GET /scrape/google-maps/search"],
  serves: (input) => (input.limit ?? placesSearchDefaultLimit) <= placesOfPage,
  request: (input) => ({
    query: {
      q: input.location === undefined ? input.query : `${input.query} ${input.location}`,
      gl: input.country?.toLowerCase()
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "localResults", {
      values: listed(reply, "localResults"),
      none: "no places found",
      limit: input.limit ?? placesSearchDefaultLimit,
      item: (one) => ({
        name: text(one, "title"),
        address: text(one, "address"),
        phone: text(one, "phone"),
        website: text(one, "website"),
        rating: number(one, "rating"),
        reviews: whole(one, "reviews"),
        lat: number(one, "gpsCoordinates", "latitude"),
        lng: number(one, "gpsCoordinates", "longitude"),
        place_id: text(one, "placeId"),
        category: text(one, "type")
      })
    })
})

const jobs = offer(jobsSearch, {
  price: inCredits.metered("5", "0", jobsSearchDefaultLimit),
  note: `${note} Postings of Indeed's site of the United States.`,
  wraps: ["GET /scrape/indeed/listing"],
  serves: (input) =>
    input.query !== undefined &&
    input.location !== undefined &&
    input.company_domain === undefined &&
    input.company_name === undefined &&
    input.remote === undefined &&
    input.posted_within_days === undefined &&
    (input.limit ?? jobsSearchDefaultLimit) <= jobsOfPage,
  request: (input) => ({ query: { keyword: input.query, location: input.location } }),
  response: (reply, input) =>
    pageFrom(reply.body, "jobs", {
      values: listed(reply, "jobs"),
      none: "no jobs found",
      limit: input.limit ?? jobsSearchDefaultLimit,
      item: (one) => {
        // A salary by the hour is none by the year.
        const yearly = text(one, "salary", "type") === "YEARLY"
        return {
          title: text(one, "title"),
          company_name: text(one, "company"),
          company_domain: null,
          location: text(one, "location"),
          url: text(one, "url"),
          posted_at: text(one, "isoDate") ?? text(one, "date"),
          employment_type: text(one, "details", 0),
          salary_min: yearly ? number(one, "salary", "min") : null,
          salary_max: yearly ? number(one, "salary", "max") : null,
          currency: null,
          remote: null,
          description: text(one, "description")
        }
      }
    })
})

export const hasdata = provider({
  slug: "hasdata",
  title: "HasData",
  homepage: "https://hasdata.com",
  base_url: "https://api.hasdata.com",
  auth: { kind: "header", name: "x-api-key" },
  credit: "0.000295",
  // Concurrent calls of the smallest plan.
  concurrency: 5,
  timeoutMillis: 60_000,
  httpErrors: httpErrors({ reasons: { 422: "provider_rejected" } }),
  offers: [serp, web, news, places, jobs]
})
