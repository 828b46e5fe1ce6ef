/**
 * Findymail: e-mail finding and verification, and phone numbers of network profiles.
 *
 * It reports no cost and publishes no price of a credit in its documentation, so prices follow an assumed $0.049 per credit;
 * its offers wait for their adapters.
 */
import { emailFind } from "../../schema/capabilities/email.find.ts"
import { emailVerify } from "../../schema/capabilities/email.verify.ts"
import { phoneFind } from "../../schema/capabilities/phone.find.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const note = "Assumed at $0.049 per credit, the smallest plan."

const find = listed(emailFind, {
  // 1 credit × $0.049 × 1.2
  price: flat("0.0588"),
  note,
  wraps: [{ method: "POST", path: "/search/name" }]
})

const verify = listed(emailVerify, {
  // 0.25 credit × $0.049 × 1.2
  price: flat("0.0147"),
  note: `${note} A verification is assumed at a quarter of one.`,
  wraps: [{ method: "POST", path: "/verify" }]
})

const findPhone = listed(phoneFind, {
  // 10 credits × $0.049 × 1.2
  price: flat("0.588"),
  note: `${note} A number is assumed at ten.`,
  wraps: [{ method: "POST", path: "/search/phone" }],
  serves: (input) => input.network_url !== undefined
})

export const findymail = provider({
  slug: "findymail",
  title: "Findymail",
  homepage: "https://www.findymail.com",
  base_url: "https://app.findymail.com/api",
  auth: { kind: "bearer" },
  credit: "0.049",
  concurrency: 10,
  timeoutMillis: 30_000,
  offers: [find, verify, findPhone]
})
