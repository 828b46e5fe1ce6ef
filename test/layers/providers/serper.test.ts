import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { serper } from "../../../src/layers/providers/serper.ts"
import { flat } from "../../../src/schema/money/Pricing.ts"
import { conforms } from "./conformance.ts"
import { answer, failed, fixture, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

const play = stage(serper)
const documented = (name: string) => {
  const file = new URL(`../../fixtures/payloads/serper/${name}.response.json`, import.meta.url)
  return answer(200, readFileSync(file, "utf8"))
}

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

  test("its price covers the second credit of more than ten results", () => {
    for (const capability of ["web.search", "news.search", "serp.search"])
      expect(offerOf(serper, capability).price).toEqual(flat("0.0024"))
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
      expect((await play("web.search", { query: "q" }, played)).outcome).toEqual(failed(reason, detail))
    })
  }
})

describe("serper serp.search", () => {
  const input = { query: "google search", country: "DE", language: "pt-BR", depth: 20 }

  test("the page as it ranks, and what it shows beside", async () => {
    const { asked, outcome } = await play("serp.search", input, fixture("serper", "web_search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search", { q: "google search", num: 20, gl: "de", hl: "pt-br", autocorrect: false }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            type: "organic",
            position: 1,
            title: "Google",
            url: "https://www.google.com/?gws_rd=ssl",
            domain: "google.com",
            snippet: "Search the world's information, including webpages, images, videos and more."
          },
          {
            type: "organic",
            position: 2,
            title: "Google Search - Stay in the Know with Your Google App",
            url: "https://www.google.com/search/about/",
            domain: "google.com",
            snippet: "Discover keeps you up to date on all your favorite topics."
          }
        ],
        features: ["knowledge_graph", "people_also_ask", "related_searches"],
        total_results: null,
        total: null,
        next_cursor: null
      }
    })
  })

  test("asks for ten results of the United States in English unless told otherwise, and for a place", async () => {
    const { asked } = await play(
      "serp.search",
      { query: "q", location: "Austin,Texas" },
      fixture("serper", "web_search")
    )
    expect(asked[0]?.body).toEqual({
      q: "q",
      num: 10,
      gl: "us",
      hl: "en",
      autocorrect: false,
      location: "Austin,Texas"
    })
  })

  test("cuts at the depth", async () => {
    const organic = Array.from({ length: 15 }, (_, index) => ({ title: `page ${index}`, position: index + 1 }))
    const { outcome } = await play("serp.search", { query: "q" }, answer(200, { organic, credits: 2 }))
    expect(outcome).toMatchObject({ output: { items: { length: 10 } }, cost: { unit: "credit", amount: "2" } })
  })

  test("leaves maps and mobile pages to others", () => {
    const { serves } = offerOf(serper, "serp.search")
    expect(serves({ query: "q", type: "organic", device: "desktop" })).toBe(true)
    expect(serves({ query: "q", type: "maps" })).toBe(false)
    expect(serves({ query: "q", device: "mobile" })).toBe(false)
  })

  test("an empty page is a miss, a page without a list is none", async () => {
    const empty = await play("serp.search", { query: "zxqv" }, fixture("serper", "web_search.no_results"))
    expect(empty.outcome).toEqual({
      _tag: "NoMatch",
      detail: "no results on the page",
      cost: { unit: "credit", amount: "1" }
    })
    const strange = await play("serp.search", { query: "q" }, answer(200, { organic: "x" }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("serper places.search", () => {
  const place = (index: number) => ({
    position: index,
    title: `Dentist ${index}`,
    address: `${index} Placeholder Street, Berlin`,
    latitude: 52.5,
    longitude: -13.4,
    rating: 4.3,
    ratingCount: 1751,
    category: "Dentist",
    phoneNumber: "+49 30 000000",
    website: "https://dentist.example/",
    cid: `1691715652499628${index}`
  })
  const page = (from: number, count: number, credits?: number) =>
    answer(200, {
      places: Array.from({ length: count }, (_, index) => place(from + index)),
      ...(credits === undefined ? {} : { credits })
    })

  test("places near a location", async () => {
    const input = { query: "dentist", location: "Berlin Mitte", country: "DE", limit: 1 }
    const { asked, outcome } = await play("places.search", input, page(1, 2, 1))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/places", { q: "dentist Berlin Mitte", gl: "de" }),
        secret: secretInHeader
      })
    ])
    const known = { phone: "+49 30 000000", website: "https://dentist.example/", place_id: "16917156524996281" }
    expect(outcome).toMatchObject({ output: { items: [known] }, cost: { unit: "credit", amount: "1" } })
    expect(outcome).not.toMatchObject({ output: { items: [{}, {}] } })
  })

  test("places as a customer got them, with what is known of each", async () => {
    const { outcome } = await play("places.search", { query: "monterrico" }, documented("places"))
    const none = { phone: null, website: null }
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            ...none,
            name: "Monterrico Racecourse",
            address: "Santiago de Surco",
            rating: 4.3,
            reviews: 1751,
            lat: -12.092340199999999,
            lng: -76.977334,
            place_id: "16917156524996281151",
            category: "Racecourse"
          },
          {
            ...none,
            name: "MONTERRICO",
            address: "Lima",
            rating: null,
            reviews: null,
            lat: -12.0463731,
            lng: -77.042754,
            place_id: "943000791941569458",
            category: "Garden"
          }
        ],
        total: null,
        next_cursor: null
      }
    })
  })

  test("turns pages until there are enough, and adds up their credits", async () => {
    const { asked, outcomes, outcome, kept } = await play(
      "places.search",
      { query: "dentist", limit: 25 },
      page(1, 10, 1),
      page(11, 10, 1),
      page(21, 10, 1)
    )
    expect(asked.map((one) => one.body)).toEqual([
      { q: "dentist" },
      { q: "dentist", page: 2 },
      { q: "dentist", page: 3 }
    ])
    expect(outcomes.slice(0, 2)).toMatchObject([
      { _tag: "Again", job: false },
      { _tag: "Again", job: false }
    ])
    expect(kept).toEqual([])
    expect(outcome).toMatchObject({ _tag: "Match", cost: { amount: "3" } })
    const names = Array.from({ length: 25 }, (_, index) => ({ name: `Dentist ${index + 1}`, rating: 4.3 }))
    expect(outcome).toMatchObject({ output: { items: names } })
  })

  test("a short page is the last one", async () => {
    const { asked, outcome } = await play("places.search", { query: "d", limit: 50 }, page(1, 10), page(11, 3))
    expect(asked).toHaveLength(2)
    expect(outcome).toMatchObject({ output: { items: { length: 13 } } })
    expect(outcome).not.toHaveProperty("cost")
  })

  test("a state of another kind starts over instead of crashing", () => {
    const call = offerOf(serper, "places.search").next({ page: "x", places: 7 }, { query: "d" }, { run_id: runId })
    expect(call.body).toEqual({ q: "d" })
  })

  test("no places", async () => {
    const { outcome } = await play("places.search", { query: "zxqv" }, page(1, 0, 1))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no places found", cost: { unit: "credit", amount: "1" } })
  })
})

