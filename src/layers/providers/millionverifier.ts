/**
 * Adapter for MillionVerifier: verifies e-mail addresses.
 *
 * Errors arrive as HTTP 200 with a text in `error`. MillionVerifier reports the balance but no cost. The price of a credit is assumed
 * at $0.0037.
 */
import { emailVerify } from "../../schema/capabilities/email.verify.ts"
import type { EmailStatus } from "../../schema/capabilities/shapes.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { failure, offer, provider } from "../../schema/catalog/Provider.ts"
import { httpErrors, match, unreadable } from "./kit/outcome.ts"
import { entryIn, flag, number, text } from "./kit/read.ts"
import { creditsCall } from "./kit/credits.ts"

/** How long the provider waits for the address's mail server. */
const serverSeconds = 20

const statuses: Readonly<Record<string, EmailStatus>> = {
  ok: "valid",
  catch_all: "catch_all",
  unknown: "unknown",
  disposable: "risky",
  invalid: "invalid"
}

const verify = offer(emailVerify, {
  price: inCredits.flat("1"),
  note: "Assumed at $0.0037 per credit in the smallest pack; larger ones cost less.",
  wraps: ["GET /api/v3/"],
  request: (input) => ({ query: { email: input.email, timeout: serverSeconds } }),
  response: (reply, input) => {
    const verdict = text(reply.body, "result")
    if (verdict === null) return unreadable("result")
    const detail = text(reply.body, "subresult")
    // "error" is no verdict on the address. The check itself failed, so the run must not be charged.
    if (verdict === "error") return failure("provider_error", `the check failed: ${detail ?? "no reason given"}`)
    return match({
      email: text(reply.body, "email") ?? input.email,
      email_status: entryIn(statuses, verdict) ?? "unknown",
      score: null,
      is_disposable: verdict === "unknown" ? null : verdict === "disposable",
      is_role: flag(reply.body, "role"),
      is_free: flag(reply.body, "free"),
      mx_found: null,
      did_you_mean: text(reply.body, "didyoumean"),
      provider_status: detail === null || detail === verdict ? verdict : `${verdict}/${detail}`
    })
  }
})

export const millionverifier = provider({
  slug: "millionverifier",
  title: "MillionVerifier",
  homepage: "https://www.millionverifier.com",
  base_url: "https://api.millionverifier.com",
  auth: { kind: "query", name: "api" },
  credit: "0.0037",
  concurrency: 10,
  // MillionVerifier accepts up to 60 seconds for its own timeout.
  timeoutMillis: 60_000,
  httpErrors: httpErrors({
    reason: (reply) => {
      const error = text(reply.body, "error")
      if (error === null) return undefined
      return /api ?key|credit/i.test(error) ? "provider_account" : "provider_error"
    }
  }),
  credits: creditsCall("/api/v3/credits", "credit", (body) => number(body, "credits")),
  offers: [verify]
})
