/**
 * Adapter for Prospeo: enriches and searches people and companies, and finds their e-mail addresses and mobile numbers.
 *
 * An error has a code in the body, whatever the HTTP status. A free answer is marked as free. Prices are those of the Starter plan,
 * $0.039 per credit.
 */
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { companySearch, companySearchDefaultLimit } from "../../schema/capabilities/company.search.ts"
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { titleCase } from "../../schema/capabilities/names.ts"
import { lacks, peopleEnrich } from "../../schema/capabilities/people.enrich.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../schema/capabilities/people.search.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import { type Company, company, type EmailStatus, type Person, person } from "../../schema/capabilities/shapes.ts"
import { flat, metered } from "../../schema/money/Pricing.ts"
import { type Cost, type Failure, type Outcome, offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "./kit/cursor.ts"
import { match, noMatch } from "./kit/outcome.ts"
import { international } from "./kit/phone.ts"
import { at, flag, host, list, place, providerIds, text, texts, webAddress, whole } from "./kit/read.ts"
import { refusal, httpErrors, unreadable } from "./kit/httpErrors.ts"
import { defined } from "../../schema/defined.ts"

const note = "Published plans are about $0.039 per credit and less."
/** 1 credit × $0.039 × 1.2 */
const oneCredit = flat("0.0468")

const reasons: Readonly<Record<string, Failure["reason"]>> = {
  INSUFFICIENT_CREDITS: "provider_account",
  INVALID_API_KEY: "provider_account",
  ACCOUNT_RESTRICTED: "provider_account",
  RATE_LIMIT_EXCEEDED: "provider_rate_limited",
  RATE_LIMITED: "provider_rate_limited",
  // Prospeo rejected the caller's values.
  INVALID_DATAPOINTS: "provider_rejected",
  INVALID_FILTERS: "provider_rejected",
  INVALID_REQUEST: "provider_error",
  INTERNAL_ERROR: "provider_error"
}

/** A miss is an error with its own code, and costs nothing. */
const missed = (reply: Reply): Outcome<never> | undefined => {
  const code = text(reply.body, "error_code")
  if (code === "NO_MATCH" || code === "NO_RESULTS") return noMatch("nothing on record", { unit: "credit", amount: "0" })
  return flag(reply.body, "error") === true || reply.status >= 400 ? refusal(reply) : undefined
}

/** True if the answer is marked as free. Repeated searches are free too. */
const isFree = (reply: Reply): boolean =>
  flag(reply.body, "free_enrichment") === true || flag(reply.body, "free") === true

const charged = (reply: Reply) => ({ unit: "credit", amount: isFree(reply) ? "0" : "1" }) as const

/** The higher price of a mobile number applies only if the answer has one. */
const chargedMobile = (reply: Reply): Cost => ({
  unit: "credit",
  amount: isFree(reply) ? "0" : flag(reply.body, "person", "mobile", "revealed") === true ? "10" : "1"
})

/** The cost of a raw call. Null if the answer does not say, because only enrichments and misses do. */
const measured = (reply: Reply): Cost | null => {
  const code = text(reply.body, "error_code")
  if (isFree(reply) || code === "NO_MATCH" || code === "NO_RESULTS") return { unit: "credit", amount: "0" }
  return flag(reply.body, "free_enrichment") === false ? chargedMobile(reply) : null
}

const emailStatuses: Readonly<Record<string, EmailStatus>> = { VERIFIED: "valid", UNVERIFIED: "risky" }
/** Masked values ("e**@example.com") were not paid for, and are read as null. */
const revealedEmail = (result: unknown) =>
  flag(result, "email", "revealed") === false ? null : text(result, "email", "email")
const emailStatus = (result: unknown): EmailStatus | null =>
  revealedEmail(result) === null ? null : (emailStatuses[text(result, "email", "status") ?? ""] ?? "unknown")

const find = offer(emailFind, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/enrich-person" }],
  request: (input) => ({
    method: "POST",
    path: "/enrich-person",
    body: {
      data: {
        ...(input.first_name !== undefined && input.last_name !== undefined
          ? { first_name: input.first_name, last_name: input.last_name }
          : { full_name: input.full_name }),
        ...defined({
          company_website: input.company_domain,
          company_name: input.company_name,
          linkedin_url: input.network_url
        })
      },
      only_verified_email: true,
      enrich_mobile: false
    }
  }),
  response: (reply) => {
    const miss = missed(reply)
    if (miss !== undefined) return miss
    const person = at(reply.body, "person")
    const email = revealedEmail(person)
    if (email === null) return noMatch("no address found", charged(reply))
    return match(
      {
        email,
        email_status: emailStatus(person),
        confidence: null,
        first_name: text(person, "first_name"),
        last_name: text(person, "last_name"),
        company_domain: text(reply.body, "company", "domain"),
        source_count: null
      },
      charged(reply)
    )
  }
})

