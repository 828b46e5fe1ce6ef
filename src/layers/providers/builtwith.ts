/**
 * Adapter for BuiltWith: the technologies of a website, and the company behind it.
 *
 * A domain costs a look-up, which BuiltWith sells in batches; its answers do not report the cost of a call. Errors arrive as HTTP 200 with
 * a list of codes.
 */
import { companyEnrich } from "../../schema/capabilities/company.enrich.ts"
import { companyTech } from "../../schema/capabilities/company.tech.ts"
import { company } from "../../schema/capabilities/shapes.ts"
import { type CallParts, type Failure, offer, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { httpErrors, match, noMatch, unreadable } from "./kit/outcome.ts"
import { milliseconds } from "./kit/moment.ts"
import { at, host, list, number, place, text, texts, webAddress } from "./kit/read.ts"

const price = inCredits.flat("1")
const note = "A look-up of the smallest batch, $99 for 2,000."
const wraps = ["GET /v23/api.json"] as const

/** "Not a root domain, or not supported": there is nothing about it, so a look-up is a miss. */
const unsupported = -8
const failures: Readonly<Record<number, Failure["reason"]>> = {
  // A wrong key, no credits, a plan that is used up
  "-2": "provider_account",
  "-3": "provider_account",
  "-5": "provider_account"
}

const codeOf = (reply: Reply): number | null => number(reply.body, "Errors", 0, "Code")

const lookUp = (domain: string, flags: ReadonlyArray<string>): CallParts => ({
  query: { LOOKUP: domain.toLowerCase(), ...Object.fromEntries(flags.map((flag) => [flag, "yes"])) }
})

/** What was found on the paths of the site, which may have the same technology several times. */
const detectionsOf = (result: unknown): ReadonlyArray<unknown> =>
  (list(result, "Result", "Paths") ?? []).flatMap((path) => list(path, "Technologies") ?? [])

/** The first detection of each technology, by name. */
const byName = (detections: ReadonlyArray<unknown>): ReadonlyMap<string, unknown> => {
  const first = new Map<string, unknown>()
  for (const one of detections) {
    const name = text(one, "Name")
    if (name !== null && !first.has(name)) first.set(name, one)
  }
  return first
}

const technologies = offer(companyTech, {
  price,
  note,
  wraps,
  request: (input) => lookUp(input.domain, ["LIVEONLY", "NOMETA", "NOATTR", "HIDETEXT"]),
  response: (reply, input) => {
    if (codeOf(reply) === unsupported) return noMatch("nothing is known of the domain")
    const results = list(reply.body, "Results")
    if (results === null) return unreadable("Results")
    const detections = detectionsOf(results[0])
    const technologies = byName(detections)
    if (technologies.size === 0) return noMatch("no technologies found")
    const seen = detections.flatMap((one) => number(one, "LastDetected") ?? [])
    return match({
      domain: text(results, 0, "Lookup") ?? input.domain.toLowerCase(),
      technologies: [...technologies].map(([name, one]) => ({
        name,
        category: text(one, "Categories", 0) ?? text(one, "Categories", 0, "Category") ?? text(one, "Tag")
      })),
      detected_at: milliseconds(seen.reduce((latest, time) => Math.max(latest, time), 0))
    })
  }
})

const networkPage = /linkedin\.com\/company\//i

const enrich = offer(companyEnrich, {
  price,
  note: `${note} It knows no size, revenue or description.`,
  wraps,
  serves: (input) => input.domain !== undefined,
  request: (input) => lookUp(input.domain ?? "", ["LIVEONLY", "NOPII", "NOATTR", "HIDETEXT"]),
  response: (reply, input) => {
    if (codeOf(reply) === unsupported) return noMatch("nothing is known of the domain")
    const result = list(reply.body, "Results")?.[0]
    if (list(reply.body, "Results") === null) return unreadable("Results")
    const meta = at(result, "Meta") ?? at(result, "Result", "Meta")
    const name = text(meta, "CompanyName")
    if (name === null) return noMatch("the company is not known")
    const domain = host(text(result, "Lookup")) ?? input.domain?.toLowerCase() ?? null
    const social = texts(meta, "Social")?.find((address) => networkPage.test(address)) ?? null
    return match(
      company({
        name,
        domain,
        website: webAddress(domain),
        network_url: webAddress(social),
        industry: text(meta, "Vertical"),
        location: place(meta, "City", "State", "Country"),
        technologies: [...byName(detectionsOf(result)).keys()],
        phone: text(meta, "Telephones", 0)
      })
    )
  }
})

export const builtwith = provider({
  slug: "builtwith",
  title: "BuiltWith",
  homepage: "https://builtwith.com",
  base_url: "https://api.builtwith.com",
  auth: { kind: "header", name: "Authorization", prefix: "API " },
  // The smallest batch: $99 for 2,000 look-ups.
  credit: "0.0495",
  // BuiltWith allows eight.
  concurrency: 4,
  timeoutMillis: 30_000,
  httpErrors: httpErrors({
    reason: (reply) => {
      const code = reply.status === 200 ? codeOf(reply) : null
      return code === null || code === unsupported ? undefined : (failures[code] ?? "provider_error")
    }
  }),
  offers: [technologies, enrich]
})
