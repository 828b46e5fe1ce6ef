import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { dataforseo } from "../../../src/layers/providers/dataforseo/index.ts"
import { inUsd } from "../../../src/schema/money/Rates.ts"
import { conforms } from "./conformance.ts"
import { reviewed } from "./example.ts"
import { answer, get, offerOf, post, runId, stage } from "./stage.ts"

const play = stage(dataforseo)

/** An answer of the provider as the shared examples have it. */
const documented = (name: string, status = 200) => {
  const file = new URL(`../../fixtures/payloads/dataforseo/${name}.response.json`, import.meta.url)
  return answer(status, readFileSync(file, "utf8"))
}
/** An answer around one task. */
const finished = (result: unknown, cost = 0.002) =>
  answer(200, {
    status_code: 20000,
    status_message: "Ok.",
    cost,
    tasks: [{ id: "08200612-3752-0139-0000-f28749f5efcd", status_code: 20000, cost, result_count: 1, result: [result] }]
  })
const stopped = (status_code: number, status_message: string, cost = 0) =>
  answer(200, {
    status_code: 20000,
    cost,
    tasks: [{ id: "08200612-3752-0139-0000-f28749f5efcd", status_code, status_message, result_count: 0, result: null }]
  })
const usd = (amount: string) => ({ unit: "USD", amount }) as const
const id = "08200612-3752-0139-0000-f28749f5efcd"
const posted = answer(200, {
  status_code: 20000,
  cost: 0.0006,
  tasks: [{ id, status_code: 20100, status_message: "Task Created.", cost: 0.0006, result_count: 0, result: null }]
})
const queued = stopped(40602, "Task In Queue.")
const handed = stopped(40601, "Task Handed.")

describe("dataforseo jobs.search", () => {
  const input = { query: ".net developer", location: "London, United Kingdom", limit: 2 }
  const job = {
    type: "google_jobs_item",
    title: "Developer",
    employer_name: "Acme",
    employer_url: "https://www.acme.example/",
    location: "London, UK",
    source_name: "Board",
    source_url: "https://board.example/1",
    salary: "$120K a year",
    contract_type: "Full-time",
    timestamp: "2026-08-20 06:12:33 +00:00",
    time_ago: "2 days ago"
  }
  const anywhere = {
    ...job,
    employer_url: "https://www.google.com/search?q=acme",
    location: "Anywhere",
    timestamp: null
  }
  const ready = finished({ se_results_count: 40, items: [job, anywhere, job] }, 0)

  test("posts a task, stores its id, and asks until it is ready", async () => {
    const { asked, outcomes, kept, outcome } = await play("jobs.search", input, posted, queued, handed, ready)
    const poll = get(`/v3/serp/google/jobs/task_get/advanced/${id}`, {})
    expect(asked).toMatchObject([
      post("/v3/serp/google/jobs/task_post", [
        {
          keyword: ".net developer London, United Kingdom",
          location_code: 2826,
          language_code: "en",
          depth: 2
        }
      ]),
      poll,
      poll,
      poll
    ])
    expect(outcomes[0]).toEqual({ _tag: "Again", state: { id, spent: 0.0006 }, afterMillis: 5000, job: true })
    expect(kept).toEqual([0, 1, 2].map(() => ({ id, spent: 0.0006 })))
    const first = {
      title: "Developer",
      company_name: "Acme",
      company_domain: "acme.example",
      location: "London, UK",
      url: "https://board.example/1",
      posted_at: "2026-08-20T06:12:33Z",
      employment_type: "Full-time",
      salary_min: null,
      salary_max: null,
      currency: null,
      remote: null,
      description: null
    }
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [first, { ...first, company_domain: null, location: "Anywhere", posted_at: "2 days ago", remote: true }],
        total: 40,
        next_cursor: null
      },
      cost: usd("0.0006")
    })
  })

  test("no jobs have cost what the task did; a task that is gone is a failure", async () => {
    const none = await play("jobs.search", input, posted, stopped(40102, "No Search Results."))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no jobs found", cost: usd("0.0006") })
    const empty = await play("jobs.search", input, posted, finished({ items_count: 0, items: [] }, 0))
    expect(empty.outcome).toEqual({ _tag: "NoMatch", detail: "no jobs found", cost: usd("0.0006") })
    const failed = await play("jobs.search", input, posted, stopped(40401, "Task Not Found."))
    expect(failed.outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
  })

  test("a task that was not created is not waited for", async () => {
    const refused = await play("jobs.search", input, stopped(40501, "Invalid Field: 'keyword'."))
    expect(refused.outcome).toMatchObject({ _tag: "Failure", reason: "provider_rejected" })
    const nameless = await play("jobs.search", input, answer(200, { tasks: [{ status_code: 20100 }] }))
    expect(nameless.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    expect(nameless.kept).toEqual([])
  })

  test("a state can't lead anywhere else", () => {
    const { next } = offerOf(dataforseo, "jobs.search")
    expect(next({ id: "../../../appendix" }, input, { run_id: runId }).path).toBe(
      "/v3/serp/google/jobs/task_get/advanced/..%2F..%2F..%2Fappendix"
    )
    expect(next([], input, { run_id: runId }).path).toBe("/v3/serp/google/jobs/task_get/advanced/()")
  })

  test("has minutes for it, and leaves filters that it does not have to others", () => {
    const { serves, timeoutMillis } = offerOf(dataforseo, "jobs.search")
    expect(timeoutMillis).toBe(600_000)
    expect(serves({ query: "q" })).toBe(true)
    expect(serves({ location: "Berlin" })).toBe(false)
    for (const more of [
      { company_domain: "a.example" },
      { company_name: "A" },
      { remote: true },
      { posted_within_days: 7 }
    ]) {
      expect(serves({ query: "q", ...more })).toBe(false)
    }
  })
})

