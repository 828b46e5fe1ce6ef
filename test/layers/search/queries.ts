/**
 * What people and agents ask discover, and what a careful judge would accept as an answer.
 *
 * Keys are capability slugs or `<provider> <METHOD> <path>`, as an endpoint is named in the catalog. Grades: 3 is exactly it, 2 fits
 * well (a close sibling, the endpoint behind the capability), 1 is somewhat related. A key that isn't there is not relevant.
 * `capability` is the one that must come first. A capability that is coming soon is as right as a live one.
 *
 * The labels were written from the catalog's documents alone, before any search was run over them; a search is to be
 * changed for them, not they for a search.
 */

export interface LabelledQuery {
  readonly query: string
  readonly relevant: Readonly<Record<string, number>>
  readonly capability?: string
}

type Labels = LabelledQuery["relevant"]

/** The best answer is a capability. */
const best = (capability: string, query: string, others: Labels): LabelledQuery => ({
  query,
  relevant: { ...others, [capability]: 3 },
  capability
})

/** The best answer is a provider's own endpoint, or the provider is named and its endpoint is as good as the capability. */
const raw = (query: string, relevant: Labels): LabelledQuery => ({ query, relevant })

/** Endpoints that do the same job; they are spread where a question is about that job and nothing narrower. */
const emailFinders: Labels = {
  "hunter GET /email-finder": 2,
  "leadmagic POST /v1/people/email-finder": 2,
  "prospeo POST /enrich-person": 1,
  "findymail POST /search/name": 1,
  "icypeas POST /email-search": 1,
  "tomba GET /v1/email-finder": 2,
  "tomba GET /v1/linkedin": 1,
  "fullenrich POST /contact/enrich/bulk": 1,
  "lusha POST /v3/contacts/search-and-enrich": 1,
  "crustdata POST /person/contact/enrich": 1,
  "snovio POST /v2/emails-by-domain-by-name/start": 1
}
const emailVerifiers: Labels = {
  "hunter GET /email-verifier": 2,
  "leadmagic POST /v1/people/email-validation": 2,
  "zerobounce GET /v2/validate": 2,
  "neverbounce GET /v4.2/single/check": 1,
  "millionverifier GET /api/v3/": 1,
  "tomba GET /v1/email-verifier/{email}": 2,
  "findymail POST /verify": 2,
  "icypeas POST /email-verification": 1,
  "snovio POST /v2/email-verification/start": 1
}
const peopleSearches: Labels = {
  "apollo POST /mixed_people/api_search": 2,
  "peopledatalabs POST /v5/person/search": 2,
  "prospeo POST /search-person": 2,
  "crustdata POST /person/search": 2,
  "apify POST harvestapi/linkedin-profile-search": 1,
  "fullenrich POST /people/search": 2,
  "lusha POST /v3/contacts/prospecting": 2,
  "snovio POST /v2/database-search/prospects/start": 1
}
const personEnrichers: Labels = {
  "peopledatalabs GET /v5/person/enrich": 2,
  "apollo POST /people/match": 2,
  "prospeo POST /enrich-person": 2,
  "hunter GET /people/find": 2,
  "apollo POST /people/bulk_match": 1,
  "tomba GET /v1/enrich": 2,
  "tomba GET /v1/people/find": 2,
  "fullenrich POST /people/lookup": 1,
  "crustdata POST /person/enrich": 2,
  "snovio POST /v1/get-profile-by-email": 2
}
const mobileFinders: Labels = {
  "leadmagic POST /v1/people/mobile-finder": 2,
  "findymail POST /search/phone": 1,
  "prospeo POST /enrich-person": 1,
  "apollo POST /people/match": 1,
  "tomba GET /v1/phone-finder": 2,
  "fullenrich POST /contact/enrich/bulk": 1,
  "lusha POST /v3/contacts/search-and-enrich": 1,
  "crustdata POST /person/contact/enrich": 1
}
const companyEnrichers: Labels = {
  "apollo GET /organizations/enrich": 2,
  "peopledatalabs GET /v5/company/enrich": 2,
  "hunter GET /companies/find": 2,
  "leadmagic POST /v1/companies/company-search": 1,
  "prospeo POST /enrich-company": 1,
  "tomba GET /v1/companies/find": 2,
  "fullenrich POST /company/lookup": 2,
  "lusha POST /v3/companies/search-and-enrich": 2,
  "predictleads GET /companies/{id_or_domain}": 1,
  "crustdata POST /company/enrich": 2,
  "apollo POST /organizations/bulk_enrich": 1,
  "snovio POST /v2/domain-search/start": 1
}
const companySearches: Labels = {
  "theirstack POST /v1/companies/search": 2,
  "apollo POST /mixed_companies/search": 2,
  "peopledatalabs POST /v5/company/search": 2,
  "hunter POST /discover": 2,
  "prospeo POST /search-company": 1,
  "fullenrich POST /company/search": 2,
  "lusha POST /v3/companies/prospecting": 2,
  "predictleads GET /discover/companies": 1,
  "crustdata POST /company/search": 2,
  "snovio POST /v2/database-search/companies/start": 1
}
const jobSearches: Labels = {
  "theirstack POST /v1/jobs/search": 2,
  "leadmagic POST /v1/jobs/jobs-finder": 2,
  "apify POST harvestapi/linkedin-job-search": 1,
  "apify POST thescrappa/indeed-jobs-scraper": 1,
  "apify POST thescrappa/google-jobs-scraper": 1,
  "dataforseo POST /v3/serp/google/jobs/task_post": 1,
  "predictleads GET /discover/job_openings": 2,
  "predictleads GET /companies/{company_id_or_domain}/job_openings": 1,
  "hasdata GET /scrape/indeed/listing": 1
}
const webSearches: Labels = {
  "exa POST /search": 2,
  "tavily POST /search": 2,
  "serper POST /search": 2,
  "firecrawl POST /search": 2,
  "brave GET /web/search": 2,
  "parallel POST /v1/search": 2
}
const scrapers: Labels = {
  "firecrawl POST /scrape": 2,
  "tavily POST /extract": 2,
  "exa POST /contents": 1,
  "apify POST thescrappa/website-content-extractor-scraper": 1,
  "parallel POST /v1/extract": 2,
  "hasdata POST /scrape/web": 2
}
const googleSerps: Labels = {
  "dataforseo POST /v3/serp/google/organic/live/advanced": 2,
  "serper POST /search": 2,
  "apify POST thescrappa/google-search": 1,
  "scrapecreators GET /v1/google/search": 1,
  "web.search": 1,
  "hasdata GET /scrape/google/serp": 2
}
const mapSearches: Labels = {
  "serper POST /places": 2,
  "serper POST /maps": 2,
  "dataforseo POST /v3/serp/google/maps/live/advanced": 2,
  "apify POST thescrappa/google-maps-search-scraper": 2,
  "dataforseo POST /v3/business_data/business_listings/search/live": 1,
  "hasdata GET /scrape/google-maps/search": 2
}
const newsSearches: Labels = {
  "serper POST /news": 2,
  "dataforseo POST /v3/serp/google/news/live/advanced": 1,
  "apollo POST /news_articles/search": 1,
  "apify POST thescrappa/google-news-scraper": 1,
  "brave GET /news/search": 2,
  "hasdata GET /scrape/google/news": 1
}
const profileReaders: Labels = {
  "scrapecreators GET /v1/linkedin/profile": 2,
  "leadmagic POST /v1/people/profile-search": 2,
  "apify POST thescrappa/linkedin-profile-scraper": 2,
  "people.enrich": 1,
  "snovio POST /v2/li-profiles-by-urls/start": 1
}
const inviters: Labels = {
  "unipile POST /api/v1/users/invite": 2,
  "edges POST /actions/linkedin-connect-profile/run/live": 2
}
const messengers: Labels = {
  "unipile POST /api/v1/chats": 2,
  "edges POST /actions/linkedin-message-profile/run/live": 2
}
const senders: Labels = { "resend POST /emails": 2, "postmark POST /email": 2 }
const edgarFilings: Labels = {
  "sec_edgar GET /submissions/CIK{cik}.json": 2,
  "sec_edgar GET /LATEST/search-index": 2
}
const recipients: Labels = {
  "usaspending POST /api/v2/recipient/": 2,
  "usaspending GET /api/v2/recipient/{recipient_id}/": 2,
  "usaspending POST /api/v2/autocomplete/recipient/": 1
}
const awards: Labels = {
  "usaspending POST /api/v2/search/spending_by_award/": 2,
  "usaspending POST /api/v2/search/spending_by_award_count/": 1,
  "usaspending GET /api/v2/awards/{award_id}/": 1
}

