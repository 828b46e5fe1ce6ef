/**
 * Exa: web search and people search; companies, news and page contents wait for their adapters.
 *
 * The measured provider: every answer reports its cost in US dollars, and the prices are that cost times 1.2 with every
 * result and its highlight counted.
 */
import type { InputOf } from "../../schema/Capability.ts"
import { companySearch, companySearchDefaultLimit } from "../../schema/capabilities/company.search.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../schema/capabilities/people.search.ts"
import { person } from "../../schema/capabilities/shapes.ts"
import { webScrape } from "../../schema/capabilities/web.scrape.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { flat, metered } from "../../schema/Pricing.ts"
import { listed, offer, provider, type Reply } from "../../schema/Provider.ts"
import { cost, match, noMatch } from "./outcome.ts"
import { list, number, providerIds, text } from "./read.ts"
import { trouble, unreadable } from "./trouble.ts"

/** The flat price covers this many highlights; a longer page would cost more than it brings in. */
const webResultsMax = 10
/** From 26 results on the provider charges five times as much for the search itself. */
const searchResultsMax = 25

const dollarsSpent = (reply: Reply) => cost("USD", reply.body, "costDollars", "total")

const search = offer(webSearch, {
  // ($0.005 for up to 25 results + 10 highlights × $0.001) × 1.2
  price: flat("0.018"),
  verified: true,
  wraps: [{ method: "POST", path: "/search" }],
  // It filters by date, not by age, and not by language: without a clock an adapter can't tell what "last week" is.
  serves: (input) =>
    (input.limit ?? webSearchDefaultLimit) <= webResultsMax &&
    input.recency === undefined &&
    input.language === undefined,
  request: (input) => ({
    method: "POST",
    path: "/search",
    body: {
      query: input.query,
      type: "auto",
      numResults: input.limit ?? webSearchDefaultLimit,
      ...(input.country === undefined ? {} : { userLocation: input.country.toUpperCase() }),
      ...(input.include_domains === undefined ? {} : { includeDomains: input.include_domains }),
      ...(input.exclude_domains === undefined ? {} : { excludeDomains: input.exclude_domains }),
      contents: { highlights: true }
    }
  }),
  response: (reply, input) => {
    const results = list(reply.body, "results")
    if (results === null) return unreadable("results")
    if (results.length === 0) return noMatch("no pages found", dollarsSpent(reply))
    return match(
      {
        items: results.slice(0, input.limit ?? webSearchDefaultLimit).map((page, index) => ({
          title: text(page, "title"),
          url: text(page, "url"),
          snippet: text(page, "highlights", 0) ?? text(page, "text"),
          published_at: text(page, "publishedDate"),
          score: number(page, "score"),
          position: index + 1
        })),
        answer: null,
        total: null,
        next_cursor: null
      },
      dollarsSpent(reply)
    )
  }
})

const oneOf = (lead: string, values: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  values === undefined ? [] : [`${lead}${values.join(" or ")}`]

/** The filters as a sentence, which is what the provider searches by. */
const sentence = (input: InputOf<typeof peopleSearch>): string =>
  [
    ...oneOf("", input.name === undefined ? undefined : [input.name]),
    ...oneOf("", input.seniorities),
    ...oneOf("", input.titles),
    ...oneOf("at ", input.company_names),
    ...oneOf("at ", input.company_domains),
    ...oneOf("in ", input.locations),
    ...oneOf("in the industry ", input.industries),
    ...oneOf("at a company of employees ", input.employee_range === undefined ? undefined : [input.employee_range]),
    ...oneOf("", input.keywords === undefined ? undefined : [input.keywords])
  ].join(", ")

/** "Jane Doe" and "Head of Sales at Acme" of "Jane Doe | Head of Sales at Acme | LinkedIn". */
const titleParts = (title: string | null) => {
  const [name = "", ...rest] = (title ?? "").split(/\s+[|–—-]\s+/).filter((part) => part !== "LinkedIn")
  return { full_name: name === "" ? null : name, headline: rest.length === 0 ? null : rest.join(", ") }
}

const findPeople = offer(peopleSearch, {
  // $0.005 × 1.2 a search. The price per person pays for the searches that find nobody and are not charged.
  price: metered("0.006", "0.001", peopleSearchDefaultLimit),
  verified: true,
  note: "Name, headline and profile only; filters are understood as words, not applied exactly.",
  wraps: [{ method: "POST", path: "/search" }],
  serves: (input) => input.cursor === undefined && (input.limit ?? peopleSearchDefaultLimit) <= searchResultsMax,
  request: (input) => ({
    method: "POST",
    path: "/search",
    body: {
      query: sentence(input),
      type: "auto",
      category: "people",
      numResults: input.limit ?? peopleSearchDefaultLimit
    }
  }),
  response: (reply, input) => {
    const results = list(reply.body, "results")
    if (results === null) return unreadable("results")
    if (results.length === 0) return noMatch("nobody found", dollarsSpent(reply))
    const items = results.slice(0, input.limit ?? peopleSearchDefaultLimit).map((profile) =>
      person({
        ...titleParts(text(profile, "title")),
        network_url: text(profile, "url"),
        provider_ids: providerIds("exa", profile, "id")
      })
    )
    return match({ items, total: null, next_cursor: null }, dollarsSpent(reply))
  }
})

const findCompanies = listed(companySearch, {
  // $0.005 × 1.2 a search, and as much per company as a person costs
  price: metered("0.006", "0.001", companySearchDefaultLimit),
  note: "Published rate, not measured yet. Filters are understood as words, not applied exactly.",
  wraps: [{ method: "POST", path: "/search" }],
  serves: (input) => input.cursor === undefined && (input.limit ?? companySearchDefaultLimit) <= searchResultsMax
})

const news = listed(newsSearch, {
  // ($0.005 for up to 25 results + 10 highlights × $0.001) × 1.2
  price: flat("0.018"),
  note: "Published rate, not measured yet.",
  wraps: [{ method: "POST", path: "/search" }],
  serves: (input) =>
    (input.limit ?? newsSearchDefaultLimit) <= webResultsMax &&
    input.recency === undefined &&
    input.language === undefined
})

const scrape = listed(webScrape, {
  // $0.001 for a page × 1.2
  price: flat("0.0012"),
  note: "Published rate of a page's text, not measured yet.",
  wraps: [{ method: "POST", path: "/contents" }],
  serves: (input) => input.format !== "html" && input.format !== "links" && input.wait_ms === undefined
})

export const exa = provider({
  slug: "exa",
  title: "Exa",
  homepage: "https://exa.ai",
  base_url: "https://api.exa.ai",
  auth: { kind: "header", name: "x-api-key" },
  concurrency: 5,
  timeoutMillis: 20_000,
  trouble: trouble(),
  offers: [search, findPeople, findCompanies, news, scrape]
})
