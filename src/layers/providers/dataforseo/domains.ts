/**
 * DataForSEO's offers for sites: their technologies, the contents of a page, and whether a domain is registered.
 */
import { companyTech } from "../../../schema/capabilities/company.tech.ts"
import { domainCheck, registration } from "../../../schema/capabilities/domain.check.ts"
import { webScrape } from "../../../schema/capabilities/web.scrape.ts"
import { withoutNulls } from "../../../schema/defined.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { instant, itemsOf, readResult, task } from "./task.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { at, flag, host, isRecord, list, text, texts, whole } from "../kit/read.ts"

const entries = (value: unknown): ReadonlyArray<[string, unknown]> => Object.entries(isRecord(value) ? value : {})

export const technologies = offer(companyTech, {
  price: inUsd.flat("0.012"),
  note: "Rate of 2026-07 per domain, as charged for captured calls.",
  wraps: ["POST /v3/domain_analytics/technologies/domain_technologies/live"],
  request: (input) => task({ target: host(input.domain) ?? input.domain }),
  response: (reply, input) =>
    readResult(reply, "no technologies found", (result) => {
      if (at(result, "technologies") === undefined) return unreadable("technologies")
      // Technologies are nested by group, such as "analytics", and by category, such as "web_analytics".
      const technologies = entries(at(result, "technologies")).flatMap(([, group]) =>
        entries(group).flatMap(([category, names]) => (texts(names) ?? []).map((name) => ({ name, category })))
      )
      if (technologies.length === 0) return noMatch("no technologies found")
      return match({
        domain: text(result, "domain") ?? input.domain.toLowerCase(),
        technologies: technologies,
        detected_at: instant(text(result, "last_visited"))
      })
    })
})

/** The texts in one part of a page, each with the URLs that it links to. */
const piecesOf = (part: unknown): ReadonlyArray<unknown> => [
  ...(list(part, "primary_content") ?? []),
  ...(list(part, "secondary_content") ?? [])
]
const topicsOf = (content: unknown): ReadonlyArray<unknown> => [
  ...(list(content, "main_topic") ?? []),
  ...(list(content, "secondary_topic") ?? [])
]
const linesOf = (part: unknown): ReadonlyArray<string> => [
  ...[text(part, "main_title")].filter((title) => title !== null),
  ...piecesOf(part).flatMap((piece) => text(piece, "text") ?? [])
]
const addressesOf = (piece: unknown): ReadonlyArray<string> => [
  ...[text(piece, "url")].filter((url) => url !== null),
  ...(list(piece, "urls") ?? []).flatMap((one) => text(one, "url") ?? [])
]

/** HTTP statuses from here on mean that the page could not be read. */
const errorStatus = 400

export const scrape = offer(webScrape, {
  price: inUsd.flat("0.00015"),
  note: "Rate card of 2026-07 per page, without JavaScript and rendering, which are not asked for.",
  wraps: ["POST /v3/on_page/content_parsing/live"],
  serves: (input) => input.format !== "html" && input.wait_ms === undefined,
  request: (input) => task({ url: input.url, markdown_view: (input.format ?? "markdown") === "markdown" }),
  response: (reply, input) =>
    readResult(reply, "the page can't be read", (result) => {
      const items = itemsOf(result)
      if (items === null) return unreadable("items")
      const page = items[0]
      const status = whole(page, "status_code")
      if (page === undefined) return noMatch("the page can't be read")
      if (status !== null && status >= errorStatus) return noMatch(`the page answered HTTP ${status}`)
      const content = at(page, "page_content")
      const frame = input.only_main_content === false ? [at(content, "header"), at(content, "footer")] : []
      const parts = [...frame.slice(0, 1), ...topicsOf(content), ...frame.slice(1)]
      const links = [...new Set(parts.flatMap(piecesOf).flatMap(addressesOf))]
      const written =
        input.format === "text"
          ? parts.flatMap(linesOf).join("\n")
          : input.format === "links"
            ? null
            : text(page, "page_as_markdown")
      if (input.format === "links" ? links.length === 0 : (written ?? "") === "") {
        return noMatch(input.format === "links" ? "the page has no links" : "the page is empty")
      }
      return match({
        url: input.url,
        final_url: null,
        status_code: status,
        title: text(content, "main_topic", 0, "h_title") ?? text(content, "main_topic", 0, "main_title"),
        content: written,
        links: isRecord(content) ? links : null,
        metadata: withoutNulls({ language: text(content, "main_topic", 0, "language") })
      })
    })
})

export const records = offer(domainCheck, {
  // $0.12 + 1 domain × $0.0012
  price: inUsd.flat("0.1212"),
  note: "Rate of 2026-07, as charged for captured calls: $0.12 a call and $0.0012 per domain. Says whether a domain is registered, but not its price.",
  wraps: ["POST /v3/domain_analytics/whois/overview/live"],
  request: (input) => task({ filters: [["domain", "=", input.domain.toLowerCase()]], limit: 1 }),
  response: (reply, input) =>
    readResult(reply, "the provider has no record of the domain, so its availability is unknown", (result) => {
      const items = itemsOf(result)
      if (items === null) return unreadable("items")
      const record = items.find((item) => text(item, "domain")?.toLowerCase() === input.domain.toLowerCase())
      const registered = flag(record, "registered")
      if (record === undefined) {
        return noMatch("the provider has no record of the domain, so its availability is unknown")
      }
      if (registered === null) return unreadable("registered")
      return match(registration({ domain: text(record, "domain"), available: !registered }))
    })
})
