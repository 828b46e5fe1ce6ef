/**
 * Adapter for EnsembleData: social profiles and posts.
 *
 * A header reports the units that each answer costs, also for errors. Posts on Instagram and X are requested by the account's numeric id,
 * so the account is looked up first. The price of a unit is not published, and is assumed.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { type Post, post } from "../../schema/capabilities/posts.ts"
import { socialPosts, socialPostsDefaultLimit } from "../../schema/capabilities/social.posts.ts"
import { account, socialProfile, type SocialProfile } from "../../schema/capabilities/social.profile.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { type Call, type Cost, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { accountName } from "./kit/accounts.ts"
import { accepts } from "./kit/cursor.ts"
import { seconds } from "./kit/moment.ts"
import { cost, httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
import { cutPage, placeInPages } from "./kit/pages.ts"
import { instagramPost, media, tiktokPost, xPost } from "./kit/platform-posts.ts"
import { addresses, instagramProfile, tiktokProfile, xProfile } from "./kit/platform-profiles.ts"
import { at, isRecord, list, number, text, whole } from "./kit/read.ts"

const slug = "ensembledata"
const note = "Assumed at $0.0025 per unit."

const units = (reply: Reply): Cost | null => cost("credit", reply.headers, "units_charged")

/** Reads an error: a miss if the account does not exist, otherwise a failure. "Not Found" without more text means a wrong path. */
const missing = (reply: Reply): Outcome<never> | undefined => {
  if (reply.status < 400 || isRecord(at(reply.body, "data"))) return undefined
  const detail = text(reply.body, "detail") ?? ""
  return reply.status === 404 && detail !== "Not Found" && /not (be )?found|not exist/i.test(detail)
    ? noMatch("no account found")
    : refusal(reply)
}

/** The account in an answer. Some answers have it in a field of its own. */
const userIn = (body: unknown): unknown => {
  const data = at(body, "data")
  const user = at(data, "user")
  return isRecord(user) ? user : data
}

const youtubeProfile = (body: unknown) => {
  const data = at(body, "data")
  const id = text(data, "channel_id") ?? text(data, "channelId") ?? text(data, "id")
  const handle = (text(data, "handle") ?? text(data, "username"))?.replace(/^@/, "") ?? null
  return account({
    handle: handle ?? id,
    name: text(data, "title") ?? text(data, "name"),
    bio: text(data, "description"),
    followers: whole(data, "subscriber_count") ?? whole(data, "subscriberCount"),
    posts_count: whole(data, "video_count") ?? whole(data, "videoCount"),
    avatar_url: text(data, "avatar") ?? addresses(data, "avatar", "thumbnails")?.at(-1) ?? null,
    url:
      handle !== null
        ? `https://www.youtube.com/@${handle}`
        : id === null
          ? null
          : `https://www.youtube.com/channel/${id}`,
    email: text(data, "email")
  })
}

type ProfileInput = InputOf<typeof socialProfile>

const profileReaders: Readonly<Record<string, (body: unknown) => SocialProfile>> = {
  instagram: (body) => instagramProfile(userIn(body)),
  tiktok: (body) => tiktokProfile(at(body, "data")),
  x: (body) => xProfile(userIn(body)),
  youtube: youtubeProfile
}

const youtubeQuery = (input: ProfileInput, name: string): NonNullable<Call["query"]> => {
  if (/^UC[\w-]{22}$/.test(name)) return { browseId: name }
  const address = input.handle === undefined ? input.url : undefined
  return { browseId: address ?? `https://www.youtube.com/@${name}`, from_url: true }
}

const profileCall = (platform: string, name: string): Call => {
  if (platform === "instagram") return { method: "GET", path: "/instagram/user/info", query: { username: name } }
  if (platform === "tiktok") return { method: "GET", path: "/tt/user/info", query: { username: name } }
  return { method: "GET", path: "/twitter/user/info", query: { name } }
}

