import { describe, expect, test } from "bun:test"
import { firecrawl } from "../../src/layers/providers/firecrawl.ts"
import { answer, fixture, offerOf, post, secretAsBearer, stage } from "./stage.ts"

const play = stage(firecrawl)
const input = { query: "firecrawl web scraping", limit: 3, country: "us" }

describe("firecrawl web.search", () => {
  test("pages", async () => {
    const { asked, outcome } = await play("web.search", input, fixture("firecrawl", "search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v2/search", { query: "firecrawl web scraping", limit: 3, sources: ["web"], country: "US" }),
        secret: secretAsBearer
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Firecrawl - The Web Data API for AI",
            url: "https://www.firecrawl.dev/",
            snippet:
              "The web crawling, scraping, and search API for AI. Built for scale. Firecrawl delivers the entire internet to AI agents and builders.",
            published_at: null,
            score: null,
            position: 1
          },
          {
            title: "mendableai/firecrawl: Turn entire websites into LLM-ready ... - GitHub",
            url: "https://github.com/firecrawl/firecrawl",
            snippet:
              "Firecrawl is an API service that takes a URL, crawls it, and converts it into clean markdown or structured data.",
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

  test("recency and domains", async () => {
    const more = { query: "q", recency: "day", exclude_domains: ["a.example"] }
    const { asked } = await play("web.search", more, fixture("firecrawl", "search"))
    expect(asked[0]?.body).toEqual({
      query: "q",
      limit: 10,
      sources: ["web"],
      tbs: "qdr:d",
      excludeDomains: ["a.example"]
    })
  })

  test("leaves to others what it can't do at its price, or not at all", () => {
    const { serves } = offerOf(firecrawl, "web.search")
    expect(serves({ query: "q", limit: 11 })).toBe(false)
    expect(serves({ query: "q", include_domains: ["a.example"], exclude_domains: ["b.example"] })).toBe(false)
  })

  test("no pages have cost the same", async () => {
    const { outcome } = await play("web.search", input, fixture("firecrawl", "search.no_results"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no pages found", cost: { unit: "credit", amount: "2" } })
  })

  const failures = [
    [fixture("firecrawl", "error.401", 401), "provider_account", "HTTP 401: Unauthorized: Invalid token"],
    [fixture("firecrawl", "error.402", 402), "provider_account", "HTTP 402: Payment Required: Insufficient credits"],
    [fixture("firecrawl", "search.408", 408), "provider_timeout", "HTTP 408: Request timed out"],
    [
      answer(429, { success: false, error: "Rate limit exceeded" }),
      "provider_rate_limited",
      "HTTP 429: Rate limit exceeded"
    ],
    [
      fixture("firecrawl", "search.500", 500),
      "provider_error",
      "HTTP 500: An unexpected error occurred on the server."
    ],
    [answer(200, { success: false, error: "no" }), "provider_error", "HTTP 200: no"]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${detail} is ${reason}`, async () => {
      expect((await play("web.search", input, played)).outcome).toEqual({ _tag: "Failure", reason, detail })
    })
  }
})
