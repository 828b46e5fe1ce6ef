/**
 * Adapter for FullEnrich: work addresses and mobile numbers from many sources, in jobs that are polled, people and companies.
 *
 * The id of a job is stored, so a restarted worker continues to poll. A job that has not ended is answered with status 400. The result of a
 * job reports its credits and repeats them whenever it is read, so it is no cost report of a single call.
 */
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { emailFind, workEmail } from "../../schema/capabilities/email.find.ts"
import { company, type EmailStatus, nameParts, person } from "../../schema/capabilities/shapes.ts"
import { peopleEnrich } from "../../schema/capabilities/people.enrich.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import {
  type Call,
  type CallContext,
  type CallParts,
  type Failure,
  failure,
  offer,
  type Outcome,
  provider,
  type Reply
} from "../../schema/catalog/Provider.ts"
import { defined } from "../../schema/defined.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { cost, httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
import { international } from "./kit/phone.ts"
import { at, entryIn, flag, host, list, place, providerIds, segmentOf, text, texts, whole } from "./kit/read.ts"

const note = "Pro plan, $29 for 500 credits a month; what is not found is free."
const start = "/contact/enrich/bulk"
const wraps = [`POST ${start}`, `GET ${start}/{enrichment_id}`] as const

/** An account may ask 60 times a minute, and jobs take half a minute and more. */
const againMillis = 15_000
const jobTimeoutMillis = 300_000
const notReady = 400
const tooMany = 429
const running = new Set(["CREATED", "IN_PROGRESS", "RATE_LIMIT", "UNKNOWN"])
const ends: Readonly<Record<string, Failure["reason"]>> = { CREDITS_INSUFFICIENT: "provider_account" }

interface Wanted {
  readonly network_url?: string
  readonly full_name?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly company_domain?: string
  readonly company_name?: string
}

const startCall = (input: Wanted, field: string, { run_id }: CallContext): CallParts => {
  const parts = nameParts(input)
  const person = {
    first_name: parts?.first_name,
    last_name: parts?.last_name,
    domain: input.company_domain?.toLowerCase(),
    company_name: input.company_name,
    linkedin_url: input.network_url
  }
  return { body: { name: run_id, data: [{ ...defined(person), enrich_fields: [field] }] } }
}

const again = (id: string): Outcome<never> => ({ _tag: "Again", state: { id }, afterMillis: againMillis, job: true })

const readCall = (state: unknown): Call => ({ method: "GET", path: `${start}/${segmentOf(text(state, "id") ?? "")}` })

const credits = (reply: Reply) => cost("credit", reply.body, "cost", "credits")

/** What the ended job found of the person, or the outcome if there is none. */
const finished = (reply: Reply, state: unknown): { readonly person: unknown } | Outcome<never> => {
  if (state === null) {
    if (reply.status >= 300) return refusal(reply)
    const started = text(reply.body, "enrichment_id")
    return started === null ? unreadable("enrichment_id") : again(started)
  }
  const id = text(state, "id")
  if (id === null) return unreadable("id in the stored state")
  // The job goes on at the provider, so a rate limit while polling does not end the attempt.
  if (reply.status === tooMany || text(reply.body, "code") === "error.enrichment.in_progress") return again(id)
  if (reply.status >= 300) return refusal(reply)
  const status = text(reply.body, "status")
  if (status === null) return unreadable("status")
  if (running.has(status)) return again(id)
  if (status !== "FINISHED") return failure(entryIn(ends, status) ?? "provider_error", `the job ended as ${status}`)
  return list(reply.body, "data") === null ? unreadable("data") : { person: at(reply.body, "data", 0) }
}

const statuses: Readonly<Record<string, EmailStatus>> = {
  DELIVERABLE: "valid",
  HIGH_PROBABILITY: "risky",
  CATCH_ALL: "catch_all",
  INVALID: "invalid",
  INVALID_DOMAIN: "invalid"
}

const findEmail = offer(emailFind, {
  price: inCredits.flat("1"),
  note,
  wraps,
  timeoutMillis: jobTimeoutMillis,
  serves: (input) => nameParts(input) !== null,
  request: (input, context) => startCall(input, "contact.work_emails", context),
  next: readCall,
  response: (reply, _input, state) => {
    const job = finished(reply, state)
    if ("_tag" in job) return job
    const best = at(job.person, "contact_info", "most_probable_work_email")
    const email = text(best, "email")
    if (email === null) return noMatch("no address found", credits(reply))
    return match(
      workEmail({
        email,
        email_status: entryIn(statuses, text(best, "status")) ?? "unknown",
        first_name: text(job.person, "profile", "first_name"),
        last_name: text(job.person, "profile", "last_name"),
        company_domain: host(text(job.person, "profile", "employment", "current", "company", "domain"))
      }),
      credits(reply)
    )
  }
})

