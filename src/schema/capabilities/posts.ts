/**
 * What social and advertising capabilities share: a post, an ad, and how an account is named.
 *
 * As everywhere, a value that nobody reported is null, never absent.
 */
import { Schema } from "effect"
import * as Field from "./fields.ts"
import { profileSlug } from "./names.ts"
import { orNull } from "./shapes.ts"

export const Post = Schema.Struct({
  id: Schema.NullOr(Schema.String),
  url: orNull(Schema.String, "The post's page"),
  text: orNull(Schema.String, "Text or caption; the title of a video"),
  created_at: orNull(Schema.String, "ISO 8601, or as the platform prints it, such as 3 days ago"),
  likes: Schema.NullOr(Schema.Int),
  comments: Schema.NullOr(Schema.Int),
  shares: orNull(Schema.Int, "Shares, reposts or retweets"),
  views: orNull(Schema.Int, "Views or plays"),
  media: orNull(Schema.Array(Schema.String), "Addresses of pictures and videos; null when the provider does not tell")
})
export type Post = typeof Post.Type

export const Ad = Schema.Struct({
  id: orNull(Schema.String, "The ad's id in the platform's ad library"),
  advertiser: orNull(Schema.String, "Who runs the ad, by name"),
  platform: orNull(Schema.String, "The ad library it was found in"),
  headline: Schema.NullOr(Schema.String),
  text: orNull(Schema.String, "Body of the ad"),
  image_url: Schema.NullOr(Schema.String),
  video_url: Schema.NullOr(Schema.String),
  landing_url: orNull(Schema.String, "Where a click leads"),
  started_at: orNull(Schema.String, "When it was first shown, ISO 8601"),
  ended_at: orNull(Schema.String, "When it was last shown, ISO 8601; null while it runs, or when it is not known"),
  active: orNull(Schema.Boolean, "Whether it runs now"),
  library_url: orNull(Schema.String, "Its page in the ad library")
})
export type Ad = typeof Ad.Type

const blankPost: Post = {
  id: null,
  url: null,
  text: null,
  created_at: null,
  likes: null,
  comments: null,
  shares: null,
  views: null,
  media: null
}
/** A post of which only `known` is known. */
export const post = (known: Partial<Post>): Post => ({ ...blankPost, ...known })

const blankAd: Ad = {
  id: null,
  advertiser: null,
  platform: null,
  headline: null,
  text: null,
  image_url: null,
  video_url: null,
  landing_url: null,
  started_at: null,
  ended_at: null,
  active: null,
  library_url: null
}
/** An ad of which only `known` is known. */
export const ad = (known: Partial<Ad>): Ad => ({ ...blankAd, ...known })

export const handle = Field.text("The account's name without @, such as nasa; for facebook rather give url", 200)
export const accountUrl = Field.text("The account's page, such as https://www.instagram.com/nasa", 2048)

/** "nasa" of "@nasa", or of the account's page; null when neither says a name. */
export const handleOf = (input: { readonly handle?: string; readonly url?: string }): string | null => {
  const said = (input.handle ?? profileSlug(input.url ?? "")).trim().replace(/^@+/, "")
  return said === "" ? null : said
}
