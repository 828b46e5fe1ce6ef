/**
 * NeverBounce: e-mail verification.
 *
 * It reports the credits of a check when asked to. The price of a credit is assumed at $0.01; its offer waits for its adapter.
 */
import { emailVerify } from "../../schema/capabilities/email.verify.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const verify = listed(emailVerify, {
  // 1 credit × $0.01 × 1.2
  price: flat("0.012"),
  note: "Assumed at $0.01 per credit in small packs; larger ones cost less.",
  wraps: [{ method: "GET", path: "/v4.2/single/check" }]
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
  offers: [verify]
})
