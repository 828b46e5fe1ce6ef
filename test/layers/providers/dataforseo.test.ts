import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { dataforseo } from "../../../src/layers/providers/dataforseo/index.ts"
import {
  countryCode,
  countryOf,
  isCountry,
  languageCode,
  placeName
} from "../../../src/layers/providers/dataforseo/locale.ts"
import { serpSearch } from "../../../src/schema/capabilities/serp.search.ts"
import * as Money from "../../../src/schema/money/Money.ts"
import { priceMax } from "../../../src/schema/money/Pricing.ts"
import { answer, offerOf, post, stage } from "./stage.ts"

const play = stage(dataforseo)

/** An answer of the provider as the shared examples have it. */
const documented = (name: string, status = 200) => {
  const file = new URL(`../../fixtures/payloads/dataforseo/${name}.response.json`, import.meta.url)
  return answer(status, readFileSync(file, "utf8"))
}
/** An answer around one task. */
const finished = (result: unknown, cost = 0.002) =>
  answer(200, {
    status_code: 20000,
    status_message: "Ok.",
    cost,
    tasks: [{ id: "08200612-3752-0139-0000-f28749f5efcd", status_code: 20000, cost, result_count: 1, result: [result] }]
  })
const stopped = (status_code: number, status_message: string, cost = 0) =>
  answer(200, {
    status_code: 20000,
    cost,
    tasks: [{ id: "08200612-3752-0139-0000-f28749f5efcd", status_code, status_message, result_count: 0, result: null }]
  })
const usd = (amount: string) => ({ unit: "USD", amount }) as const

describe("what a task's status means", () => {
  const input = { query: "cash for kasa surovi" }
  const cases = [
    [documented("unauthorized", 401), "provider_account", "40100: You are not Authorized"],
    [documented("task_error"), "provider_rejected", "40501: Invalid Field: 'keyword'."],
    [answer(401, "no"), "provider_account", "HTTP 401"],
    [answer(402, { status_code: 40200, status_message: "Payment Required." }), "provider_account", "40200: Payment"],
    [answer(429, {}), "provider_rate_limited", "HTTP 429"],
    [answer(200, { status_code: 50000, status_message: "Internal Error." }), "provider_error", "50000: Internal"],
    [stopped(40101, "Internal SE Server Error."), "provider_error", "40101: Internal SE Server Error."],
    [stopped(40104, "Please verify your account."), "provider_account", "40104"],
    [stopped(40202, "The rate limit per minute has been exceeded."), "provider_rate_limited", "40202"],
    [stopped(40210, "Insufficient Funds."), "provider_account", "40210"],
    [stopped(40301, "Access denied."), "provider_account", "40301"],
    [stopped(50401, "Timeout."), "provider_error", "50401"]
  ] as const
  test.each(cases)("%j is %s", async (played, reason, detail) => {
    const { outcome } = await play("serp.search", input, played)
    expect(outcome).toMatchObject({ _tag: "Failure", reason, detail: expect.stringContaining(detail) })
  })

  test("no search results are a miss, at what they have cost", async () => {
    const none = await play("serp.search", input, documented("no_results"))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no results on the page", cost: usd("0") })
    const charged = await play("serp.search", input, stopped(40102, "No Search Results.", 0.002))
    expect(charged.outcome).toMatchObject({ _tag: "NoMatch", cost: usd("0.002") })
    const empty = await play("serp.search", input, finished({ items_count: 0, items: null }))
    expect(empty.outcome).toMatchObject({ _tag: "NoMatch" })
    const nothing = await play("serp.search", input, stopped(20000, "Ok.", 0.002))
    expect(nothing.outcome).toMatchObject({ _tag: "NoMatch" })
  })

  test("an answer without a result is no miss", async () => {
    const strange = [
      answer(200, { status_code: 20000, tasks: [] }),
      answer(200, { status_code: 20000, tasks: [{ status_code: 20000, result: null }] }),
      answer(200, { tasks: [{ result: [{ items: [] }] }] }),
      finished({ items: "x" }),
      finished({ items: null }),
      stopped(40602, "Task In Queue.")
    ]
    for (const played of strange) {
      expect((await play("serp.search", input, played)).outcome).toMatchObject({ reason: "invalid_response" })
    }
  })

  test("partial results are results, and of several tasks the first counts", async () => {
    const partial = await play("serp.search", input, documented("partial_results"))
    expect(partial.outcome).toMatchObject({
      output: { items: [{ title: "Ridoke Talumo", domain: "example.com" }] }
    })
    const mixed = await play("serp.search", input, documented("mixed_batch"))
    expect(mixed.outcome).toEqual({ _tag: "NoMatch", detail: "no results on the page", cost: usd("0.002") })
  })

  test("any answer says what it has cost", () => {
    const reply = (body: unknown) => ({ status: 200, headers: {}, text: "", body })
    expect(dataforseo.measured(reply({ cost: 0.0155 }))).toEqual(usd("0.0155"))
    expect(dataforseo.measured(reply({ cost: 0 }))).toEqual(usd("0"))
    expect(dataforseo.measured(reply({}))).toBeNull()
  })
})

