/**
 * Adapter for Parallel: web search with excerpts that are written for language models, and the contents of pages.
 *
 * A search costs the same up to ten results, and a page costs the same whatever of it is returned. Answers count what was used, but not in
 * a unit that has a price. There is no filter by language, and the one by date wants a day, which an adapter does not know.
 */
import { scrapedPage, webScrape } from "../../schema/capabilities/web.scrape.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { defined, withoutNulls } from "../../schema/defined.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { httpErrors, match, noMatch, pageFrom, unreadable } from "./kit/outcome.ts"
import { list, text, texts, whole } from "./kit/read.ts"

const queryLengthMax = 200
/** The results that the price of a search includes. */
const pageSize = 10

const search = offer(webSearch, {
  // $1 per 1,000 further results
  price: inUsd.paged("0.005", "0.01", pageSize),
  note: "$5 per 1,000 searches of ten results, $1 per 1,000 further results.",
  wraps: ["POST /v1/search"],
  serves: (input) =>
    input.query.length <= queryLengthMax && input.language === undefined && input.recency === undefined,
  request: (input) => ({
    reads: true,
    body: {
      objective: input.query,
      search_queries: [input.query],
      advanced_settings: {
        max_results: input.limit ?? webSearchDefaultLimit,
        ...defined({ location: input.country?.toLowerCase() }),
        ...(input.include_domains === undefined && input.exclude_domains === undefined
          ? {}
          : {
              source_policy: defined({ include_domains: input.include_domains, exclude_domains: input.exclude_domains })
            })
      }
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (page, index) => ({
        title: text(page, "title"),
        url: text(page, "url"),
        snippet: text(texts(page, "excerpts")?.join("\n\n")),
        published_at: text(page, "publish_date"),
        score: null,
        position: index + 1
      }),
      more: { answer: null }
    })
})

const scrape = offer(webScrape, {
  price: inUsd.flat("0.001"),
  note: "$1 per 1,000 addresses.",
  wraps: ["POST /v1/extract"],
  serves: (input) => (input.format ?? "markdown") === "markdown" && input.wait_ms === undefined,
  request: (input) => ({ reads: true, body: { urls: [input.url], advanced_settings: { full_content: true } } }),
  response: (reply, input) => {
    const page = list(reply.body, "results")?.[0]
    const content = text(page, "full_content")
    if (content === null) {
      const failed = list(reply.body, "errors")?.[0]
      if (failed === undefined && page === undefined) return unreadable("results")
      const status = whole(failed, "http_status_code")
      const reason = text(failed, "error_type") ?? "the page is empty"
      return noMatch(status === null ? reason : `${reason}, HTTP ${status}`)
    }
    return match(
      scrapedPage({
        url: input.url,
        final_url: text(page, "url"),
        title: text(page, "title"),
        content,
        metadata: withoutNulls({ publish_date: text(page, "publish_date") })
      })
    )
  }
})

export const parallel = provider({
  slug: "parallel",
  title: "Parallel",
  homepage: "https://parallel.ai",
  base_url: "https://api.parallel.ai",
  auth: { kind: "header", name: "x-api-key" },
  concurrency: 10,
  // A page that is fetched anew may take a minute.
  timeoutMillis: 90_000,
  httpErrors: httpErrors({ reasons: { 422: "provider_rejected" } }),
  offers: [search, scrape]
})
