/**
 * Offers of SE Ranking: keywords, backlinks and an overview of a domain. They are only listed, without an adapter.
 *
 * Its answers and prices have not been seen yet. Do not write an adapter before a real answer is available.
 */
import { seoBacklinks, seoBacklinksDefaultLimit } from "../../schema/capabilities/seo.backlinks.ts"
import { seoDomain } from "../../schema/capabilities/seo.domain.ts"
import { seoKeywords, seoKeywordsDefaultLimit } from "../../schema/capabilities/seo.keywords.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { listed, provider } from "../../schema/catalog/Provider.ts"

const note = "Coming soon: its answers and prices have not been seen yet, so this price is assumed."

const keywords = listed(seoKeywords, {
  price: inUsd.metered("0", "0.0005", seoKeywordsDefaultLimit),
  note,
  wraps: [
    { method: "POST", path: "/v1/keywords/export" },
    { method: "GET", path: "/v1/keywords/related" }
  ]
})

const backlinks = listed(seoBacklinks, {
  price: inUsd.metered("0.01", "0.0002", seoBacklinksDefaultLimit),
  note,
  wraps: [
    { method: "GET", path: "/v1/backlinks/summary" },
    { method: "GET", path: "/v1/backlinks/raw" }
  ]
})

const domainOverview = listed(seoDomain, {
  price: inUsd.flat("0.015"),
  note,
  wraps: [{ method: "GET", path: "/v1/domain/overview/db" }]
})

export const seranking = provider({
  slug: "seranking",
  title: "SE Ranking",
  homepage: "https://seranking.com",
  base_url: "https://api.seranking.com",
  auth: { kind: "header", name: "authorization", prefix: "Token " },
  concurrency: 5,
  timeoutMillis: 30_000,
  offers: [keywords, backlinks, domainOverview]
})
