/**
 * Apollo: people and companies, their phone numbers, technologies, job postings and news.
 *
 * It reports no cost, so prices are its published credits per operation at $0.025 each, which its fair-use terms imply. Its
 * offers wait for their adapters.
 */
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { companySearch, companySearchDefaultLimit } from "../../schema/capabilities/company.search.ts"
import { companyTech } from "../../schema/capabilities/company.tech.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../schema/capabilities/jobs.search.ts"
import { newsSearch } from "../../schema/capabilities/news.search.ts"
import { peopleEnrich } from "../../schema/capabilities/people.enrich.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../schema/capabilities/people.search.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import { flat, metered } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"
import { accepts } from "./cursor.ts"

const note = "Published credits per operation at $0.025 each, the rate that the provider's fair-use terms imply."
/** 1 credit × $0.025 × 1.2 */
const oneCredit = flat("0.03")

const findPeople = listed(peopleSearch, {
  // 0 credits; a tenth of the credit of the enrichment that has to follow × $0.025 × 1.2
  price: metered("0", "0.003", peopleSearchDefaultLimit),
  note: "The provider charges nothing for a search, but shortens last names, so an enrichment per person has to follow; priced at a tenth of its credit so that it does not win by being unfinished.",
  wraps: [{ method: "POST", path: "/mixed_people/api_search" }],
  serves: (input) => accepts("apollo", input.cursor)
})

const enrichPerson = listed(peopleEnrich, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/people/match" }],
  // A phone number costs nine times the price of this offer, and arrives later.
  serves: (input) => input.require?.includes("phone") !== true
})

const findPhone = listed(phoneFind, {
  // 9 credits × $0.025 × 1.2
  price: flat("0.27"),
  note: `${note} Numbers arrive some time after the request.`,
  wraps: [
    { method: "POST", path: "/people/match" },
    { method: "GET", path: "/webhook_result/{request_id}" }
  ]
})

const enrichCompany = listed(companyEnrich, {
  price: oneCredit,
  note,
  wraps: [{ method: "GET", path: "/organizations/enrich" }]
})

const findCompanies = listed(companySearch, {
  // 1 credit per page × $0.025 × 1.2
  price: metered("0.03", "0", companySearchDefaultLimit),
  note,
  wraps: [{ method: "POST", path: "/mixed_companies/search" }],
  serves: (input) => accepts("apollo", input.cursor)
})

const technologies = listed(companyTech, {
  price: oneCredit,
  note,
  wraps: [{ method: "GET", path: "/organizations/enrich" }]
})

const findJobs = listed(jobsSearch, {
  // (1 credit for the employer + 1 for a page of postings) × $0.025 × 1.2
  price: metered("0.06", "0", jobsSearchDefaultLimit),
  note: `${note} Postings are those of one employer, who is looked up first.`,
  wraps: [
    { method: "GET", path: "/organizations/enrich" },
    { method: "GET", path: "/organizations/{organization_id}/job_postings" }
  ],
  serves: (input) => input.company_domain !== undefined || input.company_name !== undefined
})

const findNews = listed(newsSearch, {
  // (1 credit for the company + 1 for a page of articles) × $0.025 × 1.2
  price: flat("0.06"),
  note: `${note} Articles are about one company, which is looked up first.`,
  wraps: [
    { method: "GET", path: "/organizations/enrich" },
    { method: "POST", path: "/news_articles/search" }
  ],
  serves: (input) => input.company_domain !== undefined
})

export const apollo = provider({
  slug: "apollo",
  title: "Apollo",
  homepage: "https://www.apollo.io",
  base_url: "https://api.apollo.io/api/v1",
  auth: { kind: "header", name: "x-api-key" },
  credit: "0.025",
  // 200 searches a minute on paid plans.
  concurrency: 5,
  timeoutMillis: 30_000,
  offers: [findPeople, enrichPerson, findPhone, enrichCompany, findCompanies, technologies, findJobs, findNews]
})
