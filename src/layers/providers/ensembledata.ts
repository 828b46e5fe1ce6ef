/**
 * EnsembleData: social profiles and posts.
 *
 * A header reports the units of each answer. The price of a unit and the units of a request are not published in its client
 * library, so both are assumed; its offers wait for their adapters.
 */
import { socialPosts, socialPostsDefaultLimit } from "../../schema/capabilities/social.posts.ts"
import { socialProfile } from "../../schema/capabilities/social.profile.ts"
import { byPlatform, metered } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"
import { accepts } from "./cursor.ts"

const note = "Assumed at $0.0025 per unit."

const profile = listed(socialProfile, {
  // 2 units × $0.0025 × 1.2 on Instagram, 1 unit elsewhere
  price: byPlatform({ instagram: "0.006", tiktok: "0.003", x: "0.003", youtube: "0.003" }),
  platforms: ["instagram", "tiktok", "x", "youtube"],
  note: `${note} A profile is assumed to take one, two on Instagram.`,
  wraps: [
    { method: "GET", path: "/instagram/user/info" },
    { method: "GET", path: "/tt/user/info" },
    { method: "GET", path: "/twitter/user/info" },
    { method: "GET", path: "/youtube/channel/detailed-info" }
  ]
})

const posts = listed(socialPosts, {
  // 1 unit × $0.0025 × 1.2, and a tenth of one per post
  price: metered("0.003", "0.0003", socialPostsDefaultLimit),
  platforms: ["instagram", "tiktok", "x"],
  note: `${note} A page of ten posts is assumed to take one.`,
  wraps: [
    { method: "GET", path: "/instagram/user/posts" },
    { method: "GET", path: "/tt/user/posts" },
    { method: "GET", path: "/twitter/user/tweets" }
  ],
  serves: (input) => accepts("ensembledata", input.cursor)
})

export const ensembledata = provider({
  slug: "ensembledata",
  title: "EnsembleData",
  homepage: "https://ensembledata.com",
  base_url: "https://ensembledata.com/apis",
  auth: { kind: "query", name: "token" },
  credit: "0.0025",
  concurrency: 10,
  timeoutMillis: 60_000,
  offers: [profile, posts]
})
