/**
 * social.profile: the profile of an account on a social platform, with its bio and number of followers.
 *
 * Charged only when the account is found. A private account counts as found.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { orNull, slug, titleCase, recordOf } from "./shapes.ts"
import { accountUrl, handle, handleOf } from "./posts.ts"

export const socialProfilePlatforms = [
  "instagram",
  "tiktok",
  "x",
  "youtube",
  "facebook",
  "threads",
  "bluesky",
  "reddit"
] as const

export const SocialProfile = Schema.Struct({
  platform: Schema.NullOr(Schema.Literals(socialProfilePlatforms)),
  handle: orNull(Schema.String, "Account name without @"),
  name: orNull(Schema.String, "Display name"),
  bio: Schema.NullOr(Schema.String),
  followers: orNull(Schema.Int, "Followers or subscribers"),
  following: Schema.NullOr(Schema.Int),
  posts_count: orNull(Schema.Int, "Posts or videos published"),
  verified: Schema.NullOr(Schema.Boolean),
  avatar_url: Schema.NullOr(Schema.String),
  url: orNull(Schema.String, "URL of the account"),
  external_links: orNull(
    Schema.Array(Schema.String),
    "Links that the account shows; null if the provider does not report them"
  ),
  email: orNull(Schema.String, "E-mail address that the account shows publicly"),
  category: orNull(Schema.String, "The account's kind of business, in the platform's words")
})
export type SocialProfile = typeof SocialProfile.Type
/** An account with these fields. All others are null. */
export const account = recordOf(SocialProfile)

export const socialProfile = capability({
  slug: "social.profile",
  title: "Look up a social media profile",
  category: "social",
  description:
    "Returns a public social media profile on Instagram, TikTok, X (Twitter), YouTube, Facebook, Threads, Bluesky or Reddit: name, bio, followers, posts count, verification, links and contact address. For LinkedIn use network.profile.",
  tags: [
    ...["social", "profile", "social media", "account", "creator", "influencer", "channel", "page", "user", "username"],
    ...["handle", "followers", "subscribers", "follower count", "bio", "instagram", "ig", "insta", "tiktok", "x"],
    ...["twitter", "youtube", "facebook", "fb", "meta", "threads", "bluesky", "bsky", "reddit", "scraper"]
  ],
  status: "live",
  billing: {
    model: "on_match",
    bills_no_match: false,
    description:
      "Charged only when the account is found, at the platform's price; a private account counts as found. A miss costs nothing."
  },
  platforms: socialProfilePlatforms,
  input: Schema.Struct({
    platform: Schema.Literals(socialProfilePlatforms).annotate({ description: "Where the account is; x is Twitter" }),
    handle: Schema.optionalKey(handle),
    url: Schema.optionalKey(accountUrl)
  }),
  anyOf: [["handle"], ["url"]],
  output: SocialProfile,
  example: { platform: "instagram", handle: "example" },
  // A private account may have nothing but a URL.
  matched: (output) => output.handle !== null || output.name !== null || output.url !== null,
  side_effect: false,
  simulate: ({ input, seed }) => {
    const account = handleOf(input) ?? "sample"
    const name = titleCase(account)
    const host = slug(account, "-") || "sample"
    return {
      platform: input.platform,
      handle: account,
      name: name === "" ? "Sample Account" : name,
      bio: `A made-up account on ${input.platform}.`,
      followers: 1_000 + (seed % 90_000),
      following: 100 + (seed % 400),
      posts_count: 10 + (seed % 500),
      verified: seed % 4 === 0,
      avatar_url: `https://social.example/${input.platform}/${host}.jpg`,
      url: `https://social.example/${input.platform}/${host}`,
      external_links: [`https://${host}.example`],
      email: null,
      category: null
    }
  },
  missHints: (input) => [
    ...(input.handle === undefined
      ? ["Give handle instead of url."]
      : ["Check the spelling of handle, without @, or give the account's url."]),
    "Try another platform: the same name is often used on several.",
    "For LinkedIn use network.profile."
  ]
})