const findPhone = offer(phoneFind, {
  price: inCredits.flat("10"),
  note: `${note} A mobile number costs ten.`,
  wraps,
  timeoutMillis: jobTimeoutMillis,
  serves: (input) => input.network_url !== undefined || nameParts(input) !== null,
  request: (input, context) => startCall(input, "contact.phones", context),
  next: readCall,
  response: (reply, _input, state) => {
    const job = finished(reply, state)
    if ("_tag" in job) return job
    const phone = international(text(job.person, "contact_info", "most_probable_phone", "number"))
    if (phone === null) return noMatch("no number found", credits(reply))
    return match({ phone, phone_type: null, confidence: null }, credits(reply))
  }
})

const lookedUp = (reply: Reply) => cost("credit", reply.body, "metadata", "credits")

const enrich = offer(companyEnrich, {
  price: inCredits.flat("0.25"),
  note,
  wraps: ["POST /company/lookup"],
  serves: (input) => input.domain !== undefined || input.network_url !== undefined,
  request: (input) => ({
    body:
      input.domain === undefined
        ? { professional_network_url: input.network_url }
        : { domain: input.domain.toLowerCase() }
  }),
  response: (reply) => {
    if (reply.status >= 300) return refusal(reply)
    const companies = list(reply.body, "companies")
    if (companies === null) return unreadable("companies")
    const [first] = companies
    const name = text(first, "name")
    if (name === null) return noMatch("the company is not known", lookedUp(reply))
    // Zero stands for what it does not know.
    const positive = (field: string): number | null => whole(first, field) || null
    return match(
      company({
        name,
        domain: host(text(first, "domain")),
        website: text(first, "website"),
        network_url: text(first, "social_profiles", "professional_network", "url"),
        industry: text(first, "industry", "main_industry"),
        employee_count: positive("headcount"),
        employee_range: text(first, "headcount_range"),
        founded_year: positive("year_founded"),
        location: place(at(first, "locations", "headquarters"), "city", "region", "country"),
        description: text(first, "description"),
        provider_ids: providerIds("fullenrich", first, "id")
      }),
      lookedUp(reply)
    )
  }
})

/** The day of a moment, as in 2022-03-15T00:00:00Z. */
const day = (value: unknown, field: string): string | null => text(value, field)?.slice(0, 10) ?? null

const enrichPerson = offer(peopleEnrich, {
  price: inCredits.flat("0.25"),
  note: `${note} Without addresses and numbers.`,
  wraps: ["POST /people/lookup"],
  serves: (input) =>
    input.network_url !== undefined || (input.full_name !== undefined && input.company_domain !== undefined),
  lacks: ["email", "email_status", "phone"],
  request: (input) => ({
    body:
      input.network_url === undefined
        ? { person_name: input.full_name, company_domain: input.company_domain?.toLowerCase() }
        : { person_professional_network_url: input.network_url }
  }),
  response: (reply) => {
    if (reply.status >= 300) return refusal(reply)
    const people = list(reply.body, "people")
    if (people === null) return unreadable("people")
    const [profile] = people
    if (profile === undefined) return noMatch("nobody found", lookedUp(reply))
    const job = at(profile, "employment", "current")
    return match(
      {
        ...person({
          full_name: text(profile, "full_name"),
          first_name: text(profile, "first_name"),
          last_name: text(profile, "last_name"),
          headline: text(profile, "headline"),
          title: text(job, "title"),
          seniority: text(job, "seniority"),
          company_name: text(job, "company", "name"),
          company_domain: host(text(job, "company", "domain")),
          network_url: text(profile, "social_profiles", "professional_network", "url"),
          location: place(at(profile, "location"), "city", "region", "country"),
          provider_ids: providerIds("fullenrich", profile, "id")
        }),
        experience:
          list(profile, "employment", "all")?.map((one) => ({
            title: text(one, "title"),
            company_name: text(one, "company", "name"),
            company_domain: host(text(one, "company", "domain")),
            start_date: day(one, "start_at"),
            end_date: day(one, "end_at"),
            is_current: flag(one, "is_current")
          })) ?? null,
        education:
          list(profile, "educations")?.map((school) => ({
            school: text(school, "school_name"),
            degree: text(school, "degree"),
            field: null,
            start_date: day(school, "start_at"),
            end_date: day(school, "end_at")
          })) ?? null,
        skills: texts(profile, "skills"),
        match_confidence: null
      },
      lookedUp(reply)
    )
  }
})

export const fullenrich = provider({
  slug: "fullenrich",
  title: "FullEnrich",
  homepage: "https://fullenrich.com",
  base_url: "https://app.fullenrich.com/api/v2",
  auth: { kind: "bearer" },
  // The smallest Pro plan: $29 for 500 credits.
  credit: "0.058",
  concurrency: 4,
  timeoutMillis: 60_000,
  httpErrors: httpErrors({ answers: [notReady, tooMany] }),
  offers: [findEmail, findPhone, enrichPerson, enrich]
})
