/**
 * Adapter for Firecrawl: web search, and the contents of pages, read with a browser.
 *
 * Firecrawl reports the credits of a call: two per ten results of a search, one per page. The price of a
 * credit in the smallest plan is assumed.
 */
import { webScrape } from "../../schema/capabilities/web.scrape.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, httpErrors, match, noMatch, pageFrom, refusal, unreadable } from "./kit/outcome.ts"
import { at, flag, isRecord, number, text, texts, whole } from "./kit/read.ts"
import { defined } from "../../schema/defined.ts"
import { creditsCall } from "./kit/credits.ts"

/** Results whose credits the flat price covers. */
const resultsMax = 10

const credits = (reply: Reply) =>
  cost("credit", reply.body, "creditsUsed") ?? cost("credit", reply.body, "data", "metadata", "creditsUsed")

const note =
  "A credit costs $0.0038 in the smallest plan (Hobby, $19 for 5,000 a month); the Standard plan pays about $0.00083."

const search = offer(webSearch, {
  price: inCredits.flat("2"),
  note,
  wraps: ["POST /search"],
  serves: (input) =>
    (input.limit ?? webSearchDefaultLimit) <= resultsMax &&
    input.language === undefined &&
    (input.include_domains === undefined || input.exclude_domains === undefined),
  request: (input) => ({
    body: {
      query: input.query,
      limit: input.limit ?? webSearchDefaultLimit,
      sources: [{ type: "web" }],
      ...defined({ country: input.country?.toUpperCase() }),
      ...(input.recency === undefined ? {} : { tbs: `qdr:${input.recency.charAt(0)}` }),
      ...defined({ includeDomains: input.include_domains, excludeDomains: input.exclude_domains })
    }
  }),
  response: (reply, input) => {
    if (flag(reply.body, "success") === false) return refusal(reply, "provider_error")
    return pageFrom(reply.body, "data.web", {
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (page, index) => ({
        title: text(page, "title"),
        url: text(page, "url"),
        snippet: text(page, "description"),
        published_at: null,
        score: null,
        position: whole(page, "position") ?? index + 1
      }),
      more: { answer: null }
    })
  }
})

/** The page's own metadata, without Firecrawl's fields about the call. */
const metadataOf = (metadata: unknown): Readonly<Record<string, string>> => {
  const own = Object.entries(isRecord(metadata) ? metadata : {}).flatMap(
    ([name, value]): ReadonlyArray<[string, string]> =>
      typeof value === "string" && !aboutTheCall.has(name) ? [[name, value]] : []
  )
  return Object.fromEntries(own)
}
const aboutTheCall = new Set(["title", "url", "sourceURL", "error", "scrapeId", "proxyUsed", "cacheState", "cachedAt"])

/** HTTP statuses from here on mean that the page could not be read. */
const errorStatus = 400

/** Pages of X and its short links are not served, because Firecrawl reads them with a language model for 29 more credits. */
const isOfX = (url: string): boolean =>
  URL.canParse(url) && /(?:^|\.)(?:(?:x|twitter)\.com|t\.co)\.?$/.test(new URL(url).hostname)

const scrape = offer(webScrape, {
  price: inCredits.flat("1"),
  note,
  wraps: ["POST /scrape"],
  // Firecrawl has no plain text format, and charges a credit for every page of a PDF.
  serves: (input) => input.format !== "text" && !/\.pdf(?:[?#]|$)/i.test(input.url) && !isOfX(input.url),
  // Longer than Firecrawl's own timeout for a page, so that its error arrives.
  timeoutMillis: 75_000,
  request: (input) => ({
    body: {
      url: input.url,
      formats: [...(input.format === "links" ? [] : [{ type: input.format ?? "markdown" }]), { type: "links" }],
      onlyMainContent: input.only_main_content ?? true,
      // Limits a PDF whose URL has another ending to one page, so that it costs the same as a web page.
      parsers: [{ type: "pdf", maxPages: 1 }],
      ...defined({ waitFor: input.wait_ms })
    }
  }),
  response: (reply, input) => {
    if (flag(reply.body, "success") === false) return refusal(reply, "provider_error")
    const data = at(reply.body, "data")
    if (!isRecord(data)) return unreadable("data")
    const metadata = at(data, "metadata")
    const status = whole(metadata, "statusCode")
    if (status !== null && status >= errorStatus) return noMatch(`the page answered HTTP ${status}`)
    const content = input.format === "links" ? null : text(data, input.format ?? "markdown")
    const links = texts(data, "links")
    if (input.format === "links" ? (links ?? []).length === 0 : content === null) {
      return noMatch(input.format === "links" ? "the page has no links" : "the page is empty")
    }
    return match({
      url: input.url,
      final_url: text(metadata, "url") ?? text(metadata, "sourceURL"),
      status_code: status,
      title: text(metadata, "title"),
      content,
      links,
      metadata: metadataOf(metadata)
    })
  }
})

export const firecrawl = provider({
  slug: "firecrawl",
  title: "Firecrawl",
  homepage: "https://www.firecrawl.dev",
  base_url: "https://api.firecrawl.dev/v2",
  auth: { kind: "bearer" },
  credit: "0.0038",
  concurrency: 5,
  timeoutMillis: 30_000,
  httpErrors: httpErrors({ reasons: { 408: "provider_timeout" } }),
  measured: credits,
  credits: creditsCall("/team/credit-usage", "credit", (body) => number(body, "data", "remainingCredits"), {
    path: ["data", "billingPeriodEnd"],
    renews: true
  }),
  offers: [search, scrape]
})
