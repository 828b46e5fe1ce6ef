/**
 * Adapter for ZeroBounce: verifies e-mail addresses.
 *
 * Errors arrive as HTTP 200 with an `error` field. ZeroBounce reports no cost. Prices are based on $0.008 per credit.
 */
import { emailVerify } from "../../schema/capabilities/email.verify.ts"
import type { EmailStatus } from "../../schema/capabilities/shapes.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { offer, provider } from "../../schema/catalog/Provider.ts"
import { httpErrors, match, unreadable } from "./kit/outcome.ts"
import { entryIn, flag, number, text } from "./kit/read.ts"
import { creditsCall } from "./kit/credits.ts"

const statuses: Readonly<Record<string, EmailStatus>> = {
  valid: "valid",
  invalid: "invalid",
  "catch-all": "catch_all",
  unknown: "unknown",
  spamtrap: "risky",
  abuse: "risky",
  do_not_mail: "risky"
}

const verify = offer(emailVerify, {
  price: inCredits.flat("1"),
  note: "About $0.008 per credit in small packs; the provider does not report what a call has cost.",
  wraps: ["GET /v2/validate"],
  request: (input) => ({ query: { email: input.email, ip_address: "" } }),
  response: (reply, input) => {
    const verdict = text(reply.body, "status")
    if (verdict === null) return unreadable("status")
    const detail = text(reply.body, "sub_status") ?? ""
    // A check that timed out did not reach the mailbox, so missing properties become null and not false.
    const looked = verdict !== "unknown"
    return match({
      email: text(reply.body, "address") ?? input.email,
      email_status: entryIn(statuses, verdict) ?? "unknown",
      score: null,
      is_disposable: looked ? detail === "disposable" : null,
      is_role: looked ? detail.startsWith("role_based") : null,
      is_free: flag(reply.body, "free_email"),
      mx_found: flag(reply.body, "mx_found"),
      did_you_mean: text(reply.body, "did_you_mean"),
      provider_status: detail === "" ? verdict : `${verdict}/${detail}`
    })
  }
})

export const zerobounce = provider({
  slug: "zerobounce",
  title: "ZeroBounce",
  homepage: "https://www.zerobounce.net",
  base_url: "https://api.zerobounce.net",
  auth: { kind: "query", name: "api_key" },
  credit: "0.008",
  concurrency: 10,
  timeoutMillis: 30_000,
  httpErrors: httpErrors({
    reason: (reply) => {
      const error = text(reply.body, "error")
      if (error === null) return undefined
      return /api key|credit/i.test(error) ? "provider_account" : "provider_error"
    }
  }),
  credits: creditsCall("/v2/getcredits", "credit", (body) => number(body, "Credits")),
  offers: [verify]
})