const people: ReadonlyArray<LabelledQuery> = [
  best("people.search", "find people by job title and company", {
    ...peopleSearches,
    "leadmagic POST /v1/people/role-finder": 2,
    "findymail POST /search/employees": 2
  }),
  best("people.search", "list marketing directors at SaaS companies in Germany", peopleSearches),
  best("people.search", "ppl search by title + location", peopleSearches),
  best("people.search", "lead list of decision makers", peopleSearches),
  best("people.search", "who are the VPs of sales at stripe.com", {
    ...peopleSearches,
    "leadmagic POST /v1/people/role-finder": 2,
    "snovio POST /v2/domain-search/prospects/start": 2,
    "leadmagic POST /v1/people/employee-finder": 1,
    "findymail POST /search/employees": 1
  }),
  best("people.enrich", "enrich a person from their email address", personEnrichers),
  best("people.enrich", "person enrichment", personEnrichers),
  best("people.enrich", "who is behind this email, get job title and employer", {
    ...personEnrichers,
    "hunter GET /combined/find": 1,
    "tomba GET /v1/combined/find": 1,
    "fullenrich POST /contact/reverse/email/bulk": 1,
    "leadmagic POST /v1/people/b2b-profile": 1,
    "findymail POST /search/reverse-email": 1
  }),
  best("people.enrich", "contact data enrichment for a lead", { ...personEnrichers, "email.find": 1, "phone.find": 1 }),
  best("email.find", "find the work email of a person at acme.com", emailFinders),
  best("email.find", "email finder", emailFinders),
  best("email.find", "get business email address from first name, last name and domain", emailFinders),
  best("email.find", "what is John Smith's e-mail at Microsoft", emailFinders),
  best("email.find", "emial finder for prospects", emailFinders),
  best("email.find", "guess professional email from name and company", emailFinders),
  best("email.verify", "verify email address", emailVerifiers),
  best("email.verify", "emial verifcation", emailVerifiers),
  best("email.verify", "bounce check before sending a campaign", emailVerifiers),
  best("email.verify", "is this mailbox deliverable or a catch-all", emailVerifiers),
  best("email.verify", "validate emails, detect disposable and role addresses", {
    ...emailVerifiers,
    "tomba GET /v1/domain-status": 1
  }),
  best("phone.find", "find someone's mobile phone number", { ...mobileFinders, "phone.lookup": 1 }),
  best("phone.find", "direct dial of a prospect from their linkedin url", mobileFinders),
  best("phone.find", "cell number finder", mobileFinders),
  best("phone.lookup", "look up a phone number: carrier and line type", {
    "tomba GET /v1/phone-validator": 2,
    "twilio_lookup GET /v2/PhoneNumbers/{PhoneNumber}": 2,
    "twilio_lookup POST /v2/batch/query": 1
  }),
  best("phone.lookup", "is this number a landline, mobile or voip", {
    "tomba GET /v1/phone-validator": 2,
    "twilio_lookup GET /v2/PhoneNumbers/{PhoneNumber}": 2,
    "twilio_lookup POST /v2/batch/query": 1
  }),
  best("phone.lookup", "phone number validation", {
    "tomba GET /v1/phone-validator": 2,
    "twilio_lookup GET /v2/PhoneNumbers/{PhoneNumber}": 2,
    "twilio_lookup POST /v2/batch/query": 1
  }),
  best("phone.lookup", "caller id name (CNAM)", { "twilio_lookup GET /v2/PhoneNumbers/{PhoneNumber}": 2 })
]