const profile = offer(socialProfile, {
  price: inCredits.byPlatform({ instagram: "2", tiktok: "1", x: "1", youtube: "1" }),
  platforms: ["instagram", "tiktok", "x", "youtube"],
  note: `${note} A profile is assumed to cost one unit, two on Instagram.`,
  wraps: [
    "GET /instagram/user/info",
    "GET /tt/user/info",
    "GET /twitter/user/info",
    "GET /youtube/channel/detailed-info"
  ],
  serves: (input) => accountName(input) !== null,
  request: (input) => {
    const name = accountName(input) ?? ""
    return input.platform === "youtube"
      ? { method: "GET", path: "/youtube/channel/detailed-info", query: youtubeQuery(input, name) }
      : profileCall(input.platform, name)
  },
  response: (reply, input) => {
    const profile = profileReaders[input.platform]?.(reply.body) ?? account({})
    if (profile.handle === null && profile.name === null && profile.url === null) return unreadable("profile")
    return match({ ...profile, platform: input.platform })
  }
})

/** A post in the format of the platform's public web pages. */
const graphPost = (one: unknown): Post => {
  const node = isRecord(at(one, "node")) ? at(one, "node") : one
  const code = text(node, "shortcode")
  if (code === null) return instagramPost(node)
  return post({
    id: text(node, "id"),
    url: `https://www.instagram.com/p/${code}/`,
    text: text(node, "edge_media_to_caption", "edges", 0, "node", "text"),
    created_at: seconds(node, "taken_at_timestamp"),
    likes: whole(node, "edge_media_preview_like", "count") ?? whole(node, "edge_liked_by", "count"),
    comments: whole(node, "edge_media_to_comment", "count"),
    views: whole(node, "video_view_count"),
    media: media(text(node, "video_url"), text(node, "display_url"))
  })
}

interface Page {
  readonly posts: ReadonlyArray<unknown> | null
  readonly next: string | null
}

/** A page token, which the provider writes as a number or as text. "0" stands for the first page, so it becomes null. */
const tokenAt = (body: unknown, ...path: ReadonlyArray<string>): string | null => {
  const token = text(body, ...path) ?? whole(body, ...path)?.toString() ?? null
  return token === "0" ? null : token
}

const pageReaders: Readonly<Record<string, (body: unknown) => Page>> = {
  instagram: (body) => ({
    posts: list(body, "data", "posts") ?? list(body, "data"),
    next: tokenAt(body, "data", "last_cursor") ?? tokenAt(body, "nextCursor")
  }),
  tiktok: (body) => ({
    posts: list(body, "data") ?? list(body, "data", "posts"),
    next: tokenAt(body, "nextCursor") ?? tokenAt(body, "data", "nextCursor")
  }),
  x: (body) => ({ posts: list(body, "data") ?? list(body, "data", "tweets"), next: null })
}
const postReaders: Readonly<Record<string, (one: unknown) => Post>> = {
  instagram: graphPost,
  tiktok: tiktokPost,
  x: xPost
}

type PostsInput = InputOf<typeof socialPosts>

/** A cursor contains the account's id and the page's token, such as "173560420/QVFC". So the next page needs no look-up of the account. */
const splitToken = (input: PostsInput) => {
  const { token = "" } = placeInPages(slug, input.cursor)
  const [, account, page] = /^(\d{1,20})\/(.*)$/s.exec(token) ?? []
  return { account: account ?? null, page: page ?? token }
}

/** The provider documents integers. Ids that are too large for a JavaScript number are sent as text. */
const integer = (digits: string): number | string => (Number.isSafeInteger(Number(digits)) ? Number(digits) : digits)

const byNumber = (input: PostsInput, account: string): Call =>
  input.platform === "x"
    ? { method: "GET", path: "/twitter/user/tweets", query: { id: integer(account) } }
    : {
        method: "GET",
        path: "/instagram/user/posts",
        query: {
          user_id: integer(account),
          depth: 1,
          chunk_size: Math.min(input.limit ?? socialPostsDefaultLimit, 50),
          start_cursor: splitToken(input).page === "" ? undefined : splitToken(input).page
        }
      }

