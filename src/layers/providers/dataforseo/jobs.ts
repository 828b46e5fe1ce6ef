/**
 * DataForSEO's offers that run as tasks: job postings, and ads of Google's Ads Transparency Center.
 *
 * They have no live call. A task is posted and charged, and its result is fetched minutes later.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { adsSearch, adsSearchDefaultLimit } from "../../../schema/capabilities/ads.search.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../../schema/capabilities/jobs.search.ts"
import { ad } from "../../../schema/capabilities/posts.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { countryCode, countryOf, isCountry } from "./locale.ts"
import { fetchJob, followJob, instant, itemsOf, jobTimeoutMillis, keyword, task } from "./task.ts"
import { pageFrom } from "../kit/outcome.ts"
import { host, text, whole } from "../kit/read.ts"

const jobsPath = "/v3/serp/google/jobs"
const adsPath = "/v3/serp/google/ads_search"

/** Filters that can be written into the query. Any other filter would be ignored. */
const searchable = new Set(["query", "location", "limit"])

/** For employers without a website, the link is a search and not their site. */
const employerDomain = (url: string | null): string | null => {
  const domain = host(url)
  return domain === null || /^google\.[a-z.]+$/.test(domain) ? null : domain
}

/** Remote jobs have such a word instead of a location. */
const remoteOf = (location: string | null): boolean | null =>
  location !== null && /\b(?:remote|anywhere|work from home)\b/i.test(location) ? true : null

const posting = (item: unknown) => ({
  title: text(item, "title"),
  company_name: text(item, "employer_name"),
  company_domain: employerDomain(text(item, "employer_url")),
  location: text(item, "location"),
  url: text(item, "source_url"),
  posted_at: instant(text(item, "timestamp")) ?? text(item, "time_ago"),
  employment_type: text(item, "contract_type"),
  // A salary is one line of text, per hour, month or year.
  salary_min: null,
  salary_max: null,
  currency: null,
  remote: remoteOf(text(item, "location")),
  description: null
})

export const jobs = offer(jobsSearch, {
  // $0.0006, and a tenth of a further page: $0.00045 ÷ 10
  price: inUsd.metered("0.0006", "0.000045", jobsSearchDefaultLimit),
  note: "Published standard rate for a page of ten results; answers may take minutes.",
  wraps: [`POST ${jobsPath}/task_post`, `GET ${jobsPath}/task_get/advanced/{id}`],
  timeoutMillis: jobTimeoutMillis,
  serves: (input) => input.query !== undefined && Object.keys(input).every((field) => searchable.has(field)),
  request: (input) =>
    task({
      keyword: keyword([input.query ?? "", ...(input.location === undefined ? [] : [input.location])].join(" ")),
      location_code: countryCode(countryOf(input.location)),
      language_code: "en",
      depth: input.limit ?? jobsSearchDefaultLimit
    }),
  next: (state) => fetchJob(`${jobsPath}/task_get/advanced`, state),
  response: (reply, input, state) =>
    followJob(reply, state, "no jobs found", (result) =>
      pageFrom(result, "items", {
        values: itemsOf(result),
        none: "no jobs found",
        limit: input.limit ?? jobsSearchDefaultLimit,
        item: posting,
        total: whole(result, "se_results_count")
      })
    )
})

/** Ads that the price covers: one page. */
const adsPageSize = 40
const adsLimit = (input: InputOf<typeof adsSearch>): number => input.limit ?? adsSearchDefaultLimit

export const ads = offer(adsSearch, {
  price: inUsd.flat("0.0006"),
  platforms: ["google"],
  note: "Published standard rate; answers may take minutes.",
  wraps: [`POST ${adsPath}/task_post`, `GET ${adsPath}/task_get/advanced/{id}`],
  timeoutMillis: jobTimeoutMillis,
  // The provider finds advertisers by domain only, and does not say whether an ad still runs.
  serves: (input) =>
    input.company_domain !== undefined &&
    input.query === undefined &&
    input.active_only !== true &&
    input.cursor === undefined &&
    isCountry(input.country) &&
    adsLimit(input) <= adsPageSize,
  request: (input) =>
    task({
      target: host(input.company_domain ?? null) ?? input.company_domain,
      // Without a location, the answer has ads of all countries.
      ...(input.country === undefined ? {} : { location_code: countryCode(input.country) }),
      depth: adsPageSize
    }),
  next: (state) => fetchJob(`${adsPath}/task_get/advanced`, state),
  response: (reply, input, state) =>
    followJob(reply, state, "no ads found", (result) =>
      pageFrom(result, "items", {
        values: itemsOf(result),
        none: "no ads found",
        limit: adsLimit(input),
        item: (item) =>
          ad({
            id: text(item, "creative_id"),
            advertiser: text(item, "title"),
            platform: "google",
            image_url: text(item, "preview_image", "url"),
            started_at: instant(text(item, "first_shown")),
            ended_at: instant(text(item, "last_shown")),
            library_url: text(item, "url")
          })
      })
    )
})