/** `result` has the fields `person` and `company`. It is the body of an enrichment, or one result of a search. */
const personOf = (result: unknown): Person => {
  const self = at(result, "person")
  return person({
    full_name: text(self, "full_name"),
    first_name: text(self, "first_name"),
    last_name: text(self, "last_name"),
    headline: text(self, "headline"),
    title: text(self, "current_job_title"),
    seniority: text(self, "job_history", 0, "seniority"),
    company_name: text(result, "company", "name"),
    company_domain: text(result, "company", "domain"),
    network_url: webAddress(text(self, "linkedin_url")),
    location: place(at(self, "location"), "city", "state", "country"),
    email: revealedEmail(self),
    email_status: emailStatus(self),
    phone: flag(self, "mobile", "revealed") === true ? text(self, "mobile", "mobile") : null,
    provider_ids: providerIds("prospeo", self, "person_id")
  })
}

/** Converts 2022 and 5 to "2022-05". */
const month = (year: number | null, monthNumber: number | null): string | null =>
  year === null ? null : monthNumber === null ? `${year}` : `${year}-${String(monthNumber).padStart(2, "0")}`

const experienceOf = (position: unknown) => ({
  title: text(position, "title"),
  company_name: text(position, "company_name"),
  company_domain: null,
  start_date: month(whole(position, "start_year"), whole(position, "start_month")),
  end_date: month(whole(position, "end_year"), whole(position, "end_month")),
  is_current: flag(position, "current")
})

const enrichPerson = offer(peopleEnrich, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/enrich-person" }],
  // Mobile numbers are a separate offer, because one costs ten times this price.
  serves: (input) => input.require?.includes("phone") !== true,
  request: (input) => ({
    method: "POST",
    path: "/enrich-person",
    body: {
      data: defined({
        linkedin_url: input.network_url,
        email: input.email,
        full_name: input.full_name,
        company_website: input.company_domain,
        company_name: input.company_name
      }),
      only_verified_email: false,
      enrich_mobile: false
    }
  }),
  response: (reply, input) => {
    const miss = missed(reply)
    if (miss !== undefined) return miss
    const self = at(reply.body, "person")
    if (self === undefined || self === null) return noMatch("nobody found", charged(reply))
    const person = personOf(reply.body)
    if (lacks(person, input.require)) return noMatch("found, but without the requested contact data", charged(reply))
    return match(
      {
        ...person,
        experience: list(self, "job_history")?.map(experienceOf) ?? null,
        education: null,
        skills: texts(self, "skills"),
        match_confidence: null
      },
      charged(reply)
    )
  }
})

/** A page has 25 results and costs one credit. */
const pageSize = 25
/** Filters that the provider's own client documents. */
const searchable = new Set(["company_domains", "seniorities", "limit", "cursor"])
interface Paged {
  readonly limit?: number
  readonly cursor?: string
}
/** The offset in a cursor. It counts results and not pages, so that a page cut by the limit loses no results. */
const offsetOf = (input: Paged): number => Number(redeem("prospeo", input.cursor) ?? "0")

