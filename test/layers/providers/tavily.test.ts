import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { tavily } from "../../../src/layers/providers/tavily.ts"
import { conforms } from "./conformance.ts"
import { answer, failed, fixture, offerOf, post, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(tavily)
const documented = (name: string, status = 200) => {
  const file = new URL(`../../fixtures/payloads/tavily/${name}.response.json`, import.meta.url)
  return answer(status, readFileSync(file, "utf8"))
}
const input = { query: "who is Leo Messi?", limit: 1 }

describe("tavily web.search", () => {
  test("pages and an answer", async () => {
    const { asked, outcome } = await play("web.search", input, fixture("tavily", "search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search", {
          query: "who is Leo Messi?",
          search_depth: "basic",
          topic: "general",
          max_results: 1,
          include_answer: true,
          include_usage: true
        }),
        secret: secretAsBearer
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Lionel Messi Facts | Britannica",
            url: "https://www.britannica.com/facts/Lionel-Messi",
            snippet: expect.stringMatching(/^Lionel Messi, an Argentine footballer, .* and goal$/),
            published_at: null,
            score: 0.81025416,
            position: 1
          }
        ],
        answer: expect.stringMatching(/^Lionel Messi, born in 1987, .* sport\.$/),
        total: null,
        next_cursor: null
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("countries go by name", async () => {
    const more = { ...input, country: "us", recency: "month", include_domains: ["a.example"] }
    const { asked } = await play("web.search", more, fixture("tavily", "search"))
    expect(asked[0]?.body).toMatchObject({
      country: "united states",
      time_range: "month",
      include_domains: ["a.example"]
    })
    const czech = await play("web.search", { ...input, country: "CZ" }, fixture("tavily", "search"))
    expect(czech.asked[0]?.body).toMatchObject({ country: "czech republic" })
  })

  test("leaves to others what it can't do", () => {
    const { serves } = offerOf(tavily, "web.search")
    expect(serves({ ...input, limit: 20 })).toBe(true)
    expect(serves({ ...input, limit: 21 })).toBe(false)
    expect(serves({ ...input, language: "en" })).toBe(false)
    expect(serves({ ...input, country: "qq" })).toBe(false)
  })

  test("no pages", async () => {
    const { outcome } = await play("web.search", { query: "zxqv" }, fixture("tavily", "search.no_results"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no pages found", cost: { unit: "credit", amount: "1" } })
  })

  const failures = [
    [400, "provider_error", "<400 Bad Request"],
    [401, "provider_account", "Unauthorized"],
    [429, "provider_rate_limited", "excessive requests"],
    [432, "provider_account", "usage limit"],
    [433, "provider_account", "pay-as-you-go limit"],
    [500, "provider_error", "Internal Server Error"]
  ] as const
  for (const [status, reason, words] of failures) {
    test(`${status} is ${reason}`, async () => {
      const { outcome } = await play("web.search", input, fixture("tavily", `search.${status}`, status))
      expect(outcome).toEqual({ ...failed(reason, "", `HTTP ${status}`), detail: expect.stringContaining(words) })
    })
  }
})

describe("tavily news.search", () => {
  test("articles", async () => {
    const input = { query: "who is Leo Messi?", recency: "week", limit: 1 }
    const { asked, outcome } = await play("news.search", input, documented("search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search", {
          query: "who is Leo Messi?",
          search_depth: "basic",
          topic: "news",
          max_results: 1,
          time_range: "week",
          include_usage: true
        }),
        secret: secretAsBearer
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Lionel Messi Facts | Britannica",
            url: "https://www.britannica.com/facts/Lionel-Messi",
            source: "britannica.com",
            published_at: null,
            snippet: expect.stringMatching(/^Lionel Messi, an Argentine footballer/),
            image_url: null
          }
        ],
        total: null,
        next_cursor: null
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("no articles; and what it leaves to others", async () => {
    const { outcome } = await play("news.search", { query: "zxqv" }, documented("search.no_results"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no articles found", cost: { unit: "credit", amount: "1" } })
    const { serves } = offerOf(tavily, "news.search")
    expect(serves({ query: "q", limit: 20 })).toBe(true)
    for (const more of [{ limit: 21 }, { country: "us" }, { language: "de" }, { company_domain: "a.example" }]) {
      expect(serves({ query: "q", ...more })).toBe(false)
    }
  })
})

describe("tavily web.scrape", () => {
  const input = { url: "https://en.wikipedia.org/wiki/Artificial_intelligence" }

  test("a page as markdown, or as text", async () => {
    const { asked, outcome } = await play("web.scrape", input, documented("extract"))
    const body = { urls: [input.url], extract_depth: "basic", format: "markdown", include_usage: true }
    expect(asked).toEqual([expect.objectContaining({ ...post("/extract", body), secret: secretAsBearer })])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url: input.url,
        final_url: input.url,
        status_code: null,
        title: null,
        content: expect.stringContaining("Artificial intelligence (AI), in its broadest sense"),
        links: null,
        metadata: {}
      },
      cost: { unit: "credit", amount: "1" }
    })
    const plain = await play("web.scrape", { ...input, format: "text" }, documented("extract"))
    expect(plain.asked[0]?.body).toMatchObject({ format: "text" })
  })

  test("a page that can't be read is a miss", async () => {
    const failed_results = [{ url: input.url, error: "Error fetching content" }]
    const { outcome } = await play(
      "web.scrape",
      input,
      answer(200, { results: [], failed_results, usage: { credits: 0 } })
    )
    expect(outcome).toEqual({
      _tag: "NoMatch",
      detail: "Error fetching content",
      cost: { unit: "credit", amount: "0" }
    })
    const empty = await play("web.scrape", input, answer(200, { results: [{ url: input.url, raw_content: "" }] }))
    expect(empty.outcome).toEqual({ _tag: "NoMatch", detail: "the page is empty" })
    const neither = await play("web.scrape", input, answer(200, { results: [], failed_results: [] }))
    expect(neither.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  const failures = [
    [400, "provider_error"],
    [401, "provider_account"],
    [429, "provider_rate_limited"],
    [432, "provider_account"],
    [433, "provider_account"],
    [500, "provider_error"]
  ] as const
  test.each(failures)("%d is %s", async (status, reason) => {
    const { outcome } = await play("web.scrape", input, documented(`extract.${status}`, status))
    expect(outcome).toMatchObject({ _tag: "Failure", reason })
  })

  test("leaves html, links and waiting to others", () => {
    const { serves } = offerOf(tavily, "web.scrape")
    for (const more of [{ format: "html" }, { format: "links" }, { wait_ms: 1 }]) {
      expect(serves({ ...input, ...more })).toBe(false)
    }
  })
})

describe("tavily as a whole", () => {
  const asked = [
    ["web.search", { query: "q", limit: 20, country: "us", recency: "day", exclude_domains: ["a.example"] }],
    ["news.search", { query: "q", limit: 20, recency: "year" }],
    ["web.scrape", { url: "https://a.example", format: "text" }]
  ] as const
  test.each(asked)("%s asks as the document says", (capability, input) => {
    expect(conforms(tavily, offerOf(tavily, capability).request(input, { run_id: runId }))).toEqual([])
  })

  test("any answer says what it has cost", () => {
    const reply = (body: unknown) => ({ status: 200, headers: {}, text: "", body })
    expect(tavily.measured(reply({ usage: { credits: 2 } }))).toEqual({ unit: "credit", amount: "2" })
    expect(tavily.measured(reply({}))).toBeNull()
  })
})
