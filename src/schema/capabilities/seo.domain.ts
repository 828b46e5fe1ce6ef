/**
 * seo.domain: the search traffic of a domain and the keywords that it ranks for.
 *
 * Charged per call, because providers also charge for a domain that ranks for nothing.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import * as Locale from "./locale.ts"
import { orNull } from "./shapes.ts"

/** The default limit, which every adapter requests. */
export const seoDomainDefaultLimit = 10

export const seoDomain = capability({
  slug: "seo.domain",
  title: "Analyze a domain's search traffic",
  category: "seo",
  description:
    "Returns how many keywords a domain ranks for, its estimated visitors from search, its paid keywords, its traffic rank and the top keywords it ranks for with positions. For links to the domain, use seo.backlinks; for one results page, serp.search.",
  tags: [
    ...["domain overview", "site analysis", "organic traffic", "website traffic", "search traffic", "visitors"],
    ...["ranked keywords", "organic keywords", "paid keywords", "competitor analysis", "competitor keywords"],
    ...["visibility", "traffic estimate", "seo", "domain", "rank"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: true,
    description:
      "Charged for every delivered report, even if the domain ranks for nothing. A failed call costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    domain: Field.domain("The domain without scheme or path, such as example.com"),
    country: Schema.optionalKey(Locale.country("Country of the searches, two letters; us by default")),
    language: Schema.optionalKey(Locale.language("Language of the searches, such as en; en by default")),
    limit: Schema.optionalKey(Field.limit("Maximum number of top keywords, 10 by default", 100))
  }),
  output: Schema.Struct({
    organic_keywords: orNull(Schema.Int, "Keywords for which the domain is among the first 100 results"),
    organic_traffic: orNull(Schema.Finite, "Estimated visits per month from unpaid search results"),
    paid_keywords: orNull(Schema.Int, "Keywords for which the domain shows ads"),
    top_keywords: Schema.Array(
      Schema.Struct({
        keyword: Schema.NullOr(Schema.String),
        position: orNull(Schema.Int, "Position of the domain for the keyword, from 1"),
        volume: orNull(Schema.Int, "Searches per month for the keyword"),
        url: orNull(Schema.String, "The page that ranks")
      })
    ),
    rank: orNull(Schema.Int, "The domain's place among all sites by traffic, 1 is the most visited")
  }),
  example: { domain: "example.com", country: "us", limit: 5 },
  matched: (output) =>
    output.top_keywords.length > 0 ||
    output.rank !== null ||
    [output.organic_keywords, output.organic_traffic, output.paid_keywords].some((figure) => (figure ?? 0) > 0),
  results: (output) => output.top_keywords.length,
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? seoDomainDefaultLimit) - (partial ? 1 : 0)
    const domain = input.domain.toLowerCase()
    return {
      organic_keywords: count + (seed % 5000),
      organic_traffic: 100 + (seed % 100_000),
      paid_keywords: seed % 50,
      top_keywords: Array.from({ length: count }, (_, index) => ({
        keyword: `simulated keyword ${index + 1}`,
        position: 1 + index,
        volume: 10 * (1 + ((seed + index) % 1000)),
        url: `https://${domain}/page-${index + 1}`
      })),
      rank: 1000 + (seed % 1_000_000)
    }
  },
  missHints: (input) => [
    ...(input.country === undefined ? ["Give the country where the site has its visitors."] : ["Try another country."]),
    "Give the main domain without a subdomain."
  ]
})
