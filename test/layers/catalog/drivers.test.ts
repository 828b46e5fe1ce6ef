/**
 * What the manifests say of costs and ownership, over the whole shipped catalog: nothing that drives a price is left out, no
 * estimate lies below the provider's published price, and no endpoint shows or changes what belongs to everybody.
 */
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { Effect } from "effect"
import { build } from "../../../scripts/ship-catalog.ts"
import { providers } from "../../../src/layers/providers/index.ts"
import { reportsNoCost } from "../../../src/schema/catalog/Provider.ts"
import { type Endpoint, endpointKey } from "../../../src/schema/catalog/Endpoint.ts"
import { costOf, isRequired, rateOf, valuesAt } from "./driver-oracle.ts"

const built = await Effect.runPromise(build(join(import.meta.dir, "..", "..", "..", "..", "shared", "specs")))
const all = built.flatMap(({ document }) =>
  document.endpoints.map((endpoint) => ({ provider: document.provider, endpoint, key: endpointKey(endpoint) }))
)
const paid = all.filter(({ endpoint }) => endpoint.cost.model !== "free" && endpoint.body_type !== "actor_input")
const nameOf = ({ provider, key }: { readonly provider: string; readonly key: string }) => `${provider} ${key}`

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const names = (schema: unknown) =>
  isRecord(schema) && isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : []
/** The fields of a request, as drivers and resources name them. */
const fieldsOf = ({ method, query_params, body, path_params }: Endpoint): ReadonlyArray<string> => [
  ...names(path_params).map((name) => `path.${name}`),
  ...names(query_params).map((name) => (method === "GET" ? name : `query.${name}`)),
  ...names(body),
  ...(body?.["type"] === "array" && isRecord(body["items"]) ? names(body["items"]).map((name) => `*.${name}`) : [])
]

test("every endpoint has a price, unless its provider reports what each call cost", () => {
  const reporting = new Set(providers.filter(({ measured }) => measured !== reportsNoCost).map(({ slug }) => slug))
  const unmetered = paid.filter(({ provider, endpoint }) => endpoint.cost.estimate === null && !reporting.has(provider))
  expect(unmetered.map(nameOf)).toEqual([])
})

describe("cost drivers", () => {
  test("every field of a paid endpoint that counts something is a driver, or said not to change the price", () => {
    const counts =
      /^(\*\.)?(limit|size|count|num|numResults|depth|block_depth|k|max_crawl_pages|max_results|maxCredits|per_page|chunk_size|urls|ids|targets|keywords|app_ids|domains(\[\])?|details|requests|phone_numbers|To|Cc|Bcc|to|cc|bcc|priority|reveal_phone_number|enrich_mobile|download_media|include_clickstream_data)$/
    const missed = paid.flatMap((one) => {
      const rate = rateOf(one.provider, one.key)
      const said = [...(rate?.drivers ?? []).map(({ field }) => field), ...(rate?.flat ?? [])]
      const bare = (field: string) => field.replace(/^query\./, "")
      return fieldsOf(one.endpoint)
        .filter((field) => counts.test(bare(field)) && !said.includes(field))
        .map((field) => `${nameOf(one)} ${field}`)
    })
    expect(missed).toEqual([])
  })

  test("every field that must be given, because its count has no bound, is in the endpoint's example", () => {
    const missed = paid.flatMap((one) => {
      const { input, query, path } = one.endpoint.example
      const whole = { query, path, ...(isRecord(input) ? input : {}), ...(one.endpoint.method === "GET" ? query : {}) }
      return (rateOf(one.provider, one.key)?.drivers ?? [])
        .filter(isRequired)
        .filter(({ field }) => valuesAt(Array.isArray(input) ? input : whole, field).length === 0)
        .map(({ field }) => `${nameOf(one)} ${field}`)
    })
    expect(missed).toEqual([])
  })

  test("a count without a default has a greatest value", () => {
    const unbounded = paid.flatMap((one) =>
      (rateOf(one.provider, one.key)?.drivers ?? [])
        .filter((driver) => isRequired(driver) && driver.max === undefined)
        .map(({ field }) => `${nameOf(one)} ${field}`)
    )
    expect(unbounded).toEqual([])
  })

  test("only actors have no rate: the marketplace itself enforces their cap", () => {
    const unpriced = all.filter(({ endpoint }) => endpoint.cost.model === "unpublished").map(nameOf)
    expect(unpriced.filter((one) => !one.startsWith("apify "))).toEqual([])
    expect(
      paid.filter((one) => rateOf(one.provider, one.key) === undefined && one.provider !== "scrapecreators")
    ).toEqual([])
  })

  test("every pattern of a manifest meets an endpoint", () => {
    const idle = built.flatMap(({ document, warnings }) =>
      warnings
        .filter(({ message }) => /matches no endpoint/.test(message))
        .map(({ where }) => `${document.provider} ${where}`)
    )
    expect(idle).toEqual([])
  })
})

