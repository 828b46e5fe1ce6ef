/**
 * Crustdata's offers for people: a search by conditions, the profile at a URL, and contact data for a profile.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { emailFind, workEmail } from "../../../schema/capabilities/email.find.ts"
import { peopleEnrich } from "../../../schema/capabilities/people.enrich.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../../schema/capabilities/people.search.ts"
import { phoneFind } from "../../../schema/capabilities/phone.find.ts"
import { type EmailStatus, type Person, person } from "../../../schema/capabilities/shapes.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { type CallParts, offer } from "../../../schema/catalog/Provider.ts"
import { all, bestMatch, contains, inBands, isBand, note, within } from "./answer.ts"
import { accepts, issue, redeem } from "../kit/cursor.ts"
import { match, noMatch, pageFrom, unreadable } from "../kit/outcome.ts"
import { international } from "../kit/phone.ts"
import {
  at,
  entryIn,
  flag,
  host,
  list,
  number,
  place,
  providerIds,
  text,
  texts,
  webAddress,
  whole
} from "../kit/read.ts"
import { defined } from "../../../schema/defined.ts"

const oneCredit = inCredits.flat("1")

const jobs = (data: unknown, when: "current" | "past") => list(data, "experience", "employment_details", when)

const personOf = (data: unknown): Person => {
  const profile = at(data, "basic_profile")
  const current = jobs(data, "current") ?? []
  const job = current.find((one) => flag(one, "is_default") === true) ?? current[0]
  return person({
    full_name: text(profile, "name"),
    first_name: text(profile, "first_name"),
    last_name: text(profile, "last_name"),
    headline: text(profile, "headline"),
    title: text(job, "title") ?? text(profile, "current_title"),
    seniority: text(job, "seniority_level"),
    company_name: text(job, "name") ?? text(job, "company_name"),
    company_domain: host(text(job, "company_website_domain")),
    network_url: webAddress(text(data, "social_handles", "professional_network_identifier", "profile_url")),
    location: place(at(profile, "location"), "city", "state", "country"),
    provider_ids: providerIds("crustdata", data, "crustdata_person_id")
  })
}

/** Crustdata's names of seniorities, by the words that people usually write. */
const levels: Readonly<Record<string, string | ReadonlyArray<string>>> = {
  cxo: "CXO",
  c_level: "CXO",
  "c-level": "CXO",
  "c-suite": "CXO",
  executive: "CXO",
  owner: "Owner / Partner",
  partner: "Owner / Partner",
  founder: "Owner / Partner",
  vp: "Vice President",
  "vice president": "Vice President",
  director: "Director",
  head: "Director",
  manager: ["Entry Level Manager", "Experienced Manager"],
  senior: "Senior",
  entry: "Entry Level",
  junior: "Entry Level",
  training: "In Training",
  intern: "In Training"
}

const job = (column: string) => `experience.employment_details.current.${column}`

const filtersOf = (input: InputOf<typeof peopleSearch>) =>
  all([
    ...contains([job("title")], input.titles),
    ...within(
      job("seniority_level"),
      input.seniorities?.flatMap((level) => entryIn(levels, level.toLowerCase()) ?? level)
    ),
    ...contains(["basic_profile.name"], input.name === undefined ? undefined : [input.name]),
    ...within(
      job("company_website_domain"),
      input.company_domains?.map((domain) => domain.toLowerCase())
    ),
    ...contains([job("name")], input.company_names),
    ...contains(["basic_profile.location.full_location"], input.locations),
    ...contains([job("company_professional_network_industry")], input.industries),
    ...inBands(
      job("company_headcount_latest"),
      input.employee_range === undefined ? undefined : [input.employee_range]
    ),
    ...contains(
      ["basic_profile.headline", "basic_profile.summary"],
      input.keywords === undefined ? undefined : [input.keywords]
    )
  ])

