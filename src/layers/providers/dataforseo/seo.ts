/**
 * DataForSEO's offers for keyword, backlink and ranking data.
 *
 * Backlinks take two calls, the summary and the list, and their costs add up. A target without backlinks needs only the first call, and
 * so does an input with `summary_only`.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { seoBacklinks, seoBacklinksDefaultLimit } from "../../../schema/capabilities/seo.backlinks.ts"
import { seoDomain, seoDomainDefaultLimit } from "../../../schema/capabilities/seo.domain.ts"
import { seoKeywords, seoKeywordsDefaultLimit } from "../../../schema/capabilities/seo.keywords.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { countryCode, isCountry, languageCode } from "./locale.ts"
import { instant, itemsOf, keyword, readResult, spentInAll, task, taskAt } from "./task.ts"
import { cost, match, noMatch, unreadable } from "../kit/outcome.ts"
import { at, flag, host, isRecord, list, number, text, webAddress, whole } from "../kit/read.ts"

const overviewPath = "/v3/dataforseo_labs/google/keyword_overview/live"
const suggestionsPath = "/v3/dataforseo_labs/google/keyword_suggestions/live"

/** Leaves out months without a number. */
const trendOf = (searches: ReadonlyArray<unknown> | null) =>
  searches?.flatMap((one) => {
    const year = whole(one, "year")
    const month = whole(one, "month")
    return year === null || month === null ? [] : [{ year, month, volume: number(one, "search_volume") }]
  }) ?? null

/** These endpoints report competition as a fraction from 0 to 1. */
const percent = (fraction: number | null): number | null => (fraction === null ? null : Math.round(fraction * 100))

const keywordOf = (item: unknown) => ({
  keyword: text(item, "keyword"),
  search_volume: whole(item, "keyword_info", "search_volume"),
  cpc: number(item, "keyword_info", "cpc"),
  competition: percent(number(item, "keyword_info", "competition")),
  difficulty: number(item, "keyword_properties", "keyword_difficulty"),
  trend: trendOf(list(item, "keyword_info", "monthly_searches")),
  intent: text(item, "search_intent_info", "main_intent")
})

/** How many keywords the endpoint measures at once. That of Google Ads takes 1,000, but costs $0.09 a call and tells no intent. */
const listedMax = 700

export const keywords = offer(seoKeywords, {
  price: inUsd.metered("0.012", "0.00012", seoKeywordsDefaultLimit),
  note: "Rate card of 2026-07: $0.012 a call and $0.00012 per keyword. Serves lists of at most 700 keywords.",
  wraps: [`POST ${overviewPath}`, `POST ${suggestionsPath}`],
  serves: (input) => isCountry(input.country) && (input.keywords?.length ?? 0) <= listedMax,
  request: (input) => {
    const place = { location_code: countryCode(input.country), language_code: languageCode(input.language) }
    return input.keywords === undefined
      ? taskAt(suggestionsPath, {
          keyword: keyword(input.seed ?? ""),
          limit: input.limit ?? seoKeywordsDefaultLimit,
          ...place
        })
      : taskAt(overviewPath, { keywords: input.keywords.map(keyword), ...place })
  },
  response: (reply, input) =>
    readResult(reply, "no keywords found", (result) => {
      const all = itemsOf(result)
      if (all === null) return unreadable("items")
      if (all.length === 0) return noMatch("no keywords found")
      const items = all.slice(0, input.keywords?.length ?? input.limit ?? seoKeywordsDefaultLimit).map(keywordOf)
      return match({ items, total: whole(result, "total_count") ?? items.length, next_cursor: null })
    })
})

const linksPath = "/v3/backlinks/backlinks/live"

/** A page is named by its full URL, a domain without scheme and "www.". */
const targetOf = (input: InputOf<typeof seoBacklinks>): string =>
  (input.mode === "page" ? webAddress(input.target.trim()) : host(input.target.trim())) ?? input.target

const link = (item: unknown) => ({
  url_from: text(item, "url_from"),
  url_to: text(item, "url_to"),
  // A linked picture has a description instead of a text.
  anchor: text(item, "anchor") ?? text(item, "alt"),
  dofollow: flag(item, "dofollow"),
  rank: number(item, "rank"),
  first_seen: instant(text(item, "first_seen"))
})

