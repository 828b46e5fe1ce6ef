/**
 * What Prospeo's answers have in common: errors, misses, charges and pages, and how a person and a company are read.
 */
import { type Company, company, type EmailStatus, type Person, person } from "../../../schema/capabilities/shapes.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import type { Cost, Failure, Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "../kit/cursor.ts"
import { noMatch, pageFrom, refusal } from "../kit/outcome.ts"
import { international } from "../kit/phone.ts"
import { at, entryIn, flag, host, list, place, providerIds, text, texts, webAddress, whole } from "../kit/read.ts"

export const note = "Published plans are about $0.039 per credit and less."
/** 1 credit × $0.039 */
export const oneCredit = inCredits.flat("1")

export const reasons: Readonly<Record<string, Failure["reason"]>> = {
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
export const missed = (reply: Reply): Outcome<never> | undefined => {
  const code = text(reply.body, "error_code")
  if (code === "NO_MATCH" || code === "NO_RESULTS") return noMatch("nothing on record", { unit: "credit", amount: "0" })
  return flag(reply.body, "error") === true || reply.status >= 400 ? refusal(reply) : undefined
}

/** True if the answer is marked as free. Repeated searches are free too. */
const isFree = (reply: Reply): boolean =>
  flag(reply.body, "free_enrichment") === true || flag(reply.body, "free") === true

export const charged = (reply: Reply) => ({ unit: "credit", amount: isFree(reply) ? "0" : "1" }) as const

/** The higher price of a mobile number applies only if the answer has one. */
export const chargedMobile = (reply: Reply): Cost => ({
  unit: "credit",
  amount: isFree(reply) ? "0" : flag(reply.body, "person", "mobile", "revealed") === true ? "10" : "1"
})

/** The cost of a raw call. Null if the answer does not say, because only enrichments and misses do. */
export const measured = (reply: Reply): Cost | null => {
  const code = text(reply.body, "error_code")
  if (isFree(reply) || code === "NO_MATCH" || code === "NO_RESULTS") return { unit: "credit", amount: "0" }
  return flag(reply.body, "free_enrichment") === false ? chargedMobile(reply) : null
}

const emailStatuses: Readonly<Record<string, EmailStatus>> = { VERIFIED: "valid", UNVERIFIED: "risky" }
/** Masked values ("e**@example.com") were not paid for, and are read as null. */
export const revealedEmail = (result: unknown): string | null => {
  const email = flag(result, "email", "revealed") === false ? null : text(result, "email", "email")
  return email?.includes("*") === true ? null : email
}
export const emailStatus = (result: unknown): EmailStatus | null =>
  revealedEmail(result) === null ? null : (entryIn(emailStatuses, text(result, "email", "status")) ?? "unknown")

/** The job that `current_job_key` names, else the first that goes on. Several jobs can go on at once. */
const currentJob = (self: unknown): unknown => {
  const jobs = list(self, "job_history") ?? []
  const key = text(self, "current_job_key")
  const named = key === null ? undefined : jobs.find((job) => text(job, "job_key") === key)
  return named ?? jobs.find((job) => flag(job, "current") === true)
}

/** `result` has the fields `person` and `company`. It is the body of an enrichment, or one result of a search. */
export const personOf = (result: unknown): Person => {
  const self = at(result, "person")
  return person({
    full_name: text(self, "full_name"),
    first_name: text(self, "first_name"),
    last_name: text(self, "last_name"),
    headline: text(self, "headline"),
    title: text(self, "current_job_title"),
    seniority: text(currentJob(self), "seniority"),
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

/** Dollars in a text such as "$10M". */
const dollars = (amount: string): number | null => {
  const [, digits, unit = ""] = /^\$?(\d{1,12}(?:\.\d{1,3})?)([KMB]?)\+?$/i.exec(amount.trim()) ?? []
  const factor = { "": 1, K: 1e3, M: 1e6, B: 1e9 }[unit.toUpperCase()]
  return digits === undefined || factor === undefined ? null : Math.round(Number(digits) * factor)
}

/** The revenue in US dollars, from two numbers or from a text such as "$10M-$50M". */
const revenueOf = (result: unknown): string | null => {
  const range = text(result, "revenue_range")
  const bounds =
    range === null
      ? [whole(result, "revenue_range", "min"), whole(result, "revenue_range", "max")]
      : range.split("-").map(dollars)
  return bounds.filter((bound) => bound !== null).join("-") || null
}

export const companyOf = (result: unknown): Company => {
  const raised = whole(result, "funding", "total_funding") ?? whole(result, "funding", "total_raised")
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
    revenue: revenueOf(result),
    funding: raised?.toString() ?? null,
    technologies: texts(result, "technology", "technology_names") ?? texts(result, "technology"),
    phone: international(text(result, "phone_hq", "phone_hq")),
    provider_ids: providerIds("prospeo", result, "company_id")
  })
}

/** A page has 25 results and costs one credit. */
const pageSize = 25
interface Paged {
  readonly limit?: number
  readonly cursor?: string
}
/** The offset in a cursor. It counts results and not pages, so that a page cut by the limit loses no results. */
const offsetOf = (input: Paged): number => Number(redeem("prospeo", input.cursor) ?? "0")

export const servesPage = (input: Paged, defaultLimit: number): boolean =>
  (input.limit ?? defaultLimit) <= pageSize &&
  accepts("prospeo", input.cursor) &&
  /^\d{1,6}$/.test(redeem("prospeo", input.cursor) ?? "0")

/** The part of the provider's page that the input asks for. */
export const pageOf = <A>(reply: Reply, input: Paged, limit: number, none: string, item: (result: unknown) => A) => {
  const offset = offsetOf(input)
  const results = list(reply.body, "results")
  const values = results?.slice(offset % pageSize) ?? null
  const next = offset + Math.min(values?.length ?? 0, limit)
  const total = whole(reply.body, "pagination", "total_count")
  const more = total === null ? results?.length === pageSize : next < total
  const next_cursor = issue("prospeo", more ? String(next) : null)
  return pageFrom(reply.body, "results", { values, none, limit, cost: charged(reply), item, total, next_cursor })
}

/** The number of the provider's page that the input asks for. */
export const pageNumber = (input: Paged): number => Math.floor(offsetOf(input) / pageSize) + 1
