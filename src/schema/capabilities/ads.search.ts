/**
 * ads.search: ads that a company runs, from a platform's public ad library, page by page.
 *
 * Charged per call, because providers also charge for searches that find no ad.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { country } from "./locale.ts"
import { listOf, nextPage, sandboxDomain, slug, titleCase } from "./shapes.ts"
import { Ad, ad } from "./posts.ts"

/** The default limit. Every adapter shortens its result to the limit. */
export const adsSearchDefaultLimit = 10

export const adsSearchPlatforms = ["meta", "google", "network", "tiktok"] as const

export const adsSearch = capability({
  slug: "ads.search",
  title: "Search ad libraries",
  category: "ads",
  description:
    "Finds ads in the public ad libraries of Meta (Facebook and Instagram), Google, LinkedIn (network) and TikTok by advertiser domain, advertiser name or keywords: text, creative, landing page and dates.",
  tags: [
    ...["ads", "search", "advertising", "ad library", "ads library", "ad transparency", "adverts", "advertiser"],
    ...["competitor ads", "creatives", "campaigns", "paid media", "sponsored", "meta", "facebook", "instagram"],
    ...["google", "google ads", "youtube", "network", "linkedin", "tiktok", "spy"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: true,
    description:
      "Charged for every answered search, at the platform's price, even if it finds no ad. A failed call costs nothing."
  },
  platforms: adsSearchPlatforms,
  input: Schema.Struct({
    platform: Schema.Literals(adsSearchPlatforms).annotate({
      description: "The ad library: meta is Facebook and Instagram, network is LinkedIn"
    }),
    company_domain: Schema.optionalKey(Field.domain("The advertiser's domain, such as example.com")),
    company_name: Schema.optionalKey(Field.text("The advertiser's name", 200)),
    query: Schema.optionalKey(Field.text("Words from the ads", 400)),
    country: Schema.optionalKey(country("Country in which the ads were shown, two letters such as us")),
    active_only: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "true: only ads that run now; false by default" })
    ),
    limit: Schema.optionalKey(
      Field.limit("Maximum number of ads, 10 by default; a page of the library may have fewer", 100)
    ),
    cursor: Schema.optionalKey(Field.text("next_cursor of the previous page, with the same filters", 4096))
  }),
  anyOf: [["company_domain"], ["company_name"], ["query"]],
  output: listOf("Total number of matching ads, if the provider reports it", nextPage, Ad.fields),
  example: { platform: "meta", company_domain: "example.com", limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? adsSearchDefaultLimit) - (partial ? 1 : 0)
    const domain = sandboxDomain(input)
    const advertiser = input.company_name ?? titleCase(domain.split(".")[0] ?? "")
    const about = input.query ?? "a made-up offer"
    const items = Array.from({ length: count }, (_, index) => {
      const active = input.active_only === true || (seed + index) % 3 !== 0
      return ad({
        id: `sim_${seed}_${index + 1}`,
        advertiser,
        platform: input.platform,
        headline: `Made-up ad ${index + 1}`,
        text: `An ad for ${about}, simulated.`,
        image_url: `https://ads.example/${input.platform}/${slug(advertiser, "-") || "sample"}/${index + 1}.jpg`,
        landing_url: `https://${domain}/offer/${index + 1}`,
        started_at: `2026-01-${String(1 + ((seed + index) % 28)).padStart(2, "0")}`,
        ended_at: active ? null : "2026-02-15",
        active,
        library_url: `https://ads.example/${input.platform}/${index + 1}`
      })
    })
    return { items, total: count, next_cursor: null }
  },
  missHints: (input) => [
    ...(input.active_only === true ? ["Leave out active_only to see ads that have ended."] : []),
    ...(input.country === undefined ? [] : ["Leave out country."]),
    ...(input.company_domain === undefined
      ? ["Give company_domain, which names an advertiser best on google."]
      : ["Give company_name: some ad libraries know advertisers by name only."]),
    "Try another platform: companies rarely advertise on all of them."
  ]
})