const companies: ReadonlyArray<LabelledQuery> = [
  best("company.enrich", "company enrichment by domain", companyEnrichers),
  best("company.enrich", "compnay enrichment", companyEnrichers),
  best("company.enrich", "how many employees does acme.com have and what industry is it in", companyEnrichers),
  best("company.enrich", "firmographics lookup", companyEnrichers),
  best("company.enrich", "linkedin company page data", {
    "scrapecreators GET /v1/linkedin/company": 2,
    "apify POST thescrappa/linkedin-company-scraper": 2,
    "apify POST harvestapi/linkedin-company": 2,
    "scrapecreators GET /v1/linkedin/company/posts": 1
  }),
  best("company.search", "find companies by industry, size and location", companySearches),
  best("company.search", "build a list of fintech startups in Berlin with 50-200 employees", {
    ...companySearches,
    "parallel POST /v1beta/findall/runs": 2
  }),
  best("company.search", "search organizations", companySearches),
  best("company.search", "target account list / ICP companies", companySearches),
  best("company.search", "companies using Shopify", {
    ...companySearches,
    "dataforseo POST /v3/domain_analytics/technologies/domains_by_technology/live": 2,
    "company.tech": 1
  }),
  best("company.tech", "tech stack lookup", {
    "builtwith GET /v23/api.json": 2,
    "predictleads GET /companies/{company_id_or_domain}/technology_detections": 2,
    "tomba GET /v1/technology": 2,
    "theirstack POST /v1/companies/technologies": 2,
    "dataforseo POST /v3/domain_analytics/technologies/domain_technologies/live": 2,
    "hunter GET /companies/find": 1,
    "apollo GET /organizations/enrich": 1
  }),
  best("company.tech", "what technologies does a website use", {
    "tomba GET /v1/technology": 2,
    "builtwith GET /v23/api.json": 2,
    "predictleads GET /companies/{company_id_or_domain}/technology_detections": 2,
    "theirstack POST /v1/companies/technologies": 2,
    "dataforseo POST /v3/domain_analytics/technologies/domain_technologies/live": 2,
    "dataforseo POST /v3/domain_analytics/technologies/domains_by_technology/live": 1
  }),
  best("company.tech", "technographics", {
    "tomba GET /v1/technology": 2,
    "builtwith GET /v23/api.json": 2,
    "predictleads GET /companies/{company_id_or_domain}/technology_detections": 2,
    "predictleads GET /discover/technologies/{technology_id_or_fuzzy_name}/technology_detections": 2,
    "theirstack POST /v1/companies/technologies": 2,
    "dataforseo POST /v3/domain_analytics/technologies/domain_technologies/live": 2,
    "dataforseo POST /v3/domain_analytics/technologies/technology_stats/live": 1,
    "dataforseo POST /v3/domain_analytics/technologies/domains_by_technology/live": 1
  }),
  best("company.tech", "detect CMS, analytics and CRM of a domain (like builtwith)", {
    "tomba GET /v1/technology": 2,
    "builtwith GET /v23/api.json": 2,
    "dataforseo POST /v3/domain_analytics/technologies/domain_technologies/live": 2
  }),
  best("jobs.search", "who is hiring", {
    ...jobSearches,
    "apollo GET /organizations/{organization_id}/job_postings": 1
  }),
  best("jobs.search", "search open jobs", jobSearches),
  best("jobs.search", "remote software engineer vacancies posted this week", jobSearches),
  best("jobs.search", "job postings of a company", {
    "predictleads GET /companies/{company_id_or_domain}/job_openings": 2,
    "apollo GET /organizations/{organization_id}/job_postings": 2,
    "leadmagic POST /v1/jobs/jobs-finder": 2,
    "apify POST harvestapi/linkedin-job-search": 1,
    "apify POST thescrappa/linkedin-jobs-search-scraper": 1
  }),
  best("jobs.search", "job openings with salary", jobSearches)
]

const web: ReadonlyArray<LabelledQuery> = [
  best("web.search", "search the web", { ...webSearches, "serp.search": 1 }),
  best("web.search", "websearch for an LLM agent", webSearches),
  best("web.search", "look something up on the internet", webSearches),
  best("web.search", "find pages about a topic from the last month", { ...webSearches, "news.search": 1 }),
  best("web.scrape", "scrape a web page to markdown", scrapers),
  best("web.scrape", "get the text of a URL", scrapers),
  best("web.scrape", "fetch website content", scrapers),
  best("web.scrape", "read an article and return clean html", {
    ...scrapers,
    "dataforseo POST /v3/on_page/content_parsing/live": 1
  }),
  best("web.scrape", "scarpe url", scrapers),
  best("serp.search", "google SERP results", googleSerps),
  best("serp.search", "SERP", googleSerps),
  best("serp.search", "which position does my site have on google for a keyword", {
    ...googleSerps,
    "dataforseo POST /v3/dataforseo_labs/google/ranked_keywords/live": 1,
    "seo.domain": 1
  }),
  best("serp.search", "organic google results on mobile from Austin, Texas", googleSerps),
  best("serp.search", "rank tracking, top 100 google results with people also ask", googleSerps),
  best("places.search", "find local businesses near me", mapSearches),
  best("places.search", "google maps search", mapSearches),
  best("places.search", "restaurants in Lisbon with address, phone and rating", mapSearches),
  best("places.search", "list of dentists in Chicago", mapSearches),
  best("news.search", "latest news about a company", { ...newsSearches, "web.search": 1 }),
  best("news.search", "news search", newsSearches),
  best("news.search", "recent press articles and headlines on a topic", newsSearches),
  best("seo.keywords", "kw volume", {
    "dataforseo POST /v3/keywords_data/google_ads/search_volume/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/keyword_overview/live": 1,
    "dataforseo POST /v3/keywords_data/bing/search_volume/live": 1,
    "dataforseo POST /v3/keywords_data/clickstream_data/dataforseo_search_volume/live": 1
  }),
  best("seo.keywords", "monthly search volume and CPC for a list of keywords", {
    "dataforseo POST /v3/keywords_data/google_ads/search_volume/live": 2,
    "dataforseo POST /v3/keywords_data/google_ads/search_volume/task_post": 1,
    "dataforseo POST /v3/dataforseo_labs/google/keyword_overview/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/historical_keyword_data/live": 1,
    "dataforseo POST /v3/keywords_data/bing/search_volume/live": 1
  }),
  best("seo.keywords", "keyword research", {
    "dataforseo POST /v3/dataforseo_labs/google/keyword_suggestions/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/keyword_ideas/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/related_keywords/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/keyword_overview/live": 1,
    "dataforseo POST /v3/keywords_data/google_ads/keywords_for_keywords/live": 1,
    "dataforseo POST /v3/keywords_data/google_ads/search_volume/live": 1
  }),
  best("seo.keywords", "keyword ideas with difficulty from a seed term", {
    "dataforseo POST /v3/dataforseo_labs/google/keyword_suggestions/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/keyword_ideas/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/related_keywords/live": 1,
    "dataforseo POST /v3/dataforseo_labs/google/bulk_keyword_difficulty/live": 1
  }),
  best("seo.backlinks", "backlinks of a domain", {
    "seranking GET /v1/backlinks/all": 2,
    "seranking GET /v1/backlinks/count": 1,
    "dataforseo POST /v3/backlinks/backlinks/live": 2,
    "dataforseo POST /v3/backlinks/summary/live": 2,
    "dataforseo POST /v3/backlinks/referring_domains/live": 1,
    "dataforseo POST /v3/backlinks/bulk_backlinks/live": 1
  }),
  best("seo.backlinks", "who links to my website", {
    "seranking GET /v1/backlinks/all": 2,
    "seranking GET /v1/backlinks/refdomains": 2,
    "dataforseo POST /v3/backlinks/backlinks/live": 2,
    "dataforseo POST /v3/backlinks/referring_domains/live": 2,
    "dataforseo POST /v3/backlinks/summary/live": 1
  }),
  best("seo.backlinks", "inbound link profile with dofollow and anchor text", {
    "seranking GET /v1/backlinks/all": 2,
    "seranking GET /v1/backlinks/anchors": 2,
    "dataforseo POST /v3/backlinks/backlinks/live": 2,
    "dataforseo POST /v3/backlinks/anchors/live": 2,
    "dataforseo POST /v3/backlinks/summary/live": 1
  }),
  best("seo.backlinks", "backlnks checker", {
    "dataforseo POST /v3/backlinks/backlinks/live": 2,
    "dataforseo POST /v3/backlinks/summary/live": 2
  }),
  best("seo.domain", "organic traffic of a domain", {
    "seranking GET /v1/domain/overview/worldwide": 2,
    "seranking GET /v1/domain/overview/history": 1,
    "seranking GET /v1/domain/overview/worldwide/url": 1,
    "seranking GET /v1/domain/pages": 1,
    "dataforseo POST /v3/dataforseo_labs/google/domain_rank_overview/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/bulk_traffic_estimation/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/ranked_keywords/live": 2,
    "apify POST thescrappa/similarweb-traffic-analytics-scraper": 1
  }),
  best("seo.domain", "which keywords does a competitor's site rank for", {
    "dataforseo POST /v3/dataforseo_labs/google/ranked_keywords/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/keywords_for_site/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/domain_rank_overview/live": 1,
    "dataforseo POST /v3/dataforseo_labs/google/domain_intersection/live": 1
  }),
  best("seo.domain", "domain SEO overview", {
    "dataforseo POST /v3/dataforseo_labs/google/domain_rank_overview/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/ranked_keywords/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/historical_rank_overview/live": 1
  })
]

