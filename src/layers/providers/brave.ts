/**
 * Adapter for Brave Search: web pages and news from an index of its own.
 *
 * A request costs the same however many results it has, and answers do not report the cost. Queries have at most 400 characters and 50
 * words, operators included; countries and languages are those of Brave's lists.
 */
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { httpErrors, pageFrom } from "./kit/outcome.ts"
import { entryIn, host, list, text } from "./kit/read.ts"
import { withSites } from "./kit/sites.ts"

/** $5 per 1,000 requests */
const price = inUsd.flat("0.005")
const note = "Search plan, $5 per 1,000 requests."

const webResultsMax = 20
const queryLengthMax = 400
const queryWordsMax = 50

const countries = new Set(
  "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US".split(
    " "
  )
)
const languages = new Set(
  "ar eu bn bg ca hr cs da nl en en-gb et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pt-br pt-pt pa ro ru sk sl es sv ta te th tr uk vi".split(
    " "
  )
)
/** Brave's own code of Japanese, and the languages of which it wants to know more. */
const ownLanguages: Readonly<Record<string, string>> = {
  ja: "jp",
  no: "nb",
  pt: "pt-pt",
  zh: "zh-hans",
  "zh-cn": "zh-hans",
  "zh-tw": "zh-hant"
}

const languageOf = (language: string): string | undefined => {
  const code = language.toLowerCase()
  return entryIn(ownLanguages, code) ?? (languages.has(code) ? code : undefined)
}

interface Search {
  readonly query: string
  readonly country?: string
  readonly language?: string
  readonly recency?: string
}

const served = (input: Search, query: string): boolean =>
  query.length <= queryLengthMax &&
  query.split(/\s+/).length <= queryWordsMax &&
  (input.country === undefined || countries.has(input.country.toUpperCase())) &&
  (input.language === undefined || languageOf(input.language) !== undefined)

/** The fields that both searches have. */
const searched = (input: Search, query: string, count: number) => ({
  q: query,
  count,
  country: input.country?.toUpperCase(),
  search_lang: input.language === undefined ? undefined : languageOf(input.language),
  // pd, pw, pm, py
  freshness: input.recency === undefined ? undefined : `p${input.recency.charAt(0)}`
})

const web = offer(webSearch, {
  price,
  note,
  wraps: ["GET /web/search"],
  serves: (input) => (input.limit ?? webSearchDefaultLimit) <= webResultsMax && served(input, withSites(input)),
  request: (input) => ({
    query: {
      ...searched(input, withSites(input), input.limit ?? webSearchDefaultLimit),
      result_filter: "web",
      text_decorations: false
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "web.results", {
      // A search that finds nothing has no `web`.
      values: list(reply.body, "web", "results") ?? (text(reply.body, "type") === "search" ? [] : null),
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (page, index) => ({
        title: text(page, "title"),
        url: text(page, "url"),
        snippet: text(page, "description"),
        published_at: text(page, "page_age") ?? text(page, "age"),
        score: null,
        position: index + 1
      }),
      more: { answer: null }
    })
})

const news = offer(newsSearch, {
  price,
  note,
  wraps: ["GET /news/search"],
  // Articles that mention a domain are not news about the company.
  serves: (input) => input.company_domain === undefined && served(input, input.query),
  request: (input) => ({ query: searched(input, input.query, input.limit ?? newsSearchDefaultLimit) }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no articles found",
      limit: input.limit ?? newsSearchDefaultLimit,
      item: (article) => ({
        title: text(article, "title"),
        url: text(article, "url"),
        source: text(article, "meta_url", "hostname") ?? host(text(article, "url")),
        published_at: text(article, "page_age") ?? text(article, "age"),
        snippet: text(article, "description"),
        image_url: text(article, "thumbnail", "original") ?? text(article, "thumbnail", "src")
      })
    })
})

export const brave = provider({
  slug: "brave",
  title: "Brave Search",
  homepage: "https://brave.com/search/api",
  base_url: "https://api.search.brave.com/res/v1",
  auth: { kind: "header", name: "X-Subscription-Token" },
  concurrency: 20,
  timeoutMillis: 20_000,
  httpErrors: httpErrors(),
  offers: [web, news]
})
