/**
 * ScrapeCreators' offers for ad libraries. An offer serves only inputs that the platform's library can search for.
 *
 * Meta's library searches by name and words, Google's by domain only, LinkedIn's and TikTok's by name or words. Only Meta's says which
 * ads run now.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { adsSearch, adsSearchDefaultLimit } from "../../../schema/capabilities/ads.search.ts"
import { type Ad, ad } from "../../../schema/capabilities/posts.ts"
import type { OfferRate } from "../../../schema/money/Rates.ts"
import { type Call, offer } from "../../../schema/catalog/Provider.ts"
import { accepts } from "../kit/cursor.ts"
import { milliseconds, moment, seconds } from "../kit/moment.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { cutPage, placeInPages } from "../kit/pages.ts"
import { at, flag, list, text, whole } from "../kit/read.ts"

type Input = InputOf<typeof adsSearch>
const slug = "scrapecreators"

const meta = (one: unknown): Ad => {
  const id = text(one, "ad_archive_id")
  const shown = at(one, "snapshot")
  const card = at(shown, "cards", 0)
  const video = at(shown, "videos", 0)
  const active = flag(one, "is_active")
  return ad({
    id,
    advertiser: text(one, "page_name") ?? text(shown, "page_name"),
    platform: "meta",
    headline: text(shown, "title") ?? text(card, "title"),
    text: text(shown, "body", "text") ?? text(card, "body"),
    image_url:
      text(shown, "images", 0, "original_image_url") ??
      text(shown, "images", 0, "resized_image_url") ??
      text(card, "original_image_url") ??
      text(video, "video_preview_image_url"),
    video_url: text(video, "video_hd_url") ?? text(video, "video_sd_url"),
    landing_url: text(shown, "link_url") ?? text(card, "link_url"),
    started_at: seconds(one, "start_date"),
    ended_at: active === true ? null : seconds(one, "end_date"),
    active,
    library_url: id === null ? null : `https://www.facebook.com/ads/library/?id=${id}`
  })
}

const google = (one: unknown): Ad =>
  ad({
    id: text(one, "creativeId"),
    advertiser: text(one, "advertiserName"),
    platform: "google",
    image_url: text(one, "imageUrl"),
    started_at: moment(one, "firstShown"),
    ended_at: moment(one, "lastShown"),
    library_url: text(one, "adUrl")
  })

const network = (one: unknown): Ad => {
  const id = text(one, "id")
  return ad({
    id,
    advertiser: text(one, "advertiser") ?? text(one, "poster"),
    platform: "network",
    headline: text(one, "headline"),
    text: text(one, "description"),
    image_url: text(one, "image") ?? text(one, "carouselImages", 0),
    video_url: text(one, "video"),
    landing_url: text(one, "destinationUrl"),
    started_at: moment(one, "startDate"),
    ended_at: moment(one, "endDate"),
    library_url: id === null ? null : `https://www.linkedin.com/ad-library/detail/${id}`
  })
}

const tiktok = (one: unknown): Ad =>
  ad({
    id: text(one, "id"),
    advertiser: text(one, "name"),
    platform: "tiktok",
    image_url: text(one, "image_urls", 0) ?? text(one, "videos", 0, "cover_img"),
    video_url: text(one, "videos", 0, "video_url"),
    started_at: milliseconds(one, "first_shown_date"),
    ended_at: milliseconds(one, "last_shown_date"),
    library_url: text(one, "url")
  })

interface Library {
  readonly serves: (input: Input) => boolean
  readonly call: (input: Input, token: string | undefined) => Pick<Call, "path" | "query">
  /** Names of the field with the ads, because the provider's answers differ. */
  readonly fields: ReadonlyArray<string>
  readonly read: (one: unknown) => Ad
  readonly total: string
  readonly next: (body: unknown) => string | null
}

const metaCall = (input: Input, cursor: string | undefined): Pick<Call, "path" | "query"> => {
  const filters = {
    status: input.active_only === true ? "ACTIVE" : "ALL",
    country: input.country?.toUpperCase(),
    cursor
  }
  if (input.company_name !== undefined) {
    return { path: "/v1/facebook/adLibrary/company/ads", query: { companyName: input.company_name, ...filters } }
  }
  // Meta's library has no filter for domains. So search for the domain as text, because ads contain their link.
  const words =
    input.query === undefined
      ? { query: input.company_domain, search_type: "keyword_exact_phrase" }
      : { query: input.query }
  return { path: "/v1/facebook/adLibrary/search/ads", query: { ...words, ...filters } }
}

const advertised = (input: Input) => input.company_name !== undefined || input.company_domain !== undefined
const cursorOf = (body: unknown) => text(body, "cursor")

const libraries: Readonly<Record<Input["platform"], Library>> = {
  meta: {
    serves: (input) => input.query === undefined || !advertised(input),
    call: metaCall,
    fields: ["searchResults", "results"],
    read: meta,
    total: "searchResultsCount",
    next: cursorOf
  },
  google: {
    serves: (input) => input.company_domain !== undefined && input.query === undefined && input.active_only !== true,
    call: (input, cursor) => ({
      path: "/v1/google/company/ads",
      query: { domain: input.company_domain, region: input.country?.toUpperCase(), cursor }
    }),
    fields: ["ads"],
    read: google,
    total: "number_of_ads_estimate",
    next: cursorOf
  },
  network: {
    serves: (input) => (input.company_name !== undefined || input.query !== undefined) && input.active_only !== true,
    call: (input, paginationToken) => ({
      path: "/v1/linkedin/ads/search",
      query: {
        company: input.company_name,
        keyword: input.query,
        countries: input.country?.toUpperCase(),
        paginationToken
      }
    }),
    fields: ["ads"],
    read: network,
    total: "totalAds",
    next: (body) => (flag(body, "isLastPage") === true ? null : text(body, "paginationToken"))
  },
  tiktok: {
    serves: (input) =>
      (input.company_name !== undefined) !== (input.query !== undefined) &&
      input.country === undefined &&
      input.active_only !== true,
    call: (input, cursor) => ({
      path: "/v1/tiktok/ad-library/search",
      query: { advertiser_name: input.company_name, query: input.query, cursor }
    }),
    fields: ["ads"],
    read: tiktok,
    total: "total",
    next: (body) => (flag(body, "has_more") === false ? null : cursorOf(body))
  }
}

export const ads = (oneCredit: OfferRate, note: string) =>
  offer(adsSearch, {
    price: oneCredit,
    platforms: ["meta", "google", "network", "tiktok"],
    note,
    wraps: [
      "GET /v1/facebook/adLibrary/search/ads",
      "GET /v1/facebook/adLibrary/company/ads",
      "GET /v1/google/company/ads",
      "GET /v1/linkedin/ads/search",
      "GET /v1/tiktok/ad-library/search"
    ],
    serves: (input) => accepts(slug, input.cursor) && libraries[input.platform].serves(input),
    request: (input) => ({
      method: "GET",
      ...libraries[input.platform].call(input, placeInPages(slug, input.cursor).token)
    }),
    response: (reply, input) => {
      const { fields, next, read, total } = libraries[input.platform]
      const ads = fields.map((field) => list(reply.body, field)).find((some) => some !== null) ?? null
      if (ads === null) return unreadable(fields[0] ?? "")
      const limit = input.limit ?? adsSearchDefaultLimit
      const page = cutPage(slug, placeInPages(slug, input.cursor), ads, limit, next(reply.body))
      if (page.items.length === 0) return noMatch("no ads")
      return match({ ...page, items: page.items.map(read), total: whole(reply.body, total) })
    }
  })