describe("dataforseo ads.search", () => {
  const input = { platform: "google", company_domain: "www.acme.example", country: "us", limit: 1 }
  const found = {
    type: "ads_search",
    advertiser_id: "AR1",
    creative_id: "CR1",
    title: "Acme Inc.",
    url: "https://nepivi.google.com/advertiser/AR1/creative/CR1",
    format: "image",
    preview_image: { url: "https://ads.example/1.png", width: 1, height: 1 },
    first_shown: "2026-01-02 03:04:05 +00:00",
    last_shown: "2026-02-02 03:04:05 +00:00"
  }

  test("ads of a domain", async () => {
    const { asked, kept, outcome } = await play(
      "ads.search",
      input,
      posted,
      queued,
      finished({ items: [found, found] }, 0)
    )
    const poll = get(`/v3/serp/google/ads_search/task_get/advanced/${id}`, {})
    expect(asked).toMatchObject([
      post("/v3/serp/google/ads_search/task_post", [{ target: "acme.example", location_code: 2840, depth: 40 }]),
      poll,
      poll
    ])
    expect(kept).toHaveLength(2)
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            id: "CR1",
            advertiser: "Acme Inc.",
            platform: "google",
            headline: null,
            text: null,
            image_url: "https://ads.example/1.png",
            video_url: null,
            landing_url: null,
            started_at: "2026-01-02T03:04:05Z",
            ended_at: "2026-02-02T03:04:05Z",
            active: null,
            library_url: "https://nepivi.google.com/advertiser/AR1/creative/CR1"
          }
        ],
        total: null,
        next_cursor: null
      },
      cost: usd("0.0006")
    })
  })

  test("no ads, and ads of every country", async () => {
    const bare = { platform: "google", company_domain: "acme.example" }
    const { asked, outcome } = await play("ads.search", bare, posted, stopped(40102, "No Search Results."))
    expect(asked[0]?.body).toEqual([{ target: "acme.example", depth: 40 }])
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no ads found", cost: usd("0.0006") })
  })

  test("serves Google's ads of a domain, a page of them", () => {
    const { serves } = offerOf(dataforseo, "ads.search")
    expect(serves({ ...input, limit: 40 })).toBe(true)
    expect(serves({ platform: "google", company_name: "Acme" })).toBe(false)
    for (const more of [
      { platform: "meta" },
      { limit: 41 },
      { active_only: true },
      { cursor: "dataforseo:1" },
      { query: "q" }
    ]) {
      expect(serves({ ...input, ...more })).toBe(false)
    }
  })
})

