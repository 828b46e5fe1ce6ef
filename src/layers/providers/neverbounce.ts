/**
 * Adapter for NeverBounce: verifies e-mail addresses.
 *
 * Errors arrive as HTTP 200 with a status other than success. Every call requests the credits that it costs. The price of a credit is
 * assumed at $0.01.
 */
import { emailVerdict, emailVerify } from "../../schema/capabilities/email.verify.ts"
import type { EmailStatus } from "../../schema/capabilities/shapes.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { type Failure, offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, errorText, httpErrors, match, unreadable } from "./kit/outcome.ts"
import { entryIn, number, text, texts } from "./kit/read.ts"
import { creditsCall } from "./kit/credits.ts"

/** How long the provider waits for the address's mail server. Shorter than our own timeout. */
const serverSeconds = 20

const statuses: Readonly<Record<string, EmailStatus>> = {
  valid: "valid",
  invalid: "invalid",
  disposable: "risky",
  catchall: "catch_all",
  unknown: "unknown"
}

const reasons: Readonly<Record<string, Failure["reason"]>> = {
  auth_failure: "provider_account",
  bad_referrer: "provider_account",
  throttle_triggered: "provider_rate_limited"
}

const spent = (reply: Reply) => cost("credit", reply.body, "credits_info", "paid_credits_used")

const verify = offer(emailVerify, {
  price: inCredits.flat("1"),
  note: "Assumed at $0.01 per credit in small packs; larger ones cost less.",
  wraps: ["GET /v4.2/single/check"],
  request: (input) => ({ query: { email: input.email, credits_info: 1, timeout: serverSeconds } }),
  response: (reply, input) => {
    const verdict = text(reply.body, "result")
    if (verdict === null) return unreadable("result")
    const flags = texts(reply.body, "flags")
    // The verdict "unknown" means that the check was incomplete, so a missing flag becomes null and not false.
    const flagged = (name: string) =>
      flags === null ? null : flags.includes(name) ? true : verdict === "unknown" ? null : false
    return match(
      emailVerdict({
        email: input.email,
        email_status: entryIn(statuses, verdict) ?? "unknown",
        is_disposable: verdict === "disposable" ? true : flagged("disposable_email"),
        is_role: flagged("role_account"),
        is_free: flagged("free_email_host"),
        mx_found: flagged("has_dns_mx"),
        did_you_mean: text(reply.body, "suggested_correction"),
        provider_status: verdict
      })
    )
  }
})

export const neverbounce = provider({
  slug: "neverbounce",
  title: "NeverBounce",
  homepage: "https://www.neverbounce.com",
  base_url: "https://api.neverbounce.com",
  auth: { kind: "query", name: "key" },
  credit: "0.01",
  concurrency: 10,
  timeoutMillis: 30_000,
  measured: spent,
  httpErrors: httpErrors({
    reason: (reply) => {
      const status = text(reply.body, "status")
      if (status === null || status === "success") return undefined
      return entryIn(reasons, status) ?? (/credit/i.test(errorText(reply)) ? "provider_account" : "provider_error")
    }
  }),
  // Free credits are of the month, and paid ones are used after them.
  credits: creditsCall("/v4.2/account/info", "credit", (body) => {
    const [paid, free] = ["paid", "free"].map((kind) => number(body, "credits_info", `${kind}_credits_remaining`))
    return paid === null ? null : (paid ?? 0) + (free ?? 0)
  }),
  offers: [verify]
})
