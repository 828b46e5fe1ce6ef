/**
 * serp.search: a search engine's results page, in the order of its positions.
 *
 * Charged per call, because providers also charge for a page without results.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import * as Locale from "./locale.ts"
import { orNull, slug } from "./shapes.ts"

/** The default depth, which every adapter requests. */
export const serpSearchDefaultDepth = 10

export const serpSearch = capability({
  slug: "serp.search",
  title: "Read a search engine results page",
  category: "seo",
  description:
    "Returns the Google results page for a query exactly as it ranks in a country, place, language and device: organic results with positions, page features and the number of results. For rank tracking and SEO. To research a topic and get the best pages to read, use web.search.",
  tags: [
    ...["serp", "google", "google search", "search engine results", "ranking", "rankings", "rank tracking"],
    ...["position", "organic", "seo", "keyword", "serp features", "people also ask", "google maps", "local pack"],
    ...["google position", "rank checker", "position for a keyword", "google ranking"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: true,
    description: "Charged for every results page that is read, even an empty one. A failed call costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    query: Field.text("What a visitor types into the search engine", 400),
    engine: Schema.optionalKey(
      Schema.Literals(["google"]).annotate({ description: "The search engine; google is the only one" })
    ),
    country: Schema.optionalKey(Locale.country("Country to search from, two letters; us by default")),
    location: Schema.optionalKey(Field.text("City or region to search from, such as Austin,Texas,United States", 200)),
    language: Schema.optionalKey(Locale.language("Language of the search, such as en or pt-br; en by default")),
    device: Schema.optionalKey(
      Schema.Literals(["desktop", "mobile"]).annotate({
        description: "The device that the results page is for, desktop by default"
      })
    ),
    depth: Schema.optionalKey(
      Schema.Int.annotate({
        description: "Number of results to read, from the top of the ranking; 10 by default"
      }).check(Schema.isBetween({ minimum: 10, maximum: 100 }))
    ),
    type: Schema.optionalKey(
      Schema.Literals(["organic", "maps"]).annotate({
        description: "organic (default): the web results; maps: the places on the map"
      })
    )
  }),
  output: Schema.Struct({
    items: Schema.Array(
      Schema.Struct({
        type: orNull(Schema.String, "Kind of result: organic, featured_snippet, video, map and the like"),
        position: orNull(Schema.Int, "Position on the page, from 1"),
        title: Schema.NullOr(Schema.String),
        url: Schema.NullOr(Schema.String),
        domain: Schema.NullOr(Schema.String),
        snippet: Schema.NullOr(Schema.String)
      })
    ),
    features: Schema.Array(Schema.String).annotate({
      description: "What the page shows beside plain results, such as people_also_ask or knowledge_graph"
    }),
    total_results: orNull(Schema.Int, "Number of results that the search engine reports"),
    total: orNull(Schema.Int, "The same as total_results, under the name that every list uses"),
    next_cursor: orNull(Schema.String, "Always null: a search has one page, ask for a higher depth")
  }),
  example: { query: "crm software", country: "us", language: "en", depth: 10 },
  requested: (input) => input.depth ?? null,
  side_effect: false,
  simulate: ({ input, partial }) => {
    const count = (input.depth ?? serpSearchDefaultDepth) - (partial ? 1 : 0)
    const type = input.type ?? "organic"
    return {
      items: Array.from({ length: count }, (_, index) => ({
        type,
        position: index + 1,
        title: `${input.query} (simulated result ${index + 1})`,
        url: `https://site-${index + 1}.example/${slug(input.query, "-") || "page"}`,
        domain: `site-${index + 1}.example`,
        snippet: `A made-up page about ${input.query}.`
      })),
      features: type === "organic" ? ["people_also_ask", "related_searches"] : [],
      total_results: count * 1000,
      total: count * 1000,
      next_cursor: null
    }
  },
  missHints: (input) => [
    ...(input.location === undefined ? [] : ["Drop location, or write it as city, region and country."]),
    ...(input.type === "maps" ? ["Name a kind of business and a place in the query."] : []),
    "Use fewer and more common words, without quotes and operators."
  ]
})
