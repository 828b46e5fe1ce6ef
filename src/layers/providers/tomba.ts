/**
 * Adapter for Tomba: finds and verifies e-mail addresses, and finds phone numbers.
 *
 * A search that finds nothing is free, and answers do not report what a call has cost.
 */
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { emailVerify } from "../../schema/capabilities/email.verify.ts"
import { type EmailStatus, nameParts } from "../../schema/capabilities/shapes.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { httpErrors, match, noMatch, unreadable } from "./kit/outcome.ts"
import { at, entryIn, flag, host, isRecord, list, number, segmentOf, text, webAddress } from "./kit/read.ts"

const note = "Growth plan, $89 for 10,000 credits a month."

const statuses: Readonly<Record<string, EmailStatus>> = {
  valid: "valid",
  webmail: "valid",
  invalid: "invalid",
  accept_all: "catch_all",
  disposable: "risky",
  unknown: "unknown"
}
const statusOf = (status: string | null): EmailStatus => entryIn(statuses, status) ?? "unknown"

const find = offer(emailFind, {
  price: inCredits.flat("1"),
  note,
  wraps: ["GET /v1/email-finder"],
  serves: (input) => input.company_domain !== undefined && nameParts(input) !== null,
  request: (input) => ({ query: { domain: input.company_domain?.toLowerCase(), ...nameParts(input) } }),
  response: (reply) => {
    const answer = at(reply.body, "data")
    if (!isRecord(answer)) return unreadable("data")
    const email = text(answer, "email")
    if (email === null) return noMatch("no address found")
    return match({
      email,
      email_status: statusOf(text(answer, "verification", "status")),
      confidence: number(answer, "score"),
      first_name: text(answer, "first_name"),
      last_name: text(answer, "last_name"),
      company_domain: host(text(answer, "website_url")),
      source_count: list(answer, "sources")?.length ?? null
    })
  }
})

const verify = offer(emailVerify, {
  price: inCredits.flat("1"),
  note,
  wraps: ["GET /v1/email-verifier/{email}"],
  request: (input) => ({ method: "GET", path: `/v1/email-verifier/${segmentOf(input.email)}` }),
  response: (reply, input) => {
    const check = at(reply.body, "data", "email")
    const status = text(check, "status")
    if (status === null) return unreadable("status")
    return match({
      email: text(check, "email") ?? input.email,
      email_status: statusOf(status),
      score: number(check, "score"),
      is_disposable: flag(check, "disposable"),
      is_role: null,
      is_free: flag(check, "webmail"),
      mx_found: flag(check, "mx_check"),
      did_you_mean: null,
      provider_status: status
    })
  }
})

const findPhone = offer(phoneFind, {
  price: inCredits.flat("5"),
  note: `${note} A number costs five.`,
  wraps: ["GET /v1/phone-finder"],
  serves: (input) => input.network_url !== undefined || input.email !== undefined,
  request: (input) => ({
    query: input.network_url === undefined ? { email: input.email } : { linkedin: webAddress(input.network_url) ?? "" }
  }),
  response: (reply) => {
    const answer = at(reply.body, "data")
    if (!isRecord(answer)) return unreadable("data")
    const phone = text(answer, "e164_format")
    if (phone === null || flag(answer, "valid") === false) return noMatch("no number found")
    return match({ phone, phone_type: text(answer, "line_type")?.toLowerCase() ?? null, confidence: null })
  }
})

export const tomba = provider({
  slug: "tomba",
  title: "Tomba",
  homepage: "https://tomba.io",
  base_url: "https://api.tomba.io",
  auth: { kind: "headers", names: ["X-Tomba-Key", "X-Tomba-Secret"] },
  credit: "0.0089",
  concurrency: 4,
  timeoutMillis: 30_000,
  httpErrors: httpErrors(),
  offers: [find, verify, findPhone]
})
