/**
 * MillionVerifier: e-mail verification.
 *
 * It reports no cost. The price of a credit is assumed at $0.0037; its offer waits for its adapter.
 */
import { emailVerify } from "../../schema/capabilities/email.verify.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const verify = listed(emailVerify, {
  // 1 credit × $0.0037 × 1.2
  price: flat("0.00444"),
  note: "Assumed at $0.0037 per credit in the smallest pack; larger ones cost less.",
  wraps: [{ method: "GET", path: "/api/v3/" }]
})

export const millionverifier = provider({
  slug: "millionverifier",
  title: "MillionVerifier",
  homepage: "https://www.millionverifier.com",
  base_url: "https://api.millionverifier.com",
  auth: { kind: "query", name: "api" },
  credit: "0.0037",
  concurrency: 10,
  // A check may be told to take up to 60 seconds.
  timeoutMillis: 60_000,
  offers: [verify]
})
