/** Inputs for the tests that go over every offer: the capability's example, or the narrower one that the offer asks for. */
import type { Offer } from "../../../src/schema/catalog/Provider.ts"

/** An input that the offer serves. */
export const inputOf = (offer: Offer, example: unknown): unknown => {
  const narrower = [
    example,
    { company_domains: ["example.com"] },
    { ...Object(example), account_id: "account_1" },
    { ...Object(example), from: "sales@agentmail.to" },
    { network_url: "https://www.linkedin.com/company/example" },
    { name: "Example" },
    { target: "example.com", summary_only: true },
    { domain: "example.com" },
    { titles: ["head of sales"] },
    { platform: "instagram", handle: "example" },
    { platform: "tiktok", query: "https://ads.tiktok.com/business/creativecenter/topads/7213160569871581185/pc/en" },
    { query: "example" },
    { platform: "google", company_domain: "example.com" },
    { ...Object(example), network_url: "https://www.linkedin.com/in/example" },
    { ...Object(example), company_domain: "example.com" },
    { query: "example", company_domain: "example.com" }
  ]
  return narrower.find((input) => offer.serves(input))
}
