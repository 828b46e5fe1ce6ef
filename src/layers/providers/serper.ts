/**
 * Serper: web search, as Google ranks it; results pages, places and news wait for their adapters.
 *
 * It reports the credits of a call; failed calls are free. Prices follow the smallest pack, $0.001 per credit.
 */
import type { InputOf } from "../../schema/Capability.ts"
import { newsSearch } from "../../schema/capabilities/news.search.ts"
import { placesSearch, placesSearchDefaultLimit } from "../../schema/capabilities/places.search.ts"
import { serpSearch } from "../../schema/capabilities/serp.search.ts"
import { webSearch, webSearchDefaultLimit } from "../../schema/capabilities/web.search.ts"
import { flat, metered } from "../../schema/Pricing.ts"
import { listed, offer, provider, type Reply } from "../../schema/Provider.ts"
import { cost, match, noMatch } from "./outcome.ts"
import { list, text, whole } from "./read.ts"
import { said, trouble, unreadable } from "./trouble.ts"

const credits = (reply: Reply) => cost("credit", reply.body, "credits")

/** Domains have no field of their own: they become search operators. */
const terms = (input: InputOf<typeof webSearch>): string => {
  const only = input.include_domains?.map((domain) => `site:${domain}`) ?? []
  return [
    input.query,
    ...(only.length > 1 ? [`(${only.join(" OR ")})`] : only),
    ...(input.exclude_domains?.map((domain) => `-site:${domain}`) ?? [])
  ].join(" ")
}

const note = "$1.00 per 1,000 searches in the smallest pack, $0.30 in the largest."

const search = offer(webSearch, {
  // 1 credit × $0.001 × 1.2
  price: flat("0.0012"),
  note,
  wraps: [{ method: "POST", path: "/search" }],
  request: (input) => ({
    method: "POST",
    path: "/search",
    body: {
      q: terms(input),
      num: input.limit ?? webSearchDefaultLimit,
      ...(input.country === undefined ? {} : { gl: input.country.toLowerCase() }),
      ...(input.language === undefined ? {} : { hl: input.language.toLowerCase() }),
      ...(input.recency === undefined ? {} : { tbs: `qdr:${input.recency.charAt(0)}` })
    }
  }),
  response: (reply, input) => {
    const organic = list(reply.body, "organic")
    if (organic === null) return unreadable("organic")
    if (organic.length === 0) return noMatch("no pages found", credits(reply))
    return match(
      {
        items: organic.slice(0, input.limit ?? webSearchDefaultLimit).map((page, index) => ({
          title: text(page, "title"),
          url: text(page, "link"),
          snippet: text(page, "snippet"),
          published_at: text(page, "date"),
          score: null,
          position: whole(page, "position") ?? index + 1
        })),
        answer: null,
        total: null,
        next_cursor: null
      },
      credits(reply)
    )
  }
})

const results = listed(serpSearch, {
  // 2 credits × $0.001 × 1.2
  price: flat("0.0024"),
  note: `${note} A hundred results cost two searches, which every depth is priced at.`,
  wraps: [{ method: "POST", path: "/search" }],
  serves: (input) => input.type !== "maps" && input.device !== "mobile"
})

const places = listed(placesSearch, {
  // 1 credit × $0.001 × 1.2, and a tenth of one per place, because further pages are searches too
  price: metered("0.0012", "0.00012", placesSearchDefaultLimit),
  note,
  wraps: [
    { method: "POST", path: "/places" },
    { method: "POST", path: "/maps" }
  ]
})

const news = listed(newsSearch, {
  // 1 credit × $0.001 × 1.2
  price: flat("0.0012"),
  note,
  wraps: [{ method: "POST", path: "/news" }]
})

export const serper = provider({
  slug: "serper",
  title: "Serper",
  homepage: "https://serper.dev",
  base_url: "https://google.serper.dev",
  auth: { kind: "header", name: "X-API-KEY" },
  credit: "0.001",
  concurrency: 50,
  timeoutMillis: 20_000,
  trouble: trouble({
    // Out of credits arrives as a 400 like any other bad request.
    reason: (reply) => (reply.status === 400 && /credits/i.test(said(reply)) ? "provider_account" : undefined)
  }),
  offers: [search, results, places, news]
})
