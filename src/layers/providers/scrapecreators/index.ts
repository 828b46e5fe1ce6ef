/**
 * Adapter for ScrapeCreators: social profiles and posts, ad libraries, network profiles and Google results.
 *
 * Every answer reports the credits that it cost. A request costs one credit, and an answer from the provider's cache none. The
 * price of a credit in a small pack is assumed.
 */
import { companyEnrich } from "../../../schema/capabilities/company.enrich.ts"
import { networkProfile } from "../../../schema/capabilities/network.profile.ts"
import { company, person } from "../../../schema/capabilities/shapes.ts"
import { webSearch, webSearchDefaultLimit } from "../../../schema/capabilities/web.search.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { offer, provider, type Reply } from "../../../schema/catalog/Provider.ts"
import { httpErrors, match, pageFrom, unreadable } from "../kit/outcome.ts"
import { at, flag, host, list, number, place, placeIn, providerIds, text, webAddress, whole } from "../kit/read.ts"
import { ads } from "./ads.ts"
import { charged, missing } from "./answer.ts"
import { withSites } from "../kit/sites.ts"
import { posts } from "./posts.ts"
import { profile } from "./profiles.ts"
import { creditsCall } from "../kit/credits.ts"

const note = "A credit is assumed at $0.002, as in a small pack; one of a pack of 500,000 costs $0.000994."
const oneCredit = inCredits.flat("1")

/** Results on one page of Google. */
const resultsMax = 10

/** Reads a text. Null if it contains asterisks, because the network hides such texts from visitors without an account. */
const shown = (value: unknown, ...path: ReadonlyArray<string | number>): string | null => {
  const raw = text(value, ...path)
  return raw?.includes("**") === true ? null : raw
}

/** A date as text. Dates that are only a year arrive as numbers. */
const date = (value: unknown, field: string): string | null =>
  text(value, "member", field) ?? whole(value, "member", field)?.toString() ?? null

const networkPage = offer(networkProfile, {
  price: oneCredit,
  note: `${note} Fields that the network hides without an account, such as positions, are left out.`,
  wraps: ["GET /v1/linkedin/profile"],
  serves: (input) => input.network_url !== undefined,
  request: (input) => ({ query: { url: webAddress(input.network_url ?? null) ?? undefined } }),
  response: (reply, input) => {
    const { body } = reply
    const name = text(body, "name")
    if (name === null) return unreadable("name")
    const experience = (list(body, "experience") ?? []).flatMap((one) => {
      const company_name = shown(one, "name")
      if (company_name === null) return []
      const end_date = date(one, "endDate")
      return [
        {
          title: null,
          company_name,
          company_domain: null,
          start_date: date(one, "startDate"),
          end_date,
          is_current: null
        }
      ]
    })
    return match({
      ...person({
        full_name: name,
        headline: shown(body, "headline"),
        company_name: experience.find((one) => one.end_date === null)?.company_name ?? null,
        network_url: webAddress(input.network_url ?? null),
        location: placeIn(text(body, "location"))
      }),
      about: text(body, "about"),
      followers: whole(body, "followers"),
      connections: whole(body, "connections"),
      experience: experience.length === 0 ? null : experience,
      education:
        list(body, "education")?.flatMap((one) => {
          const school = shown(one, "name")
          return school === null
            ? []
            : [
                {
                  school,
                  degree: null,
                  field: null,
                  start_date: date(one, "startDate"),
                  end_date: date(one, "endDate")
                }
              ]
        }) ?? null,
      skills: null,
      is_connected: null
    })
  }
})

const enrichCompany = offer(companyEnrich, {
  price: oneCredit,
  note,
  wraps: ["GET /v1/linkedin/company"],
  serves: (input) => input.network_url !== undefined,
  request: (input) => ({ query: { url: webAddress(input.network_url ?? null) ?? undefined } }),
  response: (reply, input) => {
    const { body } = reply
    const name = text(body, "name")
    if (name === null) return unreadable("name")
    const website = webAddress(text(body, "website"))
    return match(
      company({
        name,
        domain: host(website),
        website,
        network_url: webAddress(input.network_url ?? null),
        industry: text(body, "industry"),
        employee_count: whole(body, "employeeCount"),
        employee_range: text(body, "size"),
        founded_year: whole(body, "founded"),
        location: place(at(body, "location"), "city", "state", "country"),
        description: text(body, "description"),
        provider_ids: providerIds("scrapecreators", body, "id")
      })
    )
  }
})

const search = offer(webSearch, {
  price: oneCredit,
  note: `${note} One page of Google's results.`,
  wraps: ["GET /v1/google/search"],
  serves: (input) => (input.limit ?? webSearchDefaultLimit) <= resultsMax && input.language === undefined,
  request: (input) => ({
    query: {
      query: withSites(input),
      region: input.country?.toUpperCase(),
      date_posted: input.recency === undefined ? undefined : `last-${input.recency}`
    }
  }),
  response: (reply, input) =>
    pageFrom(reply.body, "results", {
      none: "no pages found",
      limit: input.limit ?? webSearchDefaultLimit,
      item: (page, index) => ({
        title: text(page, "title"),
        url: text(page, "url"),
        snippet: text(page, "description"),
        published_at: null,
        score: null,
        position: index + 1
      }),
      more: { answer: null }
    })
})

/** The error's real status. It is in the body if the HTTP status differs. */
const errorStatus = (reply: Reply): number =>
  flag(reply.body, "success") === false ? (whole(reply.body, "errorStatus") ?? reply.status) : reply.status

export const scrapecreators = provider({
  slug: "scrapecreators",
  title: "ScrapeCreators",
  homepage: "https://scrapecreators.com",
  base_url: "https://api.scrapecreators.com",
  auth: { kind: "header", name: "x-api-key" },
  credit: "0.002",
  concurrency: 20,
  timeoutMillis: 60_000,
  measured: charged,
  httpErrors: httpErrors({
    // The offers read 404 themselves: an unknown account or a wrong path.
    answers: [404],
    reason: (reply) => {
      if (reply.status >= 300) return undefined
      const status = errorStatus(reply)
      if (status === 401 || status === 402) return "provider_account"
      return status === 429 ? "provider_rate_limited" : undefined
    }
  }),
  unanswered: missing,
  credits: creditsCall("/v1/account/credit-balance", "credit", (body) => number(body, "creditCount")),
  offers: [profile(note), posts(note), ads(oneCredit, note), networkPage, enrichCompany, search]
})
