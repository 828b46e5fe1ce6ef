/**
 * Adapter for Hunter: finds and verifies e-mail addresses, enriches people and companies, searches companies, and lists technologies.
 *
 * Some HTTP statuses have an unusual meaning: 403 is a rate limit, 429 is out of credits, 451 is a person who opted out, and 202 means
 * to poll again. Hunter reports no cost, so prices are those of the Starter plan ($0.0245 per credit).
 */
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { companySearch, companySearchDefaultLimit } from "../../schema/capabilities/company.search.ts"
import { companyTech } from "../../schema/capabilities/company.tech.ts"
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { emailVerdict, emailVerify } from "../../schema/capabilities/email.verify.ts"
import { peopleEnrich } from "../../schema/capabilities/people.enrich.ts"
import { company, type EmailStatus, person } from "../../schema/capabilities/shapes.ts"
import { inCredits, inUsd } from "../../schema/money/Rates.ts"
import { type CallParts, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { accepts, issue, redeem } from "./kit/cursor.ts"
import { httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
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
import { creditsCall, leftOf } from "./kit/credits.ts"

const oneCredit = inCredits.flat("1")
const halfCredit = inCredits.flat("0.5")
/** The price of the three endpoints that enrich. */
const enrichment = inCredits.flat("0.2")
const note = "Credits of the Starter plan; the provider does not report what a call has cost."

/** Poll interval. The finder and the verifier take up to 20 seconds and answer 202 in the meantime. */
const againMillis = 2_000

const statuses: Readonly<Record<string, EmailStatus>> = {
  valid: "valid",
  invalid: "invalid",
  accept_all: "catch_all",
  webmail: "valid",
  disposable: "risky",
  unknown: "unknown"
}

/** The outcome of a reply without an answer: still working, opted out, or not found. Undefined if the reply has an answer. */
const unanswered = (reply: Reply, capability: string): Outcome<never> | undefined => {
  if (reply.status === 202) return { _tag: "Again", state: "working", afterMillis: againMillis, job: false }
  if (reply.status !== 404 && reply.status !== 451) return undefined
  // A verification charges misses too, and neither of these is a verdict.
  if (capability === emailVerify.slug) return refusal(reply, reply.status === 451 ? "provider_rejected" : undefined)
  if (reply.status === 451) return noMatch("the person asked the provider not to process their data")
  return text(reply.body, "errors", 0, "id") === "not_found" ? noMatch("nothing on record") : refusal(reply)
}

const findCall = (input: InputOf<typeof emailFind>): CallParts => {
  const inParts = input.first_name !== undefined && input.last_name !== undefined
  return {
    query: {
      domain: input.company_domain,
      company: input.company_domain === undefined ? input.company_name : undefined,
      first_name: inParts ? input.first_name : undefined,
      last_name: inParts ? input.last_name : undefined,
      full_name: inParts ? undefined : input.full_name
    }
  }
}

const find = offer(emailFind, {
  price: oneCredit,
  note,
  wraps: ["GET /email-finder"],
  request: findCall,
  next: (_state, input) => findCall(input),
  response: (reply) => {
    const data = at(reply.body, "data")
    if (!isRecord(data)) return unreadable("data")
    const email = text(data, "email")
    if (email === null) return noMatch("no address found")
    const unverified = flag(data, "accept_all") === true ? "catch_all" : "unknown"
    return match({
      email,
      email_status: entryIn(statuses, text(data, "verification", "status")) ?? unverified,
      confidence: number(data, "score"),
      first_name: text(data, "first_name"),
      last_name: text(data, "last_name"),
      company_domain: text(data, "domain"),
      source_count: list(data, "sources")?.length ?? null
    })
  }
})

const verifyCall = (input: InputOf<typeof emailVerify>): CallParts => ({ query: { email: input.email } })

const verify = offer(emailVerify, {
  price: halfCredit,
  note,
  wraps: ["GET /email-verifier"],
  request: verifyCall,
  next: (_state, input) => verifyCall(input),
  response: (reply, input) => {
    const data = at(reply.body, "data")
    const verdict = text(data, "status")
    if (verdict === null) return unreadable("status")
    return match(
      emailVerdict({
        email: text(data, "email") ?? input.email,
        email_status: entryIn(statuses, verdict) ?? "unknown",
        score: number(data, "score"),
        is_disposable: flag(data, "disposable"),
        is_free: flag(data, "webmail"),
        mx_found: flag(data, "mx_records"),
        provider_status: verdict
      }),
      // Hunter charges nothing for an address that it can't verify.
      verdict === "unknown" ? { unit: "credit", amount: "0" } : null
    )
  }
})

/** The handle in a profile URL, such as "patrickcollison". Hunter finds people by e-mail address or by this handle only. */
const handleOf = (url: string | undefined): string | undefined => /linkedin\.com\/in\/([^/?#]+)/i.exec(url ?? "")?.[1]

const networkUrl = (kind: "in" | "company", handle: string | null): string | null =>
  handle === null ? null : `https://www.linkedin.com/${kind}/${handle.replace(/^(in|company)\//, "")}`

const personCall = (input: InputOf<typeof peopleEnrich>): CallParts => ({
  query: { email: input.email, linkedin_handle: input.email === undefined ? handleOf(input.network_url) : undefined }
})

const enrichPerson = offer(peopleEnrich, {
  price: enrichment,
  note,
  wraps: ["GET /people/find"],
  serves: (input) => input.email !== undefined || handleOf(input.network_url) !== undefined,
  request: personCall,
  next: (_state, input) => personCall(input),
  response: (reply) => {
    const data = at(reply.body, "data")
    if (!isRecord(data)) return unreadable("data")
    const matched = person({
      full_name: text(data, "name", "fullName"),
      first_name: text(data, "name", "givenName"),
      last_name: text(data, "name", "familyName"),
      title: text(data, "employment", "title"),
      seniority: text(data, "employment", "seniority"),
      company_name: text(data, "employment", "name"),
      company_domain: host(text(data, "employment", "domain")),
      network_url: networkUrl("in", text(data, "linkedin", "handle")),
      location: place(at(data, "geo"), "city", "state", "country"),
      email: text(data, "email"),
      phone: text(data, "phone"),
      provider_ids: providerIds("hunter", data, "id")
    })
    if (matched.full_name === null && matched.network_url === null) return noMatch("nothing on record")
    return match({ ...matched, experience: null, education: null, skills: null, match_confidence: null })
  }
})

const companyCall = (input: { readonly domain?: string }): CallParts => ({ query: { domain: input.domain } })

/** A range such as "10K-50K", with its numbers written out. Null for a single number. */
const rangeOf = (employees: string | null): string | null =>
  employees === null || !/[-+]/.test(employees)
    ? null
    : employees.replace(/(\d{1,9}(?:\.\d{1,9})?)K/gi, (_, thousands: string) =>
        String(Math.round(Number(thousands) * 1000))
      )

const enrichCompany = offer(companyEnrich, {
  price: enrichment,
  note,
  wraps: ["GET /companies/find"],
  serves: (input) => input.domain !== undefined,
  request: companyCall,
  next: (_state, input) => companyCall(input),
  response: (reply) => {
    const data = at(reply.body, "data")
    if (!isRecord(data)) return unreadable("data")
    const name = text(data, "name")
    if (name === null) return noMatch("nothing on record")
    const domain = text(data, "domain")
    return match(
      company({
        name,
        domain,
        website: webAddress(domain),
        network_url: networkUrl("company", text(data, "linkedin", "handle")),
        industry: text(data, "category", "industry"),
        employee_count: whole(data, "metrics", "employees"),
        employee_range: text(data, "metrics", "employeesRange") ?? rangeOf(text(data, "metrics", "employees")),
        founded_year: whole(data, "foundedYear"),
        location: place(at(data, "geo"), "city", "state", "country"),
        description: text(data, "description"),
        revenue: whole(data, "metrics", "annualRevenue")?.toString() ?? null,
        funding: whole(data, "metrics", "raised")?.toString() ?? null,
        technologies: texts(data, "tech"),
        phone: text(data, "phone") ?? text(data, "site", "phoneNumbers", 0),
        provider_ids: providerIds("hunter", data, "id")
      })
    )
  }
})

const oneOf = (lead: string, values: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  values === undefined ? [] : [`${lead}${values.join(" or ")}`]

const founded = ({ founded_min: min, founded_max: max }: InputOf<typeof companySearch>): ReadonlyArray<string> => {
  if (min === undefined) return max === undefined ? [] : [`founded in ${max} or before`]
  return [max === undefined ? `founded in ${min} or later` : `founded from ${min} to ${max}`]
}

/** All filters as one sentence. Hunter's exact filters accept only its own lists of words, and can't be combined with a sentence. */
const sentence = (input: InputOf<typeof companySearch>): string =>
  [
    ...oneOf("", input.query === undefined ? undefined : [input.query]),
    ...oneOf("companies in the industry ", input.industries),
    ...oneOf("companies with headquarters in ", input.locations),
    ...oneOf("with this many employees: ", input.employee_ranges),
    ...oneOf("using ", input.technologies),
    ...oneOf("about ", input.keywords),
    ...founded(input)
  ].join(", ")

/** Hunter accepts no larger offset. */
const offsetMax = 10_000
const offsetOf = (input: InputOf<typeof companySearch>): number => Number(redeem("hunter", input.cursor) ?? "0")
const companyLimit = (input: InputOf<typeof companySearch>): number => input.limit ?? companySearchDefaultLimit

const discoverCall = (input: InputOf<typeof companySearch>): CallParts => ({
  body: { query: sentence(input), limit: companyLimit(input), offset: offsetOf(input) }
})

const findCompanies = offer(companySearch, {
  price: inUsd.metered("0", "0.000833", companySearchDefaultLimit),
  note: "The provider charges nothing for it, but returns names, domains and a count of addresses only. Priced low, and not at zero, so that routing does not prefer an incomplete answer. Filters are part of the search text and not applied exactly.",
  wraps: ["POST /discover"],
  serves: (input) =>
    accepts("hunter", input.cursor) &&
    /^\d{1,5}$/.test(redeem("hunter", input.cursor) ?? "0") &&
    offsetOf(input) <= offsetMax,
  request: discoverCall,
  next: (_state, input) => discoverCall(input),
  response: (reply, input) => {
    const companies = list(reply.body, "data")
    if (companies === null) return unreadable("data")
    if (companies.length === 0) return noMatch("no companies found")
    const total = whole(reply.body, "meta", "results")
    const items = companies.slice(0, companyLimit(input)).map((one) => {
      const domain = text(one, "domain")
      return company({ name: text(one, "organization"), domain, website: webAddress(domain) })
    })
    const next = offsetOf(input) + items.length
    const more = (total === null ? items.length === companyLimit(input) : next < total) && next <= offsetMax
    return match({ items, total, next_cursor: issue("hunter", more ? String(next) : null) })
  }
})

const technologies = offer(companyTech, {
  price: enrichment,
  note: `${note} Technologies come without categories.`,
  wraps: ["GET /companies/find"],
  request: companyCall,
  next: (_state, input) => companyCall(input),
  response: (reply, input) => {
    const data = at(reply.body, "data")
    if (!isRecord(data)) return unreadable("data")
    const names = texts(data, "tech") ?? []
    if (names.length === 0) return noMatch("no technologies found")
    return match({
      domain: text(data, "domain") ?? input.domain,
      // Hunter lists categories separately, without saying which technology belongs to which.
      technologies: names.map((name) => ({ name, category: null })),
      detected_at: null
    })
  }
})

export const hunter = provider({
  slug: "hunter",
  title: "Hunter",
  homepage: "https://hunter.io",
  base_url: "https://api.hunter.io/v2",
  auth: { kind: "header", name: "X-API-KEY" },
  credit: "0.0245",
  // The finder is limited to 15 requests a second, the verifier to 10.
  concurrency: 10,
  timeoutMillis: 30_000,
  httpErrors: httpErrors({
    answers: [202, 404, 451],
    reasons: { 403: "provider_rate_limited", 429: "provider_account" },
    empty: [429]
  }),
  unanswered,
  // Older answers have only what the plan includes and what was used.
  credits: creditsCall(
    "/account",
    "credit",
    (body) => {
      const credits = at(body, "data", "requests", "credits")
      return number(credits, "remaining") ?? leftOf(number(credits, "available"), number(credits, "used"))
    },
    { path: ["data", "reset_date"], renews: true }
  ),
  offers: [find, verify, enrichPerson, enrichCompany, findCompanies, technologies]
})
