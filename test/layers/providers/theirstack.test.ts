import { describe, expect, test } from "bun:test"
import { theirstack } from "../../../src/layers/providers/theirstack.ts"
import { inCredits } from "../../../src/schema/money/Rates.ts"
import { altered, example } from "./example.ts"
import { answer, offerOf, post, secretAsBearer, stage } from "./stage.ts"

const play = stage(theirstack)

describe("theirstack jobs.search", () => {
  const input = { query: "data engineer", company_domain: "Acme.example", company_name: "Acme", limit: 5 }

  test("asks for one employer, and reads a posting", async () => {
    const { asked, outcome } = await play("jobs.search", input, example("theirstack", "jobs_search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v1/jobs/search", {
          company_domain_or: ["acme.example"],
          job_title_or: ["data engineer"],
          posted_at_max_age_days: 365,
          limit: 5
        }),
        secret: secretAsBearer
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Senior Data Engineer",
            company_name: "Acme",
            company_domain: "acme.example",
            location: "Lyon, 69000",
            url: "https://acme.example/careers/1234",
            posted_at: "2026-01-01",
            employment_type: "full_time",
            salary_min: 80_000,
            salary_max: 90_000,
            currency: "EUR",
            remote: true,
            description: "..."
          }
        ],
        total: 2034,
        next_cursor: null
      }
    })
  })

  test("a place is text and no pattern, and a name needs no capitals", async () => {
    const narrow = { company_name: "acme", location: "St. Louis (MO)", remote: false, posted_within_days: 7 }
    const { asked } = await play("jobs.search", narrow, answer(200, { data: [] }))
    expect(asked[0]?.body).toEqual({
      company_name_case_insensitive_or: ["acme"],
      job_location_pattern_or: ["St\\. Louis \\(MO\\)"],
      remote: false,
      posted_at_max_age_days: 7,
      limit: 10
    })
  })

  test("delivers no more postings than it quoted, each for a credit", async () => {
    const twice = altered("theirstack", "jobs_search", (body) => {
      const { data, ...rest } = Object(body)
      return { ...rest, data: [...data, ...data] }
    })
    const { outcome } = await play("jobs.search", { ...input, limit: 1 }, twice)
    expect(outcome).toMatchObject({ output: { items: [{ title: "Senior Data Engineer" }] } })
    expect(offerOf(theirstack, "jobs.search").rate).toEqual(inCredits.metered("0", "1", 10))
  })

  const failures = [
    [answer(402, { error: { code: "E-402", title: "Payment Required" } }), "provider_account"],
    [answer(422, { error: { title: "Unprocessable" } }), "provider_error"],
    [answer(429, {}, { "retry-after": "1" }), "provider_rate_limited"],
    [answer(500, "x"), "provider_error"],
    [answer(200, { rows: [] }), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`HTTP ${played.status} is ${reason}`, async () => {
      expect((await play("jobs.search", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }

  test("no rows are a miss", async () => {
    const none = await play("jobs.search", input, answer(200, { data: [] }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no jobs found" })
  })
})

describe("theirstack company.tech", () => {
  const input = { domain: "Acme.example" }

  test("technologies that its postings make likely", async () => {
    const { asked, outcome } = await play("company.tech", input, example("theirstack", "companies_technologies"))
    expect(asked).toMatchObject([
      post("/v1/companies/technologies", { company_domain: "acme.example", confidence_or: ["medium", "high"] })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        domain: "acme.example",
        technologies: [{ name: "PostgreSQL", category: "Relational Database" }],
        detected_at: null
      }
    })
  })

  test("none are a miss, which the provider does not charge", async () => {
    for (const data of [[], [{ technology: { name: null } }]]) {
      const { outcome } = await play("company.tech", input, answer(200, { data }))
      expect(outcome).toEqual({ _tag: "NoMatch", detail: "no technologies found" })
    }
    expect(offerOf(theirstack, "company.tech").rate).toEqual(inCredits.flat("3"))
  })
})
