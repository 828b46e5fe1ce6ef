import { describe, expect, test } from "bun:test"
import { exa } from "../../src/layers/providers/exa.ts"
import { answer, fixture, offerOf, post, secretInHeader, stage } from "./stage.ts"

const play = stage(exa)
const dollars = { unit: "USD", amount: "0.005" } as const

describe("exa web.search", () => {
  test("pages, at the measured cost", async () => {
    const input = { query: "Latest developments in LLM capabilities" }
    const { asked, outcome } = await play("web.search", input, fixture("exa", "search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search", { query: input.query, type: "auto", numResults: 10, contents: { highlights: true } }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "A Comprehensive Overview of Large Language Models",
            url: "https://arxiv.org/pdf/2307.06435.pdf",
            snippet: "Such requirements have limited their adoption...",
            published_at: "2023-11-16T01:36:32.547Z",
            score: 0.4600165784358978,
            position: 1
          }
        ],
        answer: null,
        total: null,
        next_cursor: null
      },
      cost: dollars
    })
  })

  test("country and domains", async () => {
    const input = {
      query: "q",
      limit: 3,
      country: "de",
      include_domains: ["a.example"],
      exclude_domains: ["b.example"]
    }
    const { asked } = await play("web.search", input, fixture("exa", "search"))
    expect(asked[0]?.body).toEqual({
      query: "q",
      type: "auto",
      numResults: 3,
      userLocation: "DE",
      includeDomains: ["a.example"],
      excludeDomains: ["b.example"],
      contents: { highlights: true }
    })
  })

  test("leaves to others what it can't do at its price, or not at all", () => {
    const { serves } = offerOf(exa, "web.search")
    expect(serves({ query: "q", limit: 10 })).toBe(true)
    expect(serves({ query: "q", limit: 11 })).toBe(false)
    expect(serves({ query: "q", recency: "week" })).toBe(false)
    expect(serves({ query: "q", language: "de" })).toBe(false)
  })

  test("no pages have cost the same", async () => {
    const { outcome } = await play("web.search", { query: "zxqv" }, fixture("exa", "search.no_results"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no pages found", cost: { unit: "USD", amount: "0.005" } })
  })

  test("failures", async () => {
    const denied = await play("web.search", { query: "q" }, fixture("exa", "error.401", 401))
    expect(denied.outcome).toEqual({
      _tag: "Failure",
      reason: "provider_account",
      detail: "HTTP 401: Invalid API key"
    })
    const busy = await play("web.search", { query: "q" }, answer(429, { error: "slow down" }))
    expect(busy.outcome).toMatchObject({ reason: "provider_rate_limited" })
    const down = await play("web.search", { query: "q" }, answer(503, "unavailable", { "retry-after": "2" }))
    expect(down.outcome).toMatchObject({ reason: "provider_error", retryAfterSeconds: 2 })
  })
})

describe("exa people.search", () => {
  const input = {
    titles: ["head of sales", "sales director"],
    seniorities: ["director"],
    company_domains: ["example.com"],
    locations: ["Germany"],
    keywords: "SaaS",
    limit: 2
  }

  test("profiles", async () => {
    const { asked, outcome } = await play("people.search", input, fixture("exa", "people_search"))
    expect(asked[0]).toMatchObject({
      ...post("/search", {
        query: "director, head of sales or sales director, at example.com, in Germany, SaaS",
        type: "auto",
        category: "people",
        numResults: 2
      }),
      secret: secretInHeader
    })
    const unknown = {
      first_name: null,
      last_name: null,
      title: null,
      seniority: null,
      company_name: null,
      company_domain: null,
      location: null,
      email: null,
      email_status: null,
      phone: null
    }
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            ...unknown,
            full_name: "Jane Example",
            headline: "Head of Sales at Example Corp",
            network_url: "https://www.linkedin.com/in/example-one",
            provider_ids: { exa: "https://www.linkedin.com/in/example-one" }
          },
          {
            ...unknown,
            full_name: "John Placeholder",
            headline: null,
            network_url: "https://www.linkedin.com/in/example-two",
            provider_ids: { exa: "https://www.linkedin.com/in/example-two" }
          }
        ],
        total: null,
        next_cursor: null
      },
      cost: dollars
    })
  })

  test("has one page of at most 25", () => {
    const { serves } = offerOf(exa, "people.search")
    expect(serves({ ...input, limit: 25 })).toBe(true)
    expect(serves({ ...input, limit: 26 })).toBe(false)
    expect(serves({ ...input, cursor: "exa:2" })).toBe(false)
  })

  test("nobody", async () => {
    const { outcome } = await play("people.search", input, fixture("exa", "search.no_results"))
    expect(outcome).toMatchObject({ _tag: "NoMatch", detail: "nobody found" })
  })
})
