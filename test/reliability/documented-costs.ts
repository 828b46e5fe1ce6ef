/**
 * What well-known raw calls cost by their providers' own pages, as plain arithmetic, and inputs to ask with.
 *
 * Written independently of the manifests and of the code that counts: whatever those say, a hold must cover this. Amounts are
 * in billionths of a USD. Prices in credits stand at the price of a credit that the provider publishes for a common plan.
 */
import * as fc from "fast-check"

export interface Documented {
  readonly provider: string
  /** `METHOD /path`. */
  readonly endpoint: string
  readonly input: fc.Arbitrary<unknown>
  // The shape of an input is that of its generator.
  readonly nanos: (input: any) => number
}

const row = <A>(
  provider: string,
  endpoint: string,
  input: fc.Arbitrary<A>,
  nanos: (input: A) => number
): Documented => ({
  provider,
  endpoint,
  input,
  nanos
})

const upTo = (max: number, min = 1) => fc.integer({ min, max })
const optional = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })
/** Without the members that are undefined: those were left out. */
const record = <A extends Record<string, fc.Arbitrary<unknown>>>(fields: A) =>
  fc.record(fields).map(
    (one) =>
      Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as {
        [K in keyof A]: A[K] extends fc.Arbitrary<infer V> ? V : never
      }
  )
const letters = fc.stringMatching(/^[a-z]{1,8}$/)
const address = letters.map((name) => `${name}@example.com`)
const lists = <A>(item: fc.Arbitrary<A>, maxLength: number, minLength = 1) => fc.array(item, { minLength, maxLength })
const pages = (count: number, per: number) => Math.ceil(count / per)

const place = { location_code: fc.constant(2840), language_code: fc.constant("en") }

/** dataforseo.com/pricing and the help center's page on the cost of on-page parameters. */
const onPage = row(
  "dataforseo",
  "POST /v3/on_page/task_post",
  record({
    target: fc.constant("example.com"),
    max_crawl_pages: upTo(1_000_000),
    load_resources: optional(fc.boolean()),
    enable_javascript: optional(fc.boolean()),
    enable_browser_rendering: optional(fc.boolean())
  }).map((task) =>
    // Rendering needs both others.
    task.enable_browser_rendering === true ? { ...task, load_resources: true, enable_javascript: true } : task
  ),
  (task) => {
    const page =
      task.enable_browser_rendering === true
        ? 4_250_000
        : task.enable_javascript === true
          ? 1_250_000
          : task.load_resources === true
            ? 375_000
            : 125_000
    return task.max_crawl_pages * page
  }
)

/** A first page of ten, each further one at three quarters; an operator in the keyword multiplies by five. */
const serp = row(
  "dataforseo",
  "POST /v3/serp/google/organic/live/advanced",
  record({
    ...place,
    keyword: fc.oneof(
      letters,
      fc.constantFrom("site:example.com", "SITE%3Aexample.com x", "intitle:jobs", "Filetype:pdf x")
    ),
    depth: optional(upTo(200))
  }),
  ({ keyword, depth = 10 }) => {
    const operator = /(site|intitle|filetype)(:|%3a)/i.test(keyword)
    return (2_000_000 + 1_500_000 * (pages(depth, 10) - 1)) * (operator ? 5 : 1)
  }
)

/** $0.01 per task and $0.0001 per row; twice with clickstream data. */
const labs = row(
  "dataforseo",
  "POST /v3/dataforseo_labs/google/ranked_keywords/live",
  record({
    ...place,
    target: fc.constant("example.com"),
    limit: optional(upTo(1_000)),
    include_clickstream_data: optional(fc.boolean())
  }),
  ({ limit = 100, include_clickstream_data }) =>
    (10_000_000 + 100_000 * limit) * (include_clickstream_data === true ? 2 : 1)
)

/** 0.03 credits per result; $0.10 per credit is a published plan's. */
const crustdataSearch = row(
  "crustdata",
  "POST /person/search",
  record({
    filters: fc.constant({ field: "basic_profile.name", type: "=", value: "x" }),
    limit: optional(upTo(1_000))
  }),
  ({ limit = 20 }) => limit * 3_000_000
)
const crustdataPosts = row(
  "crustdata",
  "POST /social_post/search",
  record({ filters: fc.constant({ field: "text", type: "(.)", value: "x" }), limit: upTo(100) }),
  ({ limit }) => limit * 100_000_000
)

/** A credit per page, four more for JSON; $83 per 100,000 credits. */
const formats = lists(fc.constantFrom({ type: "markdown" }, { type: "json", prompt: "x" }, { type: "html" }), 3)
const crawl = row(
  "firecrawl",
  "POST /crawl",
  record({
    url: fc.constant("https://example.com"),
    limit: upTo(10_000),
    scrapeOptions: formats.map((list) => ({ formats: list, parsers: [] }))
  }),
  ({ limit, scrapeOptions }) => limit * 830_000 * (scrapeOptions.formats.some(({ type }) => type === "json") ? 5 : 1)
)
const batchScrape = row(
  "firecrawl",
  "POST /batch/scrape",
  record({ urls: lists(fc.constant("https://example.com"), 50), formats, parsers: fc.constant([]) }),
  ({ urls, formats: list }) => urls.length * 830_000 * (list.some(({ type }) => type === "json") ? 5 : 1)
)

/** Every receiver is an e-mail: $0.00125 at Postmark's large plans, $0.0004 at Resend's. */
const separated = lists(address, 10).map((all) => all.join(", "))
const message = record({ From: address, To: separated, Cc: optional(separated), TextBody: fc.constant("x") })
const receivers = (...fields: ReadonlyArray<string | undefined>) =>
  fields.reduce((total, field) => total + (field === undefined ? 0 : field.split(",").length), 0)
