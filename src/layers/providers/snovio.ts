/**
 * Adapter for Snov.io: finds and verifies e-mail addresses, and enriches people and companies. Most requests start a search, which is polled.
 *
 * The search's hash is stored, so a restarted worker continues to poll. Answers do not say what they cost. The profile of a person has no
 * address, and the starts take forms with lists as in `emails[]`, except for the names of people, which are JSON.
 */
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { emailVerdict, emailVerify } from "../../schema/capabilities/email.verify.ts"
import { company, type EmailStatus, location, nameParts, person } from "../../schema/capabilities/shapes.ts"
import { networkProfile } from "../../schema/capabilities/network.profile.ts"
import { peopleEnrich } from "../../schema/capabilities/people.enrich.ts"
import {
  type Call,
  type EndpointName,
  failure,
  offer,
  type Outcome,
  provider,
  type Reply
} from "../../schema/catalog/Provider.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
import {
  at,
  flag,
  host,
  isRecord,
  list,
  number,
  providerIds,
  segmentOf,
  text,
  texts,
  webAddress,
  whole
} from "./kit/read.ts"
import { creditsCall } from "./kit/credits.ts"

const note = "Starter plan, $39 for 1,000 credits a month; what is not found is free."

/** An account may ask 60 times a minute, polls included. */
const spacingMillis = 1_000
const againMillis = 3_000
const searchTimeoutMillis = 120_000
const tooMany = 429
const running = new Set(["in_progress", "in progress"])

interface Search {
  readonly start: string
  readonly result: string
  /** Where the start of the search answers its hash. */
  readonly hashAt: "data" | "meta"
}
const asQuery = (name: string): Search => ({ start: `/v2/${name}/start`, result: `/v2/${name}/result`, hashAt: "data" })
const byName = asQuery("emails-by-domain-by-name")
const verification = asQuery("email-verification")
const profiles = asQuery("li-profiles-by-urls")
const companies: Search = {
  start: "/v2/domain-search/start",
  result: "/v2/domain-search/result/{task_hash}",
  hashAt: "meta"
}
const wrapsOf = ({ start, result }: Search): ReadonlyArray<EndpointName> => [`POST ${start}`, `GET ${result}`]

const form = (path: string, body: unknown): Call => ({ method: "POST", path, body, encoding: "form" })

const resultCall =
  ({ result, hashAt }: Search) =>
  (state: unknown): Call => {
    const hash = text(state, "hash") ?? ""
    return hashAt === "meta"
      ? { method: "GET", path: result.replace("{task_hash}", segmentOf(hash)) }
      : { method: "GET", path: result, query: { task_hash: hash } }
  }

const again = (hash: string): Outcome<never> => ({
  _tag: "Again",
  state: { hash },
  afterMillis: againMillis,
  job: true
})

/** The data of the ended search, or the outcome if there is none. */
const finished = ({ hashAt }: Search, reply: Reply, state: unknown): { readonly data: unknown } | Outcome<never> => {
  const hash = state === null ? text(reply.body, hashAt, "task_hash") : text(state, "hash")
  if (state === null) {
    if (reply.status >= 300) return refusal(reply)
    return hash === null ? unreadable("task_hash") : again(hash)
  }
  if (hash === null) return unreadable("hash in the stored state")
  // The search goes on at the provider, so a rate limit while polling does not end the attempt.
  if (reply.status === tooMany) return again(hash)
  if (reply.status >= 300) return refusal(reply)
  const status = text(reply.body, "status")
  if (status === null) return unreadable("status")
  if (running.has(status)) return again(hash)
  if (status === "not_enough_credits") return failure("provider_account", "the account has not enough credits")
  return status === "completed"
    ? { data: at(reply.body, "data") }
    : failure("provider_error", `the search ended as ${status}`)
}

const statusOf = (address: unknown): EmailStatus => {
  const status = text(address, "smtp_status")
  if (status === "valid") return "valid"
  if (status === "not_valid") return "invalid"
  return text(address, "unknown_status_reason") === "catchall" ? "catch_all" : "unknown"
}

