/**
 * Adapter for Lusha: e-mail addresses, phone numbers and companies.
 *
 * A search and a reveal are one request, and every answer reports the credits that it took. A person or company that is not found is an
 * entry with an error. Numbers that ask not to be called are left out.
 */
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { emailFind, workEmail } from "../../schema/capabilities/email.find.ts"
import { company, type EmailStatus, nameParts } from "../../schema/capabilities/shapes.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import { type CallParts, type Failure, failure, offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { defined } from "../../schema/defined.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { cost, httpErrors, match, noMatch, unreadable } from "./kit/outcome.ts"
import { international } from "./kit/phone.ts"
import { at, flag, host, isRecord, list, place, providerIds, sizeRange, text, webAddress, whole } from "./kit/read.ts"

const note = "Starter plan, $49.90 for 400 credits a month."

const credits = (reply: Reply) => cost("credit", reply.body, "billing", "creditsCharged")

interface Wanted {
  readonly network_url?: string
  readonly email?: string
  readonly full_name?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly company_domain?: string
  readonly company_name?: string
}

const personOf = (input: Wanted) => {
  if (input.network_url !== undefined) return { linkedinUrl: webAddress(input.network_url) }
  if (input.email !== undefined) return { email: input.email }
  const parts = nameParts(input)
  return {
    ...defined({ companyDomain: input.company_domain?.toLowerCase(), companyName: input.company_name }),
    firstName: parts?.first_name,
    lastName: parts?.last_name
  }
}

const isNamed = (input: Wanted): boolean =>
  input.network_url !== undefined || input.email !== undefined || nameParts(input) !== null

const revealed = (input: Wanted, reveal: "emails" | "phones"): CallParts => ({
  body: { contacts: [personOf(input)], reveal: [reveal] }
})

/** The first entry of the answer, or why there is none. */
const entryOf = (reply: Reply): { readonly entry: unknown } | Failure | "missing" => {
  const entry = list(reply.body, "results")?.[0]
  if (list(reply.body, "results") === null) return unreadable("results")
  const code = text(entry, "error", "code")
  if (entry === undefined || code === "NOT_FOUND") return "missing"
  if (!isRecord(entry)) return unreadable("results")
  return code === null ? { entry } : failure("provider_error", `the look-up failed: ${code}`)
}

/** Lusha grades its addresses from A+ downwards, and not all of them. */
const statusOf = (grade: string | null): EmailStatus =>
  grade === null ? "unknown" : grade.startsWith("A") ? "valid" : "risky"

const wraps = ["POST /v3/contacts/search-and-enrich"] as const

const findEmail = offer(emailFind, {
  // A search and an address
  price: inCredits.flat("2"),
  note,
  wraps,
  serves: isNamed,
  request: (input) => revealed(input, "emails"),
  response: (reply) => {
    const result = entryOf(reply)
    if (result === "missing") return noMatch("the person is not known")
    if ("_tag" in result) return result
    const { entry } = result
    const address = list(entry, "emails")?.find((one) => text(one, "type") === "work" && text(one, "email") !== null)
    if (address === undefined) return noMatch("no address found")
    return match(
      workEmail({
        email: text(address, "email"),
        email_status: statusOf(text(address, "confidence")),
        first_name: text(entry, "firstName"),
        last_name: text(entry, "lastName"),
        company_domain: host(text(entry, "company", "domain"))
      })
    )
  }
})

/** What is most likely the person's own comes first. */
const kinds = ["mobile", "direct", "work"]

const findPhone = offer(phoneFind, {
  // A search, and the ten credits of the price list; accounts were seen to pay five.
  price: inCredits.flat("11"),
  note: `${note} A number costs ten credits and the search one.`,
  wraps,
  serves: isNamed,
  request: (input) => revealed(input, "phones"),
  response: (reply) => {
    const result = entryOf(reply)
    if (result === "missing") return noMatch("the person is not known")
    if ("_tag" in result) return result
    const numbers = (list(result.entry, "phones") ?? []).filter(
      (one) => text(one, "number") !== null && flag(one, "doNotCall") !== true
    )
    const best = kinds.flatMap((kind) => numbers.filter((one) => text(one, "type") === kind))[0] ?? numbers[0]
    if (best === undefined) return noMatch("no number found")
    return match({ phone: international(text(best, "number")), phone_type: text(best, "type"), confidence: null })
  }
})

const enrich = offer(companyEnrich, {
  price: inCredits.flat("2"),
  note,
  wraps: ["POST /v3/companies/search-and-enrich"],
  serves: (input) => input.domain !== undefined || input.name !== undefined,
  request: (input) => ({
    body: {
      companies: [input.domain === undefined ? { name: input.name } : { domain: input.domain.toLowerCase() }]
    }
  }),
  response: (reply) => {
    const result = entryOf(reply)
    if (result === "missing") return noMatch("the company is not known")
    if ("_tag" in result) return result
    const { entry } = result
    const name = text(entry, "name")
    if (name === null) return noMatch("the company is not known")
    return match(
      company({
        name,
        domain: host(text(entry, "domain")),
        website: webAddress(text(entry, "homepageUrl")),
        network_url: text(entry, "socialLinks", "linkedin"),
        industry: text(entry, "industry"),
        employee_count: whole(entry, "employeeCount", "exact"),
        employee_range: sizeRange(at(entry, "employeeCount"), "min", "max"),
        founded_year: whole(entry, "yearFounded"),
        location: place(at(entry, "location"), "city", "state", "country"),
        description: text(entry, "description"),
        funding: whole(entry, "funding", "totalRoundsAmount")?.toString() ?? null,
        phone: international(text(entry, "phones", 0, "number")),
        provider_ids: providerIds("lusha", entry, "id")
      })
    )
  }
})

export const lusha = provider({
  slug: "lusha",
  title: "Lusha",
  homepage: "https://www.lusha.com",
  base_url: "https://api.lusha.com",
  auth: { kind: "header", name: "api_key" },
  credit: "0.1248",
  concurrency: 5,
  timeoutMillis: 30_000,
  httpErrors: httpErrors(),
  measured: credits,
  offers: [findEmail, findPhone, enrich]
})