const people = (count: number) => Array.from({ length: count }, (_, index) => `p${index}@example.com`)
const mail = (to: number) => ({ From: "a@example.com", To: people(to).join(", "), TextBody: "x" })
const pages = (count: number) => Array.from({ length: count }, (_, index) => `https://example.com/${index}`)

/** What providers publish: an estimate may be above it, never below. */
const published: ReadonlyArray<readonly [string, string, unknown, number]> = [
  ["dataforseo", "POST /v3/on_page/task_post", { max_crawl_pages: 1_000_000 }, 125],
  ["dataforseo", "POST /v3/on_page/task_post", { max_crawl_pages: 1_000, enable_browser_rendering: true }, 4.25],
  ["dataforseo", "POST /v3/on_page/task_post", { max_crawl_pages: 1_000, enable_javascript: true }, 1.25],
  ["dataforseo", "POST /v3/on_page/instant_pages", { url: "x", load_resources: true }, 0.000375],
  ["dataforseo", "POST /v3/serp/google/organic/live/advanced", { keyword: "x", depth: 100 }, 0.0155],
  ["dataforseo", "POST /v3/serp/google/organic/live/advanced", { keyword: "x", max_crawl_pages: 10 }, 0.0155],
  ["dataforseo", "POST /v3/serp/google/organic/live/advanced", { keyword: "Site:example.com x" }, 0.01],
  ["dataforseo", "POST /v3/serp/google/organic/live/advanced", { url: "https://g.example/?q=site%3Aa.b" }, 0.01],
  ["dataforseo", "POST /v3/serp/google/organic/task_post", { keyword: "x", depth: 100, priority: 2 }, 0.0093],
  ["dataforseo", "POST /v3/serp/baidu/organic/task_post", { keyword: "x", get_website_url: true }, 0.006],
  ["dataforseo", "POST /v3/serp/google/news/live/advanced", { keyword: "x", calculate_rectangles: true }, 0.004],
  ["dataforseo", "POST /v3/serp/youtube/organic/live/advanced", { keyword: "x", block_depth: 700 }, 0.07],
  ["dataforseo", "POST /v3/keywords_data/google_ads/search_volume/live", { keywords: people(1_000) }, 0.09],
  ["dataforseo", "POST /v3/dataforseo_labs/google/ranked_keywords/live", { target: "x", limit: 1_000 }, 0.132],
  ["dataforseo", "POST /v3/dataforseo_labs/google/keyword_ideas/live", { include_clickstream_data: true }, 0.192],
  ["dataforseo", "POST /v3/backlinks/backlinks/live", { target: "x", limit: 1_000 }, 0.06],
  ["dataforseo", "POST /v3/domain_analytics/whois/overview/live", {}, 0.24],
  ["dataforseo", "POST /v3/business_data/google/reviews/task_post", { keyword: "x", depth: 4_490, priority: 2 }, 0.67],
  ["dataforseo", "POST /v3/business_data/google/my_business_updates/task_post", { keyword: "x" }, 0.00225],
  ["dataforseo", "POST /v3/business_data/business_listings/search/live", { limit: 1_000 }, 0.372],
  ["firecrawl", "POST /scrape", { url: "x", formats: ["markdown"], parsers: [] }, 0.00083],
  ["firecrawl", "POST /scrape", { url: "x", formats: [{ type: "json" }], parsers: [] }, 5 * 0.00083],
  ["firecrawl", "POST /scrape", { url: "https://x.com/a", parsers: [] }, 30 * 0.00083],
  ["firecrawl", "POST /scrape", { url: "t.co/a", parsers: [] }, 30 * 0.00083],
  ["firecrawl", "POST /scrape", { url: "https://T.CO?a", parsers: [] }, 30 * 0.00083],
  ["firecrawl", "POST /scrape", { url: "x", parsers: [{ type: "pdf", maxPages: 200 }] }, 200 * 0.00083],
  ["firecrawl", "POST /crawl", { limit: 10_000, scrapeOptions: { formats: ["json"], parsers: [] } }, 50_000 * 0.00083],
  ["firecrawl", "POST /batch/scrape", { urls: pages(1_000), parsers: [] }, 1_000 * 0.00083],
  ["firecrawl", "POST /search", { query: "x", limit: 11, sources: ["web", "news"] }, 8 * 0.00083],
  ["firecrawl", "POST /search", { query: "x", scrapeOptions: { formats: ["json"], parsers: [] } }, 52 * 0.00083],
  ["firecrawl", "POST /agent", { prompt: "x" }, 2_500 * 0.00083],
  ["crustdata", "POST /person/search", { limit: 1_000 }, 3],
  [
    "crustdata",
    "POST /person/enrich",
    { business_emails: people(25), fields: ["contact", "dev_platform_profiles"] },
    17.5
  ],
  ["crustdata", "POST /person/contact/enrich", { business_emails: people(25), verified: true }, 13.75],
  ["crustdata", "POST /company/enrich", { domains: people(25) }, 5],
  ["crustdata", "POST /social_post/search", { limit: 1_000 }, 100],
  ["apollo", "POST /people/match", { query: { reveal_phone_number: true } }, 9 * 0.025],
  ["apollo", "POST /people/bulk_match", { details: people(10), query: { reveal_phone_number: true } }, 90 * 0.025],
  ["apollo", "POST /organizations/bulk_enrich", { query: { "domains[]": people(10) } }, 10 * 0.025],
  ["postmark", "POST /email", { ...mail(20), Cc: people(20).join(","), Bcc: people(10).join(",") }, 50 * 0.0018],
  ["postmark", "POST /email/batch", Array.from({ length: 500 }, () => mail(50)), 25_000 * 0.0018],
  ["resend", "POST /emails", { to: people(50), bcc: "a@example.com" }, 51 * 0.0009],
  ["resend", "POST /emails/batch", Array.from({ length: 100 }, () => ({ to: people(50) })), 5_000 * 0.0009],
  ["exa", "POST /search", { query: "x", numResults: 100, contents: { text: true, summary: { query: "x" } } }, 0.225],
  ["exa", "POST /contents", { urls: pages(100), text: true, highlights: true, subpages: 4 }, 1],
  ["tavily", "POST /search", { query: "x", search_depth: "advanced" }, 2 * 0.008],
  ["tavily", "POST /extract", { urls: pages(20), extract_depth: "advanced" }, 8 * 0.008],
  ["tavily", "POST /crawl", { url: "x", limit: 100, instructions: "x", extract_depth: "advanced" }, 60 * 0.008],
  ["tavily", "POST /research", { input: "x", model: "pro" }, 250 * 0.008],
  ["peopledatalabs", "POST /v5/person/search", { sql: "x", size: 100 }, 28],
  ["peopledatalabs", "POST /v5/person/retrieve/bulk", { requests: people(100) }, 28],
  ["twilio_lookup", "GET /v2/PhoneNumbers/{PhoneNumber}", { Fields: "caller_name,line_type_intelligence" }, 0.018],
  ["hunter", "GET /domain-search", { domain: "x", limit: 100 }, 10 * 0.0245],
  ["prospeo", "POST /bulk-enrich-person", { data: people(25), enrich_mobile: true }, 250 * 0.039],
  ["serper", "POST /search", { q: "x", num: 100 }, 0.002],
  [
    "edges",
    "POST /actions/linkedin-search-people/run/live",
    { parameters: { max_results: 100 }, identity_mode: "managed" },
    1.5
  ],
  ["scrapecreators", "GET /v1/google/company/ads", { get_ad_details: true }, 25 * 0.000994],
  ["seranking", "POST /v1/keywords/export", { "keywords[]": people(5_000) }, 50_000 * 0.0002],
  ["seranking", "GET /v1/keywords/related", { keyword: "x", source: "us", limit: 1_000 }, 10_000 * 0.0002],
  ["seranking", "POST /v1/backlinks/summary", { target: people(100) }, 10_000 * 0.0002],
  ["seranking", "GET /v1/backlinks/all", { target: "x", limit: 10_000 }, 10_000 * 0.0002],
  ["seranking", "GET /v1/domain/competitors", { domain: "x" }, 100 * 0.0002],
  ["seranking", "GET /v1/ai-search/overview/by-engine/time-series", { target: "x" }, 800 * 0.0002],
  ["seranking", "GET /v1/ai-search/prompts-by-target", { target: "x", limit: 1_000 }, 200_000 * 0.0002],
  ["seranking", "GET /v1/ai-search/prompts-by-brand", { brand: "x" }, 20_000 * 0.0002],
  ["seranking", "POST /v1/serp/classic/tasks", { query: people(100) }, 1_000 * 0.0002],
  ["seranking", "POST /v1/site-audit/audits/standard", { settings: { max_pages: 300_000 } }, 600_000 * 0.0002],
  ["seranking", "POST /v1/site-audit/audits/advanced", { settings: { max_pages: 1_000 } }, 20_000 * 0.0002],
  ["crustdata", "POST /web/search/live", { query: "x", page: 15, sources: ["web"] }, 1.5],
  ["crustdata", "POST /web/enrich/live", { urls: pages(10) }, 1],
  ["crustdata", "POST /person/professional_network/search/live", { limit: 100 }, 20],
  [
    "crustdata",
    "POST /person/professional_network/enrich/live",
    { professional_network_profile_urls: pages(25) },
    17.5
  ],
  ["exa", "POST /websets/v0/websets", { search: { query: "x" } }, 100 * 0.00625],
  [
    "exa",
    "POST /websets/v0/websets",
    { search: { query: "x", count: 1_000 }, enrichments: Array.from({ length: 10 }, () => ({ format: "email" })) },
    60_000 * 0.00625
  ],
  ["theirstack", "POST /v1/jobs/search", { limit: 500 }, 500 * 0.0394],
  ["theirstack", "POST /v1/companies/search", {}, 75 * 0.0394],
  ["theirstack", "POST /v1/companies/technologies", { company_domain: "x" }, 3 * 0.0394],
  ["hasdata", "POST /scrape/web", { url: "x", jsRendering: true, proxyType: "residential" }, 15 * 0.000295],
  ["hasdata", "POST /scrape/web", { url: "x", jsRendering: false }, 0.000295],
  ["hasdata", "GET /scrape/google/flights", { departureId: "JFK" }, 15 * 0.000295],
  ["findymail", "POST /search/business-profile", { linkedin_url: "x" }, 0.0198],
  ["brave", "GET /web/search", { q: "x", count: 20 }, 0.005],
  ["brave", "GET /suggest/search", { q: "x" }, 0.0005],
  ["builtwith", "GET /v23/api.json", { LOOKUP: "a.example,b.example,c.example" }, 3 * 0.0495],
  ["builtwith", "POST /v23/domain/bulk", { lookups: people(5_000) }, 5_000 * 0.0495],
  ["predictleads", "GET /discover/job_openings", { title: "x" }, 30 * 0.04],
  ["predictleads", "GET /technologies", { limit: 1_000 }, 3_000 * 0.04],
  ["predictleads", "GET /companies/{company_id_or_domain}/job_openings", { limit: 1_000 }, 0.04],
  ["lusha", "POST /v3/contacts/enrich", { ids: people(100), reveal: ["emails", "phones"] }, 1_100 * 0.1248],
  ["lusha", "POST /v3/contacts/search-and-enrich", { contacts: people(10), reveal: ["emails"] }, 20 * 0.1248],
  ["lusha", "POST /v3/contacts/prospecting", { pagination: { page: 0, size: 100 } }, 4 * 0.1248],
  ["lusha", "POST /v3/companies/lookalike", { seeds: {}, limit: 11 }, 3 * 0.1248],
  ["parallel", "POST /v1/search", { search_queries: ["x"], advanced_settings: { max_results: 40 } }, 0.035],
  ["parallel", "POST /v1/extract", { urls: pages(20), advanced_settings: { full_content: true } }, 0.02],
  ["parallel", "POST /v1/tasks/runs", { processor: "ultra8x-fast", input: "x" }, 2.4],
  [
    "parallel",
    "POST /v1/tasks/groups/{taskgroup_id}/runs",
    { inputs: [{ processor: "lite" }, { processor: "lite" }, { processor: "pro" }] },
    0.11
  ],
  ["parallel", "POST /v1beta/findall/runs", { generator: "base", match_limit: 1_000 }, 30.25],
  ["parallel", "POST /v1beta/findall/entity-search", { match_limit: 1_000 }, 0.05],
  [
    "fullenrich",
    "POST /contact/enrich/bulk",
    { data: people(100).map(() => ({ enrich_fields: ["contact.work_emails", "contact.phones"] })) },
    1_100 * 0.058
  ],
  ["snovio", "POST /v2/email-verification/start", { "emails[]": ["a@x.example", "b@x.example"] }, 2 * 0.039],
  ["snovio", "POST /v2/emails-by-domain-by-name/start", { rows: people(10) }, 10 * 0.039],
  ["snovio", "POST /v2/domain-search/start", { domain: "x.example" }, 0.039],
  ["tomba", "GET /v1/phone-finder", { email: "a@x.example" }, 5 * 0.0089],
  ["tomba", "GET /v1/domain-search", { domain: "x.example" }, 10 * 0.0089],
  ["fullenrich", "POST /people/search", { limit: 100 }, 25 * 0.058]
]

