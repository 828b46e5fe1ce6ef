/**
 * Crustdata: people, companies and job listings; contact data of a known network profile.
 *
 * A header reports the credits of each answer. It publishes credits per operation but no price of a credit, which is assumed
 * at $0.10, on the safe side; its offers wait for their adapters.
 */
import { companySearch, companySearchDefaultLimit } from "../../schema/capabilities/company.search.ts"
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../schema/capabilities/jobs.search.ts"
import { peopleEnrich } from "../../schema/capabilities/people.enrich.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../schema/capabilities/people.search.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import { flat, metered } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"
import { accepts } from "./cursor.ts"

const note = "Published credits per operation; the price of a credit is assumed at $0.10, on the safe side."
/** 1 credit × $0.10 × 1.2 */
const oneCredit = flat("0.12")
/** 0.03 credit × $0.10 × 1.2 */
const perResult = "0.0036"

const findPeople = listed(peopleSearch, {
  price: metered("0", perResult, peopleSearchDefaultLimit),
  note,
  wraps: [{ method: "POST", path: "/person/search" }],
  serves: (input) => accepts("crustdata", input.cursor)
})

const enrichPerson = listed(peopleEnrich, {
  price: oneCredit,
  note: `${note} The base profile; contact data costs more and is not part of it.`,
  wraps: [{ method: "POST", path: "/person/enrich" }],
  serves: (input) => (input.network_url !== undefined || input.email !== undefined) && input.require === undefined
})

const findEmail = listed(emailFind, {
  price: oneCredit,
  note,
  wraps: [{ method: "POST", path: "/person/contact/enrich" }],
  serves: (input) => input.network_url !== undefined
})

const findPhone = listed(phoneFind, {
  // 2 credits × $0.10 × 1.2
  price: flat("0.24"),
  note,
  wraps: [{ method: "POST", path: "/person/contact/enrich" }],
  serves: (input) => input.network_url !== undefined || input.email !== undefined
})

const findCompanies = listed(companySearch, {
  price: metered("0", perResult, companySearchDefaultLimit),
  note,
  wraps: [{ method: "POST", path: "/company/search" }],
  serves: (input) => accepts("crustdata", input.cursor)
})

const findJobs = listed(jobsSearch, {
  price: metered("0", perResult, jobsSearchDefaultLimit),
  note,
  wraps: [{ method: "POST", path: "/job/search" }]
})

export const crustdata = provider({
  slug: "crustdata",
  title: "Crustdata",
  homepage: "https://crustdata.com",
  base_url: "https://api.crustdata.com",
  auth: { kind: "bearer" },
  // Without a version it answers 400.
  headers: { "x-api-version": "2025-11-01" },
  credit: "0.10",
  // Contact data is limited to 15 requests a minute.
  concurrency: 3,
  timeoutMillis: 30_000,
  offers: [findPeople, enrichPerson, findEmail, findPhone, findCompanies, findJobs]
})