const find = offer(emailFind, {
  price: inCredits.flat("1"),
  note,
  wraps: wrapsOf(byName),
  timeoutMillis: searchTimeoutMillis,
  serves: (input) => input.company_domain !== undefined && nameParts(input)?.last_name !== undefined,
  request: (input) => ({
    body: { rows: [{ ...nameParts(input), domain: input.company_domain?.toLowerCase() }] }
  }),
  next: resultCall(byName),
  response: (reply, input, state) => {
    const search = finished(byName, reply, state)
    if ("_tag" in search) return search
    const address = at(search.data, 0, "result", 0)
    const email = text(address, "email")
    if (email === null) return list(search.data) === null ? unreadable("data") : noMatch("no address found")
    const parts = nameParts(input)
    return match({
      email,
      email_status: statusOf(address),
      confidence: null,
      first_name: parts?.first_name ?? null,
      last_name: parts?.last_name ?? null,
      company_domain: input.company_domain?.toLowerCase() ?? null,
      source_count: null
    })
  }
})

const verify = offer(emailVerify, {
  price: inCredits.flat("1"),
  note,
  wraps: wrapsOf(verification),
  timeoutMillis: searchTimeoutMillis,
  request: (input) => form(verification.start, { "emails[]": [input.email] }),
  next: resultCall(verification),
  response: (reply, input, state) => {
    const search = finished(verification, reply, state)
    if ("_tag" in search) return search
    const address = at(search.data, 0, "result")
    const provider_status = text(address, "smtp_status")
    if (provider_status === null) return unreadable("smtp_status")
    return match(
      emailVerdict({
        email: text(search.data, 0, "email") ?? input.email,
        email_status: statusOf(address),
        is_disposable: flag(address, "is_disposable"),
        is_free: flag(address, "is_webmail"),
        provider_status
      })
    )
  }
})

/** A position's address is sometimes a profile of the network. */
const employerDomain = (address: string | null): string | null => {
  const domain = host(address)
  return domain === null || /(^|\.)linkedin\.com$/.test(domain) ? null : domain
}

const positionsOf = (profile: unknown, field: string, is_current: boolean) =>
  (list(profile, field) ?? []).map((job) => ({
    title: text(job, "position"),
    company_name: text(job, "companyName"),
    company_domain: employerDomain(text(job, "site")),
    start_date: text(job, "startDate"),
    end_date: text(job, "endDate"),
    is_current
  }))

/** The answer to an e-mail address, which comes at once. */
const byAddress = (reply: Reply) => {
  const profile = reply.body
  if (reply.status >= 300) return refusal(reply)
  if (!isRecord(profile)) return unreadable("an object")
  const full_name = text(profile, "name")
  if (full_name === null) return noMatch("nobody is known by this address")
  const current = positionsOf(profile, "currentJobs", true)
  const [job] = current
  const network = list(profile, "social")?.find((one) => text(one, "type")?.toLowerCase() === "linkedin")
  return match({
    ...person({
      full_name,
      first_name: text(profile, "firstName"),
      last_name: text(profile, "lastName"),
      title: job?.title ?? null,
      company_name: job?.company_name ?? null,
      company_domain: job?.company_domain ?? null,
      network_url: text(network, "link"),
      location: location(null, null, text(profile, "country")),
      provider_ids: providerIds("snovio", profile, "id")
    }),
    experience: [...current, ...positionsOf(profile, "previousJobs", false)],
    education: null,
    skills: null,
    match_confidence: null
  })
}

