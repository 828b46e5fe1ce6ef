import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { firecrawl } from "../../../src/layers/providers/firecrawl.ts"
import { conforms } from "./conformance.ts"
import { answer, failed, fixture, offerOf, post, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(firecrawl)
const documented = (name: string, status = 200) => {
  const file = new URL(`../../fixtures/payloads/firecrawl/${name}.response.json`, import.meta.url)
  return answer(status, readFileSync(file, "utf8"))
}
const input = { query: "firecrawl web scraping", limit: 3, country: "us" }

describe("firecrawl web.search", () => {
  test("pages", async () => {
    const { asked, outcome } = await play("web.search", input, fixture("firecrawl", "search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v2/search", { query: "firecrawl web scraping", limit: 3, sources: [{ type: "web" }], country: "US" }),
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
      sources: [{ type: "web" }],
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
      expect((await play("web.search", input, played)).outcome).toEqual(failed(reason, detail))
    })
  }
})

describe("firecrawl web.scrape", () => {
  const page = { url: "https://firecrawl.dev" }

  test("a page as markdown", async () => {
    const { asked, outcome } = await play("web.scrape", page, documented("scrape"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v2/scrape", {
          url: "https://firecrawl.dev",
          formats: [{ type: "markdown" }, { type: "links" }],
          onlyMainContent: true,
          parsers: [{ type: "pdf", maxPages: 1 }]
        }),
        secret: secretAsBearer
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url: "https://firecrawl.dev",
        final_url: "https://firecrawl.dev",
        status_code: 200,
        title: "Home - Firecrawl",
        content: expect.stringMatching(/^Launch Week I is here!/),
        links: null,
        metadata: {
          description: "Firecrawl (made-up text 120) markdown",
          language: "en",
          keywords: "Firecrawl,Markdown,Data,Napelu,Nedosa",
          robots: "follow, index",
          ogTitle: "Firecrawl",
          ogDescription: "Turn any website into LLM-ready data.",
          ogUrl: "https://www.firecrawl.dev/",
          ogImage: "https://www.firecrawl.dev/og.png?123",
          ogSiteName: "Firecrawl",
          contentType: "text/html"
        }
      }
    })
  })

  test("html with all of the page, after a pause", async () => {
    const more = { ...page, format: "html", only_main_content: false, wait_ms: 3000 }
    const { asked, outcome } = await play("web.scrape", more, documented("scrape"))
    expect(asked[0]?.body).toMatchObject({
      formats: [{ type: "html" }, { type: "links" }],
      onlyMainContent: false,
      waitFor: 3000
    })
    expect(outcome).toMatchObject({ output: { content: expect.stringMatching(/^<!DOCTYPE html>/) } })
  })

  test("links, with the address after redirects and the credits of the call", async () => {
    const data = {
      links: ["https://a.example/1", 7, "https://a.example/2"],
      metadata: { sourceURL: page.url, url: "https://www.firecrawl.dev/", statusCode: 200, creditsUsed: 1 }
    }
    const { asked, outcome } = await play(
      "web.scrape",
      { ...page, format: "links" },
      answer(200, { success: true, data })
    )
    expect(asked[0]?.body).toMatchObject({ formats: [{ type: "links" }] })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url: page.url,
        final_url: "https://www.firecrawl.dev/",
        status_code: 200,
        title: null,
        content: null,
        links: ["https://a.example/1", "https://a.example/2"],
        metadata: {}
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("an error page and an empty one are misses", async () => {
    const data = (statusCode: number, markdown: string) =>
      answer(200, { success: true, data: { markdown, metadata: { statusCode } } })
    expect((await play("web.scrape", page, data(404, "# Not found"))).outcome).toEqual({
      _tag: "NoMatch",
      detail: "the page answered HTTP 404"
    })
    expect((await play("web.scrape", page, data(200, " "))).outcome).toMatchObject({ detail: "the page is empty" })
    const links = { ...page, format: "links" }
    expect((await play("web.scrape", links, data(200, "x"))).outcome).toMatchObject({ detail: "the page has no links" })
  })

  const failures = [
    [documented("scrape.402", 402), "provider_account"],
    [answer(408, { success: false, error: "Request timed out" }), "provider_timeout"],
    [documented("scrape.429", 429), "provider_rate_limited"],
    [documented("scrape.500", 500), "provider_error"],
    [answer(200, { success: false, error: "no" }), "provider_error"],
    [answer(200, { success: true, data: [] }), "invalid_response"]
  ] as const
  test.each(failures)("%j is %s", async (played, reason) => {
    expect((await play("web.scrape", page, played)).outcome).toMatchObject({ _tag: "Failure", reason })
  })

  test("leaves plain text and PDFs to others", () => {
    const { serves } = offerOf(firecrawl, "web.scrape")
    expect(serves({ ...page, format: "links" })).toBe(true)
    expect(serves({ ...page, format: "text" })).toBe(false)
    expect(serves({ url: "https://a.example/report.PDF?x=1" })).toBe(false)
    for (const host of [
      "x.com",
      "X.com",
      "mobile.twitter.com",
      "twitter.com.",
      "ｘ.com",
      "a@x.com:443",
      "t.co",
      "T.co."
    ]) {
      expect([host, serves({ url: `https://${host}/somebody` })]).toEqual([host, false])
    }
    for (const url of ["https://netflix.com/x.com", "https://best.com/a", "https://best.co/a"])
      expect([url, serves({ url })]).toEqual([url, true])
    expect(serves({ url: "https://a.example/pdf" })).toBe(true)
  })
})

describe("firecrawl as a whole", () => {
  const asked = [
    ["web.search", { query: "q", country: "us", recency: "day", include_domains: ["a.example"] }],
    ["web.scrape", { url: "https://a.example", format: "markdown", wait_ms: 10 }],
    ["web.scrape", { url: "https://a.example", format: "links" }]
  ] as const
  test.each(asked)("%s asks as the document says", (capability, given) => {
    expect(conforms(firecrawl, offerOf(firecrawl, capability).request(given, { run_id: runId }))).toEqual([])
  })

  test("any answer says what it has cost", () => {
    const reply = (body: unknown) => ({ status: 200, headers: {}, text: "", body })
    expect(firecrawl.measured(reply({ creditsUsed: 4 }))).toEqual({ unit: "credit", amount: "4" })
    expect(firecrawl.measured(reply({ data: { metadata: { creditsUsed: 1 } } }))).toMatchObject({ amount: "1" })
    expect(firecrawl.measured(reply({}))).toBeNull()
  })
})
