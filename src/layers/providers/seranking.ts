/**
 * Adapter for SE Ranking: keywords, the search traffic of a domain, and the totals of its backlinks.
 *
 * A request costs 100 credits, a keyword 10, and a request that fails costs nothing. Answers do not report what they cost. Each country
 * has its own database, which has no other languages than that country's.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { type Call, offer, provider } from "../../schema/catalog/Provider.ts"
import { seoBacklinks, seoBacklinksDefaultLimit } from "../../schema/capabilities/seo.backlinks.ts"
import { seoDomain, seoDomainDefaultLimit } from "../../schema/capabilities/seo.domain.ts"
import { seoKeywords, seoKeywordsDefaultLimit } from "../../schema/capabilities/seo.keywords.ts"
import { inCredits } from "../../schema/money/Rates.ts"
import { httpErrors, match, noMatch, unreadable } from "./kit/outcome.ts"
import { at, entryIn, flag, host, isRecord, list, number, text, webAddress, whole } from "./kit/read.ts"

const pack = "The smallest pack has 250,000 credits for $50."
const note = `A request costs 100 credits. ${pack}`

const creditsPerRequest = "100"
const creditsPerKeyword = "10"

interface Place {
  readonly country?: string
  readonly language?: string
}

/** Countries whose searches are in English. */
const english = new Set(["us", "gb", "ca", "au", "nz", "ie", "za", "sg"])
const countryOf = ({ country }: Place): string => country?.toLowerCase() ?? "us"
/**
 * The database of a country. That of Great Britain is "uk": the vendor's own MCP server asks so, and a third party's notes of live calls
 * (2026-07) list "uk". Neither has "gb".
 */
const sourceOf = (input: Place): string => (countryOf(input) === "gb" ? "uk" : countryOf(input))
const servesPlace = (input: Place): boolean =>
  input.language === undefined || (/^en\b/i.test(input.language) && english.has(countryOf(input)))

/** The vendor's MCP server lists these five codes. */
const intents: Readonly<Record<string, string>> = {
  I: "informational",
  N: "navigational",
  C: "commercial",
  T: "transactional",
  L: "local"
}
const intentOf = (item: unknown): string | null => entryIn(intents, text(item, "intents", 0)) ?? null

/** The months of a history, latest first. Its names are days such as "2026-05-01". */
const trendOf = (history: unknown) =>
  isRecord(history)
    ? Object.entries(history)
        .flatMap(([day, volume]) => {
          const [, year, month] = /^(\d{4})-(\d{2})(?:-\d{2})?$/.exec(day) ?? []
          return month === undefined ? [] : [{ year: Number(year), month: Number(month), volume: number(volume) }]
        })
        .sort((a, b) => b.year - a.year || b.month - a.month)
    : null

/** Competition is a fraction from 0 to 1. Its description also mentions percentages, so a larger number is taken for one. */
const percent = (part: number | null): number | null =>
  part === null ? null : Math.round(part > 1 ? part : part * 100)

const keywordOf = (item: unknown) => ({
  keyword: text(item, "keyword"),
  search_volume: whole(item, "volume"),
  cpc: number(item, "cpc"),
  competition: percent(number(item, "competition")),
  difficulty: number(item, "difficulty"),
  trend: trendOf(at(item, "history_trend")),
  intent: intentOf(item)
})

const measure = (input: InputOf<typeof seoKeywords>): Call => ({
  method: "POST",
  path: "/v1/keywords/export",
  reads: true,
  query: { source: sourceOf(input) },
  encoding: "multipart",
  body: { "keywords[]": input.keywords }
})

const suggest = (input: InputOf<typeof seoKeywords>): Call => ({
  method: "GET",
  path: "/v1/keywords/related",
  query: {
    source: sourceOf(input),
    keyword: input.seed,
    limit: input.limit ?? seoKeywordsDefaultLimit,
    sort: "volume",
    sort_order: "desc",
    history_trend: true
  }
})

const keywords = offer(seoKeywords, {
  price: inCredits.metered("0", creditsPerKeyword, seoKeywordsDefaultLimit),
  note: `A keyword costs 10 credits. ${pack}`,
  wraps: ["POST /v1/keywords/export", "GET /v1/keywords/related"],
  serves: servesPlace,
  request: (input) => (input.keywords === undefined ? suggest(input) : measure(input)),
  response: (reply, input) => {
    const listed = input.keywords !== undefined
    const keywords = listed ? list(reply.body) : list(reply.body, "keywords")
    if (keywords === null) return unreadable("keywords")
    // A listed keyword that the database does not have is in the answer too, without figures.
    if (keywords.every((one) => flag(one, "is_data_found") === false)) return noMatch("no keywords found")
    const items = keywords
      .slice(0, input.keywords?.length ?? input.limit ?? seoKeywordsDefaultLimit)
      .map(keywordOf)
      .filter((one) => one.keyword !== null)
    if (items.length === 0) return unreadable("keywords")
    return match({ items, total: listed ? items.length : whole(reply.body, "total"), next_cursor: null })
  }
})

