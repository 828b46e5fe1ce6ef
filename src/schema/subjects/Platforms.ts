/**
 * The social platforms: their hosts, their names in data, and where an account's name is in a URL.
 *
 * To add a platform, add an entry here.
 */

export interface Platform {
  readonly name: string
  /** Registrable domains; `*` stands for any ending. */
  readonly hosts: ReadonlyArray<string>
  /** Subdomains with accounts, in addition to none, `m` and `mobile`. */
  readonly subdomains?: RegExp
  /** Names of the platform in data, in lower case without spaces, including `name`. */
  readonly aliases: ReadonlyArray<string>
  /** The account is the first part of the path, unless the part is one of these. */
  readonly first?: ReadonlySet<string>
  /** The account is the part after one of these. */
  readonly under?: ReadonlySet<string>
  /** The account is a part that begins with `@`. */
  readonly at: boolean
  /** Path parts after the account that only show it in another way. Other parts are pages of their own, such as a post. */
  readonly views: ReadonlySet<string>
}

const set = (text: string): ReadonlySet<string> => new Set(text.split(" "))
const views = set("about followers following posts videos photos media likes")
const none: ReadonlySet<string> = new Set()

export const platforms: ReadonlyArray<Platform> = [
  {
    name: "x",
    hosts: ["x.com", "twitter.com"],
    aliases: ["x", "twitter", "xtwitter", "twitterx"],
    first: set(
      "home search hashtag i intent share settings explore login signup logout messages notifications compose privacy tos about jobs download account oauth who_to_follow widgets en statuses help tweet web communities"
    ),
    at: true,
    views: set(
      "with_replies media likes followers following highlights verified_followers articles lists about superfollows"
    )
  },
  {
    name: "instagram",
    hosts: ["instagram.com", "instagr.am"],
    aliases: ["instagram", "ig", "insta"],
    first: set(
      "p reel reels stories explore tv accounts about developer developers direct legal web api emails session challenge s share graphql press help privacy terms"
    ),
    under: set("_u _n"),
    at: true,
    views: set("reels tagged feed channel followers following guides igtv")
  },
  { name: "tiktok", hosts: ["tiktok.com"], aliases: ["tiktok"], at: true, views: set("live") },
  {
    name: "youtube",
    hosts: ["youtube.com"],
    subdomains: /^music$/,
    aliases: ["youtube", "yt"],
    under: set("c user"),
    at: true,
    views: set(
      "about videos shorts streams playlists community channels featured live posts podcasts releases store search null"
    )
  },
  {
    name: "github",
    hosts: ["github.com"],
    subdomains: /^gist$/,
    aliases: ["github"],
    first: set(
      "about apps blog collections contact customer-stories enterprise events explore features issues join login logout marketplace new notifications orgs pricing pulls readme search security sessions settings signup site solutions sponsors stars team topics trending users watching codespaces copilot"
    ),
    under: set("orgs users sponsors"),
    at: false,
    views: none
  },
  {
    name: "facebook",
    hosts: ["facebook.com", "fb.com"],
    subdomains: /^([a-z]{2}-[a-z]{2}|web|touch|mbasic|business|free|d)$/,
    aliases: ["facebook", "fb"],
    first: set(
      "groups events pages people watch marketplace sharer share dialog login login.php sharer.php share.php story.php permalink.php photo.php photo photos video videos video.php reel reels stories hashtag help policies policy privacy terms settings ads business gaming l.php home.php plugins tr search notes media public legal profile.php pg live recover r.php saved messages notifications friends"
    ),
    under: set("pg"),
    at: false,
    views: set(
      "about photos videos posts followers friends reviews reels events mentions community live photos_stream likes"
    )
  },
  {
    name: "threads",
    hosts: ["threads.net", "threads.com"],
    aliases: ["threads"],
    at: true,
    views: set("replies reposts media")
  },
  {
    name: "bluesky",
    hosts: ["bsky.app"],
    aliases: ["bluesky", "bsky"],
    under: set("profile"),
    at: false,
    views: set("followers follows lists feed")
  },
  {
    name: "reddit",
    hosts: ["reddit.com"],
    subdomains: /^(old|new|np|i|amp|sh)$/,
    aliases: ["reddit"],
    under: set("user u"),
    at: false,
    views: set("submitted comments overview about saved upvoted downvoted hidden gilded")
  },
  {
    name: "pinterest",
    hosts: ["pinterest.*"],
    subdomains: /^[a-z]{2}$/,
    aliases: ["pinterest"],
    first: set(
      "pin search ideas explore today login signup business about settings categories topics _ _tools news_hub resource password shop"
    ),
    at: false,
    views: set("_saved _created pins boards _shop followers following")
  },
  {
    name: "twitch",
    hosts: ["twitch.tv"],
    aliases: ["twitch"],
    first: set(
      "videos directory p settings downloads jobs turbo login signup search store subscriptions wallet drops inventory friends prime moderator popout embed team collections"
    ),
    at: false,
    views: set("about videos schedule clips followers following chat")
  },
  {
    name: "telegram",
    hosts: ["t.me", "telegram.me", "telegram.dog"],
    aliases: ["telegram"],
    first: set(
      "joinchat addstickers addemoji addtheme share proxy socks setlanguage bg invoice login iv c s confirmphone"
    ),
    under: set("s"),
    at: false,
    views: none
  },
  {
    name: "snapchat",
    hosts: ["snapchat.com"],
    aliases: ["snapchat", "snap"],
    under: set("add u"),
    at: true,
    views: none
  },
  { name: "medium", hosts: ["medium.com"], aliases: ["medium"], at: true, views: views },
  { name: "substack", hosts: ["substack.com"], aliases: ["substack"], at: true, views: set("posts notes") },
  {
    name: "producthunt",
    hosts: ["producthunt.com"],
    aliases: ["producthunt"],
    at: true,
    views: set("submitted reviews activity")
  },
  {
    name: "soundcloud",
    hosts: ["soundcloud.com"],
    aliases: ["soundcloud"],
    first: set(
      "discover stream upload search charts you settings pages people tags terms-of-use jobs imprint popular feed login"
    ),
    at: false,
    views: set("tracks albums sets reposts popular-tracks likes followers following")
  },
  {
    name: "patreon",
    hosts: ["patreon.com"],
    aliases: ["patreon"],
    first: set(
      "posts user home explore login signup create pricing about policy settings join c cw bepatron search messages m"
    ),
    under: set("c cw"),
    at: false,
    views: set("posts about membership collections shop")
  },
  {
    name: "linktree",
    hosts: ["linktr.ee"],
    aliases: ["linktree", "linktr"],
    first: set("s admin login register discover"),
    at: false,
    views: none
  }
]

