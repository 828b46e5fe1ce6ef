/**
 * social.posts: the posts of an account on a social platform, latest first, page by page.
 *
 * Metered: a base price plus a price per post, never for more than the limit. An account without posts is not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { listOf, nextPage, slug } from "./shapes.ts"
import { accountUrl, handle, handleOf, Post, post } from "./posts.ts"

/** The default limit. The quote is for as many posts, and every adapter shortens its result to as many. */
export const socialPostsDefaultLimit = 10

export const socialPostsPlatforms = ["instagram", "tiktok", "x", "youtube", "facebook", "threads", "bluesky"] as const

export const socialPosts = capability({
  slug: "social.posts",
  title: "List an account's social media posts",
  category: "social",
  description:
    "Lists the recent public posts of an account on Instagram, TikTok, X (Twitter), YouTube, Facebook, Threads or Bluesky, with text, date, likes, comments, shares, views and media.",
  tags: [
    ...["social", "posts", "social media", "feed", "timeline", "content", "videos", "reels", "shorts", "tweets"],
    ...["engagement", "likes", "comments", "views", "creator", "influencer", "instagram", "ig", "insta", "tiktok"],
    ...["x", "twitter", "youtube", "facebook", "fb", "meta", "threads", "bluesky", "bsky", "scraper"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per post delivered, never for more posts than the limit (10 by default). An account without posts costs nothing."
  },
  platforms: socialPostsPlatforms,
  input: Schema.Struct({
    platform: Schema.Literals(socialPostsPlatforms).annotate({ description: "Where the account is; x is Twitter" }),
    handle: Schema.optionalKey(handle),
    url: Schema.optionalKey(accountUrl),
    limit: Schema.optionalKey(
      Field.limit("Maximum number of posts, 10 by default; a page of the platform may have fewer", 100)
    ),
    cursor: Schema.optionalKey(Field.text("next_cursor of the previous page, for the same account", 4096))
  }),
  anyOf: [["handle"], ["url"]],
  output: listOf("Total number of posts of the account, if the provider reports it", nextPage, Post.fields),
  example: { platform: "tiktok", handle: "example", limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? socialPostsDefaultLimit) - (partial ? 1 : 0)
    const account = handleOf(input) ?? "sample"
    const page = `https://social.example/${input.platform}/${slug(account, "-") || "sample"}`
    const items = Array.from({ length: count }, (_, index) =>
      post({
        id: `sim_${seed}_${index + 1}`,
        url: `${page}/${index + 1}`,
        text: `Made-up post ${index + 1} of ${account}.`,
        created_at: `2026-01-${String(28 - (index % 28)).padStart(2, "0")}T09:30:00Z`,
        likes: (seed + index * 37) % 5_000,
        comments: (seed + index * 11) % 300,
        shares: (seed + index * 5) % 100,
        views: 5_000 + ((seed + index * 101) % 90_000),
        media: [`${page}/${index + 1}.jpg`]
      })
    )
    return { items, total: count, next_cursor: null }
  },
  missHints: (input) => [
    ...(input.cursor === undefined ? [] : ["Leave out cursor to begin with the latest posts."]),
    ...(input.handle === undefined
      ? ["Give handle instead of url."]
      : ["Check the spelling of handle, without @, or give the account's url."]),
    "Check with social.profile that the account exists and is public."
  ]
})
