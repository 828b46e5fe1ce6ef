/**
 * Reads accounts on social platforms: `x/ada` if the platform is known, and `ada` if it is not.
 *
 * A query for `@ada` finds accounts of that name on all platforms. A query for `x/ada` also finds an `@ada` without a platform, as an
 * inexact match.
 */
import { network, named, type Platform, platformAt, platformCalled } from "./Platforms.ts"
import { keyOf, lower, type Name, plain, visible } from "./Form.ts"
import { parameter, segmentsOf, type Url } from "./Url.ts"

export interface Account {
  readonly platform: string | null
  readonly name: string
}

const nameMax = 100
const blueskyHost = ".bsky.social"
/** All characters that any platform allows in a name. */
const shape = /^[\p{L}\p{N}\p{M}_.·-]*[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.·-]*$/u

const nameOf = (text: string | undefined): string | null => {
  const name = lower(plain(visible(text ?? "")))
    .replace(/^@/, "")
    .replace(/\.{1,100}$/, "")
  return name !== "" && name.length <= nameMax && shape.test(name) ? name : null
}

const account = (platform: string | null, text: string | undefined): Account | null => {
  const name = nameOf(text)
  if (name === null) return null
  if (name.endsWith(blueskyHost) && name !== blueskyHost)
    return platform === null || platform === "bluesky" ? { platform: "bluesky", name } : { platform, name }
  return { platform, name: platform === "bluesky" && !name.includes(".") ? `${name}${blueskyHost}` : name }
}

export const normalizedAccount = ({ platform, name }: Account): string =>
  platform === null ? name : `${platform}/${name}`

/** The position of the account's name in the path. -1 if the path has none. */
const placeOf = ({ first, under, at }: Platform, segments: ReadonlyArray<string>): number => {
  const head = segments[0] ?? ""
  if (at && head.startsWith("@")) return 0
  if (under?.has(head.toLowerCase()) && segments.length > 1) return 1
  return first !== undefined && head !== "" && !first.has(head.toLowerCase()) ? 0 : -1
}

/** Facebook pages without a name of their own have a number. */
const numbered = (url: Url, segments: ReadonlyArray<string>): string | null => {
  const [place = "", , id = ""] = segments
  const number = place === "profile.php" ? parameter(url, "id") : place === "people" || place === "pages" ? id : ""
  return number !== null && /^\d{5,20}$/.test(number) ? number : null
}

/** The account in a URL. `exact` is false if the URL is something of that account, such as a post. */
export const accountOf = (url: Url): { readonly account: Account; readonly exact: boolean } | null => {
  const platform = platformAt(url.host.name, url.host.registrable ?? "")
  if (platform === null || url.port !== "") return null
  const segments = segmentsOf(url)
  const number = platform.name === "facebook" ? numbered(url, segments) : null
  const place = number === null ? placeOf(platform, segments) : 0
  if (place < 0) return null
  const named = account(platform.name, number ?? segments[place])
  if (named === null) return null
  const [view, ...more] = number === null ? segments.slice(place + 1) : []
  return { account: named, exact: view === undefined || (platform.views.has(view.toLowerCase()) && more.length === 0) }
}

const mentionStart = new Set(["@", "/", "u", "U"])
const mention = /^@[^\s@/]{1,100}$/u

/** Reads `@ada`, or Reddit's `u/ada`. */
export const readMention = (value: string): Account | null => {
  const text = plain(value)
  if (!mentionStart.has(text.charAt(0))) return null
  if (/^\/?u\/[\w-]{2,20}$/i.test(text)) return account("reddit", text.slice(text.indexOf("u/") + 2) || text.slice(-2))
  return mention.test(text) ? account(null, text.slice(1)) : null
}

/** Reads a value that must be an account: `@ada`, `ada`, `x/ada` or `u/ada`. */
export const readAccount = (text: string, platform: string | null = null): Account | null => {
  const mentioned = readMention(text)
  if (mentioned !== null)
    return platform === null || mentioned.platform !== null ? mentioned : account(platform, mentioned.name)
  const slash = text.indexOf("/")
  if (slash < 0) return account(platform, text)
  const called = platformCalled(text.slice(0, slash))
  return called === null || called === network || !named.has(called) ? null : account(called, text.slice(slash + 1))
}

/** Key prefixes: an account on any platform, and an account without a known platform. */
const anywhere = "*"
const unplaced = "?"

/** The keys under which a value with this account is indexed. */
export const accountNames = ({ platform, name }: Account): ReadonlyArray<Name> => [
  { key: keyOf("h", `${anywhere}/${name}`), exact: true },
  platform === null
    ? { key: keyOf("h", `${unplaced}/${name}`), exact: false }
    : { key: keyOf("h", `${platform}/${name}`), exact: true }
]

/** The keys that a query for this account looks up. */
export const accountKeys = ({ platform, name }: Account): ReadonlyArray<string> =>
  platform === null
    ? [keyOf("h", `${anywhere}/${name}`)]
    : [keyOf("h", `${platform}/${name}`), keyOf("h", `${unplaced}/${name}`)]
