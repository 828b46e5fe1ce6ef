/**
 * ScrapeCreators: social profiles and posts, ad libraries, network pages and Google results.
 *
 * Every answer reports the credits it cost, and an answer from its cache costs none. One credit for a request; prices follow
 * the pack of 500,000 credits for $497. Its offers wait for their adapters.
 */
import { adsSearch } from "../../schema/capabilities/ads.search.ts"
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { socialPosts, socialPostsDefaultLimit } from "../../schema/capabilities/social.posts.ts"
import { socialProfile } from "../../schema/capabilities/social.profile.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { byPlatform, flat, metered } from "../../schema/Pricing.ts"
import { listed, provider, type Wraps } from "../../schema/Provider.ts"
import { accepts } from "./cursor.ts"

const pages = (...paths: ReadonlyArray<string>): ReadonlyArray<Wraps> => paths.map((path) => ({ method: "GET", path }))

const note = "Published rate of the pack of 500,000 credits, $0.000994 per credit; small packs pay about twice as much."
/** 1 credit × $0.000994 × 1.2, rounded up */
const oneRequest = "0.001193"
const oneCredit = flat(oneRequest)

/** Results on one page of Google. */
const resultsMax = 10

const profile = listed(socialProfile, {
  price: byPlatform({
    instagram: oneRequest,
    tiktok: oneRequest,
    x: oneRequest,
    youtube: oneRequest,
    facebook: oneRequest,
    threads: oneRequest,
    bluesky: oneRequest,
    reddit: oneRequest
  }),
  platforms: ["instagram", "tiktok", "x", "youtube", "facebook", "threads", "bluesky", "reddit"],
  note: `${note} On Reddit it knows communities, not people.`,
  wraps: pages(
    "/v1/instagram/profile",
    "/v1/tiktok/profile",
    "/v1/twitter/profile",
    "/v1/youtube/channel",
    "/v1/facebook/profile",
    "/v1/threads/profile",
    "/v1/bluesky/profile",
    "/v1/reddit/subreddit/details"
  )
})

const posts = listed(socialPosts, {
  // 1 credit for the first page, and a third of one per post, because the smallest pages hold 3: $0.000994 ÷ 3 × 1.2, rounded up
  price: metered(oneRequest, "0.000398", socialPostsDefaultLimit),
  platforms: ["instagram", "tiktok", "x", "youtube", "facebook", "threads", "bluesky"],
  note: `${note} A page holds 3 posts on one platform and 30 on another; priced at 3.`,
  wraps: pages(
    "/v2/instagram/user/posts",
    "/v3/tiktok/profile/videos",
    "/v1/twitter/user-tweets",
    "/v1/youtube/channel-videos",
    "/v1/facebook/profile/posts",
    "/v1/threads/user/posts",
    "/v1/bluesky/user/posts"
  ),
  serves: (input) => accepts("scrapecreators", input.cursor)
})

const ads = listed(adsSearch, {
  price: oneCredit,
  platforms: ["meta", "google", "network", "tiktok"],
  note,
  wraps: pages(
    "/v1/facebook/adLibrary/search/ads",
    "/v1/facebook/adLibrary/company/ads",
    "/v1/google/company/ads",
    "/v1/linkedin/ads/search",
    "/v1/tiktok/ad-library/search"
  ),
  serves: (input) => accepts("scrapecreators", input.cursor)
})

const networkPage = listed(networkProfile, {
  price: oneCredit,
  note,
  wraps: pages("/v1/linkedin/profile"),
  serves: (input) => input.network_url !== undefined
})

const enrichCompany = listed(companyEnrich, {
  price: oneCredit,
  note,
  wraps: pages("/v1/linkedin/company"),
  serves: (input) => input.network_url !== undefined
})

const search = listed(webSearch, {
  price: oneCredit,
  note: `${note} One page of Google's results.`,
  wraps: pages("/v1/google/search"),
  serves: (input) => (input.limit ?? webSearchDefaultLimit) <= resultsMax && input.language === undefined
})

export const scrapecreators = provider({
  slug: "scrapecreators",
  title: "ScrapeCreators",
  homepage: "https://scrapecreators.com",
  base_url: "https://api.scrapecreators.com",
  auth: { kind: "header", name: "x-api-key" },
  credit: "0.000994",
  concurrency: 20,
  timeoutMillis: 60_000,
  offers: [profile, posts, ads, networkPage, enrichCompany, search]
})