describe("dataforseo serp.search", () => {
  test("the page as it ranks", async () => {
    const input = { query: "cash for kasa surovi", country: "AU", depth: 100 }
    const { asked, outcome } = await play("serp.search", input, documented("serp.google.organic.live.advanced"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v3/serp/google/organic/live/advanced", [
          {
            keyword: "cash for kasa surovi",
            location_code: 2036,
            language_code: "en",
            device: "desktop",
            depth: 100
          }
        ]),
        secret: expect.stringMatching(/^Basic /)
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            type: "organic",
            position: 13,
            title: "Made-up text 117.",
            url: "https://www.cash-for-kasa-surovi.com.au/cash-for-kasa/",
            domain: "cash-for-kasa-surovi.com.au",
            snippet: null
          },
          {
            type: "organic",
            position: 40,
            title: "Cash For Kasa Surovi | Romo Removal Surovi",
            url: "https://www.cash-for-kasa-surovi.com.au/",
            domain: "cash-for-kasa-surovi.com.au",
            snippet: null
          }
        ],
        features: ["local_pack", "people_also_ask", "related_searches"],
        total_results: 119,
        total: 119,
        next_cursor: null
      },
      cost: usd("0.0155")
    })
  })

  test("a mobile page of a place, with a keyword that is taken as it is written", async () => {
    const input = { query: "c++ 100%", location: "Austin, Texas", language: "pt-br", device: "mobile" }
    const { asked } = await play("serp.search", input, documented("no_results"))
    expect(asked[0]?.body).toEqual([
      {
        keyword: "c%2B%2B 100%25",
        location_name: "Austin,Texas,United States",
        language_code: "pt-BR",
        device: "mobile",
        depth: 10
      }
    ])
  })

  test("what is no result stays out, and what is beyond the depth", async () => {
    const organic = Array.from({ length: 12 }, (_, index) => ({
      type: "organic",
      rank_absolute: index + 2,
      title: `Page ${index}`,
      description: "About it",
      url: `https://site-${index}.example/`
    }))
    const items = [{ type: "people_also_ask", rank_absolute: 1, items: [] }, ...organic]
    const { outcome } = await play("serp.search", { query: "q" }, finished({ item_types: null, items }))
    expect(outcome).toMatchObject({
      output: {
        items: { length: 10, 0: { position: 2, snippet: "About it", domain: "site-0.example" } },
        features: [],
        total_results: null
      }
    })
  })

  test("places on the map", async () => {
    const items = [
      { type: "maps_search", rank_absolute: 1, title: "Dentist", snippet: "1 Street", domain: "www.d.example" }
    ]
    const { asked, outcome } = await play(
      "serp.search",
      { query: "dentist", type: "maps" },
      finished({ item_types: ["maps_search"], items })
    )
    expect(asked[0]).toMatchObject({
      path: "/v3/serp/google/maps/live/advanced",
      body: [{ keyword: "dentist", depth: 10 }]
    })
    expect(outcome).toMatchObject({
      output: {
        items: [{ type: "maps", position: 1, url: null, domain: "d.example", snippet: "1 Street" }],
        features: []
      }
    })
  })

  test("letters that are no country are left to others", () => {
    expect(offerOf(dataforseo, "serp.search").serves({ query: "q", country: "qq" })).toBe(false)
    expect(offerOf(dataforseo, "serp.search").serves({ query: "q", country: "de" })).toBe(true)
  })
})

describe("dataforseo news.search", () => {
  const article = {
    type: "news_search",
    rank_absolute: 2,
    domain: "www.news.example",
    title: "Trucks",
    url: "https://www.news.example/trucks",
    image_url: "https://www.news.example/trucks.jpg",
    snippet: "About trucks",
    time_published: "3 days ago",
    timestamp: "2026-08-20 06:12:33 +00:00"
  }
  const story = {
    type: "top_story",
    source: "The Times",
    title: "Top",
    date: "1 hour ago",
    url: "https://t.example/top"
  }

  test("articles, those of the headlines first", async () => {
    const input = { query: "electric trucks", country: "de", language: "de", recency: "month" }
    const played = finished({ se_results_count: 7, items: [{ type: "top_stories", items: [story] }, article] })
    const { asked, outcome } = await play("news.search", input, played)
    expect(asked[0]).toMatchObject(
      post("/v3/serp/google/news/live/advanced", [
        {
          keyword: "electric trucks",
          location_code: 2276,
          language_code: "de",
          depth: 10,
          search_param: "&tbs=qdr:m"
        }
      ])
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Top",
            url: "https://t.example/top",
            source: "The Times",
            published_at: "1 hour ago",
            snippet: null,
            image_url: null
          },
          {
            title: "Trucks",
            url: "https://www.news.example/trucks",
            source: "news.example",
            published_at: "2026-08-20T06:12:33Z",
            snippet: "About trucks",
            image_url: "https://www.news.example/trucks.jpg"
          }
        ],
        total: 7,
        next_cursor: null
      },
      cost: usd("0.002")
    })
  })

  test("cuts at the limit, and leaves more than a page to others", async () => {
    const { outcome } = await play("news.search", { query: "q", limit: 1 }, finished({ items: [article, article] }))
    expect(outcome).toMatchObject({ output: { items: { length: 1 } } })
    const { serves } = offerOf(dataforseo, "news.search")
    expect(serves({ query: "q", limit: 10 })).toBe(true)
    for (const more of [{ limit: 11 }, { company_domain: "a.example" }, { country: "qq" }]) {
      expect(serves({ query: "q", ...more })).toBe(false)
    }
  })

  test("no articles", async () => {
    const { outcome } = await play("news.search", { query: "zxqv" }, documented("no_results"))
    expect(outcome).toMatchObject({ _tag: "NoMatch", detail: "no articles found" })
  })
})

