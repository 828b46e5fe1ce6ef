import { describe, expect, test } from "bun:test"
import { serper } from "../../src/layers/providers/serper.ts"
import { answer, fixture, post, secretInHeader, stage } from "./stage.ts"

const play = stage(serper)

describe("serper web.search", () => {
  test("pages", async () => {
    const input = { query: "google search", country: "US", language: "en" }
    const { asked, outcome } = await play("web.search", input, fixture("serper", "web_search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search", { q: "google search", num: 10, gl: "us", hl: "en" }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Google",
            url: "https://www.google.com/?gws_rd=ssl",
            snippet: "Search the world's information, including webpages, images, videos and more.",
            published_at: null,
            score: null,
            position: 1
          },
          {
            title: "Google Search - Stay in the Know with Your Google App",
            url: "https://www.google.com/search/about/",
            snippet: "Discover keeps you up to date on all your favorite topics.",
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

  test("domains become operators, recency a filter, and more results than asked for are cut off", async () => {
    const input = {
      query: "q",
      limit: 1,
      recency: "week",
      include_domains: ["a.example", "b.example"],
      exclude_domains: ["c.example"]
    }
    const { asked, outcome } = await play("web.search", input, fixture("serper", "web_search"))
    expect(asked[0]?.body).toEqual({
      q: "q (site:a.example OR site:b.example) -site:c.example",
      num: 1,
      tbs: "qdr:w"
    })
    expect(outcome).toMatchObject({ output: { items: [{ title: "Google" }] } })
  })

  test("no pages", async () => {
    const { outcome } = await play("web.search", { query: "zxqv" }, fixture("serper", "web_search.no_results"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no pages found", cost: { unit: "credit", amount: "1" } })
  })

  const failures = [
    [fixture("serper", "web_search.400", 400), "provider_error", "HTTP 400: Missing query parameter"],
    [
      answer(400, { message: "Not enough credits", statusCode: 400 }),
      "provider_account",
      "HTTP 400: Not enough credits"
    ],
    [fixture("serper", "web_search.403", 403), "provider_account", "HTTP 403: Unauthorized."],
    [answer(429, {}), "provider_rate_limited", "HTTP 429"],
    [answer(500, "x"), "provider_error", "HTTP 500"]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${detail} is ${reason}`, async () => {
      expect((await play("web.search", { query: "q" }, played)).outcome).toEqual({ _tag: "Failure", reason, detail })
    })
  }
})
