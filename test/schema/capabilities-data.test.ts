import { describe, expect, test } from "bun:test"
import type { Capability } from "../../src/schema/catalog/Capability.ts"
import { companySearch } from "../../src/schema/capabilities/company.search.ts"
import { companyTech } from "../../src/schema/capabilities/company.tech.ts"
import { jobsSearch } from "../../src/schema/capabilities/jobs.search.ts"
import { newsSearch } from "../../src/schema/capabilities/news.search.ts"
import { phoneFind } from "../../src/schema/capabilities/phone.find.ts"
import { phoneLookup } from "../../src/schema/capabilities/phone.lookup.ts"
import { placesSearch } from "../../src/schema/capabilities/places.search.ts"
import { seoBacklinks } from "../../src/schema/capabilities/seo.backlinks.ts"
import { seoDomain } from "../../src/schema/capabilities/seo.domain.ts"
import { seoKeywords } from "../../src/schema/capabilities/seo.keywords.ts"
import { serpSearch } from "../../src/schema/capabilities/serp.search.ts"
import { webScrape } from "../../src/schema/capabilities/web.scrape.ts"

const simulate = (capability: Capability, input: unknown, partial = false) =>
  capability.simulate({ input, provider: "simulated", seed: 7, partial })
const results = (capability: Capability, input: unknown, partial = false) =>
  capability.judge(simulate(capability, input, partial))?.results
const judged = (capability: Capability, change: object) =>
  capability.judge({ ...Object(simulate(capability, capability.example)), ...change })?.matched

/** What the field that counts is called, and what it may be. */
const counted: ReadonlyArray<[Capability, object, string, ReadonlyArray<number>]> = [
  [companySearch, { query: "freight" }, "limit", [1, 2, 10, 100]],
  [jobsSearch, { query: "engineer" }, "limit", [1, 2, 10, 100]],
  [serpSearch, { query: "crm" }, "depth", [10, 11, 100]],
  [placesSearch, { query: "dentist" }, "limit", [1, 2, 10, 100]],
  [newsSearch, { query: "trucks" }, "limit", [1, 2, 10, 50]],
  [seoKeywords, { seed: "crm" }, "limit", [1, 2, 10, 1000]],
  [seoBacklinks, { target: "example.com" }, "limit", [1, 2, 10, 1000]],
  [seoDomain, { domain: "example.com" }, "limit", [1, 2, 10, 100]]
]

describe("how many results", () => {
  for (const [capability, input, field, counts] of counted) {
    test(`${capability.slug} delivers as many as asked for, and one fewer when partial`, () => {
      for (const count of counts) {
        const asking = { ...input, [field]: count }
        expect(capability.demand(asking).results).toBe(count)
        expect(results(capability, asking)).toBe(count)
        expect(results(capability, asking, true)).toBe(count - 1)
      }
    })

    test(`${capability.slug} delivers 10 when nobody asked for a number`, () => {
      expect(capability.demand(input).results).toBeNull()
      expect(results(capability, input)).toBe(10)
    })
  }

  test("a list of keywords asks for all of them, whatever the limit says", () => {
    const input = { keywords: ["a", "b", "c"], seed: "d", limit: 1 }
    expect(seoKeywords.demand(input).results).toBe(3)
    expect(results(seoKeywords, input)).toBe(3)
    expect(results(seoKeywords, input, true)).toBe(2)
    expect(simulate(seoKeywords, input)).toMatchObject({
      items: [{ keyword: "a" }, { keyword: "b" }, { keyword: "c" }]
    })
  })
})

describe("what counts as a match", () => {
  test("a number that was found", () => {
    expect(judged(phoneFind, {})).toBe(true)
    expect(judged(phoneFind, { phone: null })).toBe(false)
  })
  test("every verdict on a number, and not valid is one", () => {
    expect(judged(phoneLookup, { valid: false })).toBe(true)
    expect(judged(phoneLookup, { valid: null })).toBe(true)
    expect(simulate(phoneLookup, { phone: "12" })).toMatchObject({ valid: false, line_type: null })
    expect(simulate(phoneLookup, { phone: "+1 (202) 555-0143" })).toMatchObject({ valid: true, phone: "+12025550143" })
  })
  test("at least one result", () => {
    for (const capability of [companySearch, jobsSearch, serpSearch, placesSearch, newsSearch, seoKeywords]) {
      expect([capability.slug, judged(capability, { items: [] })]).toEqual([capability.slug, false])
    }
    expect(judged(companyTech, { technologies: [] })).toBe(false)
  })
  test("a page that was read, not an error's and not an empty one", () => {
    expect(webScrape.billing.bills_no_match).toBe(false)
    expect(judged(webScrape, { status_code: null })).toBe(true)
    expect(judged(webScrape, { status_code: 399 })).toBe(true)
    expect(judged(webScrape, { status_code: 400 })).toBe(false)
    expect(judged(webScrape, { status_code: 503 })).toBe(false)
    expect(judged(webScrape, { content: null })).toBe(true)
    expect(judged(webScrape, { content: null, links: null })).toBe(false)
    expect(judged(webScrape, { content: " \n", links: [] })).toBe(false)
  })
  test("backlinks in the summary, also when the filters leave none to list", () => {
    const summary = { backlinks: 0, referring_domains: 0, rank: 0, spam_score: null }
    expect(judged(seoBacklinks, { items: [] })).toBe(true)
    expect(judged(seoBacklinks, { items: [], summary })).toBe(false)
    expect(judged(seoBacklinks, { items: [], summary: null })).toBe(false)
    expect(judged(seoBacklinks, { summary: null })).toBe(true)
  })
  test("any figure above zero of a domain", () => {
    const nothing = { organic_keywords: 0, organic_traffic: 0, paid_keywords: null, top_keywords: [], rank: null }
    expect(judged(seoDomain, nothing)).toBe(false)
    expect(judged(seoDomain, { ...nothing, organic_traffic: 0.5 })).toBe(true)
    expect(judged(seoDomain, { ...nothing, rank: 12 })).toBe(true)
  })
})

test("a company is founded when it was asked for", () => {
  const years = (input: object) => {
    const { items } = Object(simulate(companySearch, input))
    return items.map((one: { founded_year: number }) => one.founded_year)
  }
  for (const year of years({ founded_min: 2020, founded_max: 2021 })) expect([2020, 2021]).toContain(year)
  for (const year of years({ founded_max: 1900 })) expect(year).toBeLessThanOrEqual(1900)
})
