/**
 * Reads profiles on the professional network (linkedin.com) from any form of their URL.
 *
 * A person's profile is `in/<slug>`, and a company's page is `company/<slug>`. The same slug may exist as both, as two subjects. School and
 * showcase pages share the names of companies, so they count as companies.
 */
import { lower, visible } from "./Form.ts"
import { readUrl, segmentsOf, sentenceEnd, type Url } from "./Url.ts"

const hosts = new Set(["linkedin.com", "linkedin.cn"])
const people = new Set(["in", "pub"])
const companies = new Set(["company", "companies", "school", "showcase"])
const slugMax = 200
/** Links that passed through several systems may be percent-encoded several times. */
const decodingsMax = 4

const slugOf = (part: string | undefined): string | null => {
  let slug = part ?? ""
  for (let n = 0; n < decodingsMax && slug.includes("%"); n++) {
    try {
      slug = decodeURIComponent(slug)
    } catch {
      return null
    }
  }
  slug = lower(visible(slug))
  let end = slug.length
  while (end > 0 && sentenceEnd.has(slug.charAt(end - 1))) end--
  slug = slug.slice(0, end)
  const sound =
    slug !== "" && slug.length <= slugMax && !/[\s/?#%\\@:\p{Cc}]/u.test(slug) && /[\p{L}\p{N}\p{S}]/u.test(slug)
  return sound ? slug : null
}

const hex = /^[0-9a-z]{1,3}$/i

/** `/pub/ada-lovelace/a7/576/b50` moved to `/in/ada-lovelace-b50576a7`: the parts in reverse order, the first two padded to three digits. */
const movedSlug = (name: string, numbers: ReadonlyArray<string>): string => {
  const [first, second, third] = numbers
  if (first === undefined || second === undefined || third === undefined) return name
  if (!hex.test(first) || !hex.test(second) || !hex.test(third)) return name
  return `${name}-${third.padStart(3, "0")}${second.padStart(3, "0")}${first}`.toLowerCase()
}

/** The profile in a URL, such as `in/ada-lovelace`. Null if the URL is no profile. */
export const profileOf = (url: Url): string | null => {
  if (!hosts.has(url.host.registrable ?? "")) return null
  const parts = segmentsOf(url)
  const segments = parts[0] === "mwlite" ? parts.slice(1) : parts
  const place = segments[0]?.toLowerCase() ?? ""
  const slug = slugOf(segments[1])
  if (slug === null) return null
  if (companies.has(place)) return `company/${slug}`
  if (!people.has(place)) return null
  return `in/${place === "pub" ? movedSlug(slug, segments.slice(2, 5)) : slug}`
}

const placed = /^\/?(in|pub|company|companies|school|showcase)\//i
const bareSlug = /^[\p{L}\p{N}\p{M}\p{S}_%-]{2,200}$/u

/** Reads a value that must be a profile: a URL, `in/<slug>`, `company/<slug>`, or the slug alone. */
export const readNetwork = (text: string, place: "in" | "company" = "in"): string | null => {
  const url = readUrl(text, true)
  if (url !== null) return profileOf(url)
  const path = placed.test(text) ? text.replace(/^\//, "") : bareSlug.test(text) ? `${place}/${text}` : null
  const built = path === null ? null : readUrl(`https://linkedin.com/${path}`)
  return built === null ? null : profileOf(built)
}
