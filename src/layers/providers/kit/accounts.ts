/**
 * Finds an account's name in a handle or in the address of its page, where each platform puts it.
 *
 * Null when neither names one, so that an offer can leave the input to others.
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
  const found = decoded(name ?? "")
    .trim()
    .replace(/^@+/, "")
  return found === "" ? null : found
}

/** Where the name stands behind a word of the address; elsewhere it comes first. */
const behind: Readonly<Record<string, RegExp>> = {
  youtube: /^(channel|c|user)$/,
  bluesky: /^profile$/,
  reddit: /^r$/
}

const inAddress = (platform: string, address: string): string | null => {
  const url = URL.parse(/^https?:\/\//i.test(address) ? address : `https://${address}`)
  if (url === null) return null
  const [first = "", second] = url.pathname.split("/").filter((segment) => segment !== "")
  if (platform === "facebook" && first === "profile.php") return bare(url.searchParams.get("id") ?? undefined)
  if (behind[platform]?.test(first) === true) return bare(second)
  // Everything else on Reddit is people and posts.
  return platform === "reddit" ? null : bare(first)
}

/** "nasa" of "@nasa", of "r/nasa" or of "https://www.youtube.com/@nasa/videos". */
export const accountName = ({ platform, handle, url }: AccountInput): string | null => {
  if (handle === undefined) return url === undefined ? null : inAddress(platform, url)
  if (/^https?:\/\//i.test(handle)) return inAddress(platform, handle)
  if (platform !== "reddit") return bare(handle)
  return /^\/?u(ser)?\//i.test(handle) ? null : bare(handle.replace(/^\/?r\//i, "").replace(/\/+$/, ""))
}
