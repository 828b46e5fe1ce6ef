/**
 * Apollo's company offers: look up one by domain, search for several, and list the technologies that one uses.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { companyEnrich } from "../../../schema/capabilities/company.enrich.ts"
import { companySearch, companySearchDefaultLimit } from "../../../schema/capabilities/company.search.ts"
import { companyTech } from "../../../schema/capabilities/company.tech.ts"
import { type Company, company } from "../../../schema/capabilities/shapes.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { type CallParts, offer } from "../../../schema/catalog/Provider.ts"
import { band, companyCall, note, organizationOf, pageOf, servesPage } from "./answer.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { host, list, place, providerIds, text, texts, webAddress, whole } from "../kit/read.ts"

const oneCredit = inCredits.flat("1")

/** Reads `organization` only. An `account` beside it comes from the operator's own records. */
const companyOf = (record: unknown): Company =>
  company({
    name: text(record, "name"),
    domain: text(record, "primary_domain") ?? host(text(record, "website_url")),
    website: webAddress(text(record, "website_url")),
    network_url: webAddress(text(record, "linkedin_url")),
    industry: text(record, "industry"),
    employee_count: whole(record, "estimated_num_employees"),
    founded_year: whole(record, "founded_year"),
    location: place(record, "city", "state", "country"),
    description: text(record, "short_description"),
    // A search has the first name only, an enrichment both.
    revenue: (whole(record, "organization_revenue") ?? whole(record, "annual_revenue"))?.toString() ?? null,
    funding: whole(record, "total_funding")?.toString() ?? null,
    technologies: texts(record, "technology_names"),
    phone:
      text(record, "sanitized_phone") ?? text(record, "primary_phone", "sanitized_number") ?? text(record, "phone"),
    provider_ids: providerIds("apollo", record, "id")
  })

export const enrichCompany = offer(companyEnrich, {
  price: oneCredit,
  note,
  wraps: ["GET /organizations/enrich"],
  request: companyCall,
  response: (reply) => {
    const organization = organizationOf(reply, false)
    if (organization === null) return noMatch("no company found")
    if (organization === undefined) return unreadable("organization")
    const enriched = companyOf(organization)
    return enriched.name === null ? noMatch("an empty record") : match(enriched)
  }
})

/** Apollo's id of a technology: "Google Analytics" becomes "google_analytics". */
const uid = (technology: string): string =>
  technology
    .trim()
    .toLowerCase()
    .replace(/[\s.]+/g, "_")

const searchCall = (input: InputOf<typeof companySearch>): CallParts => ({
  query: {
    q_organization_name: input.query,
    "q_organization_keyword_tags[]": input.keywords ?? input.industries,
    "organization_locations[]": input.locations,
    "organization_num_employees_ranges[]": input.employee_ranges?.flatMap((range) => band(range) ?? []),
    "currently_using_any_of_technology_uids[]": input.technologies?.map(uid),
    ...pageOf(input, companySearchDefaultLimit).query
  }
})

export const findCompanies = offer(companySearch, {
  // 1 credit per page
  price: inCredits.metered("1", "0", companySearchDefaultLimit),
  note: `${note} The query is the company's name. Industries are searched as keywords.`,
  wraps: ["POST /mixed_companies/search"],
  // Industries and keywords share one filter that matches any of them, and there is no filter for founding years.
  serves: (input) =>
    servesPage(input) &&
    (input.industries === undefined || input.keywords === undefined) &&
    input.founded_min === undefined &&
    input.founded_max === undefined,
  request: searchCall,
  response: (reply, input) => {
    // `accounts` beside it is ignored, because it comes from the operator's own records.
    const total = whole(reply.body, "pagination", "total_entries")
    return pageOf(input, companySearchDefaultLimit).read(reply, "organizations", {
      none: "no companies found",
      total,
      item: companyOf
    })
  }
})

export const technologies = offer(companyTech, {
  price: oneCredit,
  note,
  wraps: ["GET /organizations/enrich"],
  request: companyCall,
  response: (reply, input) => {
    const organization = organizationOf(reply, false)
    if (organization === null) return noMatch("no company found")
    if (organization === undefined) return unreadable("organization")
    const used =
      list(organization, "current_technologies")?.map((one) => ({
        name: text(one, "name"),
        category: text(one, "category")
      })) ??
      texts(organization, "technology_names")?.map((name) => ({ name, category: null })) ??
      []
    if (used.length === 0) return noMatch("no technologies found")
    return match({
      domain: text(organization, "primary_domain") ?? input.domain,
      technologies: used,
      detected_at: null
    })
  }
})
