import { describe, expect, test } from "bun:test"
import { hasdata } from "../../../src/layers/providers/hasdata.ts"
import { altered, example } from "./example.ts"
import { answer, get, offerOf, secretInHeader, stage } from "./stage.ts"

const play = stage(hasdata)
const empty = answer(200, { requestMetadata: { id: "1", status: "ok" } })

describe("hasdata serp.search", () => {
  const input = { query: "best running shoes", country: "US", language: "EN", device: "mobile", depth: 10 }

  test("the results page", async () => {
    const { asked, outcome } = await play("serp.search", input, example("hasdata", "google_serp"))
    const query = { q: "best running shoes", gl: "us", hl: "en", deviceType: "mobile" }
    expect(asked).toEqual([expect.objectContaining({ ...get("/scrape/google/serp", query), secret: secretInHeader })])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            type: "organic",
            position: 1,
            title: "The Best Running Shoes",
            url: "https://www.example.com/best-running-shoes/",
            domain: "example.com",
            snippet: "Our No. 1 shoe when we recommend new trainers…"
          }
        ],
        features: ["aiOverview", "relatedQuestions"],
        total_results: null,
        total: null,
        next_cursor: null
      }
    })
  })

  test("an empty page is answered, nonsense is not, and more pages or the map are for others", async () => {
    expect((await play("serp.search", input, empty)).outcome).toMatchObject({ _tag: "Match", output: { items: [] } })
    const strange = await play("serp.search", input, answer(200, { requestMetadata: { status: "error" } }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    const { serves } = offerOf(hasdata, "serp.search")
    expect([serves({ query: "q" }), serves({ query: "q", depth: 11 }), serves({ query: "q", type: "maps" })]).toEqual([
      true,
      false,
      false
    ])
  })
})

describe("hasdata web.search", () => {
  test("pages", async () => {
    const input = { query: "running shoes", recency: "week", exclude_domains: ["a.example"], limit: 5 }
    const { asked, outcome } = await play("web.search", input, example("hasdata", "google_light_serp"))
    expect(asked).toMatchObject([
      get("/scrape/google-light/serp", { q: "running shoes -site:a.example", tbs: "qdr:w" })
    ])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          {
            title: "The Best Running Shoes",
            url: "https://www.example.com/best-running-shoes/",
            published_at: "Jan 5, 2026",
            position: 1
          }
        ]
      }
    })
    expect((await play("web.search", input, empty)).outcome).toEqual({ _tag: "NoMatch", detail: "no pages found" })
    expect(offerOf(hasdata, "web.search").serves({ query: "q", limit: 11 })).toBe(false)
  })
})

describe("hasdata news.search", () => {
  test("articles", async () => {
    const input = { query: "electric trucks", country: "US" }
    const { asked, outcome } = await play("news.search", input, example("hasdata", "google_news"))
    expect(asked).toMatchObject([get("/scrape/google/news", { q: "electric trucks", gl: "us" })])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Electric trucks on the road",
            url: "https://news.example/trucks",
            source: "Example Times",
            published_at: "2026-07-06T19:49:00.000Z",
            snippet: null,
            image_url: "https://news.example/trucks.png"
          }
        ],
        total: null,
        next_cursor: null
      }
    })
    expect((await play("news.search", input, empty)).outcome).toEqual({ _tag: "NoMatch", detail: "no articles found" })
    expect(offerOf(hasdata, "news.search").serves({ ...input, recency: "day" })).toBe(false)
  })
})

describe("hasdata places.search", () => {
  test("places", async () => {
    const input = { query: "coffee", location: "Seattle" }
    const { asked, outcome } = await play("places.search", input, example("hasdata", "google_maps_search"))
    expect(asked).toMatchObject([get("/scrape/google-maps/search", { q: "coffee Seattle" })])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          {
            name: "Example Coffee",
            address: "1 Example Ave, Seattle, WA 98104",
            website: "https://coffee.example/",
            rating: 4.9,
            reviews: 117,
            place_id: "ChIJAb0KE0RrkFQRuI4X0By5Mcw",
            category: "Coffee shop"
          }
        ]
      }
    })
    expect((await play("places.search", input, empty)).outcome).toEqual({ _tag: "NoMatch", detail: "no places found" })
    expect(offerOf(hasdata, "places.search").serves({ query: "q", limit: 21 })).toBe(false)
  })
})

describe("hasdata jobs.search", () => {
  const input = { query: "developer", location: "Springfield" }

  test("postings", async () => {
    const { asked, outcome } = await play("jobs.search", input, example("hasdata", "indeed_listing"))
    expect(asked).toMatchObject([get("/scrape/indeed/listing", { keyword: "developer", location: "Springfield" })])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Application Developer",
            company_name: "Example Inc",
            location: "Springfield, CT 06901",
            posted_at: "2025-06-03T17:22:54.869Z",
            employment_type: "Full-time",
            salary_min: 80_000,
            salary_max: 150_000
          }
        ]
      }
    })
  })

  test("a salary by the hour is left out", async () => {
    const hourly = altered("hasdata", "indeed_listing", (body) => ({
      ...Object(body),
      jobs: [{ title: "Developer", salary: { min: 60.5, max: 65, type: "HOURLY" } }]
    }))
    expect((await play("jobs.search", input, hourly)).outcome).toMatchObject({
      output: { items: [{ salary_min: null, salary_max: null }] }
    })
  })

  test("needs words and a place, and leaves other filters to others", async () => {
    expect((await play("jobs.search", input, empty)).outcome).toEqual({ _tag: "NoMatch", detail: "no jobs found" })
    const { serves } = offerOf(hasdata, "jobs.search")
    expect(serves(input)).toBe(true)
    expect(serves({ query: "developer" })).toBe(false)
    for (const more of [{ remote: true }, { company_name: "a" }, { posted_within_days: 1 }, { limit: 11 }])
      expect(serves({ ...input, ...more })).toBe(false)
  })

  const failures = [
    [answer(401, {}), "provider_account"],
    [answer(422, {}), "provider_rejected"],
    [answer(429, {}, { "retry-after": "1" }), "provider_rate_limited"],
    [answer(500, "x"), "provider_error"]
  ] as const
  for (const [played, reason] of failures) {
    test(`HTTP ${played.status} is ${reason}`, async () => {
      expect((await play("jobs.search", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})
