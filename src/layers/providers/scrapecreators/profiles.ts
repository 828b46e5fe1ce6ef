/**
 * ScrapeCreators' offers for social profiles, with one endpoint and one format per platform.
 *
 * A private account has only the fields of its public page. An account that does not exist is a miss.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { account, socialProfile, type SocialProfile } from "../../../schema/capabilities/social.profile.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { type Call, type EndpointName, offer } from "../../../schema/catalog/Provider.ts"
import { type AccountInput, accountName } from "../kit/accounts.ts"
import { match, unreadable } from "../kit/outcome.ts"
import { addresses, counted, instagramProfile, page, tiktokProfile, xProfile } from "../kit/platform-profiles.ts"
import { at, entryIn, flag, text, texts, whole } from "../kit/read.ts"

const youtube = (body: unknown) => {
  const url = text(body, "channel")
  return account({
    handle: /\/@([^/?#]+)/.exec(url ?? "")?.[1] ?? text(body, "channelId"),
    name: text(body, "name"),
    bio: text(body, "description"),
    followers: whole(body, "subscriberCount"),
    posts_count: counted(body, "videoCountText"),
    // The images are sorted by size, smallest first.
    avatar_url: addresses(body, "avatar", "image", "sources")?.at(-1) ?? null,
    url,
    external_links: texts(body, "links"),
    email: text(body, "email")
  })
}

const verdicts: Readonly<Record<string, boolean>> = { VERIFIED: true, NOT_VERIFIED: false }

const facebook = (body: unknown) => {
  const url = text(body, "url")
  const website = text(body, "website")
  const links = texts(body, "links")
  return account({
    handle: text(body, "pageAlias") ?? (url === null ? null : accountName({ platform: "facebook", url })),
    name: text(body, "name"),
    bio: text(body, "pageIntro"),
    followers: whole(body, "followerCount"),
    verified: entryIn(verdicts, text(body, "verification")) ?? null,
    avatar_url: text(body, "profilePicLarge") ?? text(body, "profilePicSmall"),
    url,
    external_links: website === null ? links : [website, ...(links ?? [])],
    email: text(body, "email"),
    category: text(body, "category")
  })
}

const threads = (body: unknown) => {
  const handle = text(body, "username")
  return account({
    handle,
    name: text(body, "full_name"),
    bio: text(body, "biography"),
    followers: whole(body, "follower_count"),
    verified: flag(body, "is_verified"),
    avatar_url: addresses(body, "hd_profile_pic_versions")?.at(-1) ?? text(body, "profile_pic_url"),
    url: page("https://www.threads.net/@", handle),
    external_links: addresses(body, "bio_links")
  })
}

const bluesky = (body: unknown) => {
  const handle = text(body, "handle")
  const verdict = text(body, "verification", "verifiedStatus")
  return account({
    handle,
    name: text(body, "displayName"),
    bio: text(body, "description"),
    followers: whole(body, "followersCount"),
    following: whole(body, "followsCount"),
    posts_count: whole(body, "postsCount"),
    verified: verdict === null ? null : verdict === "valid",
    avatar_url: text(body, "avatar"),
    url: page("https://bsky.app/profile/", handle)
  })
}

const reddit = (body: unknown) => {
  const handle = text(body, "display_name")
  return account({
    handle,
    name: handle,
    bio: text(body, "description"),
    followers: whole(body, "subscribers"),
    avatar_url: text(body, "icon_img"),
    url: page("https://www.reddit.com/r/", handle),
    category: text(body, "advertiser_category")
  })
}

interface Source {
  readonly path: string
  readonly query: (name: string, input: AccountInput) => NonNullable<Call["query"]>
  readonly read: (body: unknown) => SocialProfile
}
const byHandle = (name: string) => ({ handle: name })

const sources: Readonly<Record<InputOf<typeof socialProfile>["platform"], Source>> = {
  instagram: {
    path: "/v1/instagram/profile",
    query: byHandle,
    read: (body) => instagramProfile(at(body, "data", "user"))
  },
  tiktok: { path: "/v1/tiktok/profile", query: byHandle, read: tiktokProfile },
  x: { path: "/v1/twitter/profile", query: byHandle, read: xProfile },
  youtube: {
    path: "/v1/youtube/channel",
    query: (name, input) =>
      input.url === undefined || input.handle !== undefined ? { handle: name } : { url: input.url },
    read: youtube
  },
  facebook: {
    path: "/v1/facebook/profile",
    // Without this parameter, a page that requires a login has no name.
    query: (name, input) => ({ url: facebookPage(name, input), include_gated_profile: "true" }),
    read: facebook
  },
  threads: { path: "/v1/threads/profile", query: byHandle, read: threads },
  bluesky: { path: "/v1/bluesky/profile", query: byHandle, read: bluesky },
  reddit: { path: "/v1/reddit/subreddit/details", query: (name) => ({ subreddit: name }), read: reddit }
}

/** The provider finds Facebook pages by URL only. */
export const facebookPage = (name: string, input: AccountInput): string =>
  input.handle === undefined && input.url !== undefined ? input.url : `https://www.facebook.com/${name}`

export const profile = (note: string) =>
  offer(socialProfile, {
    price: inCredits.byPlatform({
      instagram: "1",
      tiktok: "1",
      x: "1",
      youtube: "1",
      facebook: "1",
      threads: "1",
      bluesky: "1",
      reddit: "1"
    }),
    platforms: ["instagram", "tiktok", "x", "youtube", "facebook", "threads", "bluesky", "reddit"],
    note: `${note} On Reddit only communities, not users.`,
    wraps: Object.values(sources).map(({ path }): EndpointName => `GET ${path}`),
    serves: (input) => accountName(input) !== null,
    request: (input) => {
      const source = sources[input.platform]
      return { method: "GET", path: source.path, query: source.query(accountName(input) ?? "", input) }
    },
    response: (reply, input) => {
      const profile = sources[input.platform].read(reply.body)
      if (profile.handle === null && profile.name === null && profile.url === null) return unreadable("profile")
      return match({ ...profile, platform: input.platform })
    }
  })
