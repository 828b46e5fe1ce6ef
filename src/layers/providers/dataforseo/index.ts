/**
 * Adapter for DataForSEO: search results, keywords, backlinks, news, places, jobs, technologies and domain records.
 *
 * Every answer reports its cost in US dollars. Prices are published rates, or costs reported by recorded calls.
 */
import { provider } from "../../../schema/catalog/Provider.ts"
import { records, scrape, technologies } from "./domains.ts"
import { ads, jobs } from "./jobs.ts"
import { backlinks, domainOverview, keywords } from "./seo.ts"
import { news, places, results } from "./serp.ts"
import { spent, taskError } from "./task.ts"
import { number } from "../kit/read.ts"
import { creditsCall } from "../kit/credits.ts"

export const dataforseo = provider({
  slug: "dataforseo",
  title: "DataForSEO",
  homepage: "https://dataforseo.com",
  base_url: "https://api.dataforseo.com",
  auth: { kind: "basic" },
  // 2,000 calls a minute.
  concurrency: 30,
  timeoutMillis: 60_000,
  httpErrors: taskError,
  measured: spent,
  credits: creditsCall("/v3/appendix/user_data", "USD", (body) =>
    number(body, "tasks", 0, "result", 0, "money", "balance")
  ),
  offers: [results, news, places, jobs, ads, keywords, backlinks, domainOverview, technologies, scrape, records]
})
