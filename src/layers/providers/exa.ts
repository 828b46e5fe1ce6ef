/**
 * Adapter for Exa: web, people, company and news search, and the contents of pages.
 *
 * Every answer reports its cost in US dollars. A search costs $0.007 with up to ten results and their highlights, as a captured answer
 * and the published rates say. Each further result costs $0.001.
 */
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { companySearch, companySearchDefaultLimit } from "../../schema/capabilities/company.search.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../schema/capabilities/news.search.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../schema/capabilities/people.search.ts"
import { company, location, person } from "../../schema/capabilities/shapes.ts"
import { scrapedPage, webScrape } from "../../schema/capabilities/web.scrape.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { failure, offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, httpErrors, match, noMatch, pageFrom, unreadable } from "./kit/outcome.ts"
import { at, host, list, number, place, providerIds, text, whole } from "./kit/read.ts"
import { defined, withoutNulls } from "../../schema/defined.ts"

/** Results that the flat price of a search covers. */
const webResultsMax = 10
/** The price per result covers the results beyond ten, and searches without a result, which we do not charge. */
const searchResultsMax = 25

const dollarsSpent = (reply: Reply) => cost("USD", reply.body, "costDollars", "total")

const search = offer(webSearch, {
  // $0.007
  price: inUsd.flat("0.007"),
  verified: true,
  wraps: ["POST /search"],
  // Exa filters by date and not by age or language. Adapters are pure and have no clock, so they can't convert an age to a date.
  serves: (input) =>
    (input.limit ?? webSearchDefaultLimit) <= webResultsMax &&
    input.recency === undefined &&
    input.language === undefined,
  request: (input) => ({
    body: {
      query: input.query,
      type: "auto",
      numResults: input.limit ?? webSearchDefaultLimit,
      ...defined({
        userLocation: input.country?.toUpperCase(),
        includeDomains: input.include_domains,
        excludeDomains: input.exclude_domains
      }),
      contents: { highlights: true }
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (page, index) => ({
        title: text(page, "title"),
        url: text(page, "url"),
        snippet: text(page, "highlights", 0) ?? text(page, "text"),
        published_at: text(page, "publishedDate"),
        score: number(page, "score"),
        position: index + 1
      }),
      more: { answer: null }
    })
})

const oneOf = (lead: string, values: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  values === undefined ? [] : [`${lead}${values.join(" or ")}`]

/** The filters as a sentence, because Exa searches by a description. */
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

/** Splits a page title such as "Jane Doe | Head of Sales at Acme | LinkedIn" into name and headline. */
const titleParts = (title: string | null) => {
  const [name = "", ...rest] = (title ?? "")
    .split(/\s[|–—-]\s/)
    .map((part) => part.trim())
    .filter((part) => part !== "LinkedIn")
  return { full_name: name === "" ? null : name, headline: rest.length === 0 ? null : rest.join(", ") }
}

/** The properties of the entity that a result is about, if Exa has any. */
const propertiesOf = (result: unknown, type: "person" | "company"): unknown =>
  at(
    list(result, "entities")?.find((entity) => text(entity, "type") === type),
    "properties"
  )

/** Reads "San Francisco, California, United States". Of two parts, the second is a region only if it is an abbreviation, as in "CA". */
const placeOf = (printed: string | null) => {
  const [city = null, region = null, country = null] = (printed ?? "").split(", ").filter((part) => part !== "")
  if (country !== null) return location(city, region, country)
  return region === null ? null : location(city, /^[A-Z]{2}$/.test(region) ? region : null, null)
}

/** Reads a person from a result. The current position is the first one without an end. */
const personOf = (result: unknown) => {
  const properties = propertiesOf(result, "person")
  const history = list(properties, "workHistory") ?? []
  const current = history.find((position) => text(position, "dates", "to") === null)
  const named = titleParts(text(result, "title"))
  return person({
    full_name: text(properties, "name") ?? named.full_name,
    first_name: text(properties, "firstName"),
    last_name: text(properties, "lastName"),
    headline: named.headline,
    title: text(current, "title"),
    company_name: text(current, "company", "name"),
    location: placeOf(text(properties, "location") ?? text(current, "location")),
    network_url: text(result, "url"),
    provider_ids: providerIds("exa", result, "id")
  })
}

const findPeople = offer(peopleSearch, {
  // $0.007 per search
  price: inUsd.metered("0.007", "0.0008333", peopleSearchDefaultLimit),
  // Not `verified`: no live answer with this category and its cost is at hand, as there is for web.search.
  note: "Published rate, not measured yet. Filters are part of the search text and not applied exactly.",
  wraps: ["POST /search"],
  serves: (input) => input.cursor === undefined && (input.limit ?? peopleSearchDefaultLimit) <= searchResultsMax,
  request: (input) => ({
    body: {
      query: sentence(input),
      type: "auto",
      category: "people",
      numResults: input.limit ?? peopleSearchDefaultLimit
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "nobody found",
      limit: input.limit ?? peopleSearchDefaultLimit,
      item: personOf
    })
})

/** The filters as a sentence, as for people. */
const companySentence = (input: InputOf<typeof companySearch>): string =>
  [
    ...oneOf("", input.query === undefined ? undefined : [input.query]),
    ...oneOf("", input.keywords),
    ...oneOf("in the industry ", input.industries),
    ...oneOf("headquartered in ", input.locations),
    ...oneOf("with employees ", input.employee_ranges),
    ...oneOf("that uses ", input.technologies),
    ...oneOf("founded in or after ", input.founded_min === undefined ? undefined : [`${input.founded_min}`]),
    ...oneOf("founded in or before ", input.founded_max === undefined ? undefined : [`${input.founded_max}`])
  ].join(", ")

/** A company's page on the professional network, which is not its own website. */
const networkPage = /^https?:\/\/(?:[a-z]+\.)?linkedin\.com\/company\//i

/** Reads a company from a result. The result is the company's page, and `entities` has its properties if Exa has any. */
const companyOf = (result: unknown) => {
  const properties = propertiesOf(result, "company")
  const url = text(result, "url")
  const own = url === null || networkPage.test(url) ? null : url
  return company({
    name: text(properties, "name") ?? titleParts(text(result, "title")).full_name,
    domain: host(own),
    website: own,
    network_url: own === null ? url : null,
    employee_count: whole(properties, "workforce", "total"),
    founded_year: whole(properties, "foundedYear"),
    location: place(at(properties, "headquarters"), "city", "state", "country"),
    description: text(properties, "description"),
    revenue: whole(properties, "financials", "revenueAnnual")?.toString() ?? null,
    funding: whole(properties, "financials", "fundingTotal")?.toString() ?? null,
    provider_ids: providerIds("exa", result, "id")
  })
}

const findCompanies = offer(companySearch, {
  // $0.007 per search, and per company the same as for a person
  price: inUsd.metered("0.007", "0.0008333", companySearchDefaultLimit),
  note: "Published rate, not measured yet. Filters are part of the search text and not applied exactly.",
  wraps: ["POST /search"],
  serves: (input) => input.cursor === undefined && (input.limit ?? companySearchDefaultLimit) <= searchResultsMax,
  request: (input) => ({
    body: {
      query: companySentence(input),
      type: "auto",
      category: "company",
      numResults: input.limit ?? companySearchDefaultLimit
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no companies found",
      limit: input.limit ?? companySearchDefaultLimit,
      item: companyOf
    })
})

const news = offer(newsSearch, {
  // $0.007
  price: inUsd.flat("0.007"),
  note: "Published rate, not measured yet.",
  wraps: ["POST /search"],
  // Articles that mention a domain are not news about the company. Exa has no filters for age and language.
  serves: (input) =>
    (input.limit ?? newsSearchDefaultLimit) <= webResultsMax &&
    input.recency === undefined &&
    input.language === undefined &&
    input.company_domain === undefined,
  request: (input) => ({
    body: {
      query: input.query,
      type: "auto",
      category: "news",
      numResults: input.limit ?? newsSearchDefaultLimit,
      ...defined({ userLocation: input.country?.toUpperCase() }),
      contents: { highlights: true }
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
        published_at: text(article, "publishedDate"),
        snippet: text(article, "highlights", 0) ?? text(article, "text"),
        image_url: text(article, "image")
      })
    })
})

/** Statuses of pages that do not exist or can't be read. Other statuses mean that Exa failed. */
const unreachable = new Set(["CRAWL_NOT_FOUND", "SOURCE_NOT_AVAILABLE", "UNSUPPORTED_URL"])

const scrape = offer(webScrape, {
  // A page
  price: inUsd.flat("0.001"),
  note: "Published rate of a page's text, not measured yet.",
  wraps: ["POST /contents"],
  serves: (input) => input.format !== "html" && input.format !== "links" && input.wait_ms === undefined,
  request: (input) => ({
    body:
      input.only_main_content === false
        ? // Exa reads the whole page only live, not from its cache.
          { urls: [input.url], text: { verbosity: "full" }, livecrawl: "always" }
        : { urls: [input.url], text: true }
  }),
  response: (reply, input) => {
    const status = list(reply.body, "statuses")?.[0]
    if (text(status, "status") === "error") {
      const tag = text(status, "error", "tag") ?? "CRAWL_UNKNOWN_ERROR"
      if (unreachable.has(tag)) return noMatch(`the page can't be read: ${tag}`)
      return failure(tag.endsWith("TIMEOUT") ? "provider_timeout" : "provider_error", `the page can't be read: ${tag}`)
    }
    const page = list(reply.body, "results")?.[0]
    if (page === undefined) return unreadable("results")
    const content = text(page, "text")
    if (content === null) return noMatch("the page is empty")
    return match(
      scrapedPage({
        url: input.url,
        final_url: text(page, "url"),
        title: text(page, "title"),
        content,
        metadata: withoutNulls({
          author: text(page, "author"),
          published_at: text(page, "publishedDate"),
          image: text(page, "image")
        })
      })
    )
  }
})

export const exa = provider({
  slug: "exa",
  title: "Exa",
  homepage: "https://exa.ai",
  base_url: "https://api.exa.ai",
  auth: { kind: "header", name: "x-api-key" },
  concurrency: 5,
  timeoutMillis: 20_000,
  httpErrors: httpErrors(),
  measured: dollarsSpent,
  offers: [search, findPeople, findCompanies, news, scrape]
})