const social: ReadonlyArray<LabelledQuery> = [
  best("social.profile", "instagram profile", {
    "scrapecreators GET /v1/instagram/profile": 2,
    "apify POST thescrappa/instagram-user-info-cheapest-0-20-1000-results": 2,
    "scrapecreators GET /v1/instagram/basic-profile": 1,
    "ensembledata GET /instagram/user/info": 1
  }),
  best("social.profile", "IG followers count and bio", {
    "scrapecreators GET /v1/instagram/profile": 2,
    "apify POST thescrappa/instagram-user-info-cheapest-0-20-1000-results": 2,
    "ensembledata GET /instagram/user/info": 1
  }),
  best("social.profile", "twitter profile", {
    "scrapecreators GET /v1/twitter/profile": 2,
    "ensembledata GET /twitter/user/info": 1
  }),
  best("social.profile", "YT channel subscriber count", {
    "scrapecreators GET /v1/youtube/channel": 2,
    "ensembledata GET /youtube/channel/detailed-info": 1
  }),
  best("social.profile", "how many followers does a tiktok creator have", {
    "scrapecreators GET /v1/tiktok/profile": 2,
    "apify POST thescrappa/tiktok-profile-scraper": 2,
    "scrapecreators GET /v1/tiktok/user/followers": 1,
    "ensembledata GET /tt/user/info": 1
  }),
  best("social.profile", "influencer profile lookup across social networks", {
    "scrapecreators GET /v1/instagram/profile": 1,
    "scrapecreators GET /v1/tiktok/profile": 1,
    "scrapecreators GET /v1/youtube/channel": 1
  }),
  best("social.profile", "bluesky or threads account info", {
    "scrapecreators GET /v1/bluesky/profile": 2,
    "scrapecreators GET /v1/threads/profile": 2
  }),
  best("social.posts", "recent tweets of a user", {
    "scrapecreators GET /v1/twitter/user-tweets": 2,
    "ensembledata GET /twitter/user/tweets": 1,
    "scrapecreators GET /v1/twitter/tweet": 1
  }),
  best("social.posts", "tweets", {
    "scrapecreators GET /v1/twitter/user-tweets": 2,
    "scrapecreators GET /v1/twitter/tweet": 2,
    "scrapecreators GET /v1/twitter/community/tweets": 1,
    "ensembledata GET /twitter/user/tweets": 1
  }),
  best("social.posts", "get latest Instagram posts of an account", {
    "scrapecreators GET /v2/instagram/user/posts": 2,
    "apify POST thescrappa/instagram-user-posts-cheapest-0-20-1000-results": 2,
    "scrapecreators GET /v1/instagram/user/reels": 1,
    "ensembledata GET /instagram/user/posts": 1
  }),
  best("social.posts", "tiktok videos by username", {
    "scrapecreators GET /v3/tiktok/profile/videos": 2,
    "apify POST thescrappa/tiktok-user-posts-scraper": 2,
    "ensembledata GET /tt/user/posts": 1
  }),
  best("social.posts", "list the videos of a youtube channel", {
    "scrapecreators GET /v1/youtube/channel-videos": 2,
    "scrapecreators GET /v1/youtube/channel/shorts": 1,
    "scrapecreators GET /v1/youtube/channel/playlists": 1
  }),
  best("social.posts", "facebook page posts with reactions", {
    "scrapecreators GET /v1/facebook/profile/posts": 2,
    "scrapecreators GET /v1/facebook/group/posts": 1
  }),
  best("ads.search", "competitor ads", {
    "scrapecreators GET /v1/facebook/adLibrary/company/ads": 2,
    "scrapecreators GET /v1/google/company/ads": 2,
    "scrapecreators GET /v1/linkedin/ads/search": 1,
    "leadmagic POST /v1/ads/google-ads-search": 1,
    "leadmagic POST /v1/ads/meta-ads-search": 1
  }),
  best("ads.search", "facebook ad library", {
    "scrapecreators GET /v1/facebook/adLibrary/search/ads": 2,
    "scrapecreators GET /v1/facebook/adLibrary/company/ads": 2,
    "leadmagic POST /v1/ads/meta-ads-search": 1,
    "scrapecreators POST /v1/facebook/adLibrary/search/ads": 1,
    "scrapecreators GET /v1/facebook/adLibrary/search/companies": 1,
    "scrapecreators GET /v1/facebook/adLibrary/ad": 1
  }),
  best("ads.search", "which google ads is a company running (transparency center)", {
    "scrapecreators GET /v1/google/company/ads": 2,
    "leadmagic POST /v1/ads/google-ads-search": 2,
    "dataforseo POST /v3/serp/google/ads_search/task_post": 2,
    "dataforseo POST /v3/serp/google/ads_advertisers/task_post": 1,
    "scrapecreators GET /v1/google/adLibrary/advertisers/search": 1
  }),
  best("ads.search", "LI ads of a competitor", {
    "scrapecreators GET /v1/linkedin/ads/search": 2,
    "leadmagic POST /v1/ads/b2b-ads-search": 2,
    "scrapecreators GET /v1/linkedin/ad": 1
  }),
  best("ads.search", "tiktok ads spy", {
    "scrapecreators GET /v1/tiktok/ad-library/search": 2,
    "apify POST thescrappa/tiktok-ads-scraper": 2,
    "scrapecreators GET /v1/tiktok/ad-library/ad": 1
  })
]

