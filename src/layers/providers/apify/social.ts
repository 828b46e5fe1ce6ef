/**
 * Offers for social platforms through Apify actors: accounts and posts on Instagram and TikTok, and single TikTok ads.
 *
 * The actors' descriptions document the names of their flat fields only. Their items have no token for a next page.
 */
import { ad, type Post, post } from "../../../schema/capabilities/posts.ts"
import { adsSearch } from "../../../schema/capabilities/ads.search.ts"
import { socialPosts, socialPostsDefaultLimit } from "../../../schema/capabilities/social.posts.ts"
import { socialProfile } from "../../../schema/capabilities/social.profile.ts"
import { byPlatform, flat, metered } from "../../../schema/money/Pricing.ts"
import { accountName, type AccountInput } from "../kit/accounts.ts"
import { actorOffer } from "./runs.ts"
import { moment, seconds } from "../kit/moment.ts"
import { match, noMatch } from "../kit/outcome.ts"
import { flag, number, text, whole } from "../kit/read.ts"
import { unreadable } from "../kit/httpErrors.ts"

/** USD per result of the more expensive actors. The price of a result is 1.2 times that. */
const resultCost = 0.0003

const actors = {
  instagramProfile: "thescrappa/instagram-user-info-cheapest-0-20-1000-results",
  tiktokProfile: "thescrappa/tiktok-profile-scraper",
  instagramPosts: "thescrappa/instagram-user-posts-cheapest-0-20-1000-results",
  tiktokPosts: "thescrappa/tiktok-user-posts-scraper",
  ads: "thescrappa/tiktok-ads-scraper"
} as const

/** Account names that the actors accept. Any other name would only cost the start of a run. */
const nameOf = (input: AccountInput): string | null => {
  const name = accountName(input)
  return name !== null && /^[a-zA-Z0-9._-]{2,30}$/.test(name) ? name : null
}

const isInstagram = (input: AccountInput) => input.platform === "instagram"

const accountOf = (input: AccountInput) =>
  isInstagram(input) ? { username: nameOf(input) } : { profile: `@${nameOf(input)}` }

const pageOf = (input: AccountInput, name: string | null): string | null =>
  name === null ? null : isInstagram(input) ? `https://www.instagram.com/${name}/` : `https://www.tiktok.com/@${name}`

export const profile = actorOffer(socialProfile, {
  // $0.0002 × 1.2 and $0.0003 × 1.2
  price: byPlatform({ instagram: "0.00024", tiktok: "0.00036" }),
  platforms: ["instagram", "tiktok"],
  note: "The Instagram actor publishes $0.20 per 1,000 results. The TikTok actor is assumed at $0.30.",
  actors: [actors.instagramProfile, actors.tiktokProfile],
  serves: (input) => nameOf(input) !== null,
  start: (input) => ({
    actor: isInstagram(input) ? actors.instagramProfile : actors.tiktokProfile,
    input: accountOf(input),
    price: resultCost,
    itemsMax: 1
  }),
  read: ([item], input, cost) => {
    const handle = text(item, isInstagram(input) ? "username" : "unique_id")
    if (handle === null) return noMatch("there is no such account", cost)
    const shared = {
      platform: input.platform,
      handle,
      followers: whole(item, "follower_count"),
      following: whole(item, "following_count"),
      url: pageOf(input, handle),
      external_links: null,
      email: null,
      category: null
    }
    return match(
      isInstagram(input)
        ? {
            ...shared,
            name: text(item, "full_name"),
            bio: text(item, "biography"),
            posts_count: whole(item, "media_count"),
            verified: flag(item, "is_verified"),
            avatar_url: null
          }
        : {
            ...shared,
            name: text(item, "nickname"),
            bio: null,
            posts_count: whole(item, "video_count"),
            verified: flag(item, "verified"),
            avatar_url: text(item, "avatar")
          },
      cost
    )
  }
})

/** Maximum number of posts of the TikTok actor. The Instagram actor reads one page. */
const postsMax = 50

