import { describe, expect, test } from "bun:test"
import { parallel } from "../../../src/layers/providers/parallel.ts"
import { example } from "./example.ts"
import { answer, offerOf, post, secretInHeader, stage } from "./stage.ts"

const play = stage(parallel)

describe("parallel web.search", () => {
  test("pages", async () => {
    const input = { query: "example systems funding", country: "GB", limit: 2, exclude_domains: ["a.example"] }
    const { asked, outcome } = await play("web.search", input, example("parallel", "search"))
    const body = {
      objective: "example systems funding",
      search_queries: ["example systems funding"],
      advanced_settings: { max_results: 2, location: "gb", source_policy: { exclude_domains: ["a.example"] } }
    }
    expect(asked).toEqual([expect.objectContaining({ ...post("/v1/search", body), secret: secretInHeader })])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Example Systems raises a first round",
            url: "https://example.com/funding",
            snippet:
              "Section Title: Funding\nContent:\nExample Systems has raised a first round.\n\n... (content truncated)",
            published_at: "2025-11-19",
            score: null,
            position: 1
          },
          {
            title: "Example Systems",
            url: "https://news.example/about",
            snippet: "Headquarters: Springfield.",
            published_at: null,
            score: null,
            position: 2
          }
        ],
        answer: null,
        total: null,
        next_cursor: null
      }
    })
  })

  test("none, and nonsense", async () => {
    const none = await play("web.search", { query: "zxqv" }, answer(200, { search_id: "s", results: [] }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no pages found" })
    const strange = await play("web.search", { query: "zxqv" }, answer(200, { search_id: "s" }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  test("serves queries up to 200 characters, without language and recency", () => {
    const { serves } = offerOf(parallel, "web.search")
    expect(serves({ query: "q".repeat(200), limit: 50 })).toBe(true)
    for (const more of [{ query: "q".repeat(201) }, { language: "de" }, { recency: "day" }])
      expect(serves({ query: "q", ...more })).toBe(false)
  })
})

describe("parallel web.scrape", () => {
  const input = { url: "https://www.example.com" }

  test("the whole page as markdown", async () => {
    const { asked, outcome } = await play("web.scrape", input, example("parallel", "extract"))
    const body = { urls: ["https://www.example.com"], advanced_settings: { full_content: true } }
    expect(asked).toMatchObject([post("/v1/extract", body)])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url: "https://www.example.com",
        final_url: "https://www.example.com",
        status_code: null,
        title: "Example Title",
        content: "Full content ...",
        links: null,
        metadata: { publish_date: "2001-01-01" }
      }
    })
  })

  test("a page that could not be read is a miss, and an answer without pages is none", async () => {
    const failed = await play("web.scrape", input, example("parallel", "extract.failed"))
    expect(failed.outcome).toEqual({ _tag: "NoMatch", detail: "fetch_error, HTTP 500" })
    const empty = await play("web.scrape", input, answer(200, { results: [{ url: input.url, excerpts: [] }] }))
    expect(empty.outcome).toEqual({ _tag: "NoMatch", detail: "the page is empty" })
    const strange = await play("web.scrape", input, answer(200, { results: [], errors: [] }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  test("other formats and waits are for others", () => {
    const { serves } = offerOf(parallel, "web.scrape")
    expect(serves({ ...input, format: "markdown" })).toBe(true)
    for (const more of [{ format: "html" }, { format: "text" }, { format: "links" }, { wait_ms: 100 }])
      expect(serves({ ...input, ...more })).toBe(false)
  })

  const failures = [
    [answer(401, {}), "provider_account"],
    [answer(402, {}), "provider_account"],
    [example("parallel", "error.422", 422), "provider_rejected"],
    [answer(429, {}, { "retry-after": "1" }), "provider_rate_limited"],
    [answer(500, "x"), "provider_error"]
  ] as const
  for (const [played, reason] of failures) {
    test(`HTTP ${played.status} is ${reason}`, async () => {
      expect((await play("web.scrape", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})
