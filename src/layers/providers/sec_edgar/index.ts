/**
 * Adapter for SEC EDGAR: filings of companies with the United States Securities and Exchange Commission, and the companies themselves.
 *
 * Public data, free of charge. EDGAR answers 403 to requests without a contact address, so it is live only once one is set. It answers 403 to
 * more than ten requests per second too; the page says which.
 */
import type { Schema } from "effect"
import { companyEnrich } from "../../../schema/capabilities/company.enrich.ts"
import { govEntity } from "../../../schema/capabilities/gov.entity.ts"
import { company, location } from "../../../schema/capabilities/shapes.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { type Call, offer, type Outcome, provider, type Reply } from "../../../schema/catalog/Provider.ts"
import { httpErrors, match, noMatch, refusal, unreadable } from "../kit/outcome.ts"
import { host, list, providerIds, text, texts, webAddress, whole } from "../kit/read.ts"
import { cikInDirectory, type CompanyInput, directoryCall, seat, submissionsCall, unknownCompany } from "./companies.ts"
import { filings } from "./filings.ts"

const free = inUsd.flat("0")
const note = "Public data of the United States government, free of charge."

const firstCall = ({ cik }: CompanyInput): Call => (cik === undefined ? directoryCall : submissionsCall(cik))
const nextCall = (state: Schema.Json): Call => submissionsCall(text(state, "cik") ?? "")

/** Reads the directory and goes on to the company. Undefined if the reply is the company. */
const lookedUp = (reply: Reply, input: CompanyInput, state: Schema.Json): Outcome<never> | undefined => {
  if (state !== null || input.cik !== undefined) return unknownCompany(reply)
  if (reply.status === 404) return refusal(reply)
  const cik = cikInDirectory(reply.body, input)
  if (cik === undefined) return unreadable("directory of companies")
  if (cik === null) return noMatch("no traded company has this name or symbol")
  return { _tag: "Again", state: { cik }, afterMillis: 100, job: false }
}

const filingsCount = (body: unknown): number | null => {
  const recent = list(body, "filings", "recent", "accessionNumber")
  if (recent === null) return null
  return (list(body, "filings", "files") ?? []).reduce<number>(
    (sum, file) => sum + (whole(file, "filingCount") ?? 0),
    recent.length
  )
}

const entity = offer(govEntity, {
  price: free,
  note: `${note} Only companies that file with the SEC. By name only those whose stock is traded.`,
  wraps: ["GET /submissions/CIK{cik}.json"],
  serves: (input) => input.cik !== undefined || input.ticker !== undefined || input.name !== undefined,
  request: firstCall,
  next: nextCall,
  response: (reply, input, state) => {
    const early = lookedUp(reply, input, state)
    if (early !== undefined) return early
    const { body } = reply
    const name = text(body, "name")
    if (name === null) return unreadable("name")
    const { street, city, region, zip, country } = seat(body)
    const line = [street, city, [region, zip].filter((part) => part !== null).join(" "), country]
    return match({
      name,
      ids: { uei: null, duns: null, cik: whole(body, "cik")?.toString() ?? null, tickers: texts(body, "tickers") },
      address: line.filter((part) => part !== null && part !== "").join(", ") || null,
      total_awarded: null,
      sic: text(body, "sic"),
      filings_count: filingsCount(body)
    })
  }
})

const enrichCompany = offer(companyEnrich, {
  price: free,
  note: `${note} Only companies whose stock is traded, by name.`,
  wraps: ["GET /submissions/CIK{cik}.json"],
  // EDGAR finds companies by name only. Inputs with a domain or network page are more exact and go to other providers.
  serves: (input) => input.name !== undefined && input.domain === undefined && input.network_url === undefined,
  request: () => directoryCall,
  next: nextCall,
  response: (reply, input, state) => {
    const early = lookedUp(reply, input.name === undefined ? {} : { name: input.name }, state)
    if (early !== undefined) return early
    const { body } = reply
    const name = text(body, "name")
    if (name === null) return unreadable("name")
    const website = webAddress(text(body, "website"))
    const { city, region, country } = seat(body)
    return match(
      company({
        name,
        domain: host(website),
        website,
        industry: text(body, "sicDescription"),
        location: location(city, region, country),
        description: text(body, "description"),
        phone: text(body, "phone"),
        provider_ids: providerIds("sec_edgar", body, "cik")
      })
    )
  }
})

export const secEdgar = provider({
  slug: "sec_edgar",
  title: "SEC EDGAR",
  homepage: "https://www.sec.gov/search-filings",
  base_url: "https://data.sec.gov",
  origins: ["https://efts.sec.gov", "https://www.sec.gov"],
  auth: { kind: "contact", required: true },
  free: true,
  // 10 requests per second. Above that, EDGAR blocks the IP address for a while.
  concurrency: 5,
  timeoutMillis: 30_000,
  httpErrors: httpErrors({
    // The offers read 404 themselves: an unknown company number or a wrong path.
    answers: [404],
    // EDGAR uses 403 for both: too many requests, and a User-Agent that names no contact or one that it blocks.
    reason: ({ status, text: page }) =>
      status === 403 && /request rate|rate threshold|too many requests/i.test(page)
        ? "provider_rate_limited"
        : undefined
  }),
  offers: [filings(note), entity, enrichCompany]
})