describe("dataforseo seo.keywords", () => {
  const listed = {
    keyword: "c++",
    keyword_info: { search_volume: 2900, cpc: 10.93, competition: 1, monthly_searches: null },
    keyword_properties: { keyword_difficulty: 7 },
    search_intent_info: { main_intent: "informational" }
  }

  test("a list of keywords", async () => {
    const input = { keywords: ["buy laptop", "c++"], country: "us", language: "zh" }
    // A keyword that the database does not have is left out of the answer.
    const played = finished({ items_count: 1, items: [listed] }, 0.01212)
    const { asked, outcome } = await play("seo.keywords", input, played)
    expect(asked[0]).toMatchObject(
      post("/v3/dataforseo_labs/google/keyword_overview/live", [
        { keywords: ["buy laptop", "c%2B%2B"], location_code: 2840, language_code: "zh" }
      ])
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            keyword: "c++",
            search_volume: 2900,
            cpc: 10.93,
            competition: 100,
            difficulty: 7,
            trend: null,
            intent: "informational"
          }
        ],
        total: 1,
        next_cursor: null
      },
      cost: usd("0.01212")
    })
  })

  test("serves as many listed keywords as the provider measures at once", () => {
    const { serves } = offerOf(dataforseo, "seo.keywords")
    const of = (length: number) => serves({ keywords: Array.from({ length }, (_, index) => `k${index}`) })
    expect([of(700), of(701), serves({ seed: "a", limit: 1000 })]).toEqual([true, false, true])
  })

  test("ideas from a seed", async () => {
    const idea = {
      keyword: "phone case",
      keyword_info: {
        search_volume: 1000,
        cpc: 0.5,
        competition: 0.876,
        monthly_searches: [
          { year: 2026, month: 7, search_volume: null },
          { year: null, month: 6, search_volume: 3 }
        ]
      },
      keyword_properties: { keyword_difficulty: 42 },
      search_intent_info: { main_intent: "commercial" }
    }
    const played = finished({ seed_keyword: "phone", total_count: 3000, items: [idea, idea] }, 0.0102)
    const { asked, outcome } = await play("seo.keywords", { seed: "phone", limit: 1 }, played)
    expect(asked[0]).toMatchObject(
      post("/v3/dataforseo_labs/google/keyword_suggestions/live", [
        { keyword: "phone", location_code: 2840, language_code: "en", limit: 1 }
      ])
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            keyword: "phone case",
            search_volume: 1000,
            cpc: 0.5,
            competition: 88,
            difficulty: 42,
            trend: [{ year: 2026, month: 7, volume: null }],
            intent: "commercial"
          }
        ],
        total: 3000,
        next_cursor: null
      },
      cost: usd("0.0102")
    })
    const none = await play("seo.keywords", { seed: "zxqv" }, finished({ items_count: 0, items: null }, 0.01))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no keywords found", cost: usd("0.01") })
  })
})