export const findPeople = offer(peopleSearch, {
  price: inCredits.metered("0", "0.03", peopleSearchDefaultLimit),
  note,
  wraps: ["POST /person/search"],
  serves: (input) => accepts("crustdata", input.cursor) && isBand(input.employee_range),
  request: (input) => ({
    body: {
      filters: filtersOf(input),
      limit: input.limit ?? peopleSearchDefaultLimit,
      ...defined({ cursor: redeem("crustdata", input.cursor) })
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "profiles", {
      none: "nobody found",
      limit: input.limit ?? peopleSearchDefaultLimit,
      item: personOf,
      total: whole(reply.body, "total_count"),
      next_cursor: issue("crustdata", text(reply.body, "next_cursor"))
    })
})

/** The date in a time: "2017-01-01T00:00:00+00:00" becomes "2017-01-01". */
const day = (value: unknown, field: string): string | null => text(value, field)?.split("T")[0] ?? null
const year = (value: unknown, field: string): string | null => whole(value, field)?.toString() ?? null

const experienceOf = (is_current: boolean) => (position: unknown) => ({
  title: text(position, "title"),
  company_name: text(position, "name") ?? text(position, "company_name"),
  company_domain: host(text(position, "company_website_domain")),
  start_date: day(position, "start_date"),
  end_date: is_current ? null : day(position, "end_date"),
  is_current
})

const educationOf = (study: unknown) => ({
  school: text(study, "school"),
  degree: text(study, "degree"),
  field: text(study, "field_of_study"),
  start_date: year(study, "start_year"),
  end_date: year(study, "end_year")
})

/** For contact data Crustdata accepts one of the two identifiers, not both. */
const identified = (input: { readonly network_url?: string; readonly email?: string }) =>
  input.network_url === undefined
    ? { business_emails: [input.email] }
    : { professional_network_profile_urls: [input.network_url] }

export const enrichPerson = offer(peopleEnrich, {
  price: oneCredit,
  note: `${note} The base profile only, because contact data costs more.`,
  wraps: ["POST /person/enrich"],
  // Crustdata also takes `business_emails`, but its own guide says that such a match may be someone else at the same company, or who
  // left it. A wrong person would be charged, so addresses go to other providers.
  serves: (input) => input.network_url !== undefined,
  lacks: ["email", "email_status", "phone"],
  request: (input) => ({
    body: {
      professional_network_profile_urls: [input.network_url],
      fields: ["basic_profile", "experience", "education", "skills", "social_handles"]
    }
  }),
  response: (reply) => {
    const best = bestMatch(reply)
    if (best === undefined) return unreadable("matches")
    if (best === null) return noMatch("nobody found")
    const data = at(best, "person_data")
    const profile = personOf(data)
    if (profile.full_name === null && profile.network_url === null) return noMatch("an empty profile")
    const current = jobs(data, "current")
    const past = jobs(data, "past")
    const hasJobs = current !== null || past !== null
    return match({
      ...profile,
      experience: hasJobs
        ? [...(current ?? []).map(experienceOf(true)), ...(past ?? []).map(experienceOf(false))]
        : null,
      education: list(data, "education", "schools")?.map(educationOf) ?? null,
      skills: texts(data, "skills", "professional_network_skills"),
      match_confidence: number(best, "confidence_score")
    })
  }
})

/** Requests only the needed contact data. Otherwise Crustdata looks up and charges for every kind. */
const contactCall = (
  kind: "contact.business_emails" | "contact.phone_numbers",
  input: { readonly network_url?: string; readonly email?: string }
): CallParts => ({
  body: { ...identified(input), fields: [kind] }
})

const emailStatuses: Readonly<Record<string, EmailStatus>> = {
  deliverable: "valid",
  catch_all: "catch_all",
  invalid: "invalid",
  unknown: "unknown"
}

export const findEmail = offer(emailFind, {
  price: oneCredit,
  note,
  wraps: ["POST /person/contact/enrich"],
  serves: (input) => input.network_url !== undefined,
  request: (input) => contactCall("contact.business_emails", input),
  response: (reply) => {
    const best = bestMatch(reply)
    if (best === undefined) return unreadable("matches")
    const data = at(best, "person_data")
    const emails = list(data, "contact", "business_emails") ?? []
    const usable = emails.find((one) => text(one, "status") !== "invalid") ?? emails[0]
    const email = text(usable, "email")
    if (email === null) return noMatch("no address found")
    return match(
      workEmail({
        email,
        email_status: entryIn(emailStatuses, text(usable, "status")) ?? "unknown",
        first_name: text(data, "basic_profile", "first_name"),
        last_name: text(data, "basic_profile", "last_name")
      })
    )
  }
})

export const findPhone = offer(phoneFind, {
  price: inCredits.flat("2"),
  note,
  wraps: ["POST /person/contact/enrich"],
  serves: (input) => input.network_url !== undefined || input.email !== undefined,
  request: (input) => contactCall("contact.phone_numbers", input),
  response: (reply) => {
    const best = bestMatch(reply)
    if (best === undefined) return unreadable("matches")
    const phone = international(text(best, "person_data", "contact", "phone_numbers", 0))
    if (phone === null) return noMatch("no number found")
    return match({ phone, phone_type: null, confidence: null })
  }
})
