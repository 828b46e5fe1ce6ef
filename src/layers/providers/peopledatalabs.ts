/**
 * Adapter for People Data Labs: enriches and searches people and companies, and reads profiles of the professional network.
 *
 * A 404 is a miss and free. A match costs one credit per record, which the header x-call-credits-spent reports. Prices are those of the
 * Pro plan: $0.38 per person record, which is $0.28 and $0.10 for the premium fields that the adapter reads, and $0.10 per company.
 */
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { companySearch, companySearchDefaultLimit } from "../../schema/capabilities/company.search.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { peopleEnrich } from "../../schema/capabilities/people.enrich.ts"
import { peopleSearch, peopleSearchDefaultLimit } from "../../schema/capabilities/people.search.ts"
import { type Company, company, type Person, person } from "../../schema/capabilities/shapes.ts"
import * as Decimal from "../../schema/money/Decimal.ts"
import { inCredits, inUsd } from "../../schema/money/Rates.ts"
import { type Cost, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "./kit/cursor.ts"
import { cost, httpErrors, match, noMatch, pageFrom, refusal, unreadable } from "./kit/outcome.ts"
import {
  at,
  entryIn,
  flag,
  host,
  isRecord,
  list,
  number,
  place,
  providerIds,
  text,
  texts,
  webAddress,
  whole
} from "./kit/read.ts"
import { defined } from "../../schema/defined.ts"

const note =
  "Rate of the Pro plan for records with all premium fields, as quoted at its checkout; larger plans pay less."
/** Minimum likelihood of a match, from 1 to 10. Below it the record is usually another person of the same name. */
const likelihoodMin = 6

const spent = (reply: Reply) => cost("credit", reply.headers["x-call-credits-spent"])

/** A credit for companies. It is billed apart from those for people, and `credit` is the price of one for people. */
const companyCredit = "0.10"
/** The cost of a call about companies, in USD, because its credits have another price. */
const spentOnCompanies = (reply: Reply) => {
  const reported = spent(reply)
  if (reported === null || !/^\d{1,9}(\.\d{1,9})?$/.test(reported.amount)) return null
  return cost("USD", Decimal.text(Decimal.times(Decimal.parse(reported.amount), Decimal.parse(companyCredit))))
}

/** Reads a 404. Undefined for every other status. `error.type` is a text or a list of texts. */
const missed = (reply: Reply): Outcome<never> | undefined => {
  if (reply.status !== 404) return undefined
  const kinds = [text(reply.body, "error", "type"), ...(texts(reply.body, "error", "type") ?? [])]
  return kinds.includes("not_found")
    ? noMatch("no record found", spent(reply) ?? { unit: "credit", amount: "0" })
    : refusal(reply)
}

/** On plans without contact data, its fields are `true` and not the value. They are read as null. */
const personOf = (data: unknown): Person =>
  person({
    full_name: text(data, "full_name"),
    first_name: text(data, "first_name"),
    last_name: text(data, "last_name"),
    headline: text(data, "headline"),
    title: text(data, "job_title"),
    seniority: text(data, "job_title_levels", 0),
    company_name: text(data, "job_company_name"),
    company_domain: host(text(data, "job_company_website")),
    network_url: webAddress(text(data, "linkedin_url")),
    location: place(data, "location_locality", "location_region", "location_country"),
    email: text(data, "work_email") ?? text(data, "recommended_personal_email") ?? text(data, "personal_emails", 0),
    phone: text(data, "mobile_phone") ?? text(data, "phone_numbers", 0),
    provider_ids: providerIds("peopledatalabs", data, "id")
  })

const experienceOf = (position: unknown) => {
  const ended = text(position, "end_date")
  return {
    title: text(position, "title", "name"),
    company_name: text(position, "company", "name"),
    company_domain: host(text(position, "company", "website")),
    start_date: text(position, "start_date"),
    end_date: ended,
    // A secondary position without an end date may be current or out of date.
    is_current: ended !== null ? false : flag(position, "is_primary") === true ? true : null
  }
}

const educationOf = (study: unknown) => ({
  school: text(study, "school", "name"),
  degree: text(study, "degrees", 0),
  field: text(study, "majors", 0),
  start_date: text(study, "start_date"),
  end_date: text(study, "end_date")
})

const required: Readonly<Record<string, string>> = { email: "emails", phone: "phone_numbers" }
/** What the record must have. Otherwise the provider answers, and charges, nothing. */
const requiring = (wanted: ReadonlyArray<string> = []) =>
  wanted.flatMap((field) => entryIn(required, field) ?? []).join(" AND ") || undefined

const enrichPerson = offer(peopleEnrich, {
  price: inCredits.flat("1"),
  note,
  wraps: ["GET /v5/person/enrich"],
  request: (input, { wanted }) => ({
    query: {
      profile: input.network_url,
      email: input.email,
      name: input.full_name,
      company: input.company_domain ?? input.company_name,
      min_likelihood: likelihoodMin,
      required: requiring(wanted),
      titlecase: true
    }
  }),
  response: (reply) => {
    const data = at(reply.body, "data")
    if (!isRecord(data)) return unreadable("data")
    const person = personOf(data)
    if (person.full_name === null && person.network_url === null) return noMatch("an empty record")
    const likelihood = number(reply.body, "likelihood")
    return match({
      ...person,
      experience: list(data, "experience")?.map(experienceOf) ?? null,
      education: list(data, "education")?.map(educationOf) ?? null,
      skills: texts(data, "skills"),
      match_confidence: likelihood === null ? null : likelihood / 10
    })
  }
})

/** The provider's names of seniorities, by the words that people usually write. */
const levels: Readonly<Record<string, string>> = {
  c_level: "cxo",
  "c-level": "cxo",
  "c-suite": "cxo",
  executive: "cxo",
  founder: "owner",
  "vice president": "vp",
  head: "director",
  junior: "entry",
  intern: "training"
}

const anyOf = (clauses: ReadonlyArray<object>) => ({ bool: { should: clauses } })
const matchAny = (field: string, values: ReadonlyArray<string> | undefined) =>
  values === undefined ? [] : [anyOf(values.map((value) => ({ match: { [field]: value } })))]
const termAny = (field: string, values: ReadonlyArray<string> | undefined) =>
  values === undefined ? [] : [{ terms: { [field]: values.map((value) => value.toLowerCase()) } }]

/** The filters as the provider's subset of an Elasticsearch query. Its values are lower case. */
const queryOf = (input: InputOf<typeof peopleSearch>) => ({
  bool: {
    must: [
      ...matchAny("job_title", input.titles),
      ...termAny(
        "job_title_levels",
        input.seniorities?.map((level) => entryIn(levels, level.toLowerCase()) ?? level)
      ),
      ...matchAny("full_name", input.name === undefined ? undefined : [input.name]),
      ...termAny("job_company_website", input.company_domains),
      ...matchAny("job_company_name", input.company_names),
      ...matchAny("location_name", input.locations),
      ...matchAny("job_company_industry", input.industries),
      ...termAny("job_company_size", input.employee_range === undefined ? undefined : [input.employee_range]),
      ...(input.keywords === undefined
        ? []
        : [anyOf(["job_title", "skills", "summary"].map((field) => ({ match: { [field]: input.keywords } })))])
    ]
  }
})

/** A page of a search. There is a next page only after a full one. */
const recordsOf = <A>(reply: Reply, item: (record: unknown) => A, limit: number, reported: Cost | null = null) => {
  const isFull = (list(reply.body, "data")?.length ?? 0) >= limit
  return pageFrom(reply.body, "data", {
    none: "no record found",
    limit,
    cost: reported,
    item,
    total: whole(reply.body, "total"),
    next_cursor: issue("peopledatalabs", isFull ? text(reply.body, "scroll_token") : null)
  })
}

const search = offer(peopleSearch, {
  // 1 credit per record
  price: inCredits.metered("0", "1", peopleSearchDefaultLimit),
  note,
  wraps: ["POST /v5/person/search"],
  serves: (input) => accepts("peopledatalabs", input.cursor),
  request: (input) => ({
    body: {
      query: queryOf(input),
      size: input.limit ?? peopleSearchDefaultLimit,
      titlecase: true,
      ...defined({ scroll_token: redeem("peopledatalabs", input.cursor) })
    }
  }),
  response: (reply, input) => recordsOf(reply, personOf, input.limit ?? peopleSearchDefaultLimit)
})

const companyOf = (data: unknown): Company => {
  const website = text(data, "website")
  return company({
    name: text(data, "display_name") ?? text(data, "name"),
    domain: host(website),
    website: webAddress(website),
    network_url: webAddress(text(data, "linkedin_url")),
    industry: text(data, "industry"),
    employee_count: whole(data, "employee_count"),
    employee_range: text(data, "size"),
    founded_year: whole(data, "founded"),
    location: place(at(data, "location"), "locality", "region", "country"),
    description: text(data, "summary"),
    revenue: text(data, "inferred_revenue"),
    funding: whole(data, "total_funding_raised")?.toString() ?? null,
    provider_ids: providerIds("peopledatalabs", data, "id")
  })
}

const enrichCompany = offer(companyEnrich, {
  price: inUsd.flat(companyCredit),
  note,
  wraps: ["GET /v5/company/enrich"],
  request: (input) => ({
    query: { website: input.domain, name: input.name, profile: input.network_url, titlecase: true }
  }),
  response: (reply) => {
    // Unlike a person's, a company's fields are at the top level of the answer, beside the status.
    const company = companyOf(reply.body)
    return company.name === null ? unreadable("name") : match(company, spentOnCompanies(reply))
  }
})

/** A condition that matches any of the values in any of the fields. */
const wordsIn = (fields: ReadonlyArray<string>, values: ReadonlyArray<string> | undefined) =>
  values === undefined ? [] : [anyOf(values.flatMap((value) => fields.map((field) => ({ match: { [field]: value } }))))]

const companyQueryOf = (input: InputOf<typeof companySearch>) => ({
  bool: {
    must: [
      ...wordsIn(["name", "summary", "tags"], input.query === undefined ? undefined : [input.query]),
      ...matchAny("industry", input.industries),
      ...matchAny("location.name", input.locations),
      ...termAny("size", input.employee_ranges),
      ...wordsIn(["tags", "summary"], input.keywords),
      ...(input.founded_min === undefined && input.founded_max === undefined
        ? []
        : [{ range: { founded: { gte: input.founded_min, lte: input.founded_max } } }])
    ]
  }
})

const findCompanies = offer(companySearch, {
  price: inUsd.metered("0", companyCredit, companySearchDefaultLimit),
  note,
  wraps: ["POST /v5/company/search"],
  // The records do not contain technologies.
  serves: (input) => accepts("peopledatalabs", input.cursor) && input.technologies === undefined,
  request: (input) => ({
    body: {
      query: companyQueryOf(input),
      size: input.limit ?? companySearchDefaultLimit,
      titlecase: true,
      ...defined({ scroll_token: redeem("peopledatalabs", input.cursor) })
    }
  }),
  response: (reply, input) =>
    recordsOf(reply, companyOf, input.limit ?? companySearchDefaultLimit, spentOnCompanies(reply))
})

const networkPage = offer(networkProfile, {
  price: inCredits.flat("1"),
  note,
  wraps: ["GET /v5/person/enrich"],
  serves: (input) => input.network_url !== undefined,
  request: (input) => ({ query: { profile: input.network_url, min_likelihood: likelihoodMin, titlecase: true } }),
  response: (reply) => {
    const data = at(reply.body, "data")
    if (!isRecord(data)) return unreadable("data")
    const person = personOf(data)
    if (person.full_name === null) return noMatch("an empty record")
    return match({
      ...person,
      about: text(data, "summary"),
      followers: null,
      connections: whole(data, "linkedin_connections"),
      experience: list(data, "experience")?.map(experienceOf) ?? null,
      education: list(data, "education")?.map(educationOf) ?? null,
      skills: texts(data, "skills"),
      is_connected: null
    })
  }
})

export const peopledatalabs = provider({
  slug: "peopledatalabs",
  title: "People Data Labs",
  homepage: "https://www.peopledatalabs.com",
  base_url: "https://api.peopledatalabs.com",
  auth: { kind: "header", name: "X-Api-Key" },
  // The price of a person record. A company costs $0.10.
  credit: "0.38",
  // 1,000 requests a minute on paid plans.
  concurrency: 16,
  timeoutMillis: 20_000,
  measured: spent,
  httpErrors: httpErrors({ answers: [404] }),
  unanswered: missed,
  offers: [enrichPerson, search, enrichCompany, findCompanies, networkPage]
})
