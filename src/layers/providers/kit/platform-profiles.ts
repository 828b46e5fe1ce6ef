/**
 * Reads accounts in the social platforms' own formats, which several providers pass on unchanged.
 */
import { account } from "../../../schema/capabilities/social.profile.ts"
import { at, flag, list, text, whole } from "./read.ts"

/** Reads the number in a text such as "9,221 videos". */
export const counted = (value: unknown, ...path: ReadonlyArray<string>): number | null => {
  const digits = text(value, ...path)?.match(/^[\d,]+/)?.[0]
  return digits === undefined ? null : whole(digits.replaceAll(",", ""))
}

export const page = (prefix: string, handle: string | null): string | null =>
  handle === null ? null : `${prefix}${handle}`

/** The URLs in a list of objects. */
export const addresses = (value: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<string> | null =>
  list(value, ...path)?.flatMap((one) => text(one, "url") ?? []) ?? null

export const instagramProfile = (user: unknown) => {
  const handle = text(user, "username")
  const only = text(user, "external_url")
  return account({
    handle,
    name: text(user, "full_name"),
    bio: text(user, "biography"),
    // The page's own format has lists with counts, that of the app (live answers of 2026-07) the counts alone.
    followers: whole(user, "edge_followed_by", "count") ?? whole(user, "follower_count"),
    following: whole(user, "edge_follow", "count") ?? whole(user, "following_count"),
    posts_count: whole(user, "edge_owner_to_timeline_media", "count") ?? whole(user, "media_count"),
    verified: flag(user, "is_verified"),
    avatar_url:
      text(user, "profile_pic_url_hd") ?? text(user, "hd_profile_pic_url_info", "url") ?? text(user, "profile_pic_url"),
    url: page("https://www.instagram.com/", handle),
    external_links: addresses(user, "bio_links") ?? (only === null ? null : [only]),
    email: text(user, "business_email"),
    category: text(user, "category_name") ?? text(user, "category")
  })
}

/** `body` has the user and the counts in two fields. */
export const tiktokProfile = (body: unknown) => {
  const user = at(body, "user")
  const handle = text(user, "uniqueId")
  const link = text(user, "bioLink", "link")
  return account({
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
  })
}

export const xProfile = (body: unknown) => {
  const legacy = at(body, "legacy")
  // X moved name, handle and picture out of `legacy` (live answers of 2026-07).
  const core = at(body, "core")
  const handle = text(legacy, "screen_name") ?? text(core, "screen_name")
  const links = list(legacy, "entities", "url", "urls")
  return account({
    handle,
    name: text(legacy, "name") ?? text(core, "name"),
    bio: text(legacy, "description"),
    followers: whole(legacy, "followers_count"),
    following: whole(legacy, "friends_count"),
    posts_count: whole(legacy, "statuses_count"),
    verified: flag(body, "is_blue_verified") ?? flag(legacy, "verified"),
    avatar_url: text(legacy, "profile_image_url_https") ?? text(body, "avatar", "image_url"),
    url: page("https://x.com/", handle),
    external_links: links?.flatMap((one) => text(one, "expanded_url") ?? []) ?? null
  })
}
