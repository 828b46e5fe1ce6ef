/** SE Ranking's offers on the shapes that its pages and its own public tools document. */
import { describe, expect, test } from "bun:test"
import { seranking } from "../../../src/layers/providers/seranking.ts"
import { seoKeywords } from "../../../src/schema/capabilities/seo.keywords.ts"
import { MicroUsd } from "../../../src/schema/money/Money.ts"
import { priceMax } from "../../../src/schema/money/Pricing.ts"
import { conforms } from "./conformance.ts"
import { reviewed } from "./example.ts"
import { answer, get, offerOf, runId, stage } from "./stage.ts"

const play = stage(seranking)
const context = { run_id: runId }
const secret = "Token s3cret-of-the/account"
/** A value of the shape, with these fields set. */
const filled = (shape: unknown, fields: object) => ({ ...Object(shape), ...fields })

describe("seranking seo.keywords", () => {
  const { _export_shape: listed, _similar_related_shape: related } = reviewed("seranking-seo.keywords.UNWIRED")
  const crm = filled(listed[0], {
    keyword: "crm software",
    volume: 12100,
    cpc: 21.5,
    competition: 0.73,
    difficulty: 68,
    history_trend: { "2026-04-01": 11000, "2026-05-01": 12000 },
    is_data_found: true
  })
  const output = {
    keyword: "crm software",
    search_volume: 12100,
    cpc: 21.5,
    competition: 73,
    difficulty: 68,
    trend: [
      { year: 2026, month: 5, volume: 12000 },
      { year: 2026, month: 4, volume: 11000 }
    ],
    intent: null
  }

  test("figures of listed keywords, also of one that the database lacks", async () => {
    const input = { keywords: ["crm software", "zxqv"], country: "US", language: "en" }
    const lacking = { keyword: "zxqv", is_data_found: false }
    const { asked, outcome } = await play("seo.keywords", input, answer(200, [crm, lacking]))
    expect(asked).toEqual([
      expect.objectContaining({
        method: "POST",
        path: "/v1/keywords/export",
        query: { source: "us" },
        secret,
        body: [
          ["keywords[]", "crm software"],
          ["keywords[]", "zxqv"]
        ]
      })
    ])
    const blank = { search_volume: null, cpc: null, competition: null, difficulty: null, trend: null, intent: null }
    expect(outcome).toEqual({
      _tag: "Match",
      output: { items: [output, { keyword: "zxqv", ...blank }], total: 2, next_cursor: null }
    })
    expect(conforms(seranking, offerOf(seranking, "seo.keywords").request(input, context))).toEqual([])
  })

  test("ideas from a seed", async () => {
    const input = { seed: "crm", country: "de", limit: 1 }
    const ideas = [
      filled(related.keywords[0], { ...crm, intents: ["C", "I"], competition: 73 }),
      filled(related.keywords[0], { keyword: "crm 2" })
    ]
    const { asked, outcome } = await play("seo.keywords", input, answer(200, { total: 1842, keywords: ideas }))
    expect(asked).toEqual([
      expect.objectContaining(
        get("/v1/keywords/related", {
          source: "de",
          keyword: "crm",
          limit: "1",
          sort: "volume",
          sort_order: "desc",
          history_trend: "true"
        })
      )
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: { items: [{ ...output, intent: "commercial" }], total: 1842, next_cursor: null }
    })
    expect(conforms(seranking, offerOf(seranking, "seo.keywords").request(input, context))).toEqual([])
  })

  const misses: ReadonlyArray<[string, unknown, string]> = [
    ["no ideas", { total: 0, keywords: [] }, "NoMatch"],
    ["another kind of answer", { total: 3 }, "Failure"],
    ["ideas without a keyword", { total: 1, keywords: [{ volume: 3 }] }, "Failure"]
  ]
  test.each(misses)("%s", async (_name, body, tag) => {
    expect((await play("seo.keywords", { seed: "crm" }, answer(200, body))).outcome?._tag).toBe(tag as never)
  })

  test("keywords that are all unknown are a miss", async () => {
    const unknown = answer(200, [{ keyword: "zxqv", is_data_found: false }])
    expect((await play("seo.keywords", { keywords: ["zxqv"] }, unknown)).outcome?._tag).toBe("NoMatch")
  })

  test("serves a country in its own language", () => {
    const { serves } = offerOf(seranking, "seo.keywords")
    expect(serves({ seed: "crm", limit: 1_000 })).toBe(true)
    expect(serves({ seed: "crm", country: "gb", language: "en-gb" })).toBe(true)
    expect(serves({ seed: "crm", country: "de", language: "en" })).toBe(false)
    expect(serves({ seed: "crm", country: "de", language: "de" })).toBe(false)
  })
})

describe("seranking seo.keywords, its price and codes", () => {
  const { price, request } = offerOf(seranking, "seo.keywords")
  const ten = { seed: "crm" }

  test("10 credits of $0.0002 are charged for each keyword that is returned, and held for each that may be", () => {
    const each = 2_400n // 10 credits × $0.0002 × 1.2
    const of = (input: unknown) => priceMax(price, seoKeywords.demand(input))
    expect(of({ keywords: Array.from({ length: 100 }, (_, index) => `k${index}`) })).toBe(MicroUsd(100n * each))
    expect(of(ten)).toBe(MicroUsd(10n * each))
    expect(price).toMatchObject({ kind: "metered", base: 0n, per_result: each })
  })

  test("asks the database uk for Great Britain", () => {
    expect(request({ ...ten, country: "GB" }, context).query).toMatchObject({ source: "uk" })
    expect(request({ ...ten, country: "us" }, context).query).toMatchObject({ source: "us" })
  })

  test("L is local", async () => {
    const body = { total: 1, keywords: [{ keyword: "plumber near me", intents: ["L"] }] }
    expect((await play("seo.keywords", ten, answer(200, body))).outcome).toMatchObject({
      output: { items: [{ keyword: "plumber near me", intent: "local" }] }
    })
  })
})

