/**
 * Apollo's people offers: a search that shortens last names, and the enrichment of one person.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { peopleEnrich } from "../../../schema/capabilities/people.enrich.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../../schema/capabilities/people.search.ts"
import { type EmailStatus, person } from "../../../schema/capabilities/shapes.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { type CallParts, offer } from "../../../schema/catalog/Provider.ts"
import { band, note, pageOf, servesPage } from "./answer.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { at, entryIn, flag, host, isRecord, list, place, providerIds, text, webAddress, whole } from "../kit/read.ts"

/** Apollo's names of seniorities, by the words that people usually write. */
const levels: Readonly<Record<string, string>> = {
  cxo: "c_suite",
  c_level: "c_suite",
  "c-level": "c_suite",
  "c-suite": "c_suite",
  executive: "c_suite",
  "vice president": "vp",
  junior: "entry",
  training: "intern"
}

const words = (input: InputOf<typeof peopleSearch>): string | undefined =>
  [input.name, input.keywords].filter((part) => part !== undefined).join(" ") || undefined

export const findPeople = offer(peopleSearch, {
  // 0 credits; a tenth of the credit of the enrichment that has to follow
  price: inCredits.metered("0", "0.1", peopleSearchDefaultLimit),
  note: "The provider charges nothing for a search, but shortens last names, so each person needs an enrichment afterwards. Priced at a tenth of that credit, so that routing does not prefer an incomplete answer.",
  wraps: ["POST /mixed_people/api_search"],
  // Apollo filters employers by domain only, and has no filter for industries.
  serves: (input) =>
    servesPage(input) &&
    input.company_names === undefined &&
    input.industries === undefined &&
    (input.employee_range === undefined || band(input.employee_range) !== null),
  request: (input) => {
    const range = input.employee_range === undefined ? null : band(input.employee_range)
    return {
      query: {
        "person_titles[]": input.titles,
        "person_seniorities[]": input.seniorities?.map(
          (level) => entryIn(levels, level.toLowerCase()) ?? level.toLowerCase()
        ),
        "q_organization_domains_list[]": input.company_domains,
        "person_locations[]": input.locations,
        "organization_num_employees_ranges[]": range === null ? undefined : [range],
        q_keywords: words(input),
        ...pageOf(input, peopleSearchDefaultLimit).query
      }
    }
  },
  response: (reply, input) => {
    const total = whole(reply.body, "total_entries")
    return pageOf(input, peopleSearchDefaultLimit).read(reply, "people", {
      none: "nobody found",
      total,
      item: (one) =>
        person({
          first_name: text(one, "first_name"),
          // Shortened last names look like "Hu***n" and are left out.
          last_name: text(one, "last_name"),
          title: text(one, "title"),
          company_name: text(one, "organization", "name"),
          provider_ids: providerIds("apollo", one, "id")
        })
    })
  }
})

const emailStatuses: Readonly<Record<string, EmailStatus>> = {
  verified: "valid",
  unverified: "risky",
  guessed: "risky",
  extrapolated: "risky",
  "likely to engage": "valid",
  bounced: "invalid",
  invalid: "invalid"
}

/** Apollo returns "email_not_unlocked@domain.com" for an address that was not paid for. */
const emailOf = (record: unknown): string | null => {
  const email = text(record, "email")
  return email === null || /not_unlocked@/.test(email) ? null : email
}

const experienceOf = (position: unknown) => ({
  title: text(position, "title"),
  company_name: text(position, "organization_name"),
  company_domain: null,
  start_date: text(position, "start_date"),
  end_date: text(position, "end_date"),
  is_current: flag(position, "current")
})

interface Sought {
  readonly network_url?: string
  readonly email?: string
  readonly full_name?: string
  readonly company_domain?: string
  readonly company_name?: string
}

export const matchCall = (input: Sought, more: CallParts["query"] = {}): CallParts => ({
  query: {
    linkedin_url: input.network_url,
    email: input.email,
    name: input.full_name,
    domain: input.company_domain,
    organization_name: input.company_name,
    ...more
  }
})

export const enrichPerson = offer(peopleEnrich, {
  price: inCredits.flat("1"),
  note,
  wraps: ["POST /people/match"],
  // Phone numbers are a separate offer, because one costs nine times this price and arrives later.
  lacks: ["phone"],
  request: (input) => matchCall(input),
  response: (reply) => {
    const self = at(reply.body, "person")
    // Apollo's documentation mentions answers without an enriched person, but shows none.
    if (self === null || (self === undefined && isRecord(reply.body))) return noMatch("nobody found")
    if (!isRecord(self)) return unreadable("person")
    const email = emailOf(self)
    const matched = person({
      full_name: text(self, "name"),
      first_name: text(self, "first_name"),
      last_name: text(self, "last_name"),
      headline: text(self, "headline"),
      title: text(self, "title"),
      seniority: text(self, "seniority"),
      company_name: text(self, "organization", "name"),
      company_domain: text(self, "organization", "primary_domain") ?? host(text(self, "organization", "website_url")),
      network_url: webAddress(text(self, "linkedin_url")),
      location: place(self, "city", "state", "country"),
      email,
      email_status: email === null ? null : (entryIn(emailStatuses, text(self, "email_status")) ?? "unknown"),
      provider_ids: providerIds("apollo", self, "id")
    })
    if (matched.full_name === null && matched.network_url === null) return noMatch("an empty record")
    return match({
      ...matched,
      experience: list(self, "employment_history")?.map(experienceOf) ?? null,
      education: null,
      skills: null,
      match_confidence: null
    })
  }
})
