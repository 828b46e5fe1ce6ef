import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { exa } from "../../../src/layers/providers/exa.ts"
import { conforms } from "./conformance.ts"
import { reviewed } from "./example.ts"
import { answer, fixture, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

const play = stage(exa)
const documented = (name: string, status = 200) => {
  const file = new URL(`../../fixtures/payloads/exa/${name}.response.json`, import.meta.url)
  return answer(status, readFileSync(file, "utf8"))
}
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

  test("pages as they were captured, and what they cost", async () => {
    const played = answer(200, reviewed("exa-web.search"))
    const { outcome } = await play("web.search", { query: "dalesa", limit: 3 }, played)
    const blank = { snippet: null, published_at: null }
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          { ...blank, title: "Dalesa | Dalesa", url: "https://dalesa.com/", score: 1, position: 1 },
          { ...blank, title: "Dalesa", score: 0.5, position: 2 },
          { ...blank, url: "https://en.wikipedia.org/wiki/_Dalesa", score: 0, position: 3 }
        ]
      },
      cost: { unit: "USD", amount: "0.007" }
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

describe("exa company.search", () => {
  const input = {
    query: "AI search engines",
    industries: ["software"],
    locations: ["Germany", "France"],
    employee_ranges: ["11-50"],
    technologies: ["Salesforce"],
    keywords: ["search"],
    founded_min: 2020,
    founded_max: 2024,
    limit: 5
  }

  test("companies, with what is known of them beside their pages", async () => {
    const { asked, outcome } = await play("company.search", input, documented("search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search", {
          query:
            "AI search engines, search, in the industry software, headquartered in Germany or France, with employees 11-50, that uses Salesforce, founded in or after 2020, founded in or before 2024",
          type: "auto",
          category: "company",
          numResults: 5
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            name: "Exa",
            domain: "arxiv.org",
            website: "https://arxiv.org/pdf/2307.06435.pdf",
            network_url: null,
            industry: null,
            employee_count: 500,
            employee_range: null,
            founded_year: 2022,
            location: { city: "San Francisco", region: null, country: "United States" },
            description: "AI-powered search engine",
            revenue: "1000000000",
            funding: "500000000",
            technologies: null,
            phone: null,
            provider_ids: { exa: "https://arxiv.org/abs/2307.06435" }
          }
        ],
        total: null,
        next_cursor: null
      },
      cost: dollars
    })
  })

  test("a page of the network is not the company's site; without more its title names it", async () => {
    const results = [
      { id: "1", title: "Acme | LinkedIn", url: "https://www.linkedin.com/company/acme" },
      { id: "2", title: "Bolt - Fast things", url: "https://www.bolt.example/", entities: [{ type: "person" }] }
    ]
    const { outcome } = await play("company.search", { query: "q", limit: 1 }, answer(200, { results }))
    expect(outcome).toMatchObject({
      output: {
        items: [{ name: "Acme", domain: null, website: null, network_url: "https://www.linkedin.com/company/acme" }]
      }
    })
    const both = await play("company.search", { query: "q" }, answer(200, { results }))
    expect(both.outcome).toMatchObject({ output: { items: [{}, { name: "Bolt", domain: "bolt.example" }] } })
  })

  test("nobody; and one page of at most 25", async () => {
    const { outcome } = await play("company.search", input, fixture("exa", "search.no_results"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no companies found", cost: dollars })
    const { serves } = offerOf(exa, "company.search")
    expect(serves({ query: "q", limit: 25 })).toBe(true)
    expect(serves({ query: "q", limit: 26 })).toBe(false)
    expect(serves({ query: "q", cursor: "exa:2" })).toBe(false)
  })
})

describe("exa news.search", () => {
  test("articles", async () => {
    const input = { query: "electric trucks", country: "us", limit: 3 }
    const { asked, outcome } = await play("news.search", input, documented("search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search", {
          query: "electric trucks",
          type: "auto",
          category: "news",
          numResults: 3,
          userLocation: "US",
          contents: { highlights: true }
        }),
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
            source: "arxiv.org",
            published_at: "2023-11-16T01:36:32.547Z",
            snippet: "Such requirements have limited their adoption...",
            image_url: "https://arxiv.org/pdf/2307.06435.pdf/page_1.png"
          }
        ],
        total: null,
        next_cursor: null
      },
      cost: dollars
    })
  })

  test("no articles; and what it leaves to others", async () => {
    const { outcome } = await play("news.search", { query: "zxqv" }, fixture("exa", "search.no_results"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no articles found", cost: dollars })
    const { serves } = offerOf(exa, "news.search")
    expect(serves({ query: "q", limit: 10 })).toBe(true)
    for (const more of [{ limit: 11 }, { recency: "day" }, { language: "de" }, { company_domain: "a.example" }]) {
      expect(serves({ query: "q", ...more })).toBe(false)
    }
  })
})

