/**
 * Icypeas: e-mail finding and verification by ticket: the request is queued, and its result is asked for until it is there.
 *
 * It publishes credits per operation but no price of a credit, which is assumed at $0.04; its offers wait for their adapters.
 */
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { emailVerify } from "../../schema/capabilities/email.verify.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider, type Wraps } from "../../schema/Provider.ts"

const note = "Published credits per operation; the price of a credit is assumed at $0.04."
const ticket: Wraps = { method: "POST", path: "/bulk-single-searchs/read" }

const find = listed(emailFind, {
  // 1 credit × $0.04 × 1.2
  price: flat("0.048"),
  note,
  wraps: [{ method: "POST", path: "/email-search" }, ticket]
})

const verify = listed(emailVerify, {
  // 0.1 credit × $0.04 × 1.2
  price: flat("0.0048"),
  note,
  wraps: [{ method: "POST", path: "/email-verification" }, ticket]
})

export const icypeas = provider({
  slug: "icypeas",
  title: "Icypeas",
  homepage: "https://www.icypeas.com",
  base_url: "https://app.icypeas.com/api",
  // The bare key, without a scheme.
  auth: { kind: "header", name: "authorization" },
  credit: "0.04",
  // Results may be asked for 30 times a minute.
  concurrency: 2,
  timeoutMillis: 60_000,
  offers: [find, verify]
})
