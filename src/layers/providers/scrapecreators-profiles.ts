/**
 * ScrapeCreators' profiles: one endpoint and one shape for each platform.
 *
 * A private account is found by its page alone; an account that does not exist is a miss.
 */
import type { InputOf } from "../../schema/Capability.ts"
import { socialProfile } from "../../schema/capabilities/social.profile.ts"
import { byPlatform } from "../../schema/Pricing.ts"
import { type Call, offer, type Wraps } from "../../schema/Provider.ts"
import { type AccountInput, accountName } from "./accounts.ts"
import { match } from "./outcome.ts"
import { at, flag, list, text, texts, whole } from "./read.ts"
import { charged, missing } from "./scrapecreators-answer.ts"
import { unreadable } from "./trouble.ts"

/** The capability's output, but for the platform. */
interface Profile {
  readonly handle: string | null
  readonly name: string | null
  readonly bio: string | null
  readonly followers: number | null
  readonly following: number | null
  readonly posts_count: number | null
  readonly verified: boolean | null
  readonly avatar_url: string | null
  readonly url: string | null
  readonly external_links: ReadonlyArray<string> | null
  readonly email: string | null
  readonly category: string | null
}

const nobody: Profile = {
  handle: null,
  name: null,
  bio: null,
  followers: null,
  following: null,
  posts_count: null,
  verified: null,
  avatar_url: null,
  url: null,
  external_links: null,
  email: null,
  category: null
}

/** "9,221 videos" */
const counted = (value: unknown, ...path: ReadonlyArray<string>): number | null => {
  const found = text(value, ...path)?.match(/^[\d,]+/)?.[0]
  return found === undefined ? null : whole(found.replaceAll(",", ""))
}

const page = (prefix: string, handle: string | null): string | null => (handle === null ? null : `${prefix}${handle}`)

