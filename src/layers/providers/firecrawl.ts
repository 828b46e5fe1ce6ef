/**
 * Firecrawl: web search; page contents wait for their adapter.
 *
 * It reports the credits of a search: two per ten results. Prices follow the Standard plan, $0.00083 per credit.
 */
import { webScrape } from "../../schema/capabilities/web.scrape.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, offer, provider, type Reply } from "../../schema/Provider.ts"
import { cost, match, noMatch } from "./outcome.ts"
import { flag, list, text, whole } from "./read.ts"
import { refusal, trouble, unreadable } from "./trouble.ts"

/** The flat price covers the credits of this many results. */
const resultsMax = 10

const credits = (reply: Reply) => cost("credit", reply.body, "creditsUsed")

const note = "Standard plan, about $0.00083 per credit; small plans pay more."

const search = offer(webSearch, {
  // 2 credits × $0.00083 × 1.2, rounded up
  price: flat("0.001992"),
  note,
  wraps: [{ method: "POST", path: "/search" }],
  serves: (input) =>
    (input.limit ?? webSearchDefaultLimit) <= resultsMax &&
    input.language === undefined &&
    (input.include_domains === undefined || input.exclude_domains === undefined),
  request: (input) => ({
    method: "POST",
    path: "/search",
    body: {
      query: input.query,
      limit: input.limit ?? webSearchDefaultLimit,
      sources: ["web"],
      ...(input.country === undefined ? {} : { country: input.country.toUpperCase() }),
      ...(input.recency === undefined ? {} : { tbs: `qdr:${input.recency.charAt(0)}` }),
      ...(input.include_domains === undefined ? {} : { includeDomains: input.include_domains }),
      ...(input.exclude_domains === undefined ? {} : { excludeDomains: input.exclude_domains })
    }
  }),
  response: (reply, input) => {
    if (flag(reply.body, "success") === false) return refusal(reply, "provider_error")
    const pages = list(reply.body, "data", "web")
    if (pages === null) return unreadable("data.web")
    if (pages.length === 0) return noMatch("no pages found", credits(reply))
    return match(
      {
        items: pages.slice(0, input.limit ?? webSearchDefaultLimit).map((page, index) => ({
          title: text(page, "title"),
          url: text(page, "url"),
          snippet: text(page, "description"),
          published_at: null,
          score: null,
          position: whole(page, "position") ?? index + 1
        })),
        answer: null,
        total: null,
        next_cursor: null
      },
      credits(reply)
    )
  }
})

const scrape = listed(webScrape, {
  // 1 credit × $0.00083 × 1.2
  price: flat("0.000996"),
  note,
  wraps: [{ method: "POST", path: "/scrape" }]
})

export const firecrawl = provider({
  slug: "firecrawl",
  title: "Firecrawl",
  homepage: "https://www.firecrawl.dev",
  base_url: "https://api.firecrawl.dev/v2",
  auth: { kind: "bearer" },
  credit: "0.00083",
  concurrency: 5,
  timeoutMillis: 30_000,
  trouble: trouble({ reasons: { 408: "provider_timeout" } }),
  offers: [search, scrape]
})