describe("an estimate is never below the published price", () => {
  for (const [provider, key, input, price] of published) {
    const shown = JSON.stringify(input)
    test(`${provider} ${key} ${shown.length > 90 ? `${shown.slice(0, 90)}…` : shown} costs $${price}`, () => {
      expect(all.map(nameOf)).toContain(`${provider} ${key}`)
      // A millionth of a cent of what binary fractions lose.
      expect(costOf(provider, key, input)).toBeGreaterThanOrEqual(price - 1e-8)
    })
  }

  test("and a page whose host ends like X's short links costs no more than others", () => {
    const scrape = (url: string) => costOf("firecrawl", "POST /scrape", { url, parsers: [] })
    expect(scrape("https://best.com/a")).toBe(scrape("https://a.example/"))
  })
})

/** Each start of a search is paid, or leads to what is. */
const snovioStarts = [
  "snovio POST /v2/company-domain-by-name/start",
  "snovio POST /v2/database-search/companies/start",
  "snovio POST /v2/database-search/prospects/search-emails/start/{task_hash}",
  "snovio POST /v2/database-search/prospects/start",
  "snovio POST /v2/domain-search/domain-emails/start",
  "snovio POST /v2/domain-search/generic-contacts/start",
  "snovio POST /v2/domain-search/prospects/search-emails/start/{prospect_hash}",
  "snovio POST /v2/domain-search/prospects/start",
  "snovio POST /v2/domain-search/start",
  "snovio POST /v2/email-verification/start",
  "snovio POST /v2/emails-by-domain-by-name/start",
  "snovio POST /v2/li-profiles-by-urls/start"
]