const network: ReadonlyArray<LabelledQuery> = [
  best("network.profile", "linkedin profile", profileReaders),
  best("network.profile", "scrape linkedin profile with experience and education", profileReaders),
  best("network.profile", "LI profile data from url", profileReaders),
  best("network.profile", "professional network profile of a member", profileReaders),
  best("network.invite", "LinkedIn connection request", inviters),
  best("network.invite", "send a connect invitation with a note to a prospect", { ...inviters, "network.message": 1 }),
  best("network.invite", "invite someone to my professional network", inviters),
  best("network.message", "send a linkedin message", { ...messengers, "network.invite": 1 }),
  best("network.message", "linkedin DM to a connection", messengers),
  best("network.message", "InMail", messengers)
]

const mailAndDomains: ReadonlyArray<LabelledQuery> = [
  best("email.send", "send an email", senders),
  best("email.send", "transactional email api", senders),
  best("email.send", "cold outreach mail with reply-to and html body", senders),
  best("email.inbox_create", "create an email inbox for an agent", { "email.inbox_list": 1 }),
  best("email.inbox_create", "new mailbox", { "email.inbox_list": 1 }),
  best("email.inbox_create", "get an e-mail address that can receive mail", { "email.messages": 1 }),
  best("email.inbox_list", "list my inboxes", { "email.inbox_create": 1, "email.messages": 1 }),
  best("email.inbox_list", "which mailboxes does this workspace own", { "email.inbox_create": 1 }),
  best("email.messages", "read incoming emails", { "email.inbox_list": 1 }),
  best("email.messages", "check inbox for replies", { "email.inbox_list": 1 }),
  best("email.messages", "unread messages in a mailbox", { "email.inbox_list": 1 }),
  best("domain.check", "is this domain name available", {
    "apify POST thescrappa/domain-availability-checker": 2,
    "dataforseo POST /v3/domain_analytics/whois/overview/live": 1,
    "domain.register": 1
  }),
  best("domain.check", "domain availability and price", {
    "apify POST thescrappa/domain-availability-checker": 2,
    "domain.register": 1
  }),
  best("domain.check", "how much does example.io cost to register", {
    "domain.register": 2,
    "apify POST thescrappa/domain-availability-checker": 1
  }),
  best("domain.register", "buy a domain", { "domain.check": 2 }),
  best("domain.register", "register domain name for one year", { "domain.check": 2 }),
  best("domain.register", "purchase a .com", { "domain.check": 2 })
]

const creativeAndGovernment: ReadonlyArray<LabelledQuery> = [
  best("creative.image", "text to image", { "creative.video": 1 }),
  best("creative.image", "generate a picture from a prompt", { "creative.video": 1 }),
  best("creative.image", "AI image generation, flux", {}),
  best("creative.image", "txt2img 16:9", {}),
  best("creative.video", "generate a video from a prompt", { "creative.image": 1 }),
  best("creative.video", "text to video", { "creative.image": 1 }),
  best("creative.video", "animate an image into a short clip", { "creative.image": 1 }),
  best("gov.filings", "10-K", edgarFilings),
  best("gov.filings", "SEC filings of a public company", {
    ...edgarFilings,
    "sec_edgar GET /api/xbrl/companyfacts/CIK{cik}.json": 1
  }),
  best("gov.filings", "annual and quarterly reports (10-K, 10-Q, 8-K) by ticker", edgarFilings),
  best("gov.filings", "EDGAR full text search", {
    "sec_edgar GET /LATEST/search-index": 2,
    "sec_edgar GET /submissions/CIK{cik}.json": 1
  }),
  best("gov.contracts", "federal contracts", awards),
  best("gov.contracts", "US government awards won by a company", {
    ...awards,
    "usaspending POST /api/v2/search/spending_by_category/recipient/": 1
  }),
  best("gov.contracts", "grants and loans by agency and NAICS code", awards),
  best("gov.entity", "look up a government contractor by UEI", { ...recipients, "gov.contracts": 1 }),
  best("gov.entity", "federal award recipient profile", recipients),
  best("gov.entity", "find the CIK or UEI of a company by name", {
    ...recipients,
    "sec_edgar GET /submissions/CIK{cik}.json": 1
  })
]

