/**
 * Crustdata's offers for companies and job postings, searched by conditions.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { companySearch, companySearchDefaultLimit } from "../../../schema/capabilities/company.search.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../../schema/capabilities/jobs.search.ts"
import { type Company, company, location } from "../../../schema/capabilities/shapes.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { all, contains, type Filter, inBands, note, within } from "./answer.ts"
import { accepts, issue, redeem } from "../kit/cursor.ts"
import { pageFrom } from "../kit/outcome.ts"
import { at, host, providerIds, text, webAddress, whole } from "../kit/read.ts"
import { defined } from "../../../schema/defined.ts"

/** Credits per result. */
const perResult = "0.03"

/** Returns "2008" for 2008, "2008" and "2008-01-01". */
const foundedYear = (info: unknown): number | null => {
  const printed = text(info, "year_founded")
  return whole(info, "year_founded") ?? whole(printed === null ? null : /^\d{4}/.exec(printed)?.[0])
}

const companyOf = (record: unknown): Company => {
  const info = at(record, "basic_info")
  const places = at(record, "locations")
  const revenue = ["lower_bound_usd", "upper_bound_usd"].flatMap(
    (bound) => whole(record, "revenue", "estimated", bound) ?? []
  )
  const website = text(info, "website")
  return company({
    name: text(info, "name"),
    domain: text(info, "primary_domain") ?? host(website),
    website: webAddress(website),
    network_url: webAddress(text(info, "professional_network_url")),
    industry: text(record, "taxonomy", "professional_network_industry") ?? text(info, "industries", 0),
    employee_count: whole(record, "headcount", "total"),
    employee_range: text(info, "employee_count_range"),
    founded_year: foundedYear(info),
    location: location(
      text(places, "hq_city") ?? text(places, "city"),
      text(places, "hq_state") ?? text(places, "state"),
      text(places, "hq_country") ?? text(places, "country")
    ),
    description: text(info, "description"),
    revenue: revenue.length === 0 ? null : revenue.join("-"),
    funding: whole(record, "funding", "total_investment_usd")?.toString() ?? null,
    provider_ids: providerIds("crustdata", record, "crustdata_company_id")
  })
}

const subjects = ["taxonomy.professional_network_specialities", "taxonomy.categories"]

const filtersOf = (input: InputOf<typeof companySearch>): Filter =>
  all([
    ...contains(["basic_info.name", ...subjects], input.query === undefined ? undefined : [input.query]),
    ...contains(["taxonomy.professional_network_industry"], input.industries),
    ...contains(["locations.headquarters"], input.locations),
    ...inBands("headcount.total", input.employee_ranges),
    ...within("technographics.technologies.name", input.technologies),
    ...contains(subjects, input.keywords)
  ])

export const findCompanies = offer(companySearch, {
  price: inCredits.metered("0", perResult, companySearchDefaultLimit),
  note,
  wraps: ["POST /company/search"],
  // Founding years are not filtered, because Crustdata does not document whether they compare as numbers.
  serves: (input) =>
    accepts("crustdata", input.cursor) && input.founded_min === undefined && input.founded_max === undefined,
  request: (input) => ({
    body: {
      filters: filtersOf(input),
      limit: input.limit ?? companySearchDefaultLimit,
      ...defined({ cursor: redeem("crustdata", input.cursor) })
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "companies", {
      none: "no companies found",
      limit: input.limit ?? companySearchDefaultLimit,
      item: companyOf,
      total: whole(reply.body, "total_count"),
      next_cursor: issue("crustdata", text(reply.body, "next_cursor"))
    })
})

const jobFiltersOf = (input: InputOf<typeof jobsSearch>): Filter =>
  all([
    ...contains(["job_details.title"], input.query === undefined ? undefined : [input.query]),
    ...within(
      "company.basic_info.primary_domain",
      input.company_domain === undefined ? undefined : [input.company_domain.toLowerCase()]
    ),
    ...contains(["company.basic_info.name"], input.company_name === undefined ? undefined : [input.company_name]),
    ...contains(["location.raw"], input.location === undefined ? undefined : [input.location]),
    ...(input.remote === undefined
      ? []
      : [{ field: "job_details.workplace_type", type: input.remote ? "=" : "!=", value: "Remote" }])
  ])

const isRemote = (workplace: string | null): boolean | null => (workplace === null ? null : /remote/i.test(workplace))

export const findJobs = offer(jobsSearch, {
  price: inCredits.metered("0", perResult, jobsSearchDefaultLimit),
  note,
  wraps: ["POST /job/search"],
  // Crustdata filters by date and not by age. Adapters are pure and have no clock, so they can't convert an age to a date.
  serves: (input) => input.posted_within_days === undefined,
  request: (input) => ({
    body: {
      filters: jobFiltersOf(input),
      // Requests only these fields, because a whole record contains all data of the employer.
      fields: ["job_details", "company.basic_info", "location", "content.description", "metadata.date_added"],
      limit: input.limit ?? jobsSearchDefaultLimit
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "job_listings", {
      none: "no jobs found",
      limit: input.limit ?? jobsSearchDefaultLimit,
      item: (one) => ({
        title: text(one, "job_details", "title"),
        company_name: text(one, "company", "basic_info", "name"),
        company_domain: host(text(one, "company", "basic_info", "primary_domain")),
        location: text(one, "location", "raw"),
        url: text(one, "job_details", "url"),
        // When Crustdata first saw the posting. The employer's own date is not available.
        posted_at: text(one, "metadata", "date_added"),
        employment_type: null,
        salary_min: null,
        salary_max: null,
        currency: null,
        remote: isRemote(text(one, "job_details", "workplace_type")),
        description: text(one, "content", "description")
      }),
      total: whole(reply.body, "total_count")
    })
})
