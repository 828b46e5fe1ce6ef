/**
 * Adapter for Findymail: finds and verifies e-mail addresses, and finds phone numbers of network profiles.
 *
 * Findymail returns only addresses that it has verified. It reports no cost, so prices are those of the Starter plan ($99 for 5,000 finder
 * credits a month).
 */
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { emailVerdict, emailVerify } from "../../schema/capabilities/email.verify.ts"
import { fullName, nameParts } from "../../schema/capabilities/shapes.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { errorText, httpErrors, match, noMatch, unreadable } from "./kit/outcome.ts"
import { international } from "./kit/phone.ts"
import { at, flag, isRecord, list, number, text } from "./kit/read.ts"
import { creditsCall } from "./kit/credits.ts"

const note = "A credit costs $0.0198 in the Starter plan, the only published one ($99 for 5,000 a month)."

/** A 404 with a message such as "Contact not found" is a miss. */
const nothing = (reply: Reply): boolean =>
  reply.status === 404 && /not found|\bno (e-?mail|phone|contact)/i.test(errorText(reply))

const find = offer(emailFind, {
  price: inCredits.flat("1"),
  note,
  wraps: ["POST /search/name"],
  request: (input) => ({ body: { name: fullName(input), domain: input.company_domain ?? input.company_name } }),
  response: (reply, input) => {
    const contact = at(reply.body, "contact")
    // An empty contact is a miss, as an object, a list or a text.
    if (contact === null || contact === "" || list(contact)?.length === 0) return noMatch("no address found")
    if (!isRecord(contact)) return unreadable("contact")
    const email = text(contact, "email")
    if (email === null) return noMatch("no address found")
    const named = text(contact, "name")
    const parts = named === null ? nameParts(input) : nameParts({ full_name: named })
    return match({
      email,
      email_status: "valid",
      confidence: null,
      first_name: parts?.first_name ?? null,
      last_name: parts?.last_name ?? null,
      company_domain: text(contact, "domain"),
      source_count: null
    })
  }
})

const verify = offer(emailVerify, {
  price: inCredits.flat("0.25"),
  // Verifier credits are a pool of their own: the plan adds 5,000 of them to its finder credits, and none is sold apart.
  note: `${note} A verification takes a verifier credit, which comes with the plan and has no price of its own. It is priced at a quarter of a finder credit.`,
  wraps: ["POST /verify"],
  request: (input) => ({ body: { email: input.email } }),
  response: (reply, input) => {
    const verified = flag(reply.body, "verified")
    if (verified === null) return unreadable("verified")
    return match(
      emailVerdict({
        email: text(reply.body, "email") ?? input.email,
        // Findymail only says whether an address is safe to send to. An unsafe address may still exist, so it is risky and not invalid.
        email_status: verified ? "valid" : "risky",
        provider_status: verified ? "verified" : "not verified"
      })
    )
  }
})

const findPhone = offer(phoneFind, {
  price: inCredits.flat("10"),
  note: `${note} A number costs ten.`,
  wraps: ["POST /search/phone"],
  serves: (input) => input.network_url !== undefined,
  request: (input) => ({ body: { linkedin_url: input.network_url } }),
  response: (reply) => {
    if (at(reply.body, "phone") === undefined) return unreadable("phone")
    const phone = international(text(reply.body, "phone"))
    if (phone === null) return noMatch("no number found")
    return match({ phone, phone_type: text(reply.body, "line_type"), confidence: null })
  }
})

const standard = httpErrors({ reasons: { 423: "provider_account" } })

export const findymail = provider({
  slug: "findymail",
  title: "Findymail",
  homepage: "https://www.findymail.com",
  base_url: "https://app.findymail.com/api",
  auth: { kind: "bearer" },
  credit: "0.0198",
  concurrency: 10,
  timeoutMillis: 30_000,
  // 423: the subscription is paused.
  httpErrors: (reply) => (nothing(reply) ? undefined : standard(reply)),
  // Every address gets a verdict, so for a verification it is no miss.
  unanswered: (reply, capability) =>
    nothing(reply) && capability !== emailVerify.slug ? noMatch("nothing on record") : undefined,
  credits: creditsCall("/credits", "credit", (body) => number(body, "credits")),
  offers: [find, verify, findPhone]
})