const endpointsOfPeople: ReadonlyArray<LabelledQuery> = [
  raw("hunter domain search", { "hunter GET /domain-search": 3, "hunter GET /email-count": 1 }),
  raw("all email addresses found at a domain", {
    "tomba GET /v1/domain-search": 3,
    "tomba GET /v1/email-count": 2,
    "snovio POST /v2/domain-search/domain-emails/start": 2,
    "snovio POST /v1/get-domain-emails-count": 2,
    "hunter GET /domain-search": 3,
    "hunter GET /email-count": 2,
    "icypeas POST /domain-search": 2,
    "email.find": 1
  }),
  raw("how many emails are known for a domain", {
    "hunter GET /email-count": 3,
    "tomba GET /v1/email-count": 3,
    "snovio POST /v1/get-domain-emails-count": 3,
    "hunter GET /domain-search": 2,
    "tomba GET /v1/domain-search": 2
  }),
  raw("hunter email finder", { "hunter GET /email-finder": 3, "email.find": 3 }),
  raw("hunter email verifier", { "hunter GET /email-verifier": 3, "email.verify": 3 }),
  raw("zerobounce validate", { "zerobounce GET /v2/validate": 3, "email.verify": 3 }),
  raw("apollo people match", {
    "apollo POST /people/match": 3,
    "apollo POST /people/bulk_match": 2,
    "people.enrich": 3
  }),
  raw("apollo organization job postings", {
    "apollo GET /organizations/{organization_id}/job_postings": 3,
    "jobs.search": 3
  }),
  raw("which company is behind an IP address", { "peopledatalabs GET /v5/ip/enrich": 3, "company.enrich": 1 }),
  raw("peopledatalabs job title enrichment", {
    "peopledatalabs GET /v5/job_title/enrich": 3,
    "peopledatalabs POST /v5/job_title/enrich": 3
  }),
  raw("leadmagic role finder", {
    "leadmagic POST /v1/people/role-finder": 3,
    "leadmagic POST /v1/people/employee-finder": 1
  }),
  raw("twilio lookup batch query", {
    "twilio_lookup POST /v2/batch/query": 3,
    "twilio_lookup GET /v2/PhoneNumbers/{PhoneNumber}": 2,
    "phone.lookup": 2
  })
]

const endpointsOfTheWeb: ReadonlyArray<LabelledQuery> = [
  raw("firecrawl map a website's urls", {
    "firecrawl POST /map": 3,
    "tavily POST /map": 2,
    "firecrawl POST /crawl": 1
  }),
  raw("list every URL of a website", {
    "firecrawl POST /map": 3,
    "tavily POST /map": 3,
    "apify POST apify/sitemap-scraper": 3,
    "firecrawl POST /crawl": 2,
    "tavily POST /crawl": 1
  }),
  raw("crawl a whole website", {
    "seranking POST /v1/site-audit/audits/standard": 1,
    "firecrawl POST /crawl": 3,
    "tavily POST /crawl": 3,
    "apify POST apify/web-scraper": 2,
    "apify POST apify/cheerio-scraper": 1,
    "firecrawl POST /map": 1,
    "dataforseo POST /v3/on_page/task_post": 1,
    "web.scrape": 1
  }),
  raw("scrape many urls in one batch", {
    "firecrawl POST /batch/scrape": 3,
    "web.scrape": 2,
    "apify POST thescrappa/website-content-extractor-scraper": 2,
    "tavily POST /extract": 2,
    "exa POST /contents": 1
  }),
  raw("exa answer", { "exa POST /answer": 3 }),
  raw("answer a question with citations from the web", {
    "parallel POST /v1beta/chat/completions": 3,
    "exa POST /answer": 3,
    "tavily POST /search": 2,
    "web.search": 2,
    "tavily POST /research": 2
  }),
  raw("pages similar to a given url", { "exa POST /findSimilar": 3 }),
  raw("exa find similar links", { "exa POST /findSimilar": 3 }),
  raw("deep research task with report", {
    "tavily POST /research": 3,
    "firecrawl POST /agent": 1,
    "exa POST /answer": 1
  }),
  raw("extract structured data from pages with an LLM schema", {
    "firecrawl POST /scrape": 3,
    "firecrawl POST /agent": 3,
    "web.scrape": 1
  }),
  raw("academic papers google scholar", { "serper POST /scholar": 3, "firecrawl GET /search/research/papers": 2 }),
  raw("patent search", { "serper POST /patents": 3 }),
  raw("google image search", {
    "hasdata GET /scrape/google/images": 3,
    "serper POST /images": 3,
    "dataforseo POST /v3/serp/google/images/live/advanced": 3,
    "dataforseo POST /v3/serp/google/images/task_post": 2,
    "dataforseo POST /v3/serp/google/search_by_image/task_post": 1
  }),
  raw("headless browser scraper playwright actor", {
    "apify POST apify/playwright-scraper": 3,
    "apify POST apify/puppeteer-scraper": 2,
    "apify POST apify/camoufox-scraper": 2,
    "apify POST apify/web-scraper": 2
  }),
  raw("google reviews of a business", {
    "apify POST thescrappa/google-maps-reviews-scraper": 3,
    "dataforseo POST /v3/business_data/google/reviews/task_post": 3,
    "dataforseo GET /v3/business_data/google/reviews/task_get/{id}": 2,
    "dataforseo POST /v3/business_data/google/extended_reviews/task_post": 2,
    "dataforseo GET /v3/business_data/google/extended_reviews/task_get/{id}": 1
  }),
  raw("trustpilot reviews", {
    "apify POST thescrappa/trustpilot-company-reviews-scraper": 3,
    "dataforseo POST /v3/business_data/trustpilot/reviews/task_post": 3,
    "dataforseo GET /v3/business_data/trustpilot/reviews/task_get/{id}": 2,
    "dataforseo POST /v3/business_data/trustpilot/search/task_post": 1
  })
]

