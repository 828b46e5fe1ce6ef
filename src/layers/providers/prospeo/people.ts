/**
 * Prospeo's offers for people: enrich one, search for several, and find an e-mail address or a mobile number.
 */
import { emailFind, workEmail } from "../../../schema/capabilities/email.find.ts"
import { peopleEnrich } from "../../../schema/capabilities/people.enrich.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../../schema/capabilities/people.search.ts"
import { phoneFind } from "../../../schema/capabilities/phone.find.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { defined } from "../../../schema/defined.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { match, noMatch } from "../kit/outcome.ts"
import { international } from "../kit/phone.ts"
import { at, entryIn, flag, list, text, texts, whole } from "../kit/read.ts"
import {
  charged,
  chargedMobile,
  emailStatus,
  note,
  oneCredit,
  pageNumber,
  pageOf,
  personOf,
  revealedEmail,
  servesPage
} from "./answer.ts"

export const findEmail = offer(emailFind, {
  price: oneCredit,
  note,
  wraps: ["POST /enrich-person"],
  request: (input) => ({
    body: {
      data: {
        ...(input.first_name !== undefined && input.last_name !== undefined
          ? { first_name: input.first_name, last_name: input.last_name }
          : { full_name: input.full_name }),
        ...defined({
          company_website: input.company_domain,
          company_name: input.company_name,
          linkedin_url: input.network_url
        })
      },
      only_verified_email: true,
      enrich_mobile: false
    }
  }),
  response: (reply) => {
    const person = at(reply.body, "person")
    const email = revealedEmail(person)
    if (email === null) return noMatch("no address found", charged(reply))
    return match(
      workEmail({
        email,
        email_status: emailStatus(person),
        first_name: text(person, "first_name"),
        last_name: text(person, "last_name"),
        company_domain: text(reply.body, "company", "domain")
      }),
      charged(reply)
    )
  }
})

/** Converts 2022 and 5 to "2022-05". */
const month = (year: number | null, monthNumber: number | null): string | null =>
  year === null ? null : monthNumber === null ? `${year}` : `${year}-${String(monthNumber).padStart(2, "0")}`

const experienceOf = (position: unknown) => ({
  title: text(position, "title") ?? text(position, "job_title"),
  company_name: text(position, "company_name"),
  company_domain: null,
  start_date: month(whole(position, "start_year"), whole(position, "start_month")) ?? text(position, "start_date"),
  end_date: month(whole(position, "end_year"), whole(position, "end_month")) ?? text(position, "end_date"),
  is_current: flag(position, "current")
})

export const enrichPerson = offer(peopleEnrich, {
  price: oneCredit,
  note,
  wraps: ["POST /enrich-person"],
  // Mobile numbers are a separate offer, because one costs ten times this price.
  lacks: ["phone"],
  request: (input) => ({
    body: {
      data: defined({
        linkedin_url: input.network_url,
        email: input.email,
        full_name: input.full_name,
        company_website: input.company_domain,
        company_name: input.company_name
      }),
      only_verified_email: false,
      enrich_mobile: false
    }
  }),
  response: (reply) => {
    const self = at(reply.body, "person")
    if (self === undefined || self === null) return noMatch("nobody found", charged(reply))
    const person = personOf(reply.body)
    return match(
      {
        ...person,
        experience: list(self, "job_history")?.map(experienceOf) ?? null,
        education: null,
        skills: texts(self, "skills"),
        match_confidence: null
      },
      charged(reply)
    )
  }
})

/** Filters that the provider's own client documents. */
const searchable = new Set(["company_domains", "seniorities", "limit", "cursor"])

/** Prospeo's names of seniorities, by the words that people usually write. It refuses a search with any other word. */
const levels: Readonly<Record<string, string>> = {
  founder: "Founder/Owner",
  owner: "Founder/Owner",
  "founder/owner": "Founder/Owner",
  cxo: "C-Suite",
  c_suite: "C-Suite",
  "c-suite": "C-Suite",
  "c suite": "C-Suite",
  c_level: "C-Suite",
  "c-level": "C-Suite",
  executive: "C-Suite",
  partner: "Partner",
  vp: "Vice President",
  vice_president: "Vice President",
  "vice president": "Vice President",
  head: "Head",
  director: "Director",
  manager: "Manager",
  senior: "Senior",
  entry: "Entry",
  junior: "Entry",
  intern: "Intern",
  training: "Intern"
}
const levelOf = (word: string): string | undefined => {
  const key = word.trim().toLowerCase()
  return entryIn(levels, key)
}

export const findPeople = offer(peopleSearch, {
  // 1 credit per page × $0.039
  price: inCredits.metered("1", "0", peopleSearchDefaultLimit),
  note: "One page of at most 25 people, by employer's domain and seniority only.",
  wraps: ["POST /search-person"],
  serves: (input) =>
    servesPage(input, peopleSearchDefaultLimit) &&
    Object.keys(input).every((field) => searchable.has(field)) &&
    (input.seniorities ?? []).every((word) => levelOf(word) !== undefined),
  request: (input) => ({
    body: {
      filters: {
        ...(input.company_domains === undefined ? {} : { company: { websites: { include: input.company_domains } } }),
        ...(input.seniorities === undefined
          ? {}
          : { person_seniority: { include: [...new Set(input.seniorities.flatMap((word) => levelOf(word) ?? []))] } })
      },
      page: pageNumber(input)
    }
  }),
  response: (reply, input) => pageOf(reply, input, input.limit ?? peopleSearchDefaultLimit, "nobody found", personOf)
})

export const findPhone = offer(phoneFind, {
  // 10 credits × $0.039
  price: inCredits.flat("10"),
  note,
  wraps: ["POST /enrich-person"],
  request: (input) => ({
    body: {
      data: defined({
        linkedin_url: input.network_url,
        email: input.email,
        full_name: input.full_name,
        company_website: input.company_domain
      }),
      enrich_mobile: true,
      // A person without a verified number is a miss, and free.
      only_verified_mobile: true
    }
  }),
  response: (reply) => {
    const mobile = at(reply.body, "person", "mobile")
    const number = text(mobile, "mobile_international") ?? text(mobile, "mobile")
    if (flag(mobile, "revealed") !== true || number === null) return noMatch("no number found", chargedMobile(reply))
    return match({ phone: international(number), phone_type: "mobile", confidence: null }, chargedMobile(reply))
  }
})