/** The addresses in a list of objects. */
const addresses = (value: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<string> | null =>
  list(value, ...path)?.flatMap((one) => text(one, "url") ?? []) ?? null

const instagram = (body: unknown): Profile => {
  const user = at(body, "data", "user")
  const handle = text(user, "username")
  const only = text(user, "external_url")
  return {
    ...nobody,
    handle,
    name: text(user, "full_name"),
    bio: text(user, "biography"),
    followers: whole(user, "edge_followed_by", "count"),
    following: whole(user, "edge_follow", "count"),
    posts_count: whole(user, "edge_owner_to_timeline_media", "count"),
    verified: flag(user, "is_verified"),
    avatar_url: text(user, "profile_pic_url_hd") ?? text(user, "profile_pic_url"),
    url: page("https://www.instagram.com/", handle),
    external_links: addresses(user, "bio_links") ?? (only === null ? null : [only]),
    email: text(user, "business_email"),
    category: text(user, "category_name")
  }
}

const tiktok = (body: unknown): Profile => {
  const user = at(body, "user")
  const handle = text(user, "uniqueId")
  const link = text(user, "bioLink", "link")
  return {
    ...nobody,
    handle,
    name: text(user, "nickname"),
    bio: text(user, "signature"),
    followers: whole(body, "stats", "followerCount"),
    following: whole(body, "stats", "followingCount"),
    posts_count: whole(body, "stats", "videoCount"),
    verified: flag(user, "verified"),
    avatar_url: text(user, "avatarLarger"),
    url: page("https://www.tiktok.com/@", handle),
    external_links: link === null ? [] : [link]
  }
}

const x = (body: unknown): Profile => {
  const legacy = at(body, "legacy")
  const handle = text(legacy, "screen_name")
  const links = list(legacy, "entities", "url", "urls")
  return {
    ...nobody,
    handle,
    name: text(legacy, "name"),
    bio: text(legacy, "description"),
    followers: whole(legacy, "followers_count"),
    following: whole(legacy, "friends_count"),
    posts_count: whole(legacy, "statuses_count"),
    verified: flag(body, "is_blue_verified") ?? flag(legacy, "verified"),
    avatar_url: text(legacy, "profile_image_url_https"),
    url: page("https://x.com/", handle),
    external_links: links?.flatMap((one) => text(one, "expanded_url") ?? []) ?? null
  }
}

const youtube = (body: unknown): Profile => {
  const url = text(body, "channel")
  return {
    ...nobody,
    handle: /\/@([^/?#]+)/.exec(url ?? "")?.[1] ?? text(body, "channelId"),
    name: text(body, "name"),
    bio: text(body, "description"),
    followers: whole(body, "subscriberCount"),
    posts_count: counted(body, "videoCountText"),
    // The smallest comes first.
    avatar_url: addresses(body, "avatar", "image", "sources")?.at(-1) ?? null,
    url,
    external_links: texts(body, "links"),
    email: text(body, "email")
  }
}

const verdicts: Readonly<Record<string, boolean>> = { VERIFIED: true, NOT_VERIFIED: false }

const facebook = (body: unknown): Profile => {
  const url = text(body, "url")
  const website = text(body, "website")
  const links = texts(body, "links")
  return {
    ...nobody,
    handle: text(body, "pageAlias") ?? (url === null ? null : accountName({ platform: "facebook", url })),
    name: text(body, "name"),
    bio: text(body, "pageIntro"),
    followers: whole(body, "followerCount"),
    verified: verdicts[text(body, "verification") ?? ""] ?? null,
    avatar_url: text(body, "profilePicLarge") ?? text(body, "profilePicSmall"),
    url,
    external_links: website === null ? links : [website, ...(links ?? [])],
    email: text(body, "email"),
    category: text(body, "category")
  }
}

const threads = (body: unknown): Profile => {
  const handle = text(body, "username")
  return {
    ...nobody,
    handle,
    name: text(body, "full_name"),
    bio: text(body, "biography"),
    followers: whole(body, "follower_count"),
    verified: flag(body, "is_verified"),
    avatar_url: addresses(body, "hd_profile_pic_versions")?.at(-1) ?? text(body, "profile_pic_url"),
    url: page("https://www.threads.net/@", handle),
    external_links: addresses(body, "bio_links")
  }
}

const bluesky = (body: unknown): Profile => {
  const handle = text(body, "handle")
  const verdict = text(body, "verification", "verifiedStatus")
  return {
    ...nobody,
    handle,
    name: text(body, "displayName"),
    bio: text(body, "description"),
    followers: whole(body, "followersCount"),
    following: whole(body, "followsCount"),
    posts_count: whole(body, "postsCount"),
    verified: verdict === null ? null : verdict === "valid",
    avatar_url: text(body, "avatar"),
    url: page("https://bsky.app/profile/", handle)
  }
}

const reddit = (body: unknown): Profile => {
  const handle = text(body, "display_name")
  return {
    ...nobody,
    handle,
    name: handle,
    bio: text(body, "description"),
    followers: whole(body, "subscribers"),
    avatar_url: text(body, "icon_img"),
    url: page("https://www.reddit.com/r/", handle),
    category: text(body, "advertiser_category")
  }
}

interface Source {
  readonly path: string
  readonly query: (name: string, input: AccountInput) => NonNullable<Call["query"]>
  readonly read: (body: unknown) => Profile
}
const byHandle = (name: string) => ({ handle: name })

const sources: Readonly<Record<InputOf<typeof socialProfile>["platform"], Source>> = {
  instagram: { path: "/v1/instagram/profile", query: byHandle, read: instagram },
  tiktok: { path: "/v1/tiktok/profile", query: byHandle, read: tiktok },
  x: { path: "/v1/twitter/profile", query: byHandle, read: x },
  youtube: {
    path: "/v1/youtube/channel",
    query: (name, input) =>
      input.url === undefined || input.handle !== undefined ? { handle: name } : { url: input.url },
    read: youtube
  },
  facebook: {
    path: "/v1/facebook/profile",
    // Without it a page behind a gate has no name.
    query: (name, input) => ({ url: facebookPage(name, input), include_gated_profile: "true" }),
    read: facebook
  },
  threads: { path: "/v1/threads/profile", query: byHandle, read: threads },
  bluesky: { path: "/v1/bluesky/profile", query: byHandle, read: bluesky },
  reddit: { path: "/v1/reddit/subreddit/details", query: (name) => ({ subreddit: name }), read: reddit }
}

/** The provider knows pages by address only. */
export const facebookPage = (name: string, input: AccountInput): string =>
  input.handle === undefined && input.url !== undefined ? input.url : `https://www.facebook.com/${name}`

export const profile = (oneRequest: string, note: string) =>
  offer(socialProfile, {
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
    wraps: Object.values(sources).map(({ path }): Wraps => ({ method: "GET", path })),
    serves: (input) => accountName(input) !== null,
    request: (input) => {
      const source = sources[input.platform]
      return { method: "GET", path: source.path, query: source.query(accountName(input) ?? "", input) }
    },
    response: (reply, input) => {
      const miss = missing(reply)
      if (miss !== undefined) return miss
      const found = sources[input.platform].read(reply.body)
      if (found.handle === null && found.name === null && found.url === null) return unreadable("profile")
      return match({ platform: input.platform, ...found }, charged(reply))
    }
  })