const endpointsOfSeo: ReadonlyArray<LabelledQuery> = [
  raw("dataforseo referring domains", {
    "dataforseo POST /v3/backlinks/referring_domains/live": 3,
    "dataforseo POST /v3/backlinks/bulk_referring_domains/live": 2,
    "dataforseo POST /v3/backlinks/referring_networks/live": 1,
    "dataforseo POST /v3/backlinks/bulk_new_lost_referring_domains/live": 1,
    "seo.backlinks": 2
  }),
  raw("anchor texts of backlinks", { "dataforseo POST /v3/backlinks/anchors/live": 3, "seo.backlinks": 2 }),
  raw("bulk spam score of domains", { "dataforseo POST /v3/backlinks/bulk_spam_score/live": 3 }),
  raw("dataforseo on page instant pages", {
    "dataforseo POST /v3/on_page/instant_pages": 3,
    "dataforseo POST /v3/on_page/pages": 2,
    "dataforseo POST /v3/on_page/task_post": 1
  }),
  raw("lighthouse audit page speed", {
    "dataforseo POST /v3/on_page/lighthouse/live/json": 3,
    "dataforseo POST /v3/on_page/lighthouse/task_post": 3,
    "dataforseo GET /v3/on_page/lighthouse/task_get/json/{id}": 2,
    "dataforseo GET /v3/on_page/lighthouse/audits": 1
  }),
  raw("brand mentions sentiment analysis", {
    "dataforseo POST /v3/content_analysis/sentiment_analysis/live": 3,
    "dataforseo POST /v3/content_analysis/summary/live": 2,
    "dataforseo POST /v3/content_analysis/search/live": 2,
    "dataforseo POST /v3/ai_optimization/llm_mentions/search/live": 1
  }),
  raw("app store reviews", {
    "dataforseo POST /v3/app_data/apple/app_reviews/task_post": 3,
    "dataforseo GET /v3/app_data/apple/app_reviews/task_get/advanced/{id}": 2,
    "dataforseo POST /v3/app_data/google/app_reviews/task_post": 2,
    "dataforseo GET /v3/app_data/google/app_reviews/task_get/advanced/{id}": 1
  }),
  raw("google play app info", {
    "dataforseo POST /v3/app_data/google/app_info/task_post": 3,
    "dataforseo GET /v3/app_data/google/app_info/task_get/advanced/{id}": 2,
    "dataforseo POST /v3/app_data/google/app_listings/search/live": 2,
    "dataforseo POST /v3/app_data/google/app_searches/task_post": 1,
    "dataforseo POST /v3/app_data/google/app_list/task_post": 1
  }),
  raw("google trends", {
    "hasdata GET /scrape/google-trends/search": 3,
    "dataforseo POST /v3/keywords_data/google_trends/explore/live": 3,
    "apify POST thescrappa/google-trends-interest-scraper": 3,
    "dataforseo POST /v3/keywords_data/google_trends/explore/task_post": 2,
    "dataforseo GET /v3/keywords_data/google_trends/explore/task_get/{id}": 1,
    "dataforseo POST /v3/keywords_data/dataforseo_trends/explore/live": 1
  }),
  raw("bing SERP", {
    "dataforseo POST /v3/serp/bing/organic/live/advanced": 3,
    "dataforseo POST /v3/serp/bing/organic/live/regular": 3,
    "dataforseo POST /v3/serp/bing/organic/task_post": 2,
    "dataforseo POST /v3/serp/bing/organic/live/html": 2,
    "dataforseo GET /v3/serp/bing/organic/task_get/advanced/{id}": 1
  }),
  raw("youtube search results", {
    "dataforseo POST /v3/serp/youtube/organic/live/advanced": 3,
    "scrapecreators GET /v1/youtube/search": 3,
    "apify POST thescrappa/youtube-api-search-data": 3,
    "dataforseo POST /v3/serp/youtube/organic/task_post": 2,
    "serper POST /videos": 1
  }),
  raw("amazon product search", {
    "hasdata GET /scrape/amazon/search": 3,
    "hasdata GET /scrape/amazon/product": 2,
    "hasdata GET /scrape/amazon/seller-products": 1,
    "dataforseo POST /v3/merchant/amazon/products/task_post": 3,
    "dataforseo GET /v3/merchant/amazon/products/task_get/advanced/{id}": 2,
    "dataforseo POST /v3/merchant/amazon/asin/task_post": 2,
    "dataforseo POST /v3/merchant/amazon/sellers/task_post": 1
  }),
  raw("google shopping prices", {
    "hasdata GET /scrape/google/shopping": 3,
    "serper POST /shopping": 3,
    "dataforseo POST /v3/merchant/google/products/task_post": 3,
    "dataforseo GET /v3/merchant/google/products/task_get/advanced/{id}": 2,
    "dataforseo POST /v3/merchant/google/sellers/task_post": 1,
    "dataforseo POST /v3/merchant/google/product_info/task_post": 1
  }),
  raw("website traffic similarweb", {
    "apify POST thescrappa/similarweb-traffic-analytics-scraper": 3,
    "seo.domain": 3,
    "dataforseo POST /v3/dataforseo_labs/google/bulk_traffic_estimation/live": 1
  }),
  raw("whois", {
    "dataforseo POST /v3/domain_analytics/whois/overview/live": 3,
    "dataforseo POST /v3/dataforseo_labs/google/domain_whois_overview/live": 2,
    "domain.check": 1,
    "apify POST thescrappa/domain-availability-checker": 1
  }),
  raw("chatgpt answer scraper, LLM mentions of a brand", {
    "dataforseo POST /v3/ai_optimization/llm_mentions/search/live": 3,
    "dataforseo POST /v3/ai_optimization/chat_gpt/llm_scraper/live/advanced": 3,
    "dataforseo POST /v3/ai_optimization/chat_gpt/llm_scraper/task_post": 2,
    "dataforseo POST /v3/ai_optimization/llm_mentions/aggregated_metrics/live": 2
  }),
  raw("hotel prices", {
    "dataforseo POST /v3/business_data/google/hotel_searches/live": 3,
    "dataforseo POST /v3/business_data/google/hotel_info/live/advanced": 2,
    "dataforseo POST /v3/business_data/google/hotel_searches/task_post": 2,
    "dataforseo POST /v3/business_data/google/hotel_info/task_post": 1
  }),
  raw("seo competitors of a domain", {
    "seranking GET /v1/domain/competitors": 3,
    "dataforseo POST /v3/dataforseo_labs/google/competitors_domain/live": 3,
    "dataforseo POST /v3/dataforseo_labs/google/serp_competitors/live": 2,
    "dataforseo POST /v3/backlinks/competitors/live": 2,
    "dataforseo POST /v3/dataforseo_labs/google/domain_intersection/live": 1,
    "seo.domain": 1
  })
]

