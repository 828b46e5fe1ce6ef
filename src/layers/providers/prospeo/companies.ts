/**
 * Prospeo's offers for companies: enrich one, and search for several.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { companyEnrich } from "../../../schema/capabilities/company.enrich.ts"
import { companySearch, companySearchDefaultLimit } from "../../../schema/capabilities/company.search.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { defined } from "../../../schema/defined.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { match, noMatch } from "../kit/outcome.ts"
import { at, entryIn, text } from "../kit/read.ts"
import { charged, companyOf, note, oneCredit, pageNumber, pageOf, servesPage } from "./answer.ts"

export const enrichCompany = offer(companyEnrich, {
  price: oneCredit,
  note,
  wraps: ["POST /enrich-company"],
  request: (input) => ({
    body: {
      data: defined({
        company_website: input.domain,
        company_name: input.name,
        company_linkedin_url: input.network_url
      })
    }
  }),
  response: (reply) => {
    const company = at(reply.body, "company")
    if (text(company, "name") === null) return noMatch("no company found", charged(reply))
    return match(companyOf(company), charged(reply))
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
    : { company_headcount_range: input.employee_ranges.flatMap((range) => entryIn(bands, range) ?? []) }),
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

export const findCompanies = offer(companySearch, {
  // 1 credit per page × $0.039
  price: inCredits.metered("1", "0", companySearchDefaultLimit),
  note: "One page of at most 25 companies. The query is the company's name.",
  wraps: ["POST /search-company"],
  // Prospeo's filters for industries and technologies accept only its own lists of words.
  serves: (input) =>
    servesPage(input, companySearchDefaultLimit) &&
    input.industries === undefined &&
    input.technologies === undefined &&
    (input.founded_max ?? foundedMin) >= foundedMin,
  request: (input) => ({ body: { filters: companyFilters(input), page: pageNumber(input) } }),
  response: (reply, input) =>
    pageOf(reply, input, input.limit ?? companySearchDefaultLimit, "no companies found", (one) =>
      companyOf(at(one, "company"))
    )
})
