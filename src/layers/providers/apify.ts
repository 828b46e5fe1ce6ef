/**
 * Apify: a marketplace of actors, each of which is a small scraper with a price of its own.
 *
 * A run reports what it cost in US dollars and takes a cap that the platform enforces. Prices are what the actors publish in
 * their titles or descriptions, times 1.2; its offers wait for their adapters.
 */
import { adsSearch } from "../../schema/capabilities/ads.search.ts"
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { domainCheck } from "../../schema/capabilities/domain.check.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../schema/capabilities/jobs.search.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../schema/capabilities/people.search.ts"
import { placesSearch, placesSearchDefaultLimit } from "../../schema/capabilities/places.search.ts"
import { seoDomain } from "../../schema/capabilities/seo.domain.ts"
import { seoKeywords, seoKeywordsDefaultLimit } from "../../schema/capabilities/seo.keywords.ts"
import { serpSearch, serpSearchDefaultDepth } from "../../schema/capabilities/serp.search.ts"
import { socialPosts, socialPostsDefaultLimit } from "../../schema/capabilities/social.posts.ts"
import { socialProfile } from "../../schema/capabilities/social.profile.ts"
import { webScrape } from "../../schema/capabilities/web.scrape.ts"
import { byPlatform, flat, metered } from "../../schema/Pricing.ts"
import { listed, provider, type Wraps } from "../../schema/Provider.ts"
import { accepts } from "./cursor.ts"

/** An actor's endpoint is named like the actor. */
const actors = (...names: ReadonlyArray<string>): ReadonlyArray<Wraps> =>
  names.map((path) => ({ method: "POST", path }))

const note = "The actor publishes $0.30 per 1,000 results."
const assumed = "The actor publishes no price of its own; assumed at $0.30 per 1,000 results, as its siblings."
/** 1 result × $0.0003 × 1.2 */
const oneResult = flat("0.00036")

/** Profiles on one page of a people search. */
const profilesMax = 25
/** What a flat price per search covers. */
const resultsMax = 10

const findPeople = listed(peopleSearch, {
  // $0.10 for a page × 1.2, and $0.004 for each full profile × 1.2
  price: metered("0.12", "0.0048", peopleSearchDefaultLimit),
  note: "Published by the actor: $0.10 for a page of up to 25 profiles and $0.004 for each full profile.",
  wraps: actors("harvestapi/linkedin-profile-search"),
  serves: (input) => accepts("apify", input.cursor) && (input.limit ?? peopleSearchDefaultLimit) <= profilesMax
})

const enrichCompany = listed(companyEnrich, {
  // $0.004 × 1.2
  price: flat("0.0048"),
  note: "The actor publishes $4 per 1,000 companies. It knows them by name or network page, not by domain.",
  wraps: actors("harvestapi/linkedin-company"),
  serves: (input) => input.network_url !== undefined || input.name !== undefined
})

const findJobs = listed(jobsSearch, {
  // 1 job × $0.001 × 1.2
  price: metered("0", "0.0012", jobsSearchDefaultLimit),
  note: "Priced as the dearest of its actors, which publishes $1 per 1,000 jobs; the others publish $0.30.",
  wraps: actors("harvestapi/linkedin-job-search", "thescrappa/indeed-jobs-scraper", "thescrappa/google-jobs-scraper")
})

const scrape = listed(webScrape, {
  price: oneResult,
  note: assumed,
  wraps: actors("thescrappa/website-content-extractor-scraper"),
  serves: (input) => input.format !== "links" && input.wait_ms === undefined
})

const results = listed(serpSearch, {
  // 10 results × $0.0003 × 1.2
  price: flat("0.0036"),
  note: `${assumed} Ten results at most.`,
  wraps: actors("thescrappa/google-search"),
  serves: (input) =>
    (input.depth ?? serpSearchDefaultDepth) <= resultsMax && input.type !== "maps" && input.device !== "mobile"
})

const places = listed(placesSearch, {
  // 1 result × $0.0003 × 1.2
  price: metered("0", "0.00036", placesSearchDefaultLimit),
  note: assumed,
  wraps: actors("thescrappa/google-maps-search-scraper")
})

const news = listed(newsSearch, {
  // 10 results × $0.0003 × 1.2
  price: flat("0.0036"),
  note: `${assumed} Ten results at most.`,
  wraps: actors("thescrappa/google-news-scraper"),
  serves: (input) => (input.limit ?? newsSearchDefaultLimit) <= resultsMax
})

const keywords = listed(seoKeywords, {
  // 1 keyword × $0.0003 × 1.2
  price: metered("0", "0.00036", seoKeywordsDefaultLimit),
  note: `${assumed} Interest over time only, one keyword at a time.`,
  wraps: actors("thescrappa/google-trends-interest-scraper"),
  serves: (input) => input.keywords?.length === 1
})

const traffic = listed(seoDomain, {
  price: oneResult,
  note: `${assumed} Traffic only, without keywords.`,
  wraps: actors("thescrappa/similarweb-traffic-analytics-scraper")
})

const profile = listed(socialProfile, {
  // $0.0002 × 1.2 and $0.0003 × 1.2
  price: byPlatform({ instagram: "0.00024", tiktok: "0.00036" }),
  platforms: ["instagram", "tiktok"],
  note: "The actor for Instagram publishes $0.20 per 1,000 results; the one for TikTok is assumed at $0.30.",
  wraps: actors("thescrappa/instagram-user-info-cheapest-0-20-1000-results", "thescrappa/tiktok-profile-scraper")
})

const posts = listed(socialPosts, {
  // 1 post × $0.0003 × 1.2
  price: metered("0", "0.00036", socialPostsDefaultLimit),
  platforms: ["instagram", "tiktok"],
  note: "The actor for Instagram publishes $0.20 per 1,000 posts; the one for TikTok is assumed at $0.30, which both are priced at.",
  wraps: actors("thescrappa/instagram-user-posts-cheapest-0-20-1000-results", "thescrappa/tiktok-user-posts-scraper"),
  serves: (input) => accepts("apify", input.cursor)
})

const ads = listed(adsSearch, {
  price: oneResult,
  platforms: ["tiktok"],
  note: `${assumed} It reads the ad at an address of TikTok's Creative Center and can't search.`,
  wraps: actors("thescrappa/tiktok-ads-scraper"),
  serves: (input) => /^https:\/\/([a-z]+\.)?tiktok\.com\//i.test(input.query ?? "")
})

const networkPage = listed(networkProfile, {
  price: oneResult,
  note,
  wraps: actors("thescrappa/linkedin-profile-scraper"),
  serves: (input) => input.network_url !== undefined
})

const availability = listed(domainCheck, {
  price: oneResult,
  note: `${assumed} Says whether a name is free, not what it costs.`,
  wraps: actors("thescrappa/domain-availability-checker")
})

export const apify = provider({
  slug: "apify",
  title: "Apify",
  homepage: "https://apify.com",
  base_url: "https://api.apify.com/v2",
  auth: { kind: "bearer" },
  concurrency: 50,
  // An actor starts a container and then scrapes: minutes, not seconds.
  timeoutMillis: 300_000,
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
