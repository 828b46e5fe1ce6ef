/**
 * Adapter for TheirStack: job postings, and the technologies that a company's job postings mention.
 *
 * A posting costs a credit, a company's technologies cost three however many there are, and answers do not report the cost. An answer
 * without rows is free. Of technologies, those of low confidence are left out, because the result has no field for confidence.
 */
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { companyTech } from "../../schema/capabilities/company.tech.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../schema/capabilities/jobs.search.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { defined } from "../../schema/defined.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { httpErrors, match, noMatch, pageFrom, unreadable } from "./kit/outcome.ts"
import { flag, host, list, number, text, whole } from "./kit/read.ts"
import { creditsCall, leftOf } from "./kit/credits.ts"

const note = "Assumed: the smallest plan, $59 for 1,500 credits a month."

/** A search must name an age or an employer. The newest postings come first, so an age of a year leaves out none that is open. */
const oldestDays = 365

/** Text as a regular expression that matches just it. */
const literal = (words: string): string => words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Employer filters add up to more employers, so a domain goes without the name. */
const employer = (input: InputOf<typeof jobsSearch>) => {
  if (input.company_domain !== undefined) return { company_domain_or: [input.company_domain.toLowerCase()] }
  return input.company_name === undefined ? {} : { company_name_case_insensitive_or: [input.company_name] }
}

const jobs = offer(jobsSearch, {
  price: inCredits.metered("0", "1", jobsSearchDefaultLimit),
  note,
  wraps: ["POST /v1/jobs/search"],
  request: (input) => ({
    body: {
      ...employer(input),
      ...(input.query === undefined ? {} : { job_title_or: [input.query] }),
      ...(input.location === undefined ? {} : { job_location_pattern_or: [literal(input.location)] }),
      ...defined({ remote: input.remote }),
      posted_at_max_age_days: input.posted_within_days ?? oldestDays,
      limit: input.limit ?? jobsSearchDefaultLimit
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "data", {
      none: "no jobs found",
      limit: input.limit ?? jobsSearchDefaultLimit,
      item: (one) => ({
        title: text(one, "job_title"),
        company_name: text(one, "company"),
        company_domain: host(text(one, "company_domain")),
        location: text(one, "long_location") ?? text(one, "location"),
        url: text(one, "final_url") ?? text(one, "url"),
        posted_at: text(one, "date_posted"),
        employment_type: text(one, "employment_statuses", 0),
        salary_min: number(one, "min_annual_salary"),
        salary_max: number(one, "max_annual_salary"),
        currency: text(one, "salary_currency"),
        remote: flag(one, "remote"),
        description: text(one, "description")
      }),
      total: whole(reply.body, "metadata", "total_results")
    })
})

const technologies = offer(companyTech, {
  price: inCredits.flat("3"),
  note: `${note} Read from job postings, not from the website.`,
  wraps: ["POST /v1/companies/technologies"],
  request: (input) => ({ body: { company_domain: input.domain.toLowerCase(), confidence_or: ["medium", "high"] } }),
  response: (reply, input) => {
    const rows = list(reply.body, "data")
    if (rows === null) return unreadable("data")
    const named = rows.flatMap((one) => {
      const name = text(one, "technology", "name")
      return name === null ? [] : [{ name, category: text(one, "technology", "category") }]
    })
    if (named.length === 0) return noMatch("no technologies found")
    return match({ domain: input.domain.toLowerCase(), technologies: named, detected_at: null })
  }
})

export const theirstack = provider({
  slug: "theirstack",
  title: "TheirStack",
  homepage: "https://theirstack.com",
  base_url: "https://api.theirstack.com",
  auth: { kind: "bearer" },
  // The smallest plan: $59 for 1,500 credits a month.
  credit: "0.0394",
  concurrency: 4,
  timeoutMillis: 60_000,
  httpErrors: httpErrors(),
  credits: creditsCall(
    "/v0/billing/credit-balance",
    "credit",
    (body) => leftOf(number(body, "api_credits"), number(body, "used_api_credits")),
    { path: ["earliest_expiration"], renews: false }
  ),
  offers: [jobs, technologies]
})