describe("seranking seo.backlinks", () => {
  const { _shape: shape, "_observed_values_seranking.com_2026-05-22": observed } = reviewed(
    "seranking-seo.backlinks.UNWIRED"
  )
  const input = { target: "https://seranking.com/", summary_only: true }

  test("the totals", async () => {
    const { asked, outcome } = await play(
      "seo.backlinks",
      input,
      answer(200, { summary: [filled(shape.summary[0], observed)] })
    )
    expect(asked).toEqual([
      expect.objectContaining({
        ...get("/v1/backlinks/summary", { target: "seranking.com", mode: "domain", output: "json" }),
        secret
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        summary: { backlinks: 508045, referring_domains: 21735, rank: 90, spam_score: null },
        items: [],
        total: 508045,
        next_cursor: null
      }
    })
  })

  test("a page, and a target without links", async () => {
    const page = { target: "seranking.com/api.html", mode: "page", summary_only: true }
    const { asked, outcome } = await play("seo.backlinks", page, answer(200, shape))
    expect(asked[0]?.query).toMatchObject({ target: "https://seranking.com/api.html", mode: "url" })
    expect(outcome?._tag).toBe("NoMatch")
    expect((await play("seo.backlinks", input, answer(200, { summary: [] }))).outcome?._tag).toBe("NoMatch")
    for (const body of [{}, { summary: [{}] }, { summary: { backlinks: 1 } }])
      expect((await play("seo.backlinks", input, answer(200, body))).outcome?._tag).toBe("Failure")
  })

  test("leaves inputs that want links to others", () => {
    const { serves } = offerOf(seranking, "seo.backlinks")
    expect(serves({ target: "seranking.com" })).toBe(false)
    expect(serves({ target: "seranking.com", summary_only: false })).toBe(false)
  })
})

describe("seranking seo.domain", () => {
  const { _overview_db_shape: overview, _overview_worldwide: worldwide } = reviewed("seranking-seo.domain.UNWIRED")
  const input = { domain: "nedave.so", country: "us", limit: 1 }
  // The fields that the description of GET /v1/domain/keywords names.
  const row = {
    keyword: "nedave",
    position: 1,
    volume: 90500,
    cpc: 1,
    difficulty: 70,
    url: "https://x.co/",
    traffic: 9
  }

  test("the overview and the top keywords, in two requests", async () => {
    const { asked, kept, outcome } = await play("seo.domain", input, answer(200, overview), answer(200, [row, row]))
    expect(asked).toEqual([
      expect.objectContaining({ ...get("/v1/domain/overview/db", { source: "us", domain: "nedave.so" }), secret }),
      expect.objectContaining({
        ...get("/v1/domain/keywords", {
          source: "us",
          domain: "nedave.so",
          type: "organic",
          order_field: "traffic",
          order_type: "desc",
          limit: "1"
        }),
        secret
      })
    ])
    // Nothing was started, so a restart begins with the first request.
    expect(kept).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        organic_keywords: 790,
        organic_traffic: 3149,
        paid_keywords: 140,
        top_keywords: [{ keyword: "nedave", position: 1, volume: 90500, url: "https://x.co/" }],
        rank: null
      }
    })
    const offer = offerOf(seranking, "seo.domain")
    for (const call of [offer.request(input, context), offer.next({}, input, context)])
      expect(conforms(seranking, call)).toEqual([])
  })

  test("figures in a list, as the captured answer has them", async () => {
    const { outcome } = await play("seo.domain", input, answer(200, worldwide), answer(200, []))
    const figures = { organic_keywords: 62145, organic_traffic: 375, paid_keywords: null }
    expect(outcome).toMatchObject({ _tag: "Match", output: { ...figures, top_keywords: [] } })
  })

  test("a domain that ranks for nothing is a miss, and is charged, so nothing else is one", async () => {
    const none = { keywords_count: 0 }
    for (const body of [
      { organic: [], adv: [] },
      { organic: none, adv: none },
      { organic: none, adv: [] }
    ])
      expect((await play("seo.domain", input, answer(200, body))).outcome?._tag).toBe("NoMatch")
    for (const body of [{}, [], { organic: { keywords: 3 }, adv: [] }, { organic: "x" }])
      expect((await play("seo.domain", input, answer(200, body))).outcome).toMatchObject({ reason: "invalid_response" })
    const { outcome } = await play("seo.domain", input, answer(200, overview), answer(200, { error: "x" }))
    expect(outcome).toMatchObject({ reason: "invalid_response" })
  })

  const failures = [
    [401, "provider_account"],
    [402, "provider_account"],
    [403, "provider_account"],
    [429, "provider_rate_limited"],
    [500, "provider_error"]
  ] as const
  test.each(failures)("HTTP %i is %s", async (status, reason) => {
    // As its pages on limits print an error.
    const error = { code: status, message: "Too Many Requests", description: "The call-rate limit has been reached." }
    const { outcome } = await play("seo.domain", input, answer(status, { error }))
    expect(outcome).toMatchObject({ _tag: "Failure", reason, detail: `HTTP ${status}: Too Many Requests` })
  })
})