/** The summary, from the provider's answer or from the stored state, which use the same field names. */
const summaryOf = (summary: unknown) => ({
  backlinks: whole(summary, "backlinks"),
  referring_domains: whole(summary, "referring_domains"),
  rank: number(summary, "rank"),
  spam_score: number(summary, "backlinks_spam_score") ?? number(summary, "spam_score")
})

export const backlinks = offer(seoBacklinks, {
  // $0.024036 for the summary, which is one row, + $0.024 for the list, and $0.000036 for each link
  price: inUsd.metered("0.048036", "0.000036", seoBacklinksDefaultLimit),
  note: "Rate card of 2026-07: $0.024 a call and $0.000036 per row. An answer takes two calls.",
  wraps: ["POST /v3/backlinks/summary/live", `POST ${linksPath}`],
  request: (input) => task({ target: targetOf(input), internal_list_limit: 1 }),
  next: (_, input) =>
    taskAt(linksPath, {
      target: targetOf(input),
      mode: "as_is",
      limit: input.limit ?? seoBacklinksDefaultLimit,
      ...(input.dofollow === undefined ? {} : { filters: ["dofollow", "=", input.dofollow] })
    }),
  response: (reply, input, state) => {
    const total = spentInAll(state, reply)
    if (state === null) {
      return readResult(reply, "no backlinks found", (result) => {
        const summary = summaryOf(result)
        if (summary.backlinks === null) return unreadable("backlinks")
        if (summary.backlinks === 0) return noMatch("no backlinks found")
        if (input.summary_only === true)
          return match({ summary, items: [], total: summary.backlinks, next_cursor: null })
        return { _tag: "Again", state: { summary, spent: total }, afterMillis: 0, job: false }
      })
    }
    const summary = summaryOf(at(state, "summary"))
    const listed = readResult<ReadonlyArray<unknown> | null>(reply, "no links fit", (result) => match(itemsOf(result)))
    if (listed._tag === "Failure" || listed._tag === "Again") return listed
    // Without a backlink of the requested kind, the summary alone is the result.
    const links = listed._tag === "NoMatch" ? [] : listed.output
    if (links === null) return unreadable("items")
    const items = links.slice(0, input.limit ?? seoBacklinksDefaultLimit).map(link)
    const fitting = list(reply.body, "tasks")?.[0]
    const counted = whole(fitting, "result", 0, "total_count")
    return match({ summary, items, total: counted, next_cursor: null }, cost("USD", total))
  }
})

export const domainOverview = offer(seoDomain, {
  // $0.012 + 100 keywords × $0.00012
  price: inUsd.flat("0.024"),
  note: "Rate card of 2026-07: $0.012 a call and $0.00012 per keyword. Priced for the most that an input may ask for, 100 keywords.",
  wraps: ["POST /v3/dataforseo_labs/google/ranked_keywords/live"],
  serves: (input) => isCountry(input.country),
  request: (input) =>
    task({
      target: host(input.domain) ?? input.domain,
      location_code: countryCode(input.country),
      language_code: languageCode(input.language),
      // Sorted by estimated visitors, most first.
      order_by: ["ranked_serp_element.serp_item.etv,desc"],
      limit: input.limit ?? seoDomainDefaultLimit
    }),
  response: (reply, input) =>
    readResult(reply, "the domain ranks for no keyword", (result) => {
      const metrics = at(result, "metrics")
      const items = itemsOf(result) ?? (isRecord(metrics) ? [] : null)
      if (items === null) return unreadable("items")
      if (items.length === 0 && !isRecord(metrics)) return noMatch("the domain ranks for no keyword")
      const ranked = items.filter((item) => text(item, "ranked_serp_element", "serp_item", "type") !== "paid")
      return match({
        organic_keywords: whole(metrics, "organic", "count"),
        organic_traffic: number(metrics, "organic", "etv"),
        paid_keywords: whole(metrics, "paid", "count"),
        top_keywords: ranked.slice(0, input.limit ?? seoDomainDefaultLimit).map((item) => ({
          keyword: text(item, "keyword_data", "keyword"),
          position: whole(item, "ranked_serp_element", "serp_item", "rank_absolute"),
          volume: whole(item, "keyword_data", "keyword_info", "search_volume"),
          url: text(item, "ranked_serp_element", "serp_item", "url")
        })),
        rank: null
      })
    })
})