const endpointsOfPlatforms: ReadonlyArray<LabelledQuery> = [
  raw("github user profile and repositories", {
    "scrapecreators GET /v1/github/user": 3,
    "scrapecreators GET /v1/github/user/repositories": 3,
    "scrapecreators GET /v1/github/repository": 1,
    "scrapecreators GET /v1/github/user/activity": 1
  }),
  raw("trending github repos", {
    "scrapecreators GET /v1/github/trending/repositories": 3,
    "scrapecreators GET /v1/github/trending/developers": 1
  }),
  raw("spotify artist", { "scrapecreators GET /v1/spotify/artist": 3, "scrapecreators GET /v1/spotify/search": 1 }),
  raw("podcast episodes", {
    "scrapecreators GET /v1/spotify/podcast/episodes": 3,
    "scrapecreators GET /v1/spotify/podcast": 2
  }),
  raw("linktree links of a creator", {
    "scrapecreators GET /v1/linktree": 3,
    "scrapecreators GET /v1/linkbio": 1,
    "scrapecreators GET /v1/linkme": 1
  }),
  raw("pinterest pins search", {
    "scrapecreators GET /v1/pinterest/search": 3,
    "scrapecreators GET /v1/pinterest/pin": 2,
    "scrapecreators GET /v1/pinterest/board": 1
  }),
  raw("snapchat profile", { "scrapecreators GET /v1/snapchat/profile": 3, "social.profile": 1 }),
  raw("twitch streamer profile", {
    "scrapecreators GET /v1/twitch/profile": 3,
    "scrapecreators GET /v1/twitch/user/videos": 1,
    "scrapecreators GET /v1/twitch/user/schedule": 1,
    "social.profile": 1
  }),
  raw("tiktok video comments", {
    "scrapecreators GET /v1/tiktok/video/comments": 3,
    "scrapecreators GET /v1/tiktok/video/comment/replies": 2
  }),
  raw("youtube transcript", {
    "scrapecreators GET /v1/youtube/video/transcript": 3,
    "apify POST thescrappa/youtube-transcript-scraper": 3,
    "dataforseo POST /v3/serp/youtube/video_subtitles/live/advanced": 3,
    "dataforseo POST /v3/serp/youtube/video_subtitles/task_post": 2
  }),
  raw("posts of a subreddit", {
    "scrapecreators GET /v1/reddit/subreddit": 3,
    "ensembledata GET /reddit/subreddit/posts": 3,
    "scrapecreators GET /v1/reddit/subreddit/search": 2,
    "scrapecreators GET /v1/reddit/subreddit/details": 1,
    "scrapecreators GET /v1/reddit/search": 1
  }),
  raw("instagram reels by hashtag", {
    "scrapecreators GET /v1/instagram/search/hashtag": 3,
    "scrapecreators GET /v2/instagram/reels/search": 3,
    "scrapecreators GET /v1/instagram/reels/trending": 1,
    "scrapecreators GET /v1/instagram/user/reels": 1
  }),
  raw("tiktok shop product reviews", {
    "scrapecreators GET /v1/tiktok/shop/product/reviews": 3,
    "scrapecreators GET /v1/tiktok/product": 2,
    "scrapecreators GET /v1/tiktok/shop/products": 1,
    "scrapecreators GET /v1/tiktok/shop/search": 1
  }),
  raw("facebook marketplace listings", {
    "scrapecreators GET /v1/facebook/marketplace/search": 3,
    "scrapecreators GET /v1/facebook/marketplace/item": 2,
    "scrapecreators GET /v1/facebook/marketplace/location/search": 1
  }),
  raw("telegram channel posts", {
    "scrapecreators GET /v1/telegram/channel/posts": 3,
    "scrapecreators GET /v1/telegram/channel": 2,
    "scrapecreators GET /v1/telegram/post": 2
  }),
  raw("linkedin posts by keyword", {
    "scrapecreators GET /v1/linkedin/search/posts": 3,
    "apify POST thescrappa/linkedin-search-scraper": 2,
    "scrapecreators GET /v1/linkedin/post": 1,
    "scrapecreators GET /v1/linkedin/company/posts": 1
  }),
  raw("indeed jobs scraper", {
    "hasdata GET /scrape/indeed/listing": 3,
    "hasdata GET /scrape/indeed/job": 2,
    "apify POST thescrappa/indeed-jobs-scraper": 3,
    "jobs.search": 3
  }),
  raw("harvestapi linkedin company", {
    "apify POST harvestapi/linkedin-company": 3,
    "company.enrich": 3,
    "apify POST thescrappa/linkedin-company-scraper": 1
  }),
  raw("xbrl financial facts of a company", {
    "sec_edgar GET /api/xbrl/companyfacts/CIK{cik}.json": 3,
    "sec_edgar GET /api/xbrl/companyconcept/CIK{cik}/{taxonomy}/{concept}.json": 3,
    "sec_edgar GET /api/xbrl/frames/{taxonomy}/{concept}/{unit}/{period}.json": 2,
    "gov.filings": 1
  }),
  raw("federal spending over time", {
    "usaspending POST /api/v2/search/new_awards_over_time/": 1,
    "usaspending POST /api/v2/search/spending_over_time/": 3,
    "usaspending POST /api/v2/search/spending_by_category/recipient/": 1,
    "gov.contracts": 1
  }),
  raw("NAICS code lookup", {
    "usaspending GET /api/v2/references/naics/{code}/": 3,
    "usaspending POST /api/v2/search/spending_by_category/naics/": 1,
    "usaspending POST /api/v2/autocomplete/naics/": 3,
    "usaspending GET /api/v2/references/naics/": 3
  }),
  raw("federal accounts of an agency", {
    "usaspending GET /api/v2/agency/{toptier_code}/federal_account/": 3,
    "usaspending POST /api/v2/federal_accounts/": 2,
    "usaspending GET /api/v2/agency/{toptier_code}/federal_account/count/": 1
  }),
  raw("download a federal contract as a file", {
    "usaspending POST /api/v2/download/contract/": 3,
    "usaspending POST /api/v2/download/awards/": 2,
    "usaspending POST /api/v2/bulk_download/awards/": 2,
    "usaspending GET /api/v2/download/status": 1
  }),
  raw("how often do AI engines mention my brand", {
    "seranking GET /v1/ai-search/overview/by-engine/time-series": 3,
    "seranking GET /v1/ai-search/overview/aggregated/time-series": 3,
    "seranking POST /v1/ai-search/overview/leaderboard": 2,
    "seranking GET /v1/ai-search/prompts-by-brand": 2
  }),
  raw("audit a website", {
    "seranking POST /v1/site-audit/audits/standard": 3,
    "seranking POST /v1/site-audit/audits/advanced": 3,
    "seranking GET /v1/site-audit/audits/report": 2,
    "dataforseo POST /v3/on_page/task_post": 2
  }),
  raw("create a webset", {
    "exa POST /websets/v0/websets": 3,
    "exa POST /websets/v0/websets/preview": 1,
    "exa GET /websets/v0/websets/{webset}": 1
  })
]

export const queries: ReadonlyArray<LabelledQuery> = [
  ...people,
  ...companies,
  ...web,
  ...social,
  ...network,
  ...mailAndDomains,
  ...creativeAndGovernment,
  ...endpointsOfPeople,
  ...endpointsOfTheWeb,
  ...endpointsOfSeo,
  ...endpointsOfPlatforms
]
