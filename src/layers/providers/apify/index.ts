/**
 * Adapter for Apify, a marketplace of scrapers. Apify calls them actors, and each has its own price.
 *
 * An actor's run reports its cost in US dollars and takes a cap that Apify enforces. Prices are those that the actors publish in their
 * titles or descriptions.
 */
import { provider } from "../../../schema/catalog/Provider.ts"
import { enrichCompany, findJobs, findPeople } from "./network.ts"
import { networkPage } from "./profiles.ts"
import { runCost } from "./runs.ts"
import { results, traffic } from "./seo.ts"
import { posts } from "./posts.ts"
import { ads, profile } from "./social.ts"
import { availability, news, places, scrape } from "./web.ts"
import { at, number } from "../kit/read.ts"
import { creditsCall, leftOf } from "../kit/credits.ts"

export const apify = provider({
  slug: "apify",
  title: "Apify",
  homepage: "https://apify.com",
  base_url: "https://api.apify.com/v2",
  auth: { kind: "bearer" },
  concurrency: 50,
  // An actor starts a container before it scrapes, which takes minutes.
  timeoutMillis: 300_000,
  measured: (reply) => runCost(at(reply.body, "data")),
  // Usage in USD is limited by the month.
  credits: creditsCall(
    "/users/me/limits",
    "USD",
    (body) =>
      leftOf(number(body, "data", "limits", "maxMonthlyUsageUsd"), number(body, "data", "current", "monthlyUsageUsd")),
    { path: ["data", "monthlyUsageCycle", "endAt"], renews: true }
  ),
  offers: [
    findPeople,
    enrichCompany,
    findJobs,
    scrape,
    results,
    places,
    news,
    traffic,
    profile,
    posts,
    ads,
    networkPage,
    availability
  ]
})
