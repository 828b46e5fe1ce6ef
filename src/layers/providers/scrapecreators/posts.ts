/**
 * ScrapeCreators' offers for social posts, with one endpoint and one format per platform.
 *
 * A page has from 3 to about 100 posts, depending on the platform. If the limit cuts a page, the cursor continues in the same page.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { type Post, post } from "../../../schema/capabilities/posts.ts"
import { socialPosts, socialPostsDefaultLimit } from "../../../schema/capabilities/social.posts.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { type Call, type EndpointName, offer } from "../../../schema/catalog/Provider.ts"
import { type AccountInput, accountName } from "../kit/accounts.ts"
import { accepts } from "../kit/cursor.ts"
import { moment, seconds } from "../kit/moment.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { cutPage, placeInPages } from "../kit/pages.ts"
import { instagramPost, media, metaMedia, tiktokPost, token, xPost } from "../kit/platform-posts.ts"
import { flag, list, text, whole } from "../kit/read.ts"
import { facebookPage } from "./profiles.ts"

const slug = "scrapecreators"

const youtube = (one: unknown): Post =>
  post({
    id: text(one, "id"),
    url: text(one, "url"),
    text: text(one, "title"),
    created_at: moment(one, "publishedTime") ?? text(one, "publishedTimeText"),
    likes: whole(one, "likeCountInt"),
    comments: whole(one, "commentCountInt"),
    views: whole(one, "viewCountInt"),
    media: media(text(one, "thumbnail"))
  })

const facebook = (one: unknown): Post =>
  post({
    id: token(one, "id"),
    url: text(one, "url") ?? text(one, "permalink"),
    text: text(one, "text"),
    created_at: seconds(one, "publishTime"),
    likes: whole(one, "reactionCount"),
    comments: whole(one, "commentCount"),
    views: whole(one, "videoViewCount"),
    media: media(text(one, "videoDetails", "hdUrl") ?? text(one, "videoDetails", "sdUrl"))
  })

const threads = (one: unknown): Post => {
  const author = text(one, "user", "username")
  const code = text(one, "code")
  return post({
    id: token(one, "pk") ?? text(one, "id"),
    url:
      text(one, "url") ?? (author === null || code === null ? null : `https://www.threads.net/@${author}/post/${code}`),
    text: text(one, "caption", "text"),
    created_at: seconds(one, "taken_at"),
    likes: whole(one, "like_count"),
    comments: whole(one, "direct_reply_count") ?? whole(one, "text_post_app_info", "direct_reply_count"),
    shares: whole(one, "repost_count") ?? whole(one, "text_post_app_info", "repost_count"),
    media: metaMedia(one)
  })
}

const bluesky = (one: unknown): Post => {
  const id = text(one, "uri")
  const author = text(one, "author", "handle")
  const record = /\/app\.bsky\.feed\.post\/([^/]+)$/.exec(id ?? "")?.[1]
  return post({
    id,
    url: author === null || record === undefined ? null : `https://bsky.app/profile/${author}/post/${record}`,
    text: text(one, "record", "text"),
    created_at: moment(one, "record", "createdAt"),
    likes: whole(one, "likeCount"),
    comments: whole(one, "replyCount"),
    shares: whole(one, "repostCount"),
    media: media(...(list(one, "embed", "images") ?? []).map((image) => text(image, "fullsize")))
  })
}

interface Source {
  readonly path: string
  /** The field with the posts. */
  readonly field: string
  readonly read: (one: unknown) => Post
  readonly query?: (name: string, input: AccountInput) => NonNullable<Call["query"]>
  /** The query parameter of the next page's token. Platforms without one have a single page. */
  readonly cursor?: string
  readonly more?: string
}

const sources: Readonly<Record<InputOf<typeof socialPosts>["platform"], Source>> = {
  instagram: {
    path: "/v2/instagram/user/posts",
    field: "items",
    read: instagramPost,
    cursor: "next_max_id",
    more: "more_available"
  },
  tiktok: {
    path: "/v3/tiktok/profile/videos",
    field: "aweme_list",
    read: tiktokPost,
    cursor: "max_cursor",
    more: "has_more"
  },
  x: { path: "/v1/twitter/user-tweets", field: "tweets", read: xPost },
  youtube: {
    path: "/v1/youtube/channel-videos",
    field: "videos",
    read: youtube,
    cursor: "continuationToken",
    query: (name) => (/^UC[\w-]{22}$/.test(name) ? { channelId: name } : { handle: name })
  },
  facebook: {
    path: "/v1/facebook/profile/posts",
    field: "posts",
    read: facebook,
    cursor: "cursor",
    query: (name, input) => ({ url: facebookPage(name, input) })
  },
  threads: { path: "/v1/threads/user/posts", field: "posts", read: threads },
  bluesky: { path: "/v1/bluesky/user/posts", field: "feed", read: bluesky, cursor: "cursor" }
}

const nextToken = (body: unknown, { cursor, more }: Source): string | null => {
  if (cursor === undefined) return null
  if (more !== undefined && (flag(body, more) === false || whole(body, more) === 0)) return null
  return token(body, cursor)
}

export const posts = (note: string) =>
  offer(socialPosts, {
    // 1 credit for the first page, and a third of one per post, because the smallest pages hold 3
    price: inCredits.metered("1", "0.333334", socialPostsDefaultLimit),
    platforms: ["instagram", "tiktok", "x", "youtube", "facebook", "threads", "bluesky"],
    note: `${note} A page has from 3 to 30 posts, depending on the platform. Priced for 3.`,
    wraps: Object.values(sources).map(({ path }): EndpointName => `GET ${path}`),
    serves: (input) => accepts(slug, input.cursor) && accountName(input) !== null,
    request: (input) => {
      const source = sources[input.platform]
      const name = accountName(input) ?? ""
      const { token: page } = placeInPages(slug, input.cursor)
      return {
        method: "GET",
        path: source.path,
        query: {
          ...(source.query?.(name, input) ?? { handle: name }),
          ...(source.cursor === undefined ? {} : { [source.cursor]: page })
        }
      }
    },
    response: (reply, input) => {
      const source = sources[input.platform]
      const posts = list(reply.body, source.field)
      if (posts === null) return unreadable(source.field)
      const next = nextToken(reply.body, source)
      const limit = input.limit ?? socialPostsDefaultLimit
      const page = cutPage(slug, placeInPages(slug, input.cursor), posts, limit, next)
      if (page.items.length === 0) return noMatch("no posts")
      return match({ ...page, items: page.items.map(source.read), total: null })
    }
  })