describe("serper news.search", () => {
  test("articles", async () => {
    const input = { query: "technology news", country: "US", language: "en", recency: "month" }
    const { asked, outcome } = await play("news.search", input, documented("news_search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/news", { q: "technology news", num: 10, gl: "us", hl: "en", tbs: "qdr:m" }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Made-up text 169.",
            url: "https://scr.sapesa.com/news/news-details/2024/LEPE-example",
            source: "Sapesa Small Cap Research",
            published_at: "2 weeks ago",
            snippet: "Made-up text 170. internet",
            image_url: "https://encrypted-tbn0.gstatic.com/images?q=tbn:ANd9GcSoSmAkg_example"
          }
        ],
        total: null,
        next_cursor: null
      }
    })
  })

  test("no articles are a miss; news about one company are left to others", async () => {
    const { outcome } = await play("news.search", { query: "zxqv" }, answer(200, { news: [], credits: 1 }))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no articles found", cost: { unit: "credit", amount: "1" } })
    expect(offerOf(serper, "news.search").serves({ query: "q", company_domain: "example.com" })).toBe(false)
  })
})

describe("serper as a whole", () => {
  const inputs = {
    "web.search": { query: "q", limit: 50, country: "us", language: "en", recency: "day" },
    "serp.search": { query: "q", depth: 100, country: "us" },
    "places.search": { query: "q", country: "us" },
    "news.search": { query: "q", country: "us", language: "en", recency: "day", limit: 50 }
  }
  test.each(Object.entries(inputs))("%s asks as the document says", (capability, input) => {
    expect(conforms(serper, offerOf(serper, capability).request(input, { run_id: runId }))).toEqual([])
  })

  test("a place to search from is known to the live service only", () => {
    const call = offerOf(serper, "serp.search").request({ query: "q", location: "Austin" }, { run_id: runId })
    expect(conforms(serper, call)).toEqual(["body.location is no field of the document"])
  })

  test.each(["serp.search", "places.search", "news.search"])(
    "%s: no credits left, and too many calls",
    async (slug) => {
      const broke = await play(slug, { query: "q" }, answer(400, { message: "Not enough credits", statusCode: 400 }))
      expect(broke.outcome).toMatchObject({ _tag: "Failure", reason: "provider_account" })
      const busy = await play(
        slug,
        { query: "q" },
        answer(429, { message: "Too many requests" }, { "retry-after": "2" })
      )
      expect(busy.outcome).toMatchObject({ reason: "provider_rate_limited", retryAfterSeconds: 2 })
    }
  )

  test("any answer says what it has cost", () => {
    const reply = (body: unknown) => ({ status: 200, headers: {}, text: "", body })
    expect(serper.measured(reply({ credits: 2 }))).toEqual({ unit: "credit", amount: "2" })
    expect(serper.measured(reply({ organic: [] }))).toBeNull()
  })
})
