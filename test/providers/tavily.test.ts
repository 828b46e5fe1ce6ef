import { describe, expect, test } from "bun:test"
import { tavily } from "../../src/layers/providers/tavily.ts"
import { fixture, offerOf, post, secretAsBearer, stage } from "./stage.ts"

const play = stage(tavily)
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
      expect(outcome).toEqual({ _tag: "Failure", reason, detail: expect.stringContaining(words) })
    })
  }
})
