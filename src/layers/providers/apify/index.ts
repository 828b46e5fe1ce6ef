/**
 * Adapter for Apify, a marketplace of scrapers. Apify calls them actors, and each has its own price.
 *
 * An actor's run reports its cost in US dollars and takes a cap that Apify enforces. Prices are those that the actors publish in their
 * titles or descriptions, times 1.2. Three offers are only listed, without an adapter, because their actors' answers are not documented.
 */
import { seoDomain } from "../../../schema/capabilities/seo.domain.ts"
import { seoKeywords, seoKeywordsDefaultLimit } from "../../../schema/capabilities/seo.keywords.ts"
import { serpSearch, serpSearchDefaultDepth } from "../../../schema/capabilities/serp.search.ts"
import { flat, metered } from "../../../schema/money/Pricing.ts"
import { listed, provider, type Wraps } from "../../../schema/catalog/Provider.ts"
import { enrichCompany, findJobs, findPeople, networkPage } from "./network.ts"
import { runCost } from "./runs.ts"
import { ads, posts, profile } from "./social.ts"
import { availability, news, places, scrape } from "./web.ts"
import { at } from "../kit/read.ts"

/** The path of an actor's raw endpoint is the actor's name. */
const actors = (...names: ReadonlyArray<string>): ReadonlyArray<Wraps> =>
  names.map((path) => ({ method: "POST", path }))

const assumed = "The actor publishes no price of its own; assumed at $0.30 per 1,000 results, like similar actors."

/** The number of results that the flat price of a search covers. */
const resultsMax = 10

const results = listed(serpSearch, {
  // 10 results × $0.0003 × 1.2
  price: flat("0.0036"),
  note: `${assumed} Ten results at most. No adapter: the actor's own description uses another name for it.`,
  wraps: actors("thescrappa/google-search"),
  serves: (input) =>
    (input.depth ?? serpSearchDefaultDepth) <= resultsMax && input.type !== "maps" && input.device !== "mobile"
})

const keywords = listed(seoKeywords, {
  // 1 keyword × $0.0003 × 1.2
  price: metered("0", "0.00036", seoKeywordsDefaultLimit),
  note: `${assumed} No adapter: the actor returns a trend of interest and not the number of searches.`,
  wraps: actors("thescrappa/google-trends-interest-scraper"),
  serves: (input) => input.keywords?.length === 1
})

const traffic = listed(seoDomain, {
  // 1 result × $0.0003 × 1.2
  price: flat("0.00036"),
  note: `${assumed} No adapter: of the capability's output, the actor documents only the rank.`,
  wraps: actors("thescrappa/similarweb-traffic-analytics-scraper")
})

export const apify = provider({
  slug: "apify",
  title: "Apify",
  homepage: "https://apify.com",
  base_url: "https://api.apify.com/v2",
  auth: { kind: "bearer" },
  concurrency: 50,
  // An actor starts a container before it scrapes, which takes minutes.
  timeoutMillis: 300_000,
  measured: (reply) => runCost(at(reply.body, "data")),
  offers: [
    findPeople,
    enrichCompany,
    findJobs,
    scrape,
    results,
    places,
    news,
    keywords,
    traffic,
    profile,
    posts,
    ads,
    networkPage,
    availability
  ]
})
