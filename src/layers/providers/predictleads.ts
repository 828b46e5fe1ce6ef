/**
 * Adapter for PredictLeads: what a company's website and job openings show of it, with dates.
 *
 * Answers are JSON:API documents: rows refer to technologies and companies in `included`. A request for one company costs a credit however
 * many rows it returns, a search of all companies one a row, and answers do not report the cost.
 */
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { companyTech } from "../../schema/capabilities/company.tech.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../schema/capabilities/jobs.search.ts"
import { company } from "../../schema/capabilities/shapes.ts"
import { type Call, offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { httpErrors, match, noMatch, pageFrom, unreadable } from "./kit/outcome.ts"
import { at, host, list, number, place, providerIds, segmentOf, text, webAddress } from "./kit/read.ts"

const note = "The first paid band, $0.04 a credit up to 5,000 a month; larger bands pay less."

const companyPath = "/companies/{id_or_domain}"
const technologiesPath = "/companies/{company_id_or_domain}/technology_detections"
const openingsPath = "/companies/{company_id_or_domain}/job_openings"

/** The most rows that one request returns. */
const rowsMax = 1000

const ofCompany = (path: string, domain: string | undefined, query: Call["query"] = {}): Call => ({
  method: "GET",
  path: path.replace(/\{.*\}/, segmentOf((domain ?? "").toLowerCase())),
  query
})

/** The attributes of what a row refers to, by kind and id. */
const attributesIn = (reply: Reply) => {
  const included = new Map(
    (list(reply.body, "included") ?? []).map((one) => [
      `${text(one, "type")} ${text(one, "id")}`,
      at(one, "attributes")
    ])
  )
  return (row: unknown, relation: string): unknown => {
    const data = at(row, "relationships", relation, "data")
    return included.get(`${text(data, "type")} ${text(data, "id")}`)
  }
}

const enrich = offer(companyEnrich, {
  price: inCredits.flat("1"),
  note,
  wraps: [`GET ${companyPath}`],
  serves: (input) => input.domain !== undefined,
  request: (input) => ofCompany(companyPath, input.domain),
  response: (reply) => {
    const rows = list(reply.body, "data")
    if (rows === null) return unreadable("data")
    const attributes = at(rows[0], "attributes")
    const name = text(attributes, "friendly_company_name") ?? text(attributes, "company_name")
    if (name === null) return noMatch("the company is not known")
    const domain = host(text(attributes, "domain"))
    const places = list(attributes, "location_data") ?? []
    const seat = places.find((one) => text(one, "category") === "headquarters") ?? places[0]
    return match(
      company({
        name,
        domain,
        website: webAddress(domain),
        location: place(seat, "city", "state", "country"),
        description: text(attributes, "description_short") ?? text(attributes, "meta_description"),
        provider_ids: providerIds("predictleads", rows[0], "id")
      })
    )
  }
})

const technologies = offer(companyTech, {
  price: inCredits.flat("1"),
  note,
  wraps: [`GET ${technologiesPath}`],
  request: (input) => ofCompany(technologiesPath, input.domain, { limit: rowsMax }),
  response: (reply, input) => {
    const rows = list(reply.body, "data")
    if (rows === null) return unreadable("data")
    const attributes = attributesIn(reply)
    const technologies = rows.flatMap((row) => {
      const technology = attributes(row, "technology")
      const name = text(technology, "name")
      return name === null ? [] : [{ name, category: text(technology, "categories", 0) }]
    })
    if (technologies.length === 0) return noMatch("no technologies found")
    const seen = rows.flatMap((row) => text(row, "attributes", "last_seen_at") ?? [])
    return match({ domain: input.domain.toLowerCase(), technologies, detected_at: seen.sort().at(-1) ?? null })
  }
})

/** Only the title says whether a job may be done from home. */
const isRemote = (title: string | null): boolean | null => (title !== null && /\bremote\b/i.test(title) ? true : null)

const jobs = offer(jobsSearch, {
  // A search of all companies; the openings of one company cost one credit in all.
  price: inCredits.metered("0", "1", jobsSearchDefaultLimit),
  note,
  wraps: [`GET ${openingsPath}`, "GET /discover/job_openings"],
  // It looks in the titles of all companies, or lists all openings of one. A place must be a country or a state of the US, which a text
  // need not be, and age is a date, of which adapters know none.
  serves: (input) =>
    input.location === undefined &&
    input.remote === undefined &&
    input.posted_within_days === undefined &&
    (input.company_domain === undefined) !== (input.query === undefined) &&
    (input.company_domain !== undefined || input.company_name === undefined),
  request: (input) => {
    const query = { active_only: true, limit: input.limit ?? jobsSearchDefaultLimit }
    if (input.company_domain !== undefined) return ofCompany(openingsPath, input.company_domain, query)
    return { method: "GET", path: "/discover/job_openings", query: { title: input.query, ...query } }
  },
  response: (reply, input) => {
    const attributes = attributesIn(reply)
    return pageFrom(reply.body, "data", {
      none: "no jobs found",
      limit: input.limit ?? jobsSearchDefaultLimit,
      item: (row) => {
        const job = at(row, "attributes")
        const employer = attributes(row, "company")
        return {
          title: text(job, "title"),
          company_name: text(employer, "company_name"),
          company_domain: host(text(employer, "domain")),
          location: text(job, "location"),
          url: text(job, "url"),
          posted_at: text(job, "first_seen_at"),
          employment_type: text(job, "contract_types", 0),
          salary_min: number(job, "salary_data", "salary_low"),
          salary_max: number(job, "salary_data", "salary_high"),
          currency: text(job, "salary_data", "salary_currency"),
          remote: isRemote(text(job, "title")),
          description: text(job, "description")
        }
      }
    })
  }
})

export const predictleads = provider({
  slug: "predictleads",
  title: "PredictLeads",
  homepage: "https://predictleads.com",
  base_url: "https://predictleads.com/api/v3",
  auth: { kind: "headers", names: ["X-Api-Key", "X-Api-Token"] },
  credit: "0.04",
  concurrency: 4,
  timeoutMillis: 30_000,
  httpErrors: httpErrors(),
  offers: [enrich, technologies, jobs]
})
