/**
 * Inputs of the capabilities for phones, companies, jobs, the web and search engines: some that are accepted, and some
 * that are refused, with the path of the first issue.
 */

export interface Inputs {
  readonly accepted: ReadonlyArray<object>
  readonly refused: ReadonlyArray<[object, string]>
}

const long = (length: number) => "x".repeat(length)

export const dataInputs: Readonly<Record<string, Inputs>> = {
  "phone.find": {
    accepted: [
      { network_url: "https://www.linkedin.com/in/jane-doe/" },
      { email: "jane.doe@example.com" },
      { full_name: "李明", company_domain: "example.com" },
      { network_url: "sandbox:no_match", email: "jane.doe@example.com" }
    ],
    refused: [
      [{}, ""],
      [{ full_name: "Jane Doe" }, ""],
      [{ company_domain: "example.com" }, ""],
      [{ network_url: "" }, "network_url"],
      [{ email: "jane" }, "email"],
      [{ full_name: "Jane Doe", company_domain: "example.com/about" }, "company_domain"]
    ]
  },
  "phone.lookup": {
    accepted: [
      { phone: "(202) 555-0143", country_code: "us" },
      { phone: "030 1234567", country_code: "DE" },
      { phone: "sandbox:no_match" },
      { phone: "?" }
    ],
    refused: [
      [{}, "phone"],
      [{ phone: "" }, "phone"],
      [{ phone: 12025550143 }, "phone"],
      [{ phone: long(41) }, "phone"],
      [{ phone: "+12025550143", country_code: "USA" }, "country_code"]
    ]
  },
  "company.search": {
    accepted: [
      { query: "???", limit: 1 },
      { query: long(400) },
      { employee_ranges: ["1-10", "10001+"], technologies: ["Salesforce"], limit: 100 },
      { founded_min: 2015, founded_max: 2010 },
      { founded_max: 1900, cursor: "x:1" },
      { keywords: ["freight"], industries: ["logistics"], locations: ["Köln"] }
    ],
    refused: [
      [{}, ""],
      [{ limit: 5 }, ""],
      [{ query: "q", limit: 0 }, "limit"],
      [{ query: "q", limit: 101 }, "limit"],
      [{ industries: [] }, "industries"],
      [{ keywords: "freight" }, "keywords"],
      [{ locations: [""] }, "locations.0"],
      [{ employee_ranges: ["12-13"] }, "employee_ranges.0"],
      [{ founded_min: 1.5 }, "founded_min"],
      [{ founded_max: 2101 }, "founded_max"]
    ]
  },
  "company.tech": {
    accepted: [{ domain: "EXAMPLE.com" }, { domain: "no-match.sandbox.test" }],
    refused: [
      [{}, "domain"],
      [{ domain: "https://example.com" }, "domain"],
      [{ domain: "" }, "domain"]
    ]
  },
  "jobs.search": {
    accepted: [
      { query: "???" },
      { company_domain: "example.com", remote: true, posted_within_days: 30 },
      { company_name: "Größe & Co", remote: false, limit: 100 },
      { location: "Berlin", limit: 1 }
    ],
    refused: [
      [{}, ""],
      [{ remote: true }, ""],
      [{ limit: 5 }, ""],
      [{ query: "q", limit: 101 }, "limit"],
      [{ query: "q", remote: "yes" }, "remote"],
      [{ query: "q", posted_within_days: 0 }, "posted_within_days"],
      [{ query: "q", posted_within_days: 366 }, "posted_within_days"],
      [{ company_domain: "example.com/jobs" }, "company_domain"]
    ]
  },
  "web.scrape": {
    accepted: [
      { url: "http://example.com" },
      { url: "HTTPS://example.com/a?b=c#d", format: "html", only_main_content: false, wait_ms: 0 },
      { url: "https://no-match.sandbox.test/", format: "text" },
      { url: "https://example.com/", format: "links", wait_ms: 30_000 }
    ],
    refused: [
      [{}, "url"],
      [{ url: "example.com" }, "url"],
      [{ url: "ftp://example.com" }, "url"],
      [{ url: "file:///etc/hosts" }, "url"],
      [{ url: "https://" }, "url"],
      [{ url: "https://example.com/a b" }, "url"],
      [{ url: `https://example.com/${long(2040)}` }, "url"],
      [{ url: "https://example.com", format: "pdf" }, "format"],
      [{ url: "https://example.com", wait_ms: 30_001 }, "wait_ms"]
    ]
  },
  "serp.search": {
    accepted: [
      { query: "???" },
      { query: "q", engine: "google", country: "DE", language: "pt-br", device: "mobile", depth: 100 },
      { query: "dentist", type: "maps", location: "Austin,Texas,United States", depth: 10 }
    ],
    refused: [
      [{}, "query"],
      [{ query: "" }, "query"],
      [{ query: "q", engine: "bing" }, "engine"],
      [{ query: "q", depth: 9 }, "depth"],
      [{ query: "q", depth: 101 }, "depth"],
      [{ query: "q", device: "tablet" }, "device"],
      [{ query: "q", type: "news" }, "type"],
      [{ query: "q", limit: 10 }, "limit"]
    ]
  },
  "places.search": {
    accepted: [{ query: "???" }, { query: "dentist", country: "de", limit: 1 }, { query: "q", limit: 100 }],
    refused: [
      [{}, "query"],
      [{ location: "Berlin" }, "query"],
      [{ query: "q", limit: 0 }, "limit"],
      [{ query: "q", location: "" }, "location"],
      [{ query: "q", country: "Germany" }, "country"]
    ]
  },
  "news.search": {
    accepted: [
      { query: "???" },
      { query: "q", country: "US", language: "en", recency: "day", limit: 50 },
      { query: "funding", company_domain: "example.com", limit: 1 }
    ],
    refused: [
      [{}, "query"],
      [{ company_domain: "example.com" }, "query"],
      [{ query: "q", limit: 51 }, "limit"],
      [{ query: "q", recency: "hour" }, "recency"],
      [{ query: "q", language: "english" }, "language"],
      [{ query: "q", company_domain: "not a domain" }, "company_domain"]
    ]
  },
  "seo.keywords": {
    accepted: [
      { seed: "crm" },
      { seed: "crm", limit: 1000, country: "de", language: "de" },
      { keywords: ["crm", "crm"], limit: 1 },
      { keywords: Array(1000).fill("crm") },
      { keywords: ["sandbox:partial"], seed: "crm" }
    ],
    refused: [
      [{}, ""],
      [{ limit: 5 }, ""],
      [{ keywords: [] }, "keywords"],
      [{ keywords: "crm" }, "keywords"],
      [{ keywords: [long(81)] }, "keywords.0"],
      [{ keywords: Array(1001).fill("crm") }, "keywords"],
      [{ seed: "" }, "seed"],
      [{ seed: "crm", limit: 1001 }, "limit"],
      [{ seed: "crm", country: "USA" }, "country"]
    ]
  },
  "seo.backlinks": {
    accepted: [
      { target: "example.com" },
      { target: "https://example.com/pricing", mode: "page", dofollow: true, limit: 1 },
      { target: "example.com", mode: "domain", dofollow: false, limit: 1000 },
      { target: "example.com", summary_only: true }
    ],
    refused: [
      [{}, "target"],
      [{ target: "" }, "target"],
      [{ target: "example.com", mode: "subdomain" }, "mode"],
      [{ target: "example.com", dofollow: "yes" }, "dofollow"],
      [{ target: "example.com", summary_only: "yes" }, "summary_only"],
      [{ target: "example.com", limit: 1001 }, "limit"]
    ]
  },
  "seo.domain": {
    accepted: [{ domain: "EXAMPLE.com" }, { domain: "example.com", country: "de", language: "de", limit: 100 }],
    refused: [
      [{}, "domain"],
      [{ domain: "https://example.com/" }, "domain"],
      [{ domain: "example.com", limit: 0 }, "limit"],
      [{ domain: "example.com", limit: 101 }, "limit"],
      [{ domain: "example.com", country: "1" }, "country"]
    ]
  }
}