/** The profile of an ended search by profile, or the outcome if there is none. */
const profileOf = (reply: Reply, state: unknown) => {
  const search = finished(profiles, reply, state)
  if ("_tag" in search) return search
  const profile = at(search.data, 0, "result")
  const full_name = text(profile, "name")
  if (full_name === null) return list(search.data) === null ? unreadable("data") : noMatch("no such profile")
  const experience = (list(profile, "positions") ?? []).map((job) => ({
    title: text(job, "title"),
    company_name: text(job, "name"),
    company_domain: employerDomain(text(job, "url")),
    start_date: null,
    end_date: null,
    is_current: true
  }))
  const [job] = experience
  return {
    ...person({
      full_name,
      first_name: text(profile, "first_name"),
      last_name: text(profile, "last_name"),
      title: job?.title ?? null,
      company_name: job?.company_name ?? null,
      company_domain: job?.company_domain ?? null,
      network_url: text(search.data, 0, "url"),
      location: location(null, null, text(profile, "country"))
    }),
    experience,
    skills: texts(profile, "skills"),
    education: null
  }
}

const profileCall = (network_url: string | undefined) =>
  form(profiles.start, { "urls[]": [webAddress(network_url ?? null) ?? ""] })

const readProfile = offer(networkProfile, {
  price: inCredits.flat("1"),
  note: `${note} Without text, followers and dates.`,
  wraps: wrapsOf(profiles),
  timeoutMillis: searchTimeoutMillis,
  serves: (input) => input.network_url !== undefined,
  request: (input) => profileCall(input.network_url),
  next: resultCall(profiles),
  response: (reply, _input, state) => {
    const profile = profileOf(reply, state)
    if ("_tag" in profile) return profile
    return match({ ...profile, about: null, followers: null, connections: null, is_connected: null })
  }
})

const enrichPerson = offer(peopleEnrich, {
  price: inCredits.flat("1"),
  note: `${note} Profiles come without addresses and numbers.`,
  wraps: [...wrapsOf(profiles), "POST /v1/get-profile-by-email"],
  timeoutMillis: searchTimeoutMillis,
  serves: (input) => input.network_url !== undefined || input.email !== undefined,
  lacks: ["email", "email_status", "phone"],
  request: (input) =>
    input.network_url === undefined
      ? form("/v1/get-profile-by-email", { email: input.email })
      : profileCall(input.network_url),
  next: resultCall(profiles),
  response: (reply, input, state) => {
    if (input.network_url === undefined) return byAddress(reply)
    const profile = profileOf(reply, state)
    return "_tag" in profile ? profile : match({ ...profile, match_confidence: null })
  }
})

const enrichCompany = offer(companyEnrich, {
  price: inCredits.flat("1"),
  note,
  wraps: wrapsOf(companies),
  timeoutMillis: searchTimeoutMillis,
  serves: (input) => input.domain !== undefined,
  request: (input) => form(companies.start, { domain: input.domain?.toLowerCase() }),
  next: resultCall(companies),
  response: (reply, input, state) => {
    const search = finished(companies, reply, state)
    if ("_tag" in search) return search
    const name = text(search.data, "company_name")
    if (name === null) return noMatch("the company is not known")
    return match(
      company({
        name,
        domain: input.domain?.toLowerCase() ?? null,
        website: text(search.data, "website"),
        industry: text(search.data, "industry"),
        employee_range: text(search.data, "size"),
        founded_year: whole(search.data, "founded"),
        location: location(text(search.data, "city"), null, null),
        phone: text(search.data, "hq_phone")
      })
    )
  }
})

export const snovio = provider({
  slug: "snovio",
  title: "Snov.io",
  homepage: "https://snov.io",
  base_url: "https://api.snov.io",
  auth: { kind: "client_credentials", path: "/v1/oauth/access_token" },
  // The Starter plan: $39 for 1,000 credits.
  credit: "0.039",
  concurrency: 4,
  spacingMillis,
  timeoutMillis: 60_000,
  httpErrors: httpErrors({ answers: [tooMany] }),
  credits: creditsCall("/v1/get-balance", "credit", (body) => number(body, "data", "balance")),
  offers: [find, verify, enrichPerson, readProfile, enrichCompany]
})