export const named: ReadonlyMap<string, Platform> = new Map(platforms.map((platform) => [platform.name, platform]))
const aliased: ReadonlyMap<string, string> = new Map(
  platforms.flatMap(({ name, aliases }) => aliases.map((alias): [string, string] => [alias, name]))
)
const hosted: ReadonlyMap<string, Platform> = new Map(
  platforms.flatMap((platform) => platform.hosts.map((host): [string, Platform] => [host, platform]))
)
/** Hosts with any ending: `pinterest.` for `pinterest.*`. */
const anyEnding = Array.from(hosted).flatMap(([host, platform]) =>
  host.endsWith(".*") ? [[host.slice(0, -1), platform] as const] : []
)

/** The professional network. Its accounts are profiles and not handles, but data names it like a platform. */
export const network = "network"
const networkAliases = new Set(["linkedin", "network", "professionalnetwork", "li"])
const longest = 24

/** The platform for a name in data: the name of an entry above, `network`, or null. */
export const platformCalled = (text: string): string | null => {
  if (text.length > longest) return null
  const word = text
    .toLowerCase()
    .replace(/\.com$/, "")
    .replace(/[\s_/().-]/g, "")
  return aliased.get(word) ?? (networkAliases.has(word) ? network : null)
}

/** The platform with accounts on this host. Null for its other hosts, such as docs.github.com. */
export const platformAt = (name: string, registrable: string): Platform | null => {
  const platform = hosted.get(registrable) ?? anyEnding.find(([stem]) => registrable.startsWith(stem))?.[1]
  if (platform === undefined) return null
  const subdomain = name === registrable ? "" : name.slice(0, -registrable.length - 1)
  return subdomain === "" || subdomain === "m" || subdomain === "mobile" || platform.subdomains?.test(subdomain)
    ? platform
    : null
}