const servesPage = (input: Paged, defaultLimit: number): boolean =>
  (input.limit ?? defaultLimit) <= pageSize &&
  accepts("prospeo", input.cursor) &&
  /^\d{1,6}$/.test(redeem("prospeo", input.cursor) ?? "0")

/** The part of the provider's page that the input asks for. */
const pageOf = (reply: Reply, input: Paged, results: ReadonlyArray<unknown>, defaultLimit: number) => {
  const offset = offsetOf(input)
  const skipped = offset % pageSize
  const items = results.slice(skipped, skipped + (input.limit ?? defaultLimit))
  const next = offset + items.length
  const total = whole(reply.body, "pagination", "total_count")
  const more = total === null ? results.length === pageSize : next < total
  return { items, total, next_cursor: issue("prospeo", more ? String(next) : null) }
}

const search = offer(peopleSearch, {
  // 1 credit per page × $0.039 × 1.2
  price: metered("0.0468", "0", peopleSearchDefaultLimit),
  note: "One page of at most 25 people, by employer's domain and seniority only.",
  wraps: [{ method: "POST", path: "/search-person" }],
  serves: (input) =>
    servesPage(input, peopleSearchDefaultLimit) && Object.keys(input).every((field) => searchable.has(field)),
  request: (input) => ({
    method: "POST",
    path: "/search-person",
    body: {
      filters: {
        ...(input.company_domains === undefined ? {} : { company: { websites: { include: input.company_domains } } }),
        ...(input.seniorities === undefined
          ? {}
          : { person_seniority: { include: input.seniorities.map((level) => titleCase(level.toLowerCase())) } })
      },
      page: Math.floor(offsetOf(input) / pageSize) + 1
    }
  }),
  response: (reply, input) => {
    const miss = missed(reply)
    if (miss !== undefined) return miss
    const results = list(reply.body, "results")
    if (results === null) return unreadable("results")
    const page = pageOf(reply, input, results, peopleSearchDefaultLimit)
    if (page.items.length === 0) return noMatch("nobody found", charged(reply))
    return match({ ...page, items: page.items.map(personOf) }, charged(reply))
  }
})

const companyOf = (result: unknown): Company => {
  const revenue = [whole(result, "revenue_range", "min"), whole(result, "revenue_range", "max")]
  return company({
    name: text(result, "name"),
    domain: text(result, "domain") ?? host(text(result, "website")),
    website: webAddress(text(result, "website")),
    network_url: webAddress(text(result, "linkedin_url")),
    industry: text(result, "industry"),
    employee_count: whole(result, "employee_count"),
    employee_range: text(result, "employee_range"),
    founded_year: whole(result, "founded"),
    location: place(at(result, "location"), "city", "state", "country"),
    description: text(result, "description"),
    revenue: revenue.filter((bound) => bound !== null).join("-") || null,
    funding: whole(result, "funding", "total_raised")?.toString() ?? null,
    provider_ids: providerIds("prospeo", result, "company_id")
  })
}

const enrichCompany = offer(companyEnrich, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/enrich-company" }],
  request: (input) => ({
    method: "POST",
    path: "/enrich-company",
    body: {
      data: defined({
        company_website: input.domain,
        company_name: input.name,
        company_linkedin_url: input.network_url
      })
    }
  }),
  response: (reply) => {
    const miss = missed(reply)
    if (miss !== undefined) return miss
    const company = at(reply.body, "company")
    if (text(company, "name") === null) return noMatch("no company found", charged(reply))
    return match(companyOf(company), charged(reply))
  }
})