const backlinks = offer(seoBacklinks, {
  price: inCredits.metered(creditsPerRequest, "0", seoBacklinksDefaultLimit),
  note: `${note} Totals only, so it serves only inputs with summary_only.`,
  wraps: ["GET /v1/backlinks/summary"],
  // The answers of the endpoint that lists the links are not documented.
  serves: (input) => input.summary_only === true,
  request: (input) => ({
    query: {
      target: (input.mode === "page" ? webAddress(input.target.trim()) : host(input.target.trim())) ?? input.target,
      mode: input.mode === "page" ? "url" : "domain",
      output: "json"
    }
  }),
  response: (reply) => {
    const totals = list(reply.body, "summary")
    if (totals === null) return unreadable("summary")
    const count = whole(totals[0], "backlinks")
    if (totals.length > 0 && count === null) return unreadable("backlinks")
    if (count === null || count === 0) return noMatch("no backlinks found")
    const summary = {
      backlinks: count,
      referring_domains: whole(totals[0], "refdomains"),
      rank: number(totals[0], "domain_inlink_rank"),
      spam_score: null
    }
    return match({ summary, items: [], total: count, next_cursor: null })
  }
})

/** The figures of organic or paid results. Worldwide answers have them in a list. */
const figuresOf = (body: unknown, kind: "organic" | "adv"): unknown => list(body, kind)?.[0] ?? at(body, kind)

/** The stored state between the two requests. */
const overviewOf = (body: unknown) => ({
  organic_keywords: whole(figuresOf(body, "organic"), "keywords_count"),
  organic_traffic: number(figuresOf(body, "organic"), "traffic_sum"),
  paid_keywords: whole(figuresOf(body, "adv"), "keywords_count")
})
const storedOverview = (state: Schema.Json) => ({
  organic_keywords: whole(state, "organic_keywords"),
  organic_traffic: number(state, "organic_traffic"),
  paid_keywords: whole(state, "paid_keywords")
})

const ranked = (one: unknown) => ({
  keyword: text(one, "keyword"),
  position: whole(one, "position"),
  volume: whole(one, "volume"),
  url: text(one, "url")
})

const domainOverview = offer(seoDomain, {
  // Two requests
  price: inCredits.flat("200"),
  note: `${note} An answer takes two.`,
  wraps: ["GET /v1/domain/overview/db", "GET /v1/domain/keywords"],
  serves: servesPlace,
  request: (input) => ({ query: { source: sourceOf(input), domain: host(input.domain) ?? input.domain } }),
  next: (_, input) => ({
    method: "GET",
    path: "/v1/domain/keywords",
    query: {
      source: sourceOf(input),
      domain: host(input.domain) ?? input.domain,
      type: "organic",
      order_field: "traffic",
      order_type: "desc",
      limit: input.limit ?? seoDomainDefaultLimit
    }
  }),
  response: (reply, input, state) => {
    if (state === null) {
      if (at(reply.body, "organic") === undefined && at(reply.body, "adv") === undefined) return unreadable("overview")
      const overview = overviewOf(reply.body)
      const { organic_keywords, paid_keywords } = overview
      if ((organic_keywords ?? 0) === 0 && (paid_keywords ?? 0) === 0)
        return isEmpty(reply.body) ? noMatch("the domain ranks for no keyword") : unreadable("keywords_count")
      return { _tag: "Again", state: overview, afterMillis: 0, job: false }
    }
    const keywords = list(reply.body)
    if (keywords === null) return unreadable("keywords")
    const top_keywords = keywords
      .slice(0, input.limit ?? seoDomainDefaultLimit)
      .map(ranked)
      .filter((one) => one.keyword !== null)
    return match({ ...storedOverview(state), top_keywords, rank: null })
  }
})

/** Whether an overview says that there is nothing. A miss is charged, so figures that can't be read are no miss. */
const isEmpty = (body: unknown): boolean =>
  (["organic", "adv"] as const).every((kind) => {
    const figures = figuresOf(body, kind)
    return (
      figures === undefined || figures === null || list(figures)?.length === 0 || whole(figures, "keywords_count") === 0
    )
  })

export const seranking = provider({
  slug: "seranking",
  title: "SE Ranking",
  homepage: "https://seranking.com",
  base_url: "https://api.seranking.com",
  auth: { kind: "header", name: "authorization", prefix: "Token " },
  credit: "0.0002",
  concurrency: 5,
  // Ten requests per second.
  spacingMillis: 100,
  timeoutMillis: 30_000,
  httpErrors: httpErrors(),
  offers: [keywords, backlinks, domainOverview]
})
