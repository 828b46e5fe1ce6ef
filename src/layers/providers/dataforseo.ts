/**
 * DataForSEO: search results, keywords, backlinks, news, places, jobs, technologies and domain records.
 *
 * Every answer reports its cost in US dollars. Prices are the published rates or a captured cost, times 1.2; its offers wait
 * for their adapters.
 */
import { adsSearch } from "../../schema/capabilities/ads.search.ts"
import { companyTech } from "../../schema/capabilities/company.tech.ts"
import { domainCheck } from "../../schema/capabilities/domain.check.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../schema/capabilities/jobs.search.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { placesSearch, placesSearchDefaultLimit } from "../../schema/capabilities/places.search.ts"
import { seoBacklinks, seoBacklinksDefaultLimit } from "../../schema/capabilities/seo.backlinks.ts"
import { seoDomain } from "../../schema/capabilities/seo.domain.ts"
import { seoKeywords, seoKeywordsDefaultLimit } from "../../schema/capabilities/seo.keywords.ts"
import { serpSearch } from "../../schema/capabilities/serp.search.ts"
import { webScrape } from "../../schema/capabilities/web.scrape.ts"
import { flat, metered } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

/** A page of a results page: what one of its search requests is charged by. */
const pageSize = 10

const results = listed(serpSearch, {
  // ($0.002 + 9 further pages × $0.0015) × 1.2
  price: flat("0.0186"),
  note: "Published live rate, with the most pages that can be asked for; a captured call of 100 results cost $0.0155.",
  wraps: [
    { method: "POST", path: "/v3/serp/google/organic/live/advanced" },
    { method: "POST", path: "/v3/serp/google/maps/live/advanced" }
  ]
})

const news = listed(newsSearch, {
  // 1 page × $0.002 × 1.2
  price: flat("0.0024"),
  note: "Published live rate for a page of ten results.",
  wraps: [{ method: "POST", path: "/v3/serp/google/news/live/advanced" }],
  serves: (input) => (input.limit ?? newsSearchDefaultLimit) <= pageSize
})

const places = listed(placesSearch, {
  // $0.002 × 1.2, and a tenth of a further page: $0.0015 ÷ 10 × 1.2
  price: metered("0.0024", "0.00018", placesSearchDefaultLimit),
  note: "Published live rate for a page of ten results; further pages at 75 percent of it.",
  wraps: [{ method: "POST", path: "/v3/serp/google/maps/live/advanced" }]
})

const jobs = listed(jobsSearch, {
  // $0.0006 × 1.2, and a tenth of a further page: $0.00045 ÷ 10 × 1.2
  price: metered("0.00072", "0.000054", jobsSearchDefaultLimit),
  note: "Published standard rate for a page of ten results; answers may take minutes.",
  wraps: [
    { method: "POST", path: "/v3/serp/google/jobs/task_post" },
    { method: "GET", path: "/v3/serp/google/jobs/task_get/advanced/{id}" }
  ],
  serves: (input) => input.query !== undefined
})

const ads = listed(adsSearch, {
  // $0.0006 × 1.2
  price: flat("0.00072"),
  platforms: ["google"],
  note: "Published standard rate; answers may take minutes.",
  wraps: [
    { method: "POST", path: "/v3/serp/google/ads_search/task_post" },
    { method: "GET", path: "/v3/serp/google/ads_search/task_get/advanced/{id}" }
  ],
  serves: (input) => input.company_domain !== undefined && input.cursor === undefined
})

const keywords = listed(seoKeywords, {
  // $0.075 for a list of up to 1,000 keywords × 1.2, and $0.0001 for each one suggested × 1.2
  price: metered("0.09", "0.00012", seoKeywordsDefaultLimit),
  note: "A captured call of search volumes cost $0.075, whatever the number of keywords; suggestions are assumed to cost no more for a call, and $0.0001 each.",
  wraps: [
    { method: "POST", path: "/v3/keywords_data/google_ads/search_volume/live" },
    { method: "POST", path: "/v3/dataforseo_labs/google/keyword_suggestions/live" }
  ]
})

const backlinks = listed(seoBacklinks, {
  // ($0.02 for the summary + $0.02 for the list) × 1.2, and $0.00003 for each link × 1.2
  price: metered("0.048", "0.000036", seoBacklinksDefaultLimit),
  note: "Captured calls cost $0.02 and $0.00003 for each row; an answer takes two calls.",
  wraps: [
    { method: "POST", path: "/v3/backlinks/summary/live" },
    { method: "POST", path: "/v3/backlinks/backlinks/live" }
  ]
})

const domainOverview = listed(seoDomain, {
  // ($0.01 + 100 keywords × $0.0001) × 1.2
  price: flat("0.024"),
  note: "Assumed at $0.01 for a call and $0.0001 for each keyword, of which 100 at most.",
  wraps: [{ method: "POST", path: "/v3/dataforseo_labs/google/ranked_keywords/live" }]
})

const technologies = listed(companyTech, {
  // $0.01 × 1.2
  price: flat("0.012"),
  note: "Assumed at $0.01 for a domain; the provider's rate was not at hand.",
  wraps: [{ method: "POST", path: "/v3/domain_analytics/technologies/domain_technologies/live" }]
})

const scrape = listed(webScrape, {
  // $0.0125 × 1.2
  price: flat("0.015"),
  note: "Published rate for a page, from $0.0125.",
  wraps: [{ method: "POST", path: "/v3/on_page/content_parsing/live" }],
  serves: (input) => input.format !== "html" && input.wait_ms === undefined
})

const records = listed(domainCheck, {
  // ($0.10 + 1 domain × $0.001) × 1.2
  price: flat("0.1212"),
  note: "Assumed at $0.10 for a call and $0.001 for a domain. Says whether a name is registered, not what it costs.",
  wraps: [{ method: "POST", path: "/v3/domain_analytics/whois/overview/live" }]
})

export const dataforseo = provider({
  slug: "dataforseo",
  title: "DataForSEO",
  homepage: "https://dataforseo.com",
  base_url: "https://api.dataforseo.com",
  auth: { kind: "basic" },
  // 2,000 calls a minute.
  concurrency: 30,
  timeoutMillis: 60_000,
  offers: [results, news, places, jobs, ads, keywords, backlinks, domainOverview, technologies, scrape, records]
})
