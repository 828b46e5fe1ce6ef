/**
 * LeadMagic's offers for job postings, and for a company's ads on Google, Meta and the professional network.
 *
 * LeadMagic charges per job and per ad. A request limits the number of jobs, but there is no limit for ads.
 */
import { adsSearch, adsSearchDefaultLimit } from "../../../schema/capabilities/ads.search.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../../schema/capabilities/jobs.search.ts"
import { type Ad, ad } from "../../../schema/capabilities/posts.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { type EndpointName, offer } from "../../../schema/catalog/Provider.ts"
import { note } from "./report.ts"
import { pageFrom } from "../kit/outcome.ts"
import { flag, host, list, number, text, webAddress, whole } from "../kit/read.ts"
import { defined } from "../../../schema/defined.ts"

/** Jobs on one page. */
const pageSizeMax = 50

export const findJobs = offer(jobsSearch, {
  // 1 credit per job
  price: inCredits.metered("0", "1", jobsSearchDefaultLimit),
  note,
  wraps: ["POST /v1/jobs/jobs-finder"],
  // LeadMagic has no filters for age and for remote jobs.
  serves: (input) =>
    (input.limit ?? jobsSearchDefaultLimit) <= pageSizeMax &&
    input.remote === undefined &&
    input.posted_within_days === undefined,
  request: (input) => ({
    body: {
      ...defined({
        job_title: input.query,
        company_website: input.company_domain,
        company_name: input.company_name,
        location: input.location
      }),
      page: 1,
      per_page: input.limit ?? jobsSearchDefaultLimit
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no jobs found",
      limit: input.limit ?? jobsSearchDefaultLimit,
      item: (job) => ({
        title: text(job, "title"),
        company_name: text(job, "company", "name"),
        company_domain: host(text(job, "company", "website_url")),
        location: text(job, "location"),
        url: text(job, "application_url"),
        posted_at: text(job, "published"),
        employment_type: text(job, "types", 0, "name"),
        salary_min: number(job, "salary_min"),
        salary_max: number(job, "salary_max"),
        currency: text(job, "salary_currency"),
        remote: flag(job, "has_remote"),
        description: text(job, "description")
      }),
      total: whole(reply.body, "total_count")
    })
})

const libraries = {
  google: "/v1/ads/google-ads-search",
  meta: "/v1/ads/meta-ads-search",
  network: "/v1/ads/b2b-ads-search"
} as const

/** The fields that ads of all libraries have in live answers of 2026-07. The specification has none of them. */
const shared = (one: unknown) => ({
  advertiser: text(one, "advertiser"),
  headline: text(one, "headline"),
  text: text(one, "description") ?? text(one, "content"),
  image_url: text(one, "image_url"),
  video_url: text(one, "video_url"),
  landing_url: webAddress(text(one, "landing_page_url")),
  started_at: text(one, "start_date"),
  ended_at: text(one, "end_date")
})

/** Reads an ad. Each ad library has its own field names. */
const adOf = (platform: string, one: unknown): Ad => {
  const common = shared(one)
  if (platform === "google") {
    return ad({
      ...common,
      id: text(one, "creative_id"),
      advertiser: text(one, "advertiser_name") ?? common.advertiser,
      platform,
      started_at: text(one, "start") ?? common.started_at,
      ended_at: text(one, "last_seen") ?? common.ended_at,
      library_url: text(one, "original_url")
    })
  }
  if (platform === "meta") {
    const id = text(one, "ad_archive_id")
    return ad({
      ...common,
      id,
      advertiser: text(one, "page_name") ?? common.advertiser,
      platform,
      headline: text(one, "snapshot", "title") ?? common.headline,
      text: text(one, "snapshot", "body", "text") ?? text(one, "snapshot", "body", "markup") ?? common.text,
      image_url: text(one, "snapshot", "images", 0, "original_image_url") ?? common.image_url,
      video_url: text(one, "snapshot", "videos", 0, "video_hd_url") ?? common.video_url,
      landing_url: webAddress(text(one, "snapshot", "link_url")) ?? common.landing_url,
      active: flag(one, "is_active"),
      library_url: id === null ? null : `https://www.facebook.com/ads/library/?id=${id}`
    })
  }
  return ad({
    ...common,
    id: text(one, "ad_id"),
    advertiser: text(one, "company_name") ?? common.advertiser,
    platform,
    headline: text(one, "ad_title") ?? common.headline,
    text: text(one, "ad_description") ?? common.text,
    library_url: text(one, "ad_url")
  })
}

export const findAds = offer(adsSearch, {
  // 0.2 credit per ad × 25 ads: the specification's examples consume 2.6 to 8 credits a call.
  price: inCredits.flat("5"),
  platforms: Object.keys(libraries),
  note: `${note} The provider charges per ad, however many the advertiser runs. Priced for 25 ads.`,
  wraps: Object.values(libraries).map((path): EndpointName => `POST ${path}`),
  // LeadMagic has no filter but the company.
  serves: (input) =>
    input.cursor === undefined &&
    (input.company_domain !== undefined || input.company_name !== undefined) &&
    input.query === undefined &&
    input.country === undefined &&
    input.active_only !== true,
  request: (input) => ({
    method: "POST",
    path: input.platform === "tiktok" ? libraries.meta : libraries[input.platform],
    body: defined({ company_domain: input.company_domain, company_name: input.company_name })
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "ads", {
      none: "no ads found",
      limit: input.limit ?? adsSearchDefaultLimit,
      item: (one) => adOf(input.platform, one),
      total: list(reply.body, "ads")?.length ?? null
    })
})