const postmark = row(
  "postmark",
  "POST /email/batch",
  lists(message, 20),
  (batch) => batch.reduce((total, one) => total + receivers(one.To, one.Cc), 0) * 1_250_000
)
const mail = record({ from: address, to: fc.oneof(address, lists(address, 10)), subject: letters, text: letters })
const resend = row(
  "resend",
  "POST /emails/batch",
  lists(mail, 20),
  (batch) => batch.reduce((total, { to }) => total + (Array.isArray(to) ? to.length : 1), 0) * 400_000
)

/** costDollars of the provider's own examples: a search of up to 25 $0.005; a page of text $0.001. */
const exa = row(
  "exa",
  "POST /search",
  record({ query: letters, numResults: optional(upTo(100)), contents: optional(fc.constant({ text: true })) }),
  ({ numResults = 10, contents }) => 5_000_000 + (contents === undefined ? 0 : numResults * 1_000_000)
)
const exaContents = row(
  "exa",
  "POST /contents",
  record({ urls: lists(fc.constant("https://example.com"), 50), text: fc.constant(true) }),
  ({ urls }) => urls.length * 1_000_000
)

/** A credit is $0.008 by the price list. Search 1, advanced 2; extract 1 per five addresses, 2 when advanced. */
const tavilySearch = row(
  "tavily",
  "POST /search",
  record({ query: letters, search_depth: optional(fc.constantFrom("basic", "advanced")) }),
  ({ search_depth }) => (search_depth === "advanced" ? 2 : 1) * 8_000_000
)
const tavilyExtract = row(
  "tavily",
  "POST /extract",
  record({
    urls: lists(fc.constant("https://example.com"), 20),
    extract_depth: optional(fc.constantFrom("basic", "advanced"))
  }),
  ({ urls, extract_depth }) => pages(urls.length, 5) * (extract_depth === "advanced" ? 2 : 1) * 8_000_000
)

/** A credit per person; $0.28 per credit by the price list. */
const pdlBulk = row(
  "peopledatalabs",
  "POST /v5/person/retrieve/bulk",
  record({
    requests: lists(
      letters.map((id) => ({ id })),
      100
    )
  }),
  ({ requests }) => requests.length * 280_000_000
)
const pdlSearch = row(
  "peopledatalabs",
  "POST /v5/person/search",
  record({ sql: fc.constant("SELECT * FROM person WHERE job_title='x'"), size: optional(upTo(100)) }),
  ({ size = 1 }) => size * 280_000_000
)

/** A credit per person, eight more with a mobile number; $0.025 per credit by the fair-use text. */
export const apolloMatch = row(
  "apollo",
  "POST /people/bulk_match",
  record({
    details: lists(
      address.map((email) => ({ email })),
      10
    )
  }),
  ({ details }) => details.length * 25_000_000
)

/** Ten credits per result that fits, two per enrichment of it and five per e-mail address; $49 for 8,000 credits. */
const enrichment = fc.constantFrom({ description: "x", format: "text" }, { description: "x", format: "email" })
const webset = row(
  "exa",
  "POST /websets/v0/websets",
  record({
    search: record({ query: letters, count: optional(upTo(1_000)) }),
    enrichments: optional(lists(enrichment, 10))
  }),
  ({ search: { count = 10 }, enrichments = [] }) =>
    count * (10 + enrichments.reduce((sum, { format }) => sum + (format === "email" ? 5 : 2), 0)) * 6_125_000
)

/** 200 credits per prompt, 10 per search, 2 or 20 per audited page, 100 per target; $50 for 250,000 credits. */
const prompts = row(
  "seranking",
  "GET /v1/ai-search/prompts-by-target",
  record({
    target: fc.constant("example.com"),
    source: fc.constant("us"),
    engine: fc.constant("chatgpt"),
    limit: optional(upTo(1_000))
  }),
  ({ limit = 20 }) => limit * 200 * 200_000
)
const audit = row(
  "seranking",
  "POST /v1/site-audit/audits/advanced",
  record({ domain: fc.constant("example.com"), settings: record({ max_pages: upTo(300_000) }) }),
  ({ settings }) => settings.max_pages * 20 * 200_000
)
const summaries = row(
  "seranking",
  "POST /v1/backlinks/summary",
  record({ target: lists(letters, 100) }),
  ({ target }) => target.length * 100 * 200_000
)

/** A credit per job posting and three per company; $59 for 1,500 credits. */
const companies = row(
  "theirstack",
  "POST /v1/companies/search",
  record({ company_domain_or: lists(letters, 5), limit: optional(upTo(500)) }),
  ({ limit = 25 }) => limit * 3 * 39_333_333
)

/** A credit per page of results, and per address that is fetched. */
const crustdataWeb = row(
  "crustdata",
  "POST /web/search/live",
  record({ query: letters, page: optional(upTo(15)), sources: optional(fc.constant(["news"])) }),
  ({ page = 1 }) => page * 100_000_000
)

export const documented: ReadonlyArray<Documented> = [
  webset,
  prompts,
  audit,
  summaries,
  companies,
  crustdataWeb,
  onPage,
  serp,
  labs,
  crustdataSearch,
  crustdataPosts,
  crawl,
  batchScrape,
  postmark,
  resend,
  exa,
  exaContents,
  tavilySearch,
  tavilyExtract,
  pdlBulk,
  pdlSearch,
  apolloMatch
]
