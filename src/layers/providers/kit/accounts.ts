/**
 * Reads a social account's name from a handle or from the URL of its page. Each platform has its own URL format.
 *
 * Returns null if there is none. Then the offer does not serve the input, and routing tries other providers.
 */

export interface AccountInput {
  readonly platform: string
  readonly handle?: string
  readonly url?: string
}

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const bare = (name: string | undefined): string | null => {
  const trimmed = decoded(name ?? "")
    .trim()
    .replace(/^@+/, "")
  return trimmed === "" ? null : trimmed
}

/** On these platforms the name is the second segment of the path, after such a word. Elsewhere it is the first. */
const namePrefixes: Readonly<Record<string, RegExp>> = {
  youtube: /^(channel|c|user)$/,
  bluesky: /^profile$/,
  reddit: /^r$/
}

const nameInUrl = (platform: string, address: string): string | null => {
  const url = URL.parse(/^https?:\/\//i.test(address) ? address : `https://${address}`)
  if (url === null) return null
  const [first = "", second] = url.pathname.split("/").filter((segment) => segment !== "")
  if (platform === "facebook" && first === "profile.php") return bare(url.searchParams.get("id") ?? undefined)
  if (namePrefixes[platform]?.test(first) === true) return bare(second)
  // Only subreddits count as accounts on Reddit, not users and posts.
  return platform === "reddit" ? null : bare(first)
}

/** Returns "nasa" for "@nasa", "r/nasa" and "https://www.youtube.com/@nasa/videos". */
export const accountName = ({ platform, handle, url }: AccountInput): string | null => {
  if (handle === undefined) return url === undefined ? null : nameInUrl(platform, url)
  if (/^https?:\/\//i.test(handle)) return nameInUrl(platform, handle)
  if (platform !== "reddit") return bare(handle)
  return /^\/?u(ser)?\//i.test(handle) ? null : bare(handle.replace(/^\/?r\//i, "").replace(/\/+$/, ""))
}