describe("dataforseo seo.backlinks", () => {
  const input = { target: "https://www.explodingtopics.com/blog", dofollow: true, limit: 1 }
  const link = {
    type: "backlink",
    url_from: "https://blog.example/post",
    url_to: "https://explodingtopics.com/",
    anchor: "source",
    dofollow: true,
    rank: 74,
    first_seen: "2021-10-16 16:46:16 +00:00"
  }
  const summary = { backlinks: 124571, referring_domains: 10127, rank: 374, spam_score: 19 }

  test("the sums, then the links, at what both have cost", async () => {
    const links = finished({ total_count: 900, items: [link, link] }, 0.02003)
    const { asked, outcomes, kept, outcome } = await play(
      "seo.backlinks",
      input,
      documented("backlinks.summary.live"),
      links
    )
    expect(asked).toMatchObject([
      post("/v3/backlinks/summary/live", [{ target: "explodingtopics.com", internal_list_limit: 1 }]),
      post("/v3/backlinks/backlinks/live", [
        { target: "explodingtopics.com", mode: "as_is", limit: 1, filters: ["dofollow", "=", true] }
      ])
    ])
    expect(outcomes[0]).toMatchObject({ _tag: "Again", job: false, state: { summary, spent: 0.02 } })
    expect(kept).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        summary,
        items: [
          {
            url_from: "https://blog.example/post",
            url_to: "https://explodingtopics.com/",
            anchor: "source",
            dofollow: true,
            rank: 74,
            first_seen: "2021-10-16T16:46:16Z"
          }
        ],
        total: 900,
        next_cursor: null
      },
      cost: usd("0.04003")
    })
  })

  test("links as the provider documents them, one of them a picture", async () => {
    const links = answer(200, reviewed("dataforseo-seo.backlinks"))
    const forbes = { target: "forbes.com", limit: 2 }
    const { outcome } = await play("seo.backlinks", forbes, documented("backlinks.summary.live"), links)
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          {
            url_from: "https://www.piveke.com/",
            url_to: expect.stringContaining("http://www.forbes.com/"),
            anchor: "Forbes",
            dofollow: true,
            rank: 862,
            first_seen: "2019-01-21T18:17:01Z"
          },
          { dofollow: true }
        ],
        total: 42671699,
        next_cursor: null
      },
      cost: usd("0.04015")
    } as never)
  })

  test("the totals alone need the first call only", async () => {
    const totals = { target: "explodingtopics.com", summary_only: true }
    const { asked, outcome } = await play("seo.backlinks", totals, documented("backlinks.summary.live"))
    expect(asked).toHaveLength(1)
    expect(outcome).toEqual({
      _tag: "Match",
      output: { summary, items: [], total: 124571, next_cursor: null },
      cost: usd("0.02")
    })
  })

  test("a page goes by its address", async () => {
    const page = { target: "www.a.example/x", mode: "page" }
    const { asked } = await play("seo.backlinks", page, documented("backlinks.summary.live"), finished({ items: [] }))
    expect(asked.map((one) => one.body)).toEqual([
      [{ target: "https://www.a.example/x", internal_list_limit: 1 }],
      [{ target: "https://www.a.example/x", mode: "as_is", limit: 10 }]
    ])
  })

  test("a target without links needs one call only", async () => {
    const { asked, outcome } = await play(
      "seo.backlinks",
      input,
      finished({ backlinks: 0, referring_domains: 0 }, 0.02)
    )
    expect(asked).toHaveLength(1)
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no backlinks found", cost: usd("0.02") })
    const strange = await play("seo.backlinks", input, finished({ rank: 1 }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  test("sums without a link of the kind asked for are an answer", async () => {
    const none = stopped(40102, "No Search Results.", 0.02)
    const { outcome } = await play("seo.backlinks", input, documented("backlinks.summary.live"), none)
    expect(outcome).toMatchObject({ _tag: "Match", output: { summary, items: [], total: null }, cost: usd("0.04") })
  })

  test("a failure of the second call is one of the whole", async () => {
    const busy = stopped(40202, "Rate limit exceeded")
    const { outcome } = await play("seo.backlinks", input, documented("backlinks.summary.live"), busy)
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "provider_rate_limited" })
    const strange = finished({ items: 7 })
    const unread = await play("seo.backlinks", input, documented("backlinks.summary.live"), strange)
    expect(unread.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("dataforseo seo.domain", () => {
  const ranked = (type: string, keyword: string) => ({
    keyword_data: { keyword, keyword_info: { search_volume: 500 } },
    ranked_serp_element: { serp_item: { type, rank_group: 2, rank_absolute: 3, url: "https://a.example/x" } }
  })
  const metrics = { organic: { count: 120, etv: 3456.7 }, paid: { count: 4 } }

  test("figures and top keywords, without those paid for", async () => {
    const items = [ranked("paid", "ad"), ranked("organic", "seo"), ranked("featured_snippet", "serp")]
    const input = { domain: "www.dataforseo.com", country: "gb", language: "en", limit: 3 }
    const { asked, outcome } = await play("seo.domain", input, finished({ metrics, items }, 0.0103))
    expect(asked[0]).toMatchObject(
      post("/v3/dataforseo_labs/google/ranked_keywords/live", [
        {
          target: "dataforseo.com",
          location_code: 2826,
          language_code: "en",
          order_by: ["ranked_serp_element.serp_item.etv,desc"],
          limit: 3
        }
      ])
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        organic_keywords: 120,
        organic_traffic: 3456.7,
        paid_keywords: 4,
        top_keywords: [
          { keyword: "seo", position: 3, volume: 500, url: "https://a.example/x" },
          { keyword: "serp", position: 3, volume: 500, url: "https://a.example/x" }
        ],
        rank: null
      },
      cost: usd("0.0103")
    })
  })

  test("figures and top keywords as they were captured", async () => {
    const captured = answer(200, reviewed("dataforseo-seo.domain"))
    const { outcome } = await play("seo.domain", { domain: "lekado.com", limit: 3 }, captured)
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        organic_keywords: 1324,
        organic_traffic: 2811.3100450262427,
        paid_keywords: 0,
        top_keywords: [
          { keyword: "best neka daketa kevero", volume: 90, url: expect.stringContaining("lekado.com") },
          { keyword: expect.any(String), position: expect.any(Number) },
          { keyword: expect.any(String), position: expect.any(Number) }
        ],
        rank: null
      },
      cost: usd("0.02")
    } as never)
  })

  test("a domain that ranks for nothing", async () => {
    const input = { domain: "a.example" }
    const none = await play("seo.domain", input, finished({ metrics: null, items_count: 0, items: null }, 0.01))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "the domain ranks for no keyword", cost: usd("0.01") })
    const strange = await play("seo.domain", input, finished({ metrics: 7 }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("dataforseo company.tech", () => {
  const input = { domain: "www.DataForSEO.com" }

  test("technologies by category", async () => {
    const result = {
      domain: "dataforseo.com",
      last_visited: "2026-08-01 00:00:00 +00:00",
      technologies: {
        analytics: { web_analytics: ["Matomo", 7, "Plausible"] },
        content: { cms: ["WordPress"] },
        odd: 3
      }
    }
    const { asked, outcome } = await play("company.tech", input, finished(result, 0.01))
    expect(asked[0]).toMatchObject(
      post("/v3/domain_analytics/technologies/domain_technologies/live", [{ target: "dataforseo.com" }])
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        domain: "dataforseo.com",
        technologies: [
          { name: "Matomo", category: "web_analytics" },
          { name: "Plausible", category: "web_analytics" },
          { name: "WordPress", category: "cms" }
        ],
        detected_at: "2026-08-01T00:00:00Z"
      },
      cost: usd("0.01")
    })
  })

  test("technologies as the provider documents them", async () => {
    const { outcome } = await play(
      "company.tech",
      { domain: "dataforseo.com" },
      answer(200, reviewed("dataforseo-company.tech"))
    )
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: { domain: "dataforseo.com", detected_at: "2022-09-23T17:19:25Z" },
      cost: usd("0.01")
    })
    const { technologies } = outcome?._tag === "Match" ? Object(outcome.output) : { technologies: [] }
    expect(technologies).toContainEqual({ name: "jQuery", category: "javascript_libraries" })
    expect(technologies).toContainEqual({ name: "Cloudflare", category: "cdn" })
    expect(technologies).toHaveLength(18)
  })

  test("none known", async () => {
    const none = await play("company.tech", input, finished({ domain: "d.example", technologies: null }, 0.01))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no technologies found", cost: usd("0.01") })
    const nothing = await play("company.tech", input, stopped(20000, "Ok.", 0.01))
    expect(nothing.outcome).toMatchObject({ _tag: "NoMatch" })
    const strange = await play("company.tech", input, finished({ domain: "d.example" }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("dataforseo web.scrape", () => {
  const url = "https://a.example/blog"
  const page = (changes: object = {}) =>
    finished(
      {
        items: [
          {
            type: "content_parsing_element",
            status_code: 200,
            page_as_markdown: "# A title",
            page_content: {
              header: { primary_content: [{ text: "Menu", url: "https://a.example/menu", urls: null }] },
              main_topic: [
                {
                  h_title: "A title",
                  main_title: "Main",
                  language: "en",
                  primary_content: [
                    { text: "First.", urls: [{ url: "https://b.example/", anchor_text: "First" }] },
                    { text: "Second.", url: null }
                  ]
                }
              ],
              secondary_topic: [{ main_title: "More", secondary_content: [{ text: "Third." }] }],
              footer: null
            },
            ...changes
          }
        ]
      },
      0.00015
    )

  test("a page as markdown", async () => {
    const { asked, outcome } = await play("web.scrape", { url }, page())
    expect(asked[0]).toMatchObject(post("/v3/on_page/content_parsing/live", [{ url, markdown_view: true }]))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url,
        final_url: null,
        status_code: 200,
        title: "A title",
        content: "# A title",
        links: ["https://b.example/"],
        metadata: { language: "en" }
      },
      cost: usd("0.00015")
    })
  })

  test("as text, and as links, of all of it", async () => {
    const text = await play("web.scrape", { url, format: "text" }, page())
    expect(text.asked[0]?.body).toEqual([{ url, markdown_view: false }])
    expect(text.outcome).toMatchObject({ output: { content: "Main\nFirst.\nSecond.\nMore\nThird." } })
    const whole = await play("web.scrape", { url, format: "text", only_main_content: false }, page())
    expect(whole.outcome).toMatchObject({ output: { content: expect.stringMatching(/^Menu\nMain/) } })
    const links = await play("web.scrape", { url, format: "links", only_main_content: false }, page())
    expect(links.outcome).toMatchObject({
      output: { content: null, links: ["https://a.example/menu", "https://b.example/"] }
    })
  })

  test("an error page and an empty one are misses", async () => {
    const missing = await play("web.scrape", { url }, page({ status_code: 404 }))
    expect(missing.outcome).toEqual({ _tag: "NoMatch", detail: "the page answered HTTP 404", cost: usd("0.00015") })
    const blank = { page_as_markdown: null, page_content: null }
    expect((await play("web.scrape", { url }, page(blank))).outcome).toMatchObject({ detail: "the page is empty" })
    const linkless = await play("web.scrape", { url, format: "links" }, page(blank))
    expect(linkless.outcome).toMatchObject({ detail: "the page has no links" })
    const unread = await play("web.scrape", { url }, finished({ items: [] }))
    expect(unread.outcome).toMatchObject({ _tag: "NoMatch", detail: "the page can't be read" })
  })

  test("leaves html and waiting to others", () => {
    const { serves } = offerOf(dataforseo, "web.scrape")
    expect(serves({ url, format: "html" })).toBe(false)
    expect(serves({ url, wait_ms: 1 })).toBe(false)
  })
})

describe("dataforseo domain.check", () => {
  const input = { domain: "Taken.example" }
  const verdict = (available: boolean) => ({
    domain: "taken.example",
    available,
    premium: null,
    price: null,
    renewal_price: null,
    currency: null,
    min_years: null
  })

  test("registered is taken, expired is available", async () => {
    const record = (registered: boolean) => finished({ items: [{ domain: "taken.example", registered }] }, 0.101)
    const { asked, outcome } = await play("domain.check", input, record(true))
    expect(asked[0]).toMatchObject(
      post("/v3/domain_analytics/whois/overview/live", [{ filters: [["domain", "=", "taken.example"]], limit: 1 }])
    )
    expect(outcome).toEqual({ _tag: "Match", output: verdict(false), cost: usd("0.101") })
    expect((await play("domain.check", input, record(false))).outcome).toMatchObject({ output: verdict(true) })
  })

  test("a record as the provider documents it", async () => {
    const found = answer(200, reviewed("dataforseo-domain.check"))
    const { outcome } = await play("domain.check", { domain: "Wikipedia.org" }, found)
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: { domain: "wikipedia.org", available: false, price: null },
      cost: usd("0.102")
    })
    expect((await play("domain.check", { domain: "example.org" }, found)).outcome?._tag).toBe("NoMatch")
  })

  test("a name that is not on record is no verdict", async () => {
    const none = await play("domain.check", input, finished({ items_count: 0, items: null }, 0.1))
    expect(none.outcome).toMatchObject({ _tag: "NoMatch", cost: usd("0.1") })
    const other = await play("domain.check", input, finished({ items: [{ domain: "else.example", registered: true }] }))
    expect(other.outcome).toMatchObject({ _tag: "NoMatch" })
    const strange = await play("domain.check", input, finished({ items: [{ domain: "taken.example" }] }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("dataforseo as a whole", () => {
  const asked = [
    ["serp.search", { query: "q", country: "us", device: "mobile", depth: 100 }],
    ["serp.search", { query: "q", location: "Austin,Texas,United States", type: "maps" }],
    ["news.search", { query: "q", recency: "day" }],
    ["places.search", { query: "q", limit: 100 }],
    ["jobs.search", { query: "q", limit: 100 }],
    ["ads.search", { platform: "google", company_domain: "a.example", country: "us" }],
    ["seo.keywords", { keywords: ["a"] }],
    ["seo.keywords", { seed: "a", limit: 1000 }],
    ["seo.backlinks", { target: "a.example" }],
    ["seo.domain", { domain: "a.example" }],
    ["company.tech", { domain: "a.example" }],
    ["web.scrape", { url: "https://a.example" }],
    ["domain.check", { domain: "a.example" }]
  ] as const
  test.each(asked)("%s asks as the document says: %j", (capability, input) => {
    expect(conforms(dataforseo, offerOf(dataforseo, capability).request(input, { run_id: runId }))).toEqual([])
  })

  const continued = [
    ["jobs.search", { query: "q" }],
    ["ads.search", { platform: "google", company_domain: "a.example" }],
    ["seo.backlinks", { target: "a.example", dofollow: false, limit: 1000 }]
  ] as const
  test.each(continued)("%s goes on as the document says", (capability, input) => {
    const call = offerOf(dataforseo, capability).next({ id, spent: 0.1 }, input, { run_id: runId })
    expect(conforms(dataforseo, call)).toEqual([])
  })
})

/** The provider's rate card of 2026-07-28, and costs that captured calls report: 20 % above the rates of 2026-02. */
describe("dataforseo's rates since July 2026", () => {
  const rates: ReadonlyArray<[string, unknown]> = [
    ["seo.keywords", inUsd.metered("0.012", "0.00012", 10)],
    ["seo.backlinks", inUsd.metered("0.048036", "0.000036", 10)],
    ["seo.domain", inUsd.flat("0.024")],
    ["company.tech", inUsd.flat("0.012")],
    ["domain.check", inUsd.flat("0.1212")],
    ["web.scrape", inUsd.flat("0.00015")]
  ]
  test.each(rates)("%s", (capability, rate) => {
    expect(offerOf(dataforseo, capability).rate).toEqual(rate as never)
  })
})
