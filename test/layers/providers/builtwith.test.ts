import { describe, expect, test } from "bun:test"
import { builtwith } from "../../../src/layers/providers/builtwith.ts"
import { flat } from "../../../src/schema/money/Pricing.ts"
import { altered, example } from "./example.ts"
import { answer, get, offerOf, stage } from "./stage.ts"

const play = stage(builtwith)

describe("builtwith company.tech", () => {
  const input = { domain: "Acme.example" }

  test("technologies in use, each once", async () => {
    const { asked, outcome } = await play("company.tech", input, example("builtwith", "domain"))
    const flags = { LIVEONLY: "yes", NOMETA: "yes", NOATTR: "yes", HIDETEXT: "yes" }
    expect(asked).toMatchObject([get("/v23/api.json", { LOOKUP: "acme.example", ...flags })])
    expect(asked[0]?.headers["authorization"]).toStartWith("API ")
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        domain: "acme.example",
        technologies: [
          { name: "nginx", category: "Web Server" },
          { name: "WordPress", category: "cms" }
        ],
        detected_at: "2025-10-09T08:53:20.000Z"
      }
    })
    expect(offerOf(builtwith, "company.tech").price).toEqual(flat("0.0594"))
  })

  test("no technologies, and a domain that it does not look up", async () => {
    const none = altered("builtwith", "domain", (body) => ({
      ...Object(body),
      Results: [{ Lookup: "acme.example", Result: { Paths: [] } }]
    }))
    expect((await play("company.tech", input, none)).outcome?._tag).toBe("NoMatch")
    const refused = await play("company.tech", input, example("builtwith", "domain.unsupported"))
    expect(refused.outcome).toEqual({ _tag: "NoMatch", detail: "nothing is known of the domain" })
  })

  const failures = [
    [example("builtwith", "domain.credits"), "provider_account"],
    [answer(200, { Errors: [{ Code: -99, Message: "Internal code error" }] }), "provider_error"],
    [answer(200, { Errors: [] }), "invalid_response"],
    [answer(401, "no"), "provider_account"],
    [answer(429, { error: "Rate limit exceeded", retryAfterSeconds: 1 }), "provider_rate_limited"],
    [answer(500, "x"), "provider_error"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body.slice(0, 60).replace(/\s+/g, " ")} is ${reason}`, async () => {
      expect((await play("company.tech", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("builtwith company.enrich", () => {
  test("the company of a domain, without names and addresses of people", async () => {
    const { asked, outcome } = await play("company.enrich", { domain: "acme.example" }, example("builtwith", "domain"))
    expect(asked[0]?.query).toMatchObject({ LOOKUP: "acme.example", NOPII: "yes" })
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        name: "Acme Inc",
        domain: "acme.example",
        website: "https://acme.example",
        industry: "Business and Consumer Services",
        location: { city: "Ottawa", region: "Ontario", country: "CA" },
        technologies: ["nginx", "WordPress"],
        phone: "+1-555-0100",
        employee_count: null
      }
    })
  })

  test("a company that it does not know, and what it can't look up", async () => {
    const unnamed = altered("builtwith", "domain", (body) => ({
      ...Object(body),
      Results: [{ Lookup: "acme.example", Result: { Paths: [] }, Meta: { CompanyName: "" } }]
    }))
    expect((await play("company.enrich", { domain: "acme.example" }, unnamed)).outcome?._tag).toBe("NoMatch")
    expect(offerOf(builtwith, "company.enrich").serves({ name: "Acme" })).toBe(false)
  })
})
