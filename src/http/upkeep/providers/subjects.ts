/**
 * Inputs with well-known public subjects, with which `rungate providers check` tries an offer. The first one that the offer serves is used.
 *
 * Large companies and public figures: every provider that has data at all has theirs.
 */
import type { Capability } from "../../../schema/catalog/Capability.ts"
import type { Offer } from "../../../schema/catalog/Provider.ts"

const person = "https://www.linkedin.com/in/williamhgates"
const subjects: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  "people.search": [
    { titles: ["head of sales"], company_domains: ["stripe.com"], limit: 2 },
    { seniorities: ["director"], company_domains: ["stripe.com"], limit: 2 },
    { titles: ["head of sales"], limit: 2 }
  ],
  "people.enrich": [{ network_url: person }, { full_name: "Patrick Collison", company_domain: "stripe.com" }],
  "email.find": [
    { first_name: "Patrick", last_name: "Collison", company_domain: "stripe.com" },
    { full_name: "Patrick Collison", company_domain: "stripe.com" },
    { network_url: person }
  ],
  "email.verify": [{ email: "support@stripe.com" }],
  "phone.find": [{ network_url: person }, { full_name: "Patrick Collison", company_domain: "stripe.com" }],
  "phone.lookup": [{ phone: "+14155552671" }],
  "company.enrich": [
    { domain: "stripe.com" },
    { network_url: "https://www.linkedin.com/company/stripe" },
    { name: "Apple Inc." }
  ],
  "company.search": [
    { industries: ["logistics"], locations: ["Germany"], limit: 2 },
    { query: "Stripe", limit: 2 }
  ],
  "jobs.search": [
    { query: "software engineer", location: "Berlin", limit: 2 },
    { company_domain: "stripe.com", limit: 2 }
  ],
  "web.search": [{ query: "open source workflow engines", limit: 3 }],
  "web.scrape": [{ url: "https://example.com/", format: "markdown" }],
  "serp.search": [{ query: "crm software", country: "us", language: "en", depth: 10 }],
  "news.search": [
    { query: "electric trucks", limit: 3 },
    { query: "electric trucks", recency: "month", limit: 3 },
    { query: "payments", company_domain: "stripe.com", limit: 3 }
  ],
  "seo.keywords": [
    { keywords: ["crm software"], country: "us", language: "en" },
    { seed: "crm software", limit: 3 }
  ],
  "seo.backlinks": [{ target: "example.com", limit: 3 }],
  "seo.domain": [{ domain: "stripe.com", country: "us", limit: 3 }],
  "social.profile": [
    { platform: "instagram", handle: "nasa" },
    { platform: "tiktok", handle: "nasa" }
  ],
  "social.posts": [
    { platform: "tiktok", handle: "nba", limit: 2 },
    { platform: "instagram", handle: "nasa", limit: 2 }
  ],
  "ads.search": [
    { platform: "meta", company_name: "Nike", company_domain: "nike.com", limit: 2 },
    { platform: "google", company_domain: "nike.com", limit: 2 }
  ],
  "network.profile": [{ network_url: person }],
  "domain.check": [{ domain: "example.com" }],
  "gov.filings": [{ ticker: "AAPL", forms: ["10-K"], limit: 2 }],
  "gov.contracts": [{ recipient: "Lockheed Martin", award_types: "contracts", limit: 2 }],
  "gov.entity": [{ ticker: "AAPL" }, { name: "Lockheed Martin" }]
}

/** Null if the offer serves none of them. */
export const subjectOf = (capability: Capability, offer: Offer): unknown =>
  [...(subjects[capability.slug] ?? []), capability.example].find(
    (input) => capability.issues(input).length === 0 && offer.serves(input)
  ) ?? null