const findPhone = offer(phoneFind, {
  // 10 credits × $0.039 × 1.2
  price: flat("0.468"),
  note,
  wraps: [{ method: "POST", path: "/enrich-person" }],
  request: (input) => ({
    method: "POST",
    path: "/enrich-person",
    body: {
      data: defined({
        linkedin_url: input.network_url,
        email: input.email,
        full_name: input.full_name,
        company_website: input.company_domain
      }),
      enrich_mobile: true,
      // A person without a verified number is a miss, and free.
      only_verified_mobile: true
    }
  }),
  response: (reply) => {
    const miss = missed(reply)
    if (miss !== undefined) return miss
    const mobile = at(reply.body, "person", "mobile")
    const number = text(mobile, "mobile_international") ?? text(mobile, "mobile")
    if (flag(mobile, "revealed") !== true || number === null) return noMatch("no number found", chargedMobile(reply))
    return match({ phone: international(number), phone_type: "mobile", confidence: null }, chargedMobile(reply))
  }
})

/** Prospeo accepts no earlier year. */
const foundedMin = 1900

/** Prospeo's employee ranges by ours, which are wider. */
const bands: Readonly<Record<string, ReadonlyArray<string>>> = {
  "1-10": ["1-10"],
  "11-50": ["11-20", "21-50"],
  "51-200": ["51-100", "101-200"],
  "201-500": ["201-500"],
  "501-1000": ["501-1000"],
  "1001-5000": ["1001-2000", "2001-5000"],
  "5001-10000": ["5001-10000"],
  "10001+": ["10000+"]
}

const companyFilters = (input: InputOf<typeof companySearch>) => ({
  ...(input.query === undefined ? {} : { company: { names: { include: [input.query] } } }),
  ...(input.locations === undefined ? {} : { company_location_search: { include: input.locations } }),
  ...(input.employee_ranges === undefined
    ? {}
    : { company_headcount_range: input.employee_ranges.flatMap((range) => bands[range] ?? []) }),
  ...(input.keywords === undefined
    ? {}
    : { company_keywords: { include: input.keywords, include_company_description: true } }),
  ...(input.founded_min === undefined && input.founded_max === undefined
    ? {}
    : {
        company_founded: {
          ...(input.founded_min === undefined ? {} : { min: Math.max(input.founded_min, foundedMin) }),
          ...defined({ max: input.founded_max })
        }
      })
})
const findCompanies = offer(companySearch, {
  // 1 credit per page × $0.039 × 1.2
  price: metered("0.0468", "0", companySearchDefaultLimit),
  note: "One page of at most 25 companies. The query is the company's name.",
  wraps: [{ method: "POST", path: "/search-company" }],
  // Prospeo's filters for industries and technologies accept only its own lists of words.
  serves: (input) =>
    servesPage(input, companySearchDefaultLimit) &&
    input.industries === undefined &&
    input.technologies === undefined &&
    (input.founded_max ?? foundedMin) >= foundedMin,
  request: (input) => ({
    method: "POST",
    path: "/search-company",
    body: { filters: companyFilters(input), page: Math.floor(offsetOf(input) / pageSize) + 1 }
  }),
  response: (reply, input) => {
    const miss = missed(reply)
    if (miss !== undefined) return miss
    const results = list(reply.body, "results")
    if (results === null) return unreadable("results")
    const page = pageOf(reply, input, results, companySearchDefaultLimit)
    if (page.items.length === 0) return noMatch("no companies found", charged(reply))
    return match({ ...page, items: page.items.map((one) => companyOf(at(one, "company"))) }, charged(reply))
  }
})

export const prospeo = provider({
  slug: "prospeo",
  title: "Prospeo",
  homepage: "https://prospeo.io",
  base_url: "https://api.prospeo.io",
  auth: { kind: "header", name: "X-KEY" },
  credit: "0.039",
  concurrency: 5,
  timeoutMillis: 30_000,
  measured,
  httpErrors: httpErrors({
    // The offers read 400 themselves, because a miss is a 400 with its own code.
    answers: [400, 404],
    reason: (reply) => reasons[text(reply.body, "error_code") ?? ""]
  }),
  offers: [find, enrichPerson, search, enrichCompany, findPhone, findCompanies]
})
