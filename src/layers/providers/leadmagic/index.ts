/**
 * Adapter for LeadMagic: finds and verifies e-mail addresses, and enriches companies. The files beside it have phones, profiles, jobs and
 * ads.
 *
 * Every answer reports `credits_consumed`, which is zero for a miss. The price of a credit is that of the Basic plan.
 */
import { companyEnrich } from "../../../schema/capabilities/company.enrich.ts"
import { emailFind, workEmail } from "../../../schema/capabilities/email.find.ts"
import { emailVerdict, emailVerify } from "../../../schema/capabilities/email.verify.ts"
import { company, type EmailStatus, location, nameParts } from "../../../schema/capabilities/shapes.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { offer, provider } from "../../../schema/catalog/Provider.ts"
import { findAds, findJobs } from "./listings.ts"
import { findPhone, networkPage } from "./people.ts"
import { consumed, field, missed, note, notFound } from "./report.ts"
import { errorText, httpErrors, match, noMatch, refusal, unreadable } from "../kit/outcome.ts"
import { at, entryIn, flag, host, list, number, providerIds, sizeRange, text, webAddress, whole } from "../kit/read.ts"
import { defined } from "../../../schema/defined.ts"
import { creditsCall } from "../kit/credits.ts"

const statuses: Readonly<Record<string, EmailStatus>> = {
  valid: "valid",
  valid_catch_all: "catch_all",
  catch_all: "catch_all",
  invalid: "invalid",
  unknown: "unknown"
}

const find = offer(emailFind, {
  price: inCredits.flat("1"),
  note,
  wraps: ["POST /v1/people/email-finder"],
  serves: (input) => nameParts(input) !== null,
  request: (input) => ({
    body: {
      ...nameParts(input),
      ...defined({ domain: input.company_domain, company_name: input.company_name })
    }
  }),
  response: (reply) => {
    const email = text(reply.body, "email")
    const status = text(reply.body, "status")
    // A miss has both fields, and both are null.
    if (status === null && email === null && at(reply.body, "email") !== null) return unreadable("status")
    if (email === null || status === "not_found") return noMatch("no address found")
    return match(
      workEmail({
        email,
        email_status: entryIn(statuses, status) ?? "unknown",
        first_name: text(reply.body, "first_name"),
        last_name: text(reply.body, "last_name"),
        company_domain: text(reply.body, "domain")
      })
    )
  }
})

const verify = offer(emailVerify, {
  price: inCredits.flat("0.25"),
  note,
  wraps: ["POST /v1/people/email-validation"],
  request: (input) => ({ body: { email: input.email } }),
  response: (reply, input) => {
    const verdict = text(reply.body, "email_status")
    if (verdict === null) return unreadable("email_status")
    const mx = at(reply.body, "mx_record")
    return match(
      emailVerdict({
        email: text(reply.body, "email") ?? input.email,
        email_status: entryIn(statuses, verdict) ?? "unknown",
        // A missing field means that the provider did not check, null that there is no MX record.
        mx_found: mx === undefined ? null : text(mx) !== null,
        provider_status: verdict
      })
    )
  }
})

const enrichCompany = offer(companyEnrich, {
  price: inCredits.flat("1"),
  note,
  wraps: ["POST /v1/companies/company-search"],
  request: (input) => ({
    body: defined({ company_domain: input.domain, company_name: input.name, profile_url: input.network_url })
  }),
  response: (reply) => {
    const body = reply.body
    const name = text(field(body, "company_name"))
    if (name === null) {
      const free = consumed(reply)
      return free === null && text(body, "message") === null
        ? unreadable("company_name")
        : noMatch("no company found", free)
    }
    const offices = list(body, "locations") ?? []
    const seat =
      offices.find(
        (office) => flag(office, "headquarter") === true || text(office, "description") === "Headquarters"
      ) ??
      offices[0] ??
      at(body, "headquarter")
    const website = text(field(body, "website_url"))
    return match(
      company({
        name,
        domain: host(website),
        website: webAddress(website),
        network_url: webAddress(text(body, "url") ?? text(body, "linkedin_url")),
        industry: text(body, "industry"),
        employee_count: whole(field(body, "employee_count")),
        employee_range: sizeRange(field(body, "employee_count_range"), "start", "end"),
        founded_year: whole(field(body, "founded_on"), "year") ?? whole(body, "founded_year"),
        location: location(text(seat, "city"), text(field(seat, "geographic_area")), text(seat, "country")),
        description: text(body, "description"),
        revenue: whole(body, "revenue")?.toString() ?? null,
        funding: whole(body, "total_funding")?.toString() ?? null,
        provider_ids: providerIds("leadmagic", field(body, "company_id"))
      })
    )
  }
})

export const leadmagic = provider({
  slug: "leadmagic",
  title: "LeadMagic",
  homepage: "https://leadmagic.io",
  base_url: "https://api.leadmagic.io",
  auth: { kind: "header", name: "X-API-Key" },
  credit: "0.025",
  concurrency: 10,
  timeoutMillis: 30_000,
  measured: consumed,
  httpErrors: httpErrors({
    answers: [notFound],
    // By LeadMagic's specification, a wrong key is answered with 400.
    reason: (reply) => (reply.status === 400 && /api key/i.test(errorText(reply)) ? "provider_account" : undefined)
  }),
  // Every address gets a verdict, so for a verification a 404 is an error and not a miss.
  unanswered: (reply, capability) =>
    capability === emailVerify.slug && reply.status === notFound ? refusal(reply) : missed(reply),
  // Frozen credits can't be used.
  credits: creditsCall(
    { method: "POST", path: "/credits", body: {}, reads: true },
    "credit",
    (body) => number(body, "credits_liquid") ?? number(body, "credits")
  ),
  offers: [find, verify, enrichCompany, findPhone, findJobs, findAds, networkPage]
})