describe("exa web.scrape", () => {
  const input = { url: "https://arxiv.org/abs/2307.06435" }

  test("a page as it was captured", async () => {
    const url = "https://example.com"
    const { outcome } = await play("web.scrape", { url }, answer(200, reviewed("exa-web.scrape")))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url,
        final_url: url,
        status_code: null,
        title: "Example Domain",
        content: expect.stringContaining("for use in documentation examples"),
        links: null,
        metadata: {}
      },
      cost: { unit: "USD", amount: "0.001" }
    } as never)
  })

  test("a page's text", async () => {
    const { asked, outcome } = await play("web.scrape", input, documented("contents"))
    expect(asked).toEqual([
      expect.objectContaining({ ...post("/contents", { urls: [input.url], text: true }), secret: secretInHeader })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url: "https://arxiv.org/abs/2307.06435",
        final_url: "https://arxiv.org/pdf/2307.06435.pdf",
        status_code: null,
        title: "A Comprehensive Overview of Large Language Models",
        content: "Abstract Large Language Models (LLMs) have recently demonstrated remarkable capabilities...",
        links: null,
        metadata: {
          author: "Humza  Naveed, University of Engineering and Technology (UET), Lahore, Pakistan",
          published_at: "2023-11-16T01:36:32.547Z",
          image: "https://arxiv.org/pdf/2307.06435.pdf/page_1.png"
        }
      },
      cost: dollars
    })
  })

  test("all of a page is read afresh", async () => {
    const { asked } = await play("web.scrape", { ...input, only_main_content: false }, documented("contents"))
    expect(asked[0]?.body).toEqual({ urls: [input.url], text: { verbosity: "full" }, livecrawl: "always" })
  })

  const failed = (tag: string) =>
    answer(200, {
      results: [],
      statuses: [{ id: input.url, status: "error", error: { tag } }],
      costDollars: { total: 0 }
    })

  test("a page that can't be had is a miss, at the cost reported", async () => {
    for (const tag of ["CRAWL_NOT_FOUND", "SOURCE_NOT_AVAILABLE", "UNSUPPORTED_URL"]) {
      const { outcome } = await play("web.scrape", input, failed(tag))
      expect(outcome).toEqual({
        _tag: "NoMatch",
        detail: `the page can't be read: ${tag}`,
        cost: { unit: "USD", amount: "0" }
      })
    }
    const empty = await play("web.scrape", input, answer(200, { results: [{ url: input.url, text: " " }] }))
    expect(empty.outcome).toEqual({ _tag: "NoMatch", detail: "the page is empty" })
  })

  const troubles = [
    ["CRAWL_TIMEOUT", "provider_timeout"],
    ["CRAWL_LIVECRAWL_TIMEOUT", "provider_timeout"],
    ["CRAWL_UNKNOWN_ERROR", "provider_error"]
  ]
  test.each(troubles)("%s is %s", async (tag, reason) => {
    expect((await play("web.scrape", input, failed(tag ?? ""))).outcome).toMatchObject({ _tag: "Failure", reason })
  })

  test("an answer without results is unreadable", async () => {
    const { outcome } = await play("web.scrape", input, answer(200, { results: [] }))
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  test("leaves html, links and waiting to others", () => {
    const { serves } = offerOf(exa, "web.scrape")
    expect(serves({ ...input, format: "text" })).toBe(true)
    for (const more of [{ format: "html" }, { format: "links" }, { wait_ms: 1 }]) {
      expect(serves({ ...input, ...more })).toBe(false)
    }
  })
})

describe("exa as a whole", () => {
  const page = "https://a.example"
  const asked = [
    ["web.search", { query: "q", limit: 10, country: "us", include_domains: ["a.example"] }],
    ["people.search", { titles: ["ceo"], limit: 25 }],
    ["company.search", { query: "q", founded_min: 2000, limit: 25 }],
    ["news.search", { query: "q", country: "us" }],
    ["web.scrape", { url: page }],
    ["web.scrape", { url: page, only_main_content: false }]
  ] as const
  test.each(asked)("%s asks as the document says", (capability, input) => {
    expect(conforms(exa, offerOf(exa, capability).request(input, { run_id: runId }))).toEqual([])
  })

  test("any answer says what it has cost", () => {
    const reply = (body: unknown) => ({ status: 200, headers: {}, text: "", body })
    expect(exa.measured(reply({ costDollars: { total: 0.001 } }))).toEqual({ unit: "USD", amount: "0.001" })
    expect(exa.measured(reply({}))).toBeNull()
  })
})
