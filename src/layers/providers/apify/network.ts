/**
 * Offers for the professional network through HarvestAPI's Apify actors: people, companies and job postings.
 */
import { companyEnrich } from "../../../schema/capabilities/company.enrich.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../../schema/capabilities/jobs.search.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../../schema/capabilities/people.search.ts"
import { company, type Location, location, person } from "../../../schema/capabilities/shapes.ts"
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { isOngoing } from "./profiles.ts"
import { actorOffer } from "./runs.ts"
import { issue, redeem } from "../kit/cursor.ts"
import { match, noMatch, pageFrom } from "../kit/outcome.ts"
import { at, entryIn, flag, host, list, number, placeIn, providerIds, sizeRange, text, whole } from "../kit/read.ts"

const actors = {
  people: "harvestapi/linkedin-profile-search",
  company: "harvestapi/linkedin-company",
  jobs: "harvestapi/linkedin-job-search"
} as const

/** The location in the actor's parsed fields. If they are empty, the line that the network shows. */
const placeOf = (place: unknown): Location | null => {
  const parsed = at(place, "parsed")
  const country = text(parsed, "countryFull") ?? text(parsed, "country")
  const sorted = location(text(parsed, "city"), text(parsed, "state"), country)
  return sorted ?? placeIn(text(place, "linkedinText"))
}

/** Profiles on one page of a people search. The actor charges per page. */
const profilesMax = 25
/** The network shows no further pages of a search. */
const pagesMax = 100
/** The actor accepts at most this many titles and locations. */
const valuesMax = 20
const queryLengthMax = 300

/** The network's ids of seniorities. Other providers serve searches for other words. */
const seniorityIds: Readonly<Record<string, ReadonlyArray<string>>> = {
  intern: ["100"],
  entry: ["110"],
  junior: ["110"],
  senior: ["120"],
  manager: ["200", "210"],
  director: ["220"],
  vp: ["300"],
  "vice president": ["300"],
  cxo: ["310"],
  c_suite: ["310"],
  owner: ["320"],
  partner: ["320"]
}
const seniorityOf = (word: string): ReadonlyArray<string> | undefined => {
  const key = word.trim().toLowerCase()
  return entryIn(seniorityIds, key)
}

type PeopleInput = InputOf<typeof peopleSearch>

const peopleQuery = (input: PeopleInput): string | undefined => {
  const words = [input.name, input.keywords].filter((part) => part !== undefined).join(" ")
  return words === "" ? undefined : words
}
/** The page number in a cursor. Null if the cursor is not ours. */
const pageOf = ({ cursor }: PeopleInput): number | null => {
  if (cursor === undefined) return 1
  const page = number(redeem("apify", cursor))
  return page !== null && Number.isInteger(page) && page >= 1 && page <= pagesMax ? page : null
}

/** The job of a full profile. The actor's current position has the employer, but not always the title. */
const jobOf = (profile: unknown) => {
  const company_name = text(profile, "currentPosition", 0, "companyName")
  const job = list(profile, "experience")?.[0]
  const employer = text(job, "companyName")
  const end = text(job, "endDate", "text")
  // A job without an end counts only if the current position names the same employer.
  const isCurrent = isOngoing(end) && (company_name === null ? end !== null : company_name === employer)
  return {
    title: text(profile, "currentPosition", 0, "position") ?? (isCurrent ? text(job, "position") : null),
    company_name: company_name ?? (isCurrent ? employer : null)
  }
}

export const findPeople = actorOffer(peopleSearch, {
  // $0.10 for a page, and $0.004 for each full profile
  price: inUsd.metered("0.10", "0.004", peopleSearchDefaultLimit),
  note: "Published by the actor: $0.10 for a page of up to 25 profiles and $0.004 for each full profile. It filters employers and industries only by the network's own URLs and ids, so searches with these filters use other providers.",
  actors: [actors.people],
  serves: (input) =>
    pageOf(input) !== null &&
    (input.limit ?? peopleSearchDefaultLimit) <= profilesMax &&
    [input.company_domains, input.company_names, input.industries, input.employee_range].every(
      (filter) => filter === undefined
    ) &&
    (input.seniorities ?? []).every((word) => seniorityOf(word) !== undefined) &&
    (peopleQuery(input) ?? "").length <= queryLengthMax,
  start: (input) => {
    const itemsMax = input.limit ?? peopleSearchDefaultLimit
    return {
      actor: actors.people,
      input: {
        profileScraperMode: "Full",
        searchQuery: peopleQuery(input),
        currentJobTitles: input.titles?.slice(0, valuesMax),
        locations: input.locations?.slice(0, valuesMax),
        seniorityLevelIds: input.seniorities?.flatMap((word) => seniorityOf(word) ?? []),
        startPage: pageOf(input) ?? 1,
        takePages: 1,
        maxItems: itemsMax
      },
      price: 0.1 + itemsMax * 0.004,
      itemsMax
    }
  },
  read: (results, input, cost) => {
    const items = results.flatMap((one) => {
      const first_name = text(one, "firstName")
      const last_name = text(one, "lastName")
      const names = [first_name, last_name].filter((name) => name !== null)
      const network_url = text(one, "linkedinUrl")
      if (names.length === 0 && network_url === null) return []
      return person({
        full_name: names.length === 0 ? null : names.join(" "),
        first_name,
        last_name,
        headline: text(one, "headline"),
        ...jobOf(one),
        network_url,
        location: placeOf(at(one, "location")),
        email: text(one, "emails", 0) ?? text(one, "emails", 0, "email"),
        provider_ids: providerIds("apify", one, "id")
      })
    })
    if (items.length === 0) return noMatch("nobody found", cost)
    // No next page if this page was cut, because the cut items would be lost.
    const page = pageOf(input) ?? 1
    const next = items.length === profilesMax && page < pagesMax ? String(page + 1) : null
    return match({ items, total: null, next_cursor: issue("apify", next) }, cost)
  }
})