/** The account's id. Null if it must be looked up first, and on TikTok, which takes the name. */
const accountOf = (input: PostsInput, state: Schema.Json): string | null =>
  input.platform === "tiktok" ? null : (text(state, "account") ?? splitToken(input).account)

const postsCall = (input: PostsInput, state: Schema.Json): Call => {
  const account = accountOf(input, state)
  if (account !== null) return byNumber(input, account)
  const name = accountName(input) ?? ""
  if (input.platform !== "tiktok") return profileCall(input.platform, name)
  const start_cursor = splitToken(input).page
  return {
    method: "GET",
    path: "/tt/user/posts",
    query: { username: name, depth: 1, start_cursor: start_cursor === "" ? undefined : start_cursor }
  }
}

const lookedUp = (reply: Reply): Outcome<never> => {
  const user = userIn(reply.body)
  const account = tokenAt(user, "pk") ?? tokenAt(user, "id") ?? null
  const number = tokenAt(user, "rest_id") ?? account
  if (number === null || !/^\d{1,20}$/.test(number)) return unreadable("account id")
  const state = { account: number, units: units(reply)?.amount ?? null }
  return { _tag: "Again", state, afterMillis: 0, job: false }
}

/** The cost of both steps. */
const totalCost = (reply: Reply, state: Schema.Json): Cost | null => {
  const before = number(state, "units")
  const now = units(reply)
  return before === null || now === null ? now : cost("credit", before + Number(now.amount))
}

const posts = offer(socialPosts, {
  // 1 unit, and a tenth of one per post
  price: inCredits.metered("1", "0.1", socialPostsDefaultLimit),
  platforms: ["instagram", "tiktok", "x"],
  note: `${note} A page of ten posts is assumed to cost one unit.`,
  wraps: ["GET /instagram/user/posts", "GET /tt/user/posts", "GET /twitter/user/tweets"],
  serves: (input) => accepts(slug, input.cursor) && accountName(input) !== null,
  request: (input) => postsCall(input, null),
  next: (state, input) => postsCall(input, state),
  response: (reply, input, state) => {
    const account = accountOf(input, state)
    if (input.platform !== "tiktok" && account === null) return lookedUp(reply)
    const page = pageReaders[input.platform]?.(reply.body)
    if (page === undefined || page.posts === null) return unreadable("posts")
    const prefix = account === null ? "" : `${account}/`
    const limit = input.limit ?? socialPostsDefaultLimit
    const place = placeInPages(slug, input.cursor)
    const next = page.next === null ? null : `${prefix}${page.next}`
    const token = place.token ?? (prefix === "" ? undefined : prefix)
    const cut = cutPage(slug, { ...place, token }, page.posts, limit, next)
    if (cut.items.length === 0) return noMatch("no posts", totalCost(reply, state))
    const read = postReaders[input.platform] ?? tiktokPost
    return match({ ...cut, items: cut.items.map((one) => read(one)), total: null }, totalCost(reply, state))
  }
})

const standard = httpErrors({
  // The offers read 404 themselves: an unknown account or a wrong path.
  answers: [404],
  // Problems of the operator's account: its token, e-mail address, subscription, or daily units.
  reasons: { 491: "provider_account", 492: "provider_account", 493: "provider_account", 495: "provider_account" }
})

export const ensembledata = provider({
  slug,
  title: "EnsembleData",
  homepage: "https://ensembledata.com",
  base_url: "https://ensembledata.com/apis",
  auth: { kind: "query", name: "token" },
  credit: "0.0025",
  concurrency: 10,
  timeoutMillis: 60_000,
  measured: units,
  // Below status 500, a reply with data is an answer, whatever the status.
  httpErrors: (reply) =>
    reply.status >= 400 && reply.status < 500 && isRecord(at(reply.body, "data")) ? undefined : standard(reply),
  unanswered: missing,
  offers: [profile, posts]
})
