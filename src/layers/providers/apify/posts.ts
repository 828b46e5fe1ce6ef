/**
 * Posts of Instagram and TikTok accounts through Apify actors.
 *
 * An actor reads one page and charges per post of it. The posts are the run's items, and the token of the next page is in its record.
 */
import { type Post, post } from "../../../schema/capabilities/posts.ts"
import { socialPosts, socialPostsDefaultLimit } from "../../../schema/capabilities/social.posts.ts"
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { defined } from "../../../schema/defined.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { accepts, issue, redeem } from "../kit/cursor.ts"
import { moment, seconds } from "../kit/moment.ts"
import { match, noMatch } from "../kit/outcome.ts"
import { media, token } from "../kit/platform-posts.ts"
import { at, flag, list, number, text, whole } from "../kit/read.ts"
import { actorOffer } from "./runs.ts"
import { accountOf, isInstagram, nameOf, resultCost, unmarked } from "./social.ts"

const actors = {
  instagram: "thescrappa/instagram-user-posts-cheapest-0-20-1000-results",
  tiktok: "thescrappa/tiktok-user-posts-scraper"
} as const

/** Maximum number of posts of the TikTok actor. The Instagram actor has no such limit and reads one page. */
const postsMax = 50
/** Longer than any token seen. The token is stored and becomes part of a cursor. */
const tokenLengthMax = 400

const instagramPost = (one: unknown): Post =>
  post({
    id: text(one, "id"),
    url: text(one, "permalink"),
    text: text(one, "caption"),
    created_at: number(one, "taken_at") === null ? moment(one, "taken_at") : seconds(one, "taken_at"),
    likes: whole(one, "like_count"),
    comments: whole(one, "comment_count"),
    views: whole(one, "play_count"),
    media: media(
      ...(list(one, "media") ?? []).flatMap((part) => [text(part, "video_url"), text(part, "thumbnail_url")])
    )
  })

const accountIn = (one: unknown): string | null =>
  unmarked(text(one, "lookup_unique_id")) ?? unmarked(text(one, "author", "unique_id"))

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

/** Where each actor's source answers with the posts, and with whether there are more. */
const postLists = [["posts"], ["data", "posts"], ["data", "videos"], ["data", "aweme_list"], ["data"]] as const
const moreFlags = [["more_available"], ["data", "more_available"], ["data", "hasMore"], ["data", "has_more"]] as const
const tokens = ["next_max_id", "cursor", "max_cursor"] as const

/** Reads the run's record: the number of posts on the page, and the token of the next one if there is one. */
const extra = (record: unknown) => {
  const onPage = postLists.flatMap((path) => list(record, ...path) ?? [])
  const more = moreFlags.some((path) => flag(record, ...path) === true)
  const [next = null] = tokens.flatMap((field) => token(record, field) ?? token(at(record, "data"), field) ?? [])
  return { posts: onPage.length, next: more && next !== null && next.length <= tokenLengthMax ? next : null }
}

const limitOf = (input: InputOf<typeof socialPosts>): number => input.limit ?? socialPostsDefaultLimit

export const posts = actorOffer(socialPosts, {
  // 1 post × $0.0003
  price: inUsd.metered("0", "0.0003", socialPostsDefaultLimit),
  platforms: ["instagram", "tiktok"],
  note: "The Instagram actor publishes $0.20 per 1,000 posts. The TikTok actor publishes $0.30, and both are priced at that. There is a next page only if the limit covers the whole page, because the actors charge for a page again.",
  actors: [actors.instagram, actors.tiktok],
  serves: (input) => nameOf(input) !== null && accepts("apify", input.cursor),
  start: (input) => {
    const after = redeem("apify", input.cursor)
    return {
      actor: isInstagram(input) ? actors.instagram : actors.tiktok,
      input: isInstagram(input)
        ? { ...accountOf(input), ...defined({ max_id: after }) }
        : { ...accountOf(input), count: Math.min(limitOf(input), postsMax), ...defined({ cursor: after }) },
      price: postsMax * resultCost,
      itemsMax: limitOf(input)
    }
  },
  extra,
  read: (results, input, cost, page) => {
    const items = results
      .slice(0, limitOf(input))
      .map((one) => (isInstagram(input) ? instagramPost(one) : tiktokPost(one, accountIn(one) ?? nameOf(input))))
      .filter((one) => one.id !== null)
    if (items.length === 0) return noMatch("there is no such account, or it has no public posts", cost)
    // No next page if this page was cut, because the cut posts would be lost.
    const whole = (number(page, "posts") ?? Number.POSITIVE_INFINITY) <= limitOf(input)
    return match({ items, total: null, next_cursor: issue("apify", whole ? text(page, "next") : null) }, cost)
  }
})
