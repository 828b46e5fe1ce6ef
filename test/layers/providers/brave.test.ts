import { describe, expect, test } from "bun:test"
import { brave } from "../../../src/layers/providers/brave.ts"
import { flat } from "../../../src/schema/money/Pricing.ts"
import { altered, example } from "./example.ts"
import { answer, get, offerOf, secretInHeader, stage } from "./stage.ts"

const play = stage(brave)

describe("brave web.search", () => {
  test("pages", async () => {
    const input = { query: "python frameworks", country: "gb", language: "JA", recency: "month", limit: 5 }
    const { asked, outcome } = await play("web.search", input, example("brave", "web_search"))
    const query = {
      ...{ q: "python frameworks", count: "5", country: "GB", search_lang: "jp", freshness: "pm" },
      ...{ result_filter: "web", text_decorations: "false" }
    }
    expect(asked).toEqual([expect.objectContaining({ ...get("/res/v1/web/search", query), secret: secretInHeader })])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Top Python Web Frameworks",
            url: "https://example.com/python-frameworks",
            snippet: "A guide to Python web frameworks...",
            published_at: "2 days ago",
            score: null,
            position: 1
          }
        ],
        answer: null,
        total: null,
        next_cursor: null
      }
    })
  })

  test("no pages are a miss, and an answer of another kind is none", async () => {
    const none = altered("brave", "web_search", (body) => ({ ...Object(body), web: undefined }))
    const miss = { _tag: "NoMatch", detail: "no pages found" }
    expect((await play("web.search", { query: "zxqv" }, none)).outcome).toMatchObject(miss)
    const strange = await play("web.search", { query: "zxqv" }, answer(200, { query: { original: "zxqv" } }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  test("domains are operators and count in the query's 400 characters and 50 words", async () => {
    const { serves, request } = offerOf(brave, "web.search")
    const domains = { include_domains: ["a.example", "b.example"], exclude_domains: ["c.example"] }
    expect(request({ query: "q", ...domains }, { run_id: "run_1" }).query).toMatchObject({
      q: "q (site:a.example OR site:b.example) -site:c.example",
      count: 10
    })
    expect(serves({ query: "q".repeat(400) })).toBe(true)
    expect(serves({ query: "q".repeat(390), exclude_domains: ["c.example"] })).toBe(false)
    expect(serves({ query: "q ".repeat(51).trim() })).toBe(false)
  })

  test("other countries, languages and longer lists are for others", () => {
    const { serves, price } = offerOf(brave, "web.search")
    for (const more of [{ country: "IS" }, { language: "xx" }, { limit: 21 }])
      expect(serves({ query: "q", ...more })).toBe(false)
    for (const more of [{ country: "us" }, { language: "pt-BR" }, { limit: 20 }])
      expect(serves({ query: "q", ...more })).toBe(true)
    expect(price).toEqual(flat("0.006"))
  })

  const failures = [
    [answer(401, {}), "provider_account"],
    [answer(422, { error: { code: "VALIDATION" } }), "provider_error"],
    [answer(429, {}, { "retry-after": "1" }), "provider_rate_limited"],
    [answer(500, "x"), "provider_error"]
  ] as const
  for (const [played, reason] of failures) {
    test(`HTTP ${played.status} is ${reason}`, async () => {
      const { outcome } = await play("web.search", { query: "q" }, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("brave news.search", () => {
  test("articles", async () => {
    const input = { query: "space exploration", recency: "day" }
    const { asked, outcome } = await play("news.search", input, example("brave", "news_search"))
    expect(asked).toMatchObject([get("/res/v1/news/search", { q: "space exploration", count: "10", freshness: "pd" })])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Developments in Space Exploration",
            url: "https://news.example.com/space-exploration",
            source: "news.example.com",
            published_at: "2026-01-15T14:30:00",
            snippet: "Recent missions have...",
            image_url: "https://i.example/2"
          }
        ],
        total: null,
        next_cursor: null
      }
    })
  })

  test("none, nonsense, and news of one company", async () => {
    const none = await play("news.search", { query: "q" }, answer(200, { type: "news", results: [] }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no articles found" })
    const strange = await play("news.search", { query: "q" }, answer(200, { type: "news" }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    expect(offerOf(brave, "news.search").serves({ query: "q", company_domain: "acme.example" })).toBe(false)
  })
})