describe("the shared accounts", () => {
  test("nothing lists, changes or removes what belongs to everybody", () => {
    const forbidden = [
      /tasks_ready|tasks_fixed|id_list|appendix|user_data|force_stop|webhook_resend|\/crawl\/active|RateLimits|Overrides/,
      /\/(usage|org-usage|logs|balance|billing|account-information|account|accounts|team|api-keys|webhooks?|settings)(\/|$)/,
      /\/(suppressions|bounces|templates|broadcasts|audiences|contacts|segments|senders|message-streams|inboxes)(\/|$)/,
      /\/(monitor|interact|leads|lists|sequences|opportunities|identities|schedules|research\/v0\/tasks)(\/|$)/,
      /\/(monitors|imports|company_lists|saved_searches|datasets|requests|teams|recheck)(\/|$)/
    ]
    // The accounts of a public API are those of the treasury; Lusha's contacts are the people that it knows, but for its tables of them.
    const found = all.filter(({ provider, endpoint }) =>
      provider === "lusha"
        ? /\/(tables|webhooks|usage|website-visits)/.test(endpoint.path)
        : provider !== "usaspending" && forbidden.some((pattern) => pattern.test(endpoint.path))
    )
    expect(found.map(nameOf)).toEqual([])
    // The errors of one crawl are its owner's; a list of errors is everybody's.
    expect(all.filter(({ endpoint }) => /(?<!\{id\})\/errors$/.test(endpoint.path)).map(nameOf)).toEqual([])
    expect(all.filter(({ endpoint }) => endpoint.method === "PUT" || endpoint.method === "PATCH").map(nameOf)).toEqual(
      []
    )
  })

  test("an id in a path is an owned object's, or of public data", () => {
    const open = new Set([
      "apollo GET /organizations/{id}",
      "apollo GET /organizations/{organization_id}/job_postings",
      "apollo GET /people/{id}",
      "firecrawl GET /search/research/papers/{id}",
      "firecrawl GET /search/research/papers/{id}/similar",
      "peopledatalabs GET /v5/person/retrieve/{person_id}"
    ])
    const unowned = all.filter(({ provider, endpoint }) => {
      if (["usaspending", "sec_edgar", "predictleads"].includes(provider)) return false
      const ids = names(endpoint.path_params).filter((name) => /id$/i.test(name))
      const owned = (endpoint.resources?.uses ?? []).filter((one) => one.required === true).map((one) => one.field)
      return ids.some((name) => !owned.includes(`path.${name}`))
    })
    expect(unowned.map(nameOf).filter((one) => !open.has(one))).toEqual([])
  })

  test("a field that names an account, a sender or a task of the shared account says so", () => {
    const naming = /^(query\.|\*\.)?(account_id|identity_ids|From|from|task_id)$/
    const silent = all.flatMap((one) => {
      const uses = (one.endpoint.resources?.uses ?? []).map(({ field }) => field.replace(/\.\*$/, ""))
      return fieldsOf(one.endpoint)
        .filter((field) => naming.test(field) && !uses.includes(field))
        .map((field) => `${nameOf(one)} ${field}`)
    })
    // Dates, places and offsets of public data.
    expect(
      silent.filter(
        (one) =>
          !/^(firecrawl GET \/search\/research|sec_edgar|seranking GET \/v1\/domain\/ads|usaspending|scrapecreators|peopledatalabs)/.test(
            one
          )
      )
    ).toEqual([])
    const crawls = all.filter(
      ({ provider, endpoint }) => provider === "dataforseo" && names(endpoint.body).includes("id")
    )
    expect(crawls.length).toBeGreaterThan(10)
    for (const { endpoint } of crawls)
      expect(endpoint.resources?.uses).toEqual([{ kind: "job", field: "id", required: true }])
  })

  test("what starts a job tells where its id is", () => {
    const makers = all.filter(({ endpoint }) => (endpoint.resources?.makes ?? []).length > 0).map(nameOf)
    const tasks = all.filter(({ key, provider }) => provider === "dataforseo" && key.endsWith("/task_post")).map(nameOf)
    expect(makers).toEqual(expect.arrayContaining(tasks))
    expect(makers.filter((one) => !one.startsWith("dataforseo "))).toEqual([
      "builtwith POST /v23/domain/bulk",
      "exa POST /websets/v0/websets",
      "firecrawl POST /agent",
      "firecrawl POST /batch/scrape",
      "firecrawl POST /crawl",
      "firecrawl POST /scrape",
      "fullenrich POST /contact/enrich/bulk",
      "fullenrich POST /contact/reverse/email/bulk",
      "icypeas POST /domain-search",
      "icypeas POST /email-search",
      "icypeas POST /email-verification",
      "parallel POST /v1/tasks/groups",
      "parallel POST /v1/tasks/groups/{taskgroup_id}/runs",
      "parallel POST /v1/tasks/runs",
      "parallel POST /v1beta/findall/runs",
      "seranking POST /v1/serp/classic/tasks",
      "seranking POST /v1/site-audit/audits/advanced",
      "seranking POST /v1/site-audit/audits/standard",
      ...snovioStarts,
      "tavily POST /research",
      "unipile POST /api/v1/chats",
      "usaspending POST /api/v2/bulk_download/awards/",
      "usaspending POST /api/v2/download/accounts/",
      "usaspending POST /api/v2/download/assistance/",
      "usaspending POST /api/v2/download/awards/",
      "usaspending POST /api/v2/download/contract/",
      "usaspending POST /api/v2/download/disaster/",
      "usaspending POST /api/v2/download/disaster/recipients/",
      "usaspending POST /api/v2/download/idv/",
      "usaspending POST /api/v2/download/search/",
      "usaspending POST /api/v2/download/transactions/"
    ])
  })

  test("a call that does something in the world is marked", () => {
    const acting = all.filter(({ endpoint }) => endpoint.acts === true)
    expect(acting.filter(({ endpoint }) => endpoint.method === "GET")).toEqual([])
    expect(all.filter(({ endpoint }) => endpoint.method === "DELETE" && endpoint.acts !== true)).toEqual([])
    expect(acting.map(nameOf).filter((one) => !/^dataforseo .*\/task_post$/.test(one))).toEqual([
      "apollo POST /people/bulk_match",
      "apollo POST /people/match",
      "builtwith POST /v23/domain/bulk",
      "edges POST /actions/linkedin-connect-profile/run/live",
      "edges POST /actions/linkedin-message-profile/run/live",
      "exa POST /websets/v0/websets",
      "exa DELETE /websets/v0/websets/{webset}",
      "exa POST /websets/v0/websets/{webset}/cancel",
      "exa DELETE /websets/v0/websets/{webset}/enrichments/{id}",
      "exa POST /websets/v0/websets/{webset}/enrichments/{id}/cancel",
      "exa POST /websets/v0/websets/{webset}/searches/{id}/cancel",
      "firecrawl POST /agent",
      "firecrawl DELETE /agent/{jobId}",
      "firecrawl POST /batch/scrape",
      "firecrawl DELETE /batch/scrape/{id}",
      "firecrawl POST /crawl",
      "firecrawl DELETE /crawl/{id}",
      "fullenrich POST /contact/enrich/bulk",
      "fullenrich POST /contact/reverse/email/bulk",
      "icypeas POST /domain-search",
      "icypeas POST /email-search",
      "icypeas POST /email-verification",
      "parallel POST /v1/tasks/groups",
      "parallel POST /v1/tasks/groups/{taskgroup_id}/runs",
      "parallel POST /v1/tasks/runs",
      "parallel POST /v1beta/findall/runs",
      "parallel POST /v1beta/findall/runs/{findall_id}/cancel",
      "postmark POST /email",
      "postmark POST /email/batch",
      "resend POST /emails",
      "resend POST /emails/batch",
      "seranking POST /v1/serp/classic/tasks",
      "seranking DELETE /v1/site-audit/audits",
      "seranking POST /v1/site-audit/audits/advanced",
      "seranking POST /v1/site-audit/audits/standard",
      ...snovioStarts,
      "tavily POST /research",
      "unipile POST /api/v1/chats",
      "unipile POST /api/v1/chats/{chat_id}/messages",
      "unipile POST /api/v1/users/invite"
    ])
  })
})
