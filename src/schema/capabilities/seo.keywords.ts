/**
 * seo.keywords: search volume and cost per click, for a list of keywords or for ideas from one keyword.
 *
 * Metered: a base price plus a price per keyword. A list requests as many results as it has keywords, and a seed as many as the limit.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import * as Locale from "./locale.ts"
import { listOf, orNull, pick } from "./shapes.ts"

/** The default limit for ideas from a seed. The quote is for as many ideas, and every adapter requests as many. */
export const seoKeywordsDefaultLimit = 10

/** The providers' maximum per call, and the maximum length of a keyword in Google's keyword planner. */
const keywordsMax = 1000
const keywordLengthMax = 80

export const seoKeywords = capability({
  slug: "seo.keywords",
  title: "Research keywords",
  category: "seo",
  description:
    "Returns monthly search volume, cost per click, competition, difficulty, trend and intent of keywords: either of a list of keywords, or of keyword ideas from one seed. For the pages that rank for a keyword, use serp.search; for the keywords of a site, seo.domain.",
  tags: [
    ...["keywords", "keyword research", "search volume", "cpc", "cost per click", "keyword difficulty", "kd"],
    ...[
      "keyword ideas",
      "keyword suggestions",
      "related keywords",
      "search trends",
      "search intent",
      "seo",
      "sem",
      "ppc"
    ],
    ...["google ads", "keyword planner"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per keyword delivered, never for more than were listed, or with a seed never for more than the limit (10 by default). An answer without keywords costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    keywords: Schema.optionalKey(
      Field.texts("Keywords to measure; the result has each of them", keywordLengthMax, keywordsMax)
    ),
    seed: Schema.optionalKey(
      Field.text("A keyword to get ideas from; not used when keywords are given", keywordLengthMax)
    ),
    country: Schema.optionalKey(Locale.country("Country of the searches, two letters; us by default")),
    language: Schema.optionalKey(Locale.language("Language of the searches, such as en; en by default")),
    limit: Schema.optionalKey(
      Field.limit("With seed: maximum number of ideas, 10 by default. Not used with keywords", keywordsMax)
    )
  }),
  anyOf: [["keywords"], ["seed"]],
  output: listOf(
    "Total number of matching keywords, if the provider reports it",
    "Always null: ask for a higher limit",
    {
      keyword: Schema.NullOr(Schema.String),
      search_volume: orNull(Schema.Int, "Searches per month, averaged over the last year"),
      cpc: orNull(Schema.Finite, "Cost of a click on an ad, in US dollars"),
      competition: orNull(Schema.Finite, "0 to 100: how many advertisers bid on it"),
      difficulty: orNull(Schema.Finite, "0 to 100: how hard it is to rank for"),
      trend: orNull(
        Schema.Array(
          Schema.Struct({
            year: Schema.Int,
            month: Schema.Int,
            volume: orNull(Schema.Finite, "Searches in the month")
          })
        ),
        "Number of searches in each month; null if the provider does not report them"
      ),
      intent: orNull(Schema.String, "informational, navigational, commercial, transactional or local")
    }
  ),
  example: { keywords: ["crm software", "sales automation"], country: "us", language: "en" },
  requested: (input) => input.keywords?.length ?? input.limit ?? null,
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const ideas = Array.from(
      { length: input.limit ?? seoKeywordsDefaultLimit },
      (_, index) => `${input.seed ?? "keyword"} idea ${index + 1}`
    )
    const all = input.keywords ?? ideas
    const keywords = partial ? all.slice(0, -1) : all
    return {
      items: keywords.map((keyword, index) => ({
        keyword,
        search_volume: 10 * (1 + ((seed + index) % 1000)),
        cpc: (50 + ((seed + index) % 400)) / 100,
        competition: (seed + index) % 101,
        difficulty: (seed + 7 * index) % 101,
        trend: [
          { year: 2025, month: 12, volume: 10 * (1 + ((seed + index) % 900)) },
          { year: 2025, month: 11, volume: 10 * (1 + ((seed + index) % 800)) }
        ],
        intent: pick(seed + index, ["informational", "commercial", "transactional", "navigational"])
      })),
      total: keywords.length,
      next_cursor: null
    }
  },
  missHints: (input) => [
    ...(input.country === undefined && input.language === undefined
      ? []
      : ["Check that country and language fit the keyword."]),
    ...(input.keywords === undefined ? ["Use a shorter and more common seed."] : ["Try seed to get related keywords."])
  ]
})
