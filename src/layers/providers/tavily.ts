/**
 * Adapter for Tavily: web search with a short written answer, news, and the contents of pages.
 *
 * Every call requests the credits that it costs. Exceeded plan limits have the statuses 432 and 433. Prices are based on $0.008 per credit.
 */
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { scrapedPage, webScrape } from "../../schema/capabilities/web.scrape.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, httpErrors, match, noMatch, pageFrom, unreadable } from "./kit/outcome.ts"
import { at, entryIn, host, list, number, text } from "./kit/read.ts"
import { defined } from "../../schema/defined.ts"
import { creditsCall, leftOf } from "./kit/credits.ts"

/** Tavily's maximum number of results. */
const resultsMax = 20

const credits = (reply: Reply) => cost("credit", reply.body, "usage", "credits")

const regionNames = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" })
/** Names in Tavily's list of countries that differ from the usual ones. */
const ownNames: Readonly<Record<string, string>> = { CZ: "czech republic", TR: "turkey", CG: "congo", CD: "congo" }

/** Converts "us" to "united states", as Tavily requires. Undefined for a code of no country. */
const countryName = (code: string): string | undefined => {
  const letters = code.toUpperCase()
  return entryIn(ownNames, letters) ?? regionNames.of(letters)?.toLowerCase().replace("&", "and")
}

const search = offer(webSearch, {
  price: inCredits.flat("1"),
  note: "Pay-as-you-go rate, about $0.008 per credit.",
  wraps: ["POST /search"],
  serves: (input) =>
    (input.limit ?? webSearchDefaultLimit) <= resultsMax &&
    input.language === undefined &&
    (input.country === undefined || countryName(input.country) !== undefined),
  request: (input) => ({
    body: {
      query: input.query,
      search_depth: "basic",
      topic: "general",
      max_results: input.limit ?? webSearchDefaultLimit,
      ...defined({ time_range: input.recency }),
      ...(input.country === undefined ? {} : { country: countryName(input.country) }),
      ...defined({ include_domains: input.include_domains, exclude_domains: input.exclude_domains }),
      include_answer: true,
      include_usage: true
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (page, index) => ({
        title: text(page, "title"),
        url: text(page, "url"),
        snippet: text(page, "content"),
        published_at: text(page, "published_date"),
        score: number(page, "score"),
        position: index + 1
      }),
      more: { answer: text(reply.body, "answer") }
    })
})

const news = offer(newsSearch, {
  price: inCredits.flat("1"),
  note: "Pay-as-you-go rate, about $0.008 per credit.",
  wraps: ["POST /search"],
  // Tavily has no country filter for news. It searches by words, and articles that mention a domain are not news about the company.
  serves: (input) =>
    (input.limit ?? newsSearchDefaultLimit) <= resultsMax &&
    input.language === undefined &&
    input.country === undefined &&
    input.company_domain === undefined,
  request: (input) => ({
    body: {
      query: input.query,
      search_depth: "basic",
      topic: "news",
      max_results: input.limit ?? newsSearchDefaultLimit,
      ...defined({ time_range: input.recency }),
      include_usage: true
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no articles found",
      limit: input.limit ?? newsSearchDefaultLimit,
      item: (article) => ({
        title: text(article, "title"),
        url: text(article, "url"),
        source: host(text(article, "url")),
        published_at: text(article, "published_date"),
        snippet: text(article, "content"),
        image_url: null
      })
    })
})

const scrape = offer(webScrape, {
  price: inCredits.flat("1"),
  note: "Pay-as-you-go rate, about $0.008 per credit, which would cover five pages.",
  wraps: ["POST /extract"],
  serves: (input) => input.format !== "html" && input.format !== "links" && input.wait_ms === undefined,
  request: (input) => ({
    body: {
      urls: [input.url],
      extract_depth: "basic",
      format: input.format === "text" ? "text" : "markdown",
      include_usage: true
    }
  }),
  response: (reply, input) => {
    const page = list(reply.body, "results")?.[0]
    const content = text(page, "raw_content")
    if (content === null) {
      const failed = list(reply.body, "failed_results")?.[0]
      // Tavily does not charge for failed pages, and this capability does not bill misses.
      if (failed === undefined && page === undefined) return unreadable("results")
      return noMatch(text(failed, "error") ?? "the page is empty")
    }
    return match(scrapedPage({ url: input.url, final_url: text(page, "url"), title: text(page, "title"), content }))
  }
})

export const tavily = provider({
  slug: "tavily",
  title: "Tavily",
  homepage: "https://tavily.com",
  base_url: "https://api.tavily.com",
  auth: { kind: "bearer" },
  credit: "0.008",
  concurrency: 10,
  timeoutMillis: 20_000,
  httpErrors: httpErrors({ reasons: { 432: "provider_account", 433: "provider_account" }, empty: [432, 433] }),
  measured: credits,
  // The plan and the pay-as-you-go limit of the account, and the limit of the key if it has one.
  credits: creditsCall("/usage", "credit", (body) => {
    const account = at(body, "account")
    const plan = leftOf(number(account, "plan_limit"), number(account, "plan_usage"))
    const extra = leftOf(number(account, "paygo_limit"), number(account, "paygo_usage")) ?? 0
    const key = leftOf(number(body, "key", "limit"), number(body, "key", "usage")) ?? Infinity
    return plan === null ? null : Math.min(plan + extra, key)
  }),
  offers: [search, news, scrape]
})