describe("dataforseo places.search", () => {
  const place = {
    type: "maps_search",
    title: "Zahnarzt",
    address: "1 Placeholder Street",
    phone: "+49 30 000000",
    url: "https://zahnarzt.example/",
    rating: { value: 4.5, votes_count: 12 },
    latitude: 52.5,
    longitude: 13.4,
    place_id: "ChIJ0",
    category: "Dentist"
  }

  test("places without advertisements", async () => {
    const input = { query: "dentist", location: "Berlin Mitte", country: "DE", limit: 20 }
    const items = [{ ...place, type: "maps_paid_item", title: "Ad" }, place]
    const { asked, outcome } = await play("places.search", input, finished({ items }))
    expect(asked[0]).toMatchObject(
      post("/v3/serp/google/maps/live/advanced", [
        { keyword: "dentist Berlin Mitte", location_code: 2276, language_code: "en", depth: 20 }
      ])
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            name: "Zahnarzt",
            address: "1 Placeholder Street",
            phone: "+49 30 000000",
            website: "https://zahnarzt.example/",
            rating: 4.5,
            reviews: 12,
            lat: 52.5,
            lng: 13.4,
            place_id: "ChIJ0",
            category: "Dentist"
          }
        ],
        total: null,
        next_cursor: null
      },
      cost: usd("0.002")
    })
  })

  test("cuts at the limit; advertisements alone are a miss", async () => {
    const { outcome } = await play("places.search", { query: "d", limit: 1 }, finished({ items: [place, place] }))
    expect(outcome).toMatchObject({ output: { items: { length: 1 } } })
    const ads = await play("places.search", { query: "d" }, finished({ items: [{ ...place, type: "maps_paid_item" }] }))
    expect(ads.outcome).toEqual({ _tag: "NoMatch", detail: "no places found", cost: usd("0.002") })
  })
})

describe("places and languages", () => {
  test("countries have the numbers of ISO 3166-1, and 2000", () => {
    expect(["us", "GB", "de", "au", "af", "in"].map(countryCode)).toEqual([2840, 2826, 2276, 2036, 2004, 2356])
    expect(countryCode(undefined)).toBe(2840)
    expect(isCountry("zz")).toBe(false)
    const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))
    const all = letters.flatMap((first) => letters.map((second) => `${first}${second}`)).filter(isCountry)
    expect(all).toHaveLength(249)
    expect(new Set(all.map(countryCode)).size).toBe(249)
  })

  test("the country that a place ends with", () => {
    expect(countryOf("London, United Kingdom")).toBe("GB")
    expect(countryOf("uk")).toBe("GB")
    expect(countryOf("germany")).toBe("DE")
    expect(countryOf("Berlin")).toBeUndefined()
    expect(countryOf(undefined)).toBeUndefined()
  })

  test("the full name of a place", () => {
    expect(placeName("Austin,Texas,United States", "us")).toBe("Austin,Texas,United States")
    expect(placeName("Bavaria", "de")).toBe("Bavaria,Germany")
    expect(placeName("Austin", undefined)).toBe("Austin,United States")
  })

  test("languages, and their few variants", () => {
    expect(["de", "DE-at", "zh-tw", "pt-BR", undefined].map(languageCode)).toEqual(["de", "de", "zh-TW", "pt-BR", "en"])
  })
})

test("a page of serp.search costs $0.002, and each further ten results three quarters of that", () => {
  const { price } = offerOf(dataforseo, "serp.search")
  const holds = (depth?: number) =>
    Money.usd(priceMax(price, serpSearch.demand({ query: "coffee", ...(depth === undefined ? {} : { depth }) })))
  // Times the markup of 1.2. Captured calls cost $0.002 at depth 10, and $0.0155 at depth 100.
  expect([undefined, 10, 11, 20, 100].map(holds)).toEqual(["0.0024", "0.0024", "0.0042", "0.0042", "0.0186"])
})