const companyPage = /^(https?:\/\/)?([\w-]+\.)?linkedin\.com\/(company|school|showcase)\/[^/?#]+/i

export const enrichCompany = actorOffer(companyEnrich, {
  price: inUsd.flat("0.004"),
  note: "The actor publishes $4 per 1,000 companies. It finds them by name or network page, not by domain.",
  actors: [actors.company],
  serves: (input) => companyPage.test(input.network_url ?? "") || input.name !== undefined,
  start: (input) => ({
    actor: actors.company,
    input: companyPage.test(input.network_url ?? "") ? { companies: [input.network_url] } : { searches: [input.name] },
    price: 0.004,
    itemsMax: 1
  }),
  read: ([item], _input, cost) => {
    const name = text(item, "name")
    if (name === null) return noMatch("nothing on record", cost)
    const places = list(item, "locations") ?? []
    const website = text(item, "website")
    const record = company({
      name,
      domain: host(website),
      website,
      network_url: text(item, "linkedinUrl"),
      industry: text(item, "industries", 0),
      employee_count: whole(item, "employeeCount"),
      employee_range: sizeRange(at(item, "employeeCountRange"), "start", "end"),
      founded_year: whole(item, "foundedOn", "year"),
      location: placeOf(places.find((one) => flag(one, "headquarter") === true)),
      description: text(item, "description"),
      phone: text(item, "phone"),
      provider_ids: providerIds("apify", item, "id")
    })
    return match(record, cost)
  }
})

/** The actor filters by a day, a week or a month. Use the longest that is not longer than requested. */
const postedLimit = (days: number | undefined): string | undefined =>
  days === undefined ? undefined : days < 7 ? "24h" : days < 30 ? "week" : "month"

export const findJobs = actorOffer(jobsSearch, {
  price: inUsd.metered("0", "0.001", jobsSearchDefaultLimit),
  note: "The actor publishes $1 per 1,000 jobs. It finds employers by name or network page, not by domain.",
  actors: [actors.jobs],
  serves: (input) =>
    (input.query !== undefined || input.company_name !== undefined) &&
    (input.company_domain === undefined || input.company_name !== undefined),
  start: (input) => {
    const itemsMax = input.limit ?? jobsSearchDefaultLimit
    return {
      actor: actors.jobs,
      input: {
        jobTitles: input.query === undefined ? undefined : [input.query],
        locations: input.location === undefined ? undefined : [input.location],
        company: input.company_name === undefined ? undefined : [input.company_name],
        workplaceType: input.remote === undefined ? undefined : [input.remote ? "remote" : "office"],
        postedLimit: postedLimit(input.posted_within_days),
        maxItems: itemsMax
      },
      price: itemsMax * 0.001,
      itemsMax
    }
  },
  read: (results, input, cost) =>
    pageFrom(results, "items", {
      values: results.filter((one) => text(one, "title") !== null || text(one, "linkedinUrl") !== null),
      none: "no open positions",
      limit: input.limit ?? jobsSearchDefaultLimit,
      cost,
      item: (one) => ({
        title: text(one, "title"),
        company_name: text(one, "company", "name"),
        company_domain: host(text(one, "company", "website")),
        location: text(one, "location", "linkedinText") ?? text(one, "location", "parsed", "text"),
        url: text(one, "linkedinUrl"),
        posted_at: text(one, "postedDate"),
        employment_type: text(one, "employmentType"),
        salary_min: number(one, "salary", "min"),
        salary_max: number(one, "salary", "max"),
        currency: text(one, "salary", "currency"),
        remote: flag(one, "workRemoteAllowed"),
        description: text(one, "descriptionText")
      })
    })
})
