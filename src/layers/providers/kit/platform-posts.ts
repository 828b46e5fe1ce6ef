/**
 * Reads posts in the social platforms' own formats, which several providers pass on unchanged.
 */
import { type Post, post } from "../../../schema/capabilities/posts.ts"
import { moment, seconds } from "./moment.ts"
import { at, list, text, whole } from "./read.ts"

/** The URLs that are not null. Null if there are none. */
export const media = (...urls: ReadonlyArray<string | null>): ReadonlyArray<string> | null => {
  const present = urls.filter((url) => url !== null)
  return present.length === 0 ? null : present
}

/** A page token, which providers write as a number or as text. */
export const token = (body: unknown, field: string): string | null =>
  text(body, field) ?? whole(body, field)?.toString() ?? null

/** Reads images and videos of Instagram and Threads, which use the same format. */
export const metaMedia = (one: unknown): ReadonlyArray<string> | null => {
  const parts = [one, ...(list(one, "carousel_media") ?? [])]
  return media(
    ...parts.flatMap((part) => [
      text(part, "video_versions", 0, "url"),
      text(part, "image_versions2", "candidates", 0, "url")
    ])
  )
}

export const instagramPost = (one: unknown): Post =>
  post({
    id: token(one, "pk") ?? text(one, "id"),
    url: text(one, "url"),
    text: text(one, "caption", "text"),
    created_at: seconds(one, "taken_at"),
    likes: whole(one, "like_count"),
    comments: whole(one, "comment_count"),
    shares: whole(one, "reshare_count"),
    views: whole(one, "play_count") ?? whole(one, "ig_play_count"),
    media: metaMedia(one)
  })

export const tiktokPost = (one: unknown): Post =>
  post({
    id: token(one, "aweme_id"),
    url: text(one, "url") ?? text(one, "share_url"),
    text: text(one, "desc"),
    created_at: seconds(one, "create_time"),
    likes: whole(one, "statistics", "digg_count"),
    comments: whole(one, "statistics", "comment_count"),
    shares: whole(one, "statistics", "share_count"),
    views: whole(one, "statistics", "play_count"),
    media: media(
      text(one, "video", "play_addr", "url_list", 0),
      ...(list(one, "image_post_info", "images") ?? []).map((image) => text(image, "thumbnail", "url_list", 0))
    )
  })

export const xPost = (one: unknown): Post => {
  const legacy = at(one, "legacy")
  const pictures = list(legacy, "extended_entities", "media") ?? []
  return post({
    id: text(one, "rest_id"),
    url: text(one, "url"),
    text: text(legacy, "full_text"),
    created_at: moment(legacy, "created_at"),
    likes: whole(legacy, "favorite_count"),
    comments: whole(legacy, "reply_count"),
    shares: whole(legacy, "retweet_count"),
    views: whole(one, "views", "count"),
    media: pictures.flatMap((picture) => text(picture, "media_url_https") ?? [])
  })
}