const instagramPost = (one: unknown): Post =>
  post({
    id: text(one, "id"),
    url: text(one, "permalink"),
    text: text(one, "caption"),
    created_at: number(one, "taken_at") === null ? moment(one, "taken_at") : seconds(one, "taken_at"),
    likes: whole(one, "like_count"),
    comments: whole(one, "comment_count"),
    views: whole(one, "play_count")
  })

const tiktokPost = (one: unknown, account: string | null): Post => {
  const id = text(one, "aweme_id")
  return post({
    id,
    url: id === null || account === null ? null : `https://www.tiktok.com/@${account}/video/${id}`,
    text: text(one, "desc"),
    created_at: seconds(one, "create_time"),
    likes: whole(one, "digg_count"),
    comments: whole(one, "comment_count"),
    shares: whole(one, "share_count"),
    views: whole(one, "play_count")
  })
}

export const posts = actorOffer(socialPosts, {
  // 1 post × $0.0003 × 1.2
  price: metered("0", "0.00036", socialPostsDefaultLimit),
  platforms: ["instagram", "tiktok"],
  note: "The Instagram actor publishes $0.20 per 1,000 posts. The TikTok actor is assumed at $0.30, and both are priced at that. Latest posts only, because neither documents a next page.",
  actors: [actors.instagramPosts, actors.tiktokPosts],
  serves: (input) => nameOf(input) !== null && input.cursor === undefined,
  start: (input) => {
    const itemsMax = input.limit ?? socialPostsDefaultLimit
    return {
      actor: isInstagram(input) ? actors.instagramPosts : actors.tiktokPosts,
      input: isInstagram(input) ? accountOf(input) : { ...accountOf(input), count: Math.min(itemsMax, postsMax) },
      price: postsMax * resultCost,
      itemsMax
    }
  },
  read: (results, input, cost) => {
    const items = results
      .slice(0, input.limit ?? socialPostsDefaultLimit)
      .map((one) =>
        isInstagram(input) ? instagramPost(one) : tiktokPost(one, text(one, "lookup_unique_id") ?? nameOf(input))
      )
      .filter((one) => one.id !== null)
    return items.length === 0
      ? noMatch("there is no such account, or it has no public posts", cost)
      : match({ items, total: null, next_cursor: null }, cost)
  }
})

/** The URL of one ad in TikTok's Creative Center, in the form that the actor accepts. */
const adPage = /^https:\/\/ads\.tiktok\.com\/business\/creativecenter\/topads\/\d+(\/pc\/en)?\/?([?#]\S*)?$/i

export const ads = actorOffer(adsSearch, {
  // 1 result × $0.0003 × 1.2
  price: flat("0.00036"),
  platforms: ["tiktok"],
  note: "The actor publishes no price of its own; assumed at $0.30 per 1,000 results, like similar actors. It reads the ad at a URL of TikTok's Creative Center and can't search.",
  actors: [actors.ads],
  serves: (input) => adPage.test(input.query ?? "") && input.active_only !== true,
  start: (input) => ({ actor: actors.ads, input: { urls: [input.query] }, price: resultCost, itemsMax: 1 }),
  read: (results, input, cost) => {
    const [one] = results
    // The provider charges for a miss, so it is a miss only if the actor says so.
    if (results.length === 0 || flag(one, "result_found") === false) return noMatch("there is no such ad", cost)
    const id = text(one, "ad_id")
    if (id === null) return unreadable("ad_id")
    const item = ad({
      id,
      advertiser: text(one, "advertiser_name") ?? text(one, "brand_name"),
      platform: input.platform,
      text: text(one, "creative_text"),
      image_url: text(one, "cover"),
      video_url: text(one, "video_url"),
      landing_url: text(one, "landing_page"),
      library_url: text(one, "request_url") ?? input.query ?? null
    })
    return match({ items: [item], total: null, next_cursor: null }, cost)
  }
})
