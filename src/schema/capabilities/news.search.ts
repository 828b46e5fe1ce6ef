/**
 * news.search: news articles for a query, the latest and most relevant first.
 *
 * Charged per call, because providers also charge for searches that find nothing.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import * as Locale from "./locale.ts"
import { listOf, onePage, orNull, slug } from "./shapes.ts"

/** The default limit, which every adapter requests. */
export const newsSearchDefaultLimit = 10

export const newsSearch = capability({
  slug: "news.search",
  title: "Search the news",
  category: "web",
  description:
    "Searches news articles and returns headline, source, date, snippet and image; also news of one company by its domain. For pages of any kind, use web.search.",
  tags: [
    ...["news", "articles", "headlines", "press", "media", "media monitoring", "current events", "latest"],
    ...["company news", "press coverage", "funding news", "buying signals", "google news", "search"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: true,
    description: "Charged for every answered search, even if it finds nothing. A failed call costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    query: Field.text("What the news is about: words, a name or a company", 400),
    country: Schema.optionalKey(Locale.country("Country to search from, two letters such as us")),
    language: Schema.optionalKey(Locale.language("Language of the articles, such as en or pt-br")),
    recency: Schema.optionalKey(Locale.recency("Only articles published this recently")),
    limit: Schema.optionalKey(Field.limit("Maximum number of articles, 10 by default", 50)),
    company_domain: Schema.optionalKey(
      Field.domain("Only news about the company with this domain, such as example.com")
    )
  }),
  output: listOf("Total number of matching articles, if the provider reports it", onePage, {
    title: Schema.NullOr(Schema.String),
    url: Schema.NullOr(Schema.String),
    source: orNull(Schema.String, "Publisher: a name or a domain"),
    published_at: orNull(Schema.String, "A date, or words such as 3 days ago, as the provider reports it"),
    snippet: Schema.NullOr(Schema.String),
    image_url: Schema.NullOr(Schema.String)
  }),
  example: { query: "electric trucks", recency: "month", limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? newsSearchDefaultLimit) - (partial ? 1 : 0)
    return {
      items: Array.from({ length: count }, (_, index) => ({
        title: `${input.query} (simulated article ${index + 1})`,
        url: `https://news.example/${slug(input.query, "-") || "article"}-${index + 1}`,
        source: "The Example Times",
        published_at: `2026-01-${String(1 + ((seed + index) % 28)).padStart(2, "0")}`,
        snippet: `A made-up article about ${input.query}.`,
        image_url: null
      })),
      total: count,
      next_cursor: null
    }
  },
  missHints: (input) => [
    ...(input.recency === undefined ? [] : ["Drop recency or widen it to year."]),
    ...(input.company_domain === undefined ? [] : ["Drop company_domain and put the company's name into query."]),
    ...(input.language === undefined && input.country === undefined ? [] : ["Drop language and country."]),
    "Use fewer and more common words."
  ]
})
