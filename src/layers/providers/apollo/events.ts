/**
 * Apollo's offers for events at a company: its job postings and news about it. Both look the company up first.
 */
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { jobsSearch, jobsSearchDefaultLimit } from "../../../schema/capabilities/jobs.search.ts"
import { newsSearch, newsSearchDefaultLimit } from "../../../schema/capabilities/news.search.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { badState, companyCall, lookedUp, note } from "./answer.ts"
import { pageFrom } from "../kit/outcome.ts"
import { list, segmentOf, text, whole } from "../kit/read.ts"

const wordsOf = (printed: string): ReadonlyArray<string> =>
  printed
    .toLowerCase()
    .split(/[^\p{Letter}\p{Number}+#]+/u)
    .filter((word) => word !== "")

/** A page costs the same whatever its size. A large page contains more postings that pass our filters. */
const postingsMax = 1_000

const placeOf = (posting: unknown): string =>
  ["city", "state", "country"].flatMap((part) => text(posting, part) ?? []).join(", ")

/** Apollo does not filter postings, so this does: every word of the query must be in the title, and the place in the location. */
const fits = (posting: unknown, input: InputOf<typeof jobsSearch>): boolean => {
  const title = wordsOf(text(posting, "title") ?? "")
  return (
    wordsOf(input.query ?? "").every((word) => title.includes(word)) &&
    placeOf(posting)
      .toLowerCase()
      .includes((input.location ?? "").toLowerCase())
  )
}

export const findJobs = offer(jobsSearch, {
  // 1 credit for the employer + 1 for a page of postings
  price: inCredits.metered("2", "0", jobsSearchDefaultLimit),
  note: `${note} Returns the postings of one employer, which is looked up first.`,
  wraps: ["GET /organizations/enrich", "GET /organizations/{organization_id}/job_postings"],
  serves: (input) =>
    (input.company_domain !== undefined || input.company_name !== undefined) &&
    input.remote === undefined &&
    input.posted_within_days === undefined,
  request: (input) => companyCall({ domain: input.company_domain, name: input.company_name }),
  next: (state, input) => ({
    method: "GET",
    path: `/organizations/${segmentOf(text(state, "organization_id") ?? "unknown")}/job_postings`,
    query: {
      page: 1,
      per_page:
        input.query === undefined && input.location === undefined
          ? (input.limit ?? jobsSearchDefaultLimit)
          : postingsMax
    }
  }),
  response: (reply, input, state) => {
    if (state === null) return lookedUp(reply, false)
    if (text(state, "organization_id") === null) return badState()
    return pageFrom(reply.body, "organization_job_postings", {
      values: list(reply.body, "organization_job_postings")?.filter((posting) => fits(posting, input)) ?? null,
      none: "no postings found",
      limit: input.limit ?? jobsSearchDefaultLimit,
      item: (posting) => ({
        title: text(posting, "title"),
        company_name: text(state, "name"),
        company_domain: text(state, "domain"),
        location: placeOf(posting) || null,
        url: text(posting, "url"),
        posted_at: text(posting, "posted_at"),
        employment_type: null,
        salary_min: null,
        salary_max: null,
        currency: null,
        remote: null,
        description: null
      })
    })
  }
})

/** Articles per page. A second page would cost another credit. */
const articlesMax = 25

const about = (article: unknown, words: ReadonlyArray<string>): boolean => {
  const articleWords = new Set(wordsOf(`${text(article, "title") ?? ""} ${text(article, "snippet") ?? ""}`))
  return words.some((word) => articleWords.has(word))
}

export const findNews = offer(newsSearch, {
  // 1 credit for the company + 1 for a page of articles
  price: inCredits.flat("2"),
  note: `${note} Returns articles about one company, which is looked up first. Articles with words of the query come first.`,
  wraps: ["GET /organizations/enrich", "POST /news_articles/search"],
  // Apollo filters by date and not by age, and it has no filter for language or country.
  serves: (input) =>
    input.company_domain !== undefined &&
    (input.limit ?? newsSearchDefaultLimit) <= articlesMax &&
    input.recency === undefined &&
    input.language === undefined &&
    input.country === undefined,
  request: (input) => companyCall({ domain: input.company_domain }),
  next: (state) => ({
    method: "POST",
    path: "/news_articles/search",
    query: { "organization_ids[]": [text(state, "organization_id") ?? "unknown"], page: 1, per_page: articlesMax }
  }),
  response: (reply, input, state) => {
    if (state === null) return lookedUp(reply, true)
    if (text(state, "organization_id") === null) return badState()
    const words = wordsOf(input.query)
    return pageFrom(reply.body, "news_articles", {
      values:
        list(reply.body, "news_articles")?.toSorted((a, b) => Number(about(b, words)) - Number(about(a, words))) ??
        null,
      none: "no articles found",
      limit: input.limit ?? newsSearchDefaultLimit,
      item: (article) => ({
        title: text(article, "title"),
        url: text(article, "url"),
        source: text(article, "domain"),
        published_at: text(article, "published_at"),
        snippet: text(article, "snippet"),
        image_url: null
      }),
      total: whole(reply.body, "pagination", "total_entries")
    })
  }
})
