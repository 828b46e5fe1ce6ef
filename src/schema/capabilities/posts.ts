/**
 * The schemas that social and advertising capabilities share: a post, an ad, and the fields that name an account.
 *
 * A value that the provider did not report is null, and never absent.
 */
import { Schema } from "effect"
import * as Field from "./fields.ts"
import { orNull, profileSlug, recordOf } from "./shapes.ts"

export const Post = Schema.Struct({
  id: Schema.NullOr(Schema.String),
  url: orNull(Schema.String, "URL of the post"),
  text: orNull(Schema.String, "Text or caption; the title of a video"),
  created_at: orNull(Schema.String, "ISO 8601, or words such as 3 days ago, as the platform shows it"),
  likes: Schema.NullOr(Schema.Int),
  comments: Schema.NullOr(Schema.Int),
  shares: orNull(Schema.Int, "Shares, reposts or retweets"),
  views: orNull(Schema.Int, "Views or plays"),
  media: orNull(Schema.Array(Schema.String), "URLs of pictures and videos; null if the provider does not report them")
})
export type Post = typeof Post.Type

export const Ad = Schema.Struct({
  id: orNull(Schema.String, "The ad's id in the platform's ad library"),
  advertiser: orNull(Schema.String, "Name of the advertiser"),
  platform: orNull(Schema.String, "The ad library of the ad"),
  headline: Schema.NullOr(Schema.String),
  text: orNull(Schema.String, "Body of the ad"),
  image_url: Schema.NullOr(Schema.String),
  video_url: Schema.NullOr(Schema.String),
  landing_url: orNull(Schema.String, "URL that a click opens"),
  started_at: orNull(Schema.String, "Time when the ad was first shown, in ISO 8601"),
  ended_at: orNull(
    Schema.String,
    "Time when the ad was last shown, in ISO 8601; null while it runs or if it is not known"
  ),
  active: orNull(Schema.Boolean, "Whether the ad runs now"),
  library_url: orNull(Schema.String, "URL of the ad in the ad library")
})
export type Ad = typeof Ad.Type

/** A post with these fields. All others are null. */
export const post = recordOf(Post)

/** An ad with these fields. All others are null. */
export const ad = recordOf(Ad)

export const handle = Field.text("The account's name without @, such as nasa; for facebook, url is better", 200)
export const accountUrl = Field.text("URL of the account, such as https://www.instagram.com/nasa", 2048)

/** The account's name from `handle` or `url`: "nasa" for "@nasa". Null if neither has a name. */
export const handleOf = (input: { readonly handle?: string; readonly url?: string }): string | null => {
  const name = (input.handle ?? profileSlug(input.url ?? "")).trim().replace(/^@+/, "")
  return name === "" ? null : name
}
