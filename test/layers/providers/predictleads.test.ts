import { describe, expect, test } from "bun:test"
import { predictleads } from "../../../src/layers/providers/predictleads.ts"
import { inCredits } from "../../../src/schema/money/Rates.ts"
import { altered, example } from "./example.ts"
import { answer, get, offerOf, stage } from "./stage.ts"

const play = stage(predictleads)
const nothing = altered("predictleads", "company", (body) => ({ ...Object(body), data: [] }))

describe("predictleads company.enrich", () => {
  const input = { domain: "Acme.example" }

  test("a company and its headquarters", async () => {
    const { asked, outcome } = await play("company.enrich", input, example("predictleads", "company"))
    expect(asked).toMatchObject([get("/api/v3/companies/acme.example", {})])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        name: "Acme",
        domain: "acme.example",
        website: "https://acme.example",
        location: { city: "Austin", region: "Texas", country: "United States" },
        description: "Acme makes anvils.",
        provider_ids: { predictleads: "a0383c53-8142-5e7c-8ca3-9980289a3ccc" }
      }
    })
  })

  test("the two secrets go in their headers, and a company that it does not know is a miss", async () => {
    const { asked, outcome } = await play("company.enrich", input, nothing)
    expect(Object.keys(asked[0]?.headers ?? {})).toEqual(expect.arrayContaining(["x-api-key", "x-api-token"]))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "the company is not known" })
    expect(offerOf(predictleads, "company.enrich").serves({ name: "Acme" })).toBe(false)
  })

  const failures = [
    [answer(401, {}), "provider_account"],
    [answer(402, {}), "provider_account"],
    [answer(404, {}), "provider_error"],
    [answer(429, {}), "provider_rate_limited"],
    [answer(200, { meta: {} }), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`HTTP ${played.status} is ${reason}`, async () => {
      expect((await play("company.enrich", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("predictleads company.tech", () => {
  test("the names of what its rows refer to", async () => {
    const { asked, outcome } = await play(
      "company.tech",
      { domain: "acme.example" },
      example("predictleads", "technology_detections")
    )
    expect(asked).toMatchObject([get("/api/v3/companies/acme.example/technology_detections", { limit: "1000" })])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        domain: "acme.example",
        technologies: [{ name: "ElevenLabs", category: null }],
        detected_at: "2026-08-14T19:14:52Z"
      }
    })
    expect((await play("company.tech", { domain: "acme.example" }, nothing)).outcome?._tag).toBe("NoMatch")
  })
})

describe("predictleads jobs.search", () => {
  test("the openings of one company", async () => {
    const input = { company_domain: "acme.example", limit: 1 }
    const { asked, outcome } = await play("jobs.search", input, example("predictleads", "job_openings"))
    expect(asked).toMatchObject([
      get("/api/v3/companies/acme.example/job_openings", { active_only: "true", limit: "1" })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Account Executive",
            company_name: "Acme, Inc.",
            company_domain: "acme.example",
            location: null,
            url: "https://acme.example/careers/1",
            posted_at: "2026-08-19T20:01:53Z",
            employment_type: "full_time",
            salary_min: null,
            salary_max: null,
            currency: null,
            remote: null,
            description: "# Account Executive"
          }
        ],
        total: null,
        next_cursor: null
      }
    })
  })

  test("titles of all companies, a credit a posting", async () => {
    const input = { query: "dentist" }
    const { asked, outcome } = await play("jobs.search", input, example("predictleads", "discover_job_openings"))
    expect(asked).toMatchObject([
      get("/api/v3/discover/job_openings", { title: "dentist", active_only: "true", limit: "10" })
    ])
    expect(outcome).toMatchObject({ output: { items: [{ title: "Supervisory Dentist (Remote)", remote: true }] } })
    const { rate, serves } = offerOf(predictleads, "jobs.search")
    expect(rate).toEqual(inCredits.metered("0", "1", 10))
    // Narrower searches are for others.
    for (const more of [{ company_domain: "acme.example" }, { company_name: "Acme" }, { location: "Berlin" }])
      expect(serves({ query: "dentist", ...more })).toBe(false)
    expect((await play("jobs.search", input, nothing)).outcome?._tag).toBe("NoMatch")
  })
})
