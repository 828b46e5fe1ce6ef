/**
 * SEC EDGAR: what companies file with the United States Securities and Exchange Commission.
 *
 * Public data, free of charge. Full-text search lives on a second host, and every request has to name a contact address: both
 * are for the adapters, which its offers wait for.
 */
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { govEntity } from "../../schema/capabilities/gov.entity.ts"
import { govFilings } from "../../schema/capabilities/gov.filings.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const free = flat("0.00")
const note = "Public data of the United States government, free of charge."

const filings = listed(govFilings, {
  price: free,
  note,
  wraps: [
    { method: "GET", path: "/submissions/CIK{cik}.json" },
    { method: "GET", path: "/LATEST/search-index" }
  ]
})

const entity = listed(govEntity, {
  price: free,
  note: `${note} Companies that file with the commission only.`,
  wraps: [{ method: "GET", path: "/submissions/CIK{cik}.json" }],
  serves: (input) => input.cik !== undefined || input.ticker !== undefined || input.name !== undefined
})

const enrichCompany = listed(companyEnrich, {
  price: free,
  note: `${note} Companies that file with the commission only, by name.`,
  wraps: [{ method: "GET", path: "/submissions/CIK{cik}.json" }],
  // It knows neither domains nor network pages, and a name alone must not outrank them.
  serves: (input) => input.name !== undefined && input.domain === undefined && input.network_url === undefined
})

export const secEdgar = provider({
  slug: "sec_edgar",
  title: "SEC EDGAR",
  homepage: "https://www.sec.gov/search-filings",
  base_url: "https://data.sec.gov",
  origins: ["https://efts.sec.gov"],
  auth: { kind: "none" },
  free: true,
  // 10 requests a second; above that the address is blocked for a while.
  concurrency: 5,
  timeoutMillis: 30_000,
  offers: [filings, entity, enrichCompany]
})
