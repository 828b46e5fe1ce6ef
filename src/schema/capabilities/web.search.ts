/**
 * web.search: ranked pages for a query.
 *
 * Charged per call, because providers also charge for searches that find nothing.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull, slug } from "./shapes.ts"

/** The default limit, which every adapter requests. */
export const webSearchDefaultLimit = 10

export const webSearch = capability({
  slug: "web.search",
  title: "Search the web",
  category: "web",
  description: "Searches the public web and returns ranked pages with title, address and snippet.",
  tags: [
    ...[
      "web search",
      "search the web",
      "internet search",
      "search the internet",
      "online search",
      "find pages",
      "look up online"
    ],
    ...["search engine", "websearch for agents", "research", "articles about a topic", "pages"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: true,
    description: "Charged for every answered search, even if it finds nothing. A failed call costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    query: Field.text("What to search for", 400),
    limit: Schema.optionalKey(Field.limit("Maximum number of results, 10 by default", 50)),
    country: Schema.optionalKey(
      Schema.String.annotate({ description: "Country to search from, two letters such as us" }).check(
        Schema.isPattern(/^[A-Za-z]{2}$/u)
      )
    ),
    language: Schema.optionalKey(
      Schema.String.annotate({ description: "Language of the results, such as en or pt-br" }).check(
        Schema.isPattern(/^[A-Za-z]{2}(-[A-Za-z]{2})?$/u)
      )
    ),
    include_domains: Schema.optionalKey(Field.domains("Only results of these domains", 20)),
    exclude_domains: Schema.optionalKey(Field.domains("No results of these domains", 20)),
    recency: Schema.optionalKey(
      Schema.Literals(["day", "week", "month", "year"]).annotate({ description: "Only pages published this recently" })
    )
  }),
  output: Schema.Struct({
    items: Schema.Array(
      Schema.Struct({
        title: Schema.NullOr(Schema.String),
        url: Schema.NullOr(Schema.String),
        snippet: Schema.NullOr(Schema.String),
        published_at: orNull(Schema.String, "A date, or words such as 3 days ago, as the provider reports it"),
        score: orNull(Schema.Finite, "The provider's relevance score"),
        position: orNull(Schema.Int, "Position in the results, from 1")
      })
    ),
    answer: orNull(Schema.String, "A short answer to the query, from providers that write one"),
    total: orNull(Schema.Int, "Total number of matching pages, if the provider reports it"),
    next_cursor: orNull(Schema.String, "Always null: a search has one page, ask for a higher limit")
  }),
  example: { query: "open source workflow engines", limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? webSearchDefaultLimit) - (partial ? 1 : 0)
    const host = input.include_domains?.[0]?.toLowerCase() ?? "search.example"
    return {
      items: Array.from({ length: count }, (_, index) => ({
        title: `${input.query} (simulated result ${index + 1})`,
        url: `https://${host}/${slug(input.query, "-") || "page"}/${index + 1}`,
        snippet: `A made-up page about ${input.query}.`,
        published_at: `2026-01-${String(1 + (seed % 28)).padStart(2, "0")}`,
        score: Math.round(100 - (index * 100) / (count + 1)) / 100,
        position: index + 1
      })),
      answer: null,
      total: count,
      next_cursor: null
    }
  },
  missHints: (input) => [
    ...(input.recency === undefined ? [] : ["Drop recency or widen it to year."]),
    ...(input.include_domains === undefined ? [] : ["Drop include_domains."]),
    "Use fewer and more common words."
  ]
})
