/**
 * Adapter for Icypeas: finds and verifies e-mail addresses. A request is queued under an id, and its result is polled.
 *
 * The id is stored, so a restarted worker continues to poll. Input errors arrive as HTTP 200 with `success: false`. Only the final status
 * says what a search cost, and every later answer repeats it, so no single answer is a cost report. Prices are those of the Basic plan.
 */
import { emailFind, workEmail } from "../../schema/capabilities/email.find.ts"
import { emailVerdict, emailVerify } from "../../schema/capabilities/email.verify.ts"
import { type EmailStatus, nameParts } from "../../schema/capabilities/shapes.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import {
  type Call,
  type Cost,
  type Failure,
  failure,
  offer,
  type Outcome,
  provider,
  type Reply
} from "../../schema/catalog/Provider.ts"
import { errorText, httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
import { at, entryIn, flag, list, text } from "./kit/read.ts"

const note =
  "Published credits per operation at $0.019 each, as in the Basic plan ($19 for 1,000 a month); larger plans pay less."
const readPath = "/bulk-single-searchs/read"

/** Poll interval. Icypeas allows 30 polls per minute. */
const againMillis = 3_000
const tooMany = 429
const running = new Set(["NONE", "SCHEDULED", "IN_PROGRESS"])
const foundStatuses = new Set(["FOUND", "DEBITED"])
const notFoundStatuses = new Set(["NOT_FOUND", "DEBITED_NOT_FOUND"])

/** Final statuses of searches that failed. */
const ends: Readonly<Record<string, Failure["reason"]>> = {
  INSUFFICIENT_FUNDS: "provider_account",
  BAD_INPUT: "provider_rejected"
}

const again = (id: string): Outcome<never> => ({ _tag: "Again", state: { id }, afterMillis: againMillis, job: true })

const readCall = (state: unknown): Call => ({
  method: "POST",
  path: readPath,
  body: { id: text(state, "id") ?? "" }
})

/** The finished search, or the outcome if there is none. */
const finished = (
  reply: Reply,
  state: unknown
): { readonly item: unknown; readonly status: string } | Outcome<never> => {
  if (state === null) {
    if (reply.status === tooMany) return refusal(reply)
    const id = text(reply.body, "item", "_id")
    return id === null ? unreadable("item") : again(id)
  }
  const id = text(state, "id")
  if (id === null) return unreadable("id in the stored state")
  // The search is already paid for, so a rate limit while polling does not end the attempt.
  if (reply.status === tooMany) return again(id)
  const items = list(reply.body, "items")
  if (items === null) return unreadable("items")
  // A search may not be listed yet just after it was queued.
  const item = items[0]
  if (item === undefined) return again(id)
  const status = text(item, "status")
  if (status === null) return unreadable("status")
  if (running.has(status)) return again(id)
  if (foundStatuses.has(status) || notFoundStatuses.has(status)) return { item, status }
  return failure(entryIn(ends, status) ?? "provider_error", `the search ended as ${status}`)
}

/** The cost by status. Null if the status does not say whether the search was debited. */
const debited = (status: string, credits: string): Cost | null => {
  if (foundStatuses.has(status)) return { unit: "credit", amount: credits }
  return status === "NOT_FOUND" ? { unit: "credit", amount: "0" } : null
}

const sure = new Set(["ultra_sure", "very_sure", "sure"])

const find = offer(emailFind, {
  price: inCredits.flat("1"),
  note,
  wraps: ["POST /email-search", `POST ${readPath}`],
  serves: (input) => nameParts(input) !== null,
  request: (input, { run_id }) => {
    const parts = nameParts(input)
    return {
      body: {
        firstname: parts?.first_name,
        lastname: parts?.last_name,
        domainOrCompany: input.company_domain ?? input.company_name,
        custom: { externalId: run_id }
      }
    }
  },
  next: readCall,
  response: (reply, _input, state) => {
    const search = finished(reply, state)
    if ("_tag" in search) return search
    const { item, status } = search
    const best = at(item, "results", "emails", 0)
    const email = text(best, "email")
    const certainty = text(best, "certainty")
    if (notFoundStatuses.has(status) || email === null || certainty === "not_found") {
      return noMatch("no address found", debited(status, "1"))
    }
    return match(
      workEmail({
        email,
        email_status: sure.has(certainty ?? "") ? "valid" : certainty === "undeliverable" ? "invalid" : "risky",
        first_name: text(item, "results", "firstname"),
        last_name: text(item, "results", "lastname")
      }),
      debited(status, "1")
    )
  }
})

const verdicts: Readonly<Record<string, EmailStatus>> = {
  ultra_sure: "valid",
  very_sure: "valid",
  sure: "valid",
  probable: "risky",
  undeliverable: "invalid",
  // A verification without a result, for example because the server accepts every address.
  not_found: "unknown"
}

const verify = offer(emailVerify, {
  price: inCredits.flat("0.1"),
  note,
  wraps: ["POST /email-verification", `POST ${readPath}`],
  request: (input, { run_id }) => ({ body: { email: input.email, custom: { externalId: run_id } } }),
  next: readCall,
  response: (reply, input, state) => {
    const search = finished(reply, state)
    if ("_tag" in search) return search
    const { item, status } = search
    const best = at(item, "results", "emails", 0)
    const certainty = text(best, "certainty")
    if (certainty === null && foundStatuses.has(status)) return unreadable("certainty")
    return match(
      emailVerdict({
        email: text(best, "email") ?? input.email,
        email_status: entryIn(verdicts, certainty ?? "not_found") ?? "unknown",
        mx_found: (list(best, "mxRecords")?.length ?? 0) > 0 ? true : null,
        provider_status: certainty ?? status.toLowerCase()
      }),
      debited(status, "0.1")
    )
  }
})

const standard = httpErrors({ answers: [tooMany] })

/** Input errors are a list that names the invalid fields. */
const refused = (reply: Reply): Failure | undefined => {
  if (reply.status >= 300 || flag(reply.body, "success") !== false) return undefined
  const invalid = text(reply.body, "validationErrors", 0, "message")
  if (invalid !== null) return failure("provider_rejected", `the search was refused: ${invalid}`)
  const words = errorText(reply)
  const reason = /api key|unauthori[sz]ed|credit/i.test(words) ? "provider_account" : "provider_error"
  return failure(reason, words === "" ? "the search was refused without a reason" : `the search was refused: ${words}`)
}

export const icypeas = provider({
  slug: "icypeas",
  title: "Icypeas",
  homepage: "https://www.icypeas.com",
  base_url: "https://app.icypeas.com/api",
  // The header contains the key alone, without a scheme such as Bearer.
  auth: { kind: "header", name: "authorization" },
  credit: "0.019",
  concurrency: 2,
  // Icypeas allows 30 polls per minute.
  spacingMillis: 2_000,
  timeoutMillis: 60_000,
  httpErrors: (reply) => refused(reply) ?? standard(reply),
  offers: [find, verify]
})
