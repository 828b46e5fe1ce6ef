/**
 * Offers for social platforms through Apify actors: accounts on Instagram and TikTok, and single TikTok ads.
 */
import { ad } from "../../../schema/capabilities/posts.ts"
import { adsSearch } from "../../../schema/capabilities/ads.search.ts"
import { socialProfile } from "../../../schema/capabilities/social.profile.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { type AccountInput, accountName } from "../kit/accounts.ts"
import { actorOffer } from "./runs.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { flag, text, whole } from "../kit/read.ts"

/** The TikTok actor writes account names with an @. */
export const unmarked = (name: string | null): string | null => name?.replace(/^@+/, "") ?? null

/** USD per result of the more expensive actors. */
export const resultCost = 0.0003

const actors = {
  instagramProfile: "thescrappa/instagram-user-info-cheapest-0-20-1000-results",
  tiktokProfile: "thescrappa/tiktok-profile-scraper",
  ads: "thescrappa/tiktok-ads-scraper"
} as const

/** Account names that the actors accept. Any other name would only cost the start of a run. */
export const nameOf = (input: AccountInput): string | null => {
  const name = accountName(input)
  return name !== null && /^[a-zA-Z0-9._-]{2,30}$/.test(name) ? name : null
}

export const isInstagram = (input: AccountInput) => input.platform === "instagram"

export const accountOf = (input: AccountInput) =>
  isInstagram(input) ? { username: nameOf(input) } : { profile: `@${nameOf(input)}` }

const pageOf = (input: AccountInput, name: string | null): string | null =>
  name === null ? null : isInstagram(input) ? `https://www.instagram.com/${name}/` : `https://www.tiktok.com/@${name}`

export const profile = actorOffer(socialProfile, {
  price: inUsd.byPlatform({ instagram: "0.0002", tiktok: "0.0003" }),
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
    const handle = unmarked(text(item, isInstagram(input) ? "username" : "unique_id"))
    if (handle === null || handle === "") return noMatch("there is no such account", cost)
    const shared = {
      platform: input.platform,
      handle,
      followers: whole(item, "follower_count"),
      following: whole(item, "following_count"),
      url: pageOf(input, handle),
      email: null,
      category: null
    }
    const link = text(item, "external_url")
    return match(
      isInstagram(input)
        ? {
            ...shared,
            name: text(item, "full_name"),
            bio: text(item, "biography"),
            posts_count: whole(item, "media_count"),
            verified: flag(item, "is_verified"),
            avatar_url: text(item, "profile_pic_url"),
            external_links: link === null ? null : [link]
          }
        : {
            ...shared,
            name: text(item, "nickname"),
            bio: text(item, "signature"),
            posts_count: whole(item, "video_count"),
            verified: flag(item, "verified"),
            avatar_url: text(item, "avatar"),
            external_links: null
          },
      cost
    )
  }
})

/** The URL of one ad in TikTok's Creative Center, in the form that the actor accepts. */
const adPage = /^https:\/\/ads\.tiktok\.com\/business\/creativecenter\/topads\/\d+(\/pc\/en)?\/?([?#]\S*)?$/i

export const ads = actorOffer(adsSearch, {
  price: inUsd.flat("0.0003"),
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
