import { describe, expect, test } from "bun:test"
import { leadmagic } from "../../src/layers/providers/leadmagic.ts"
import { answer, fixture, offerOf, post, secretInHeader, stage } from "./stage.ts"

const play = stage(leadmagic)

describe("leadmagic email.find", () => {
  const bill = { first_name: "Bill", last_name: "Gates", company_domain: "microsoft.com", company_name: "Microsoft" }

  test("a match", async () => {
    const { asked, outcome } = await play("email.find", bill, fixture("leadmagic", "email_finder"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v1/people/email-finder", {
          first_name: "Bill",
          last_name: "Gates",
          domain: "microsoft.com",
          company_name: "Microsoft"
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "billg@microsoft.com",
        email_status: "valid",
        confidence: null,
        first_name: "Bill",
        last_name: "Gates",
        company_domain: "microsoft.com",
        source_count: null
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("splits a full name, and leaves what can't be split to others", async () => {
    const input = { full_name: "Ana de la Cruz", company_name: "Acme" }
    const { asked } = await play("email.find", input, fixture("leadmagic", "email_finder"))
    expect(asked[0]?.body).toEqual({ first_name: "Ana", last_name: "de la Cruz", company_name: "Acme" })
    expect(offerOf(leadmagic, "email.find").serves({ full_name: "Cher", company_name: "Acme" })).toBe(false)
  })

  test("no match consumes nothing", async () => {
    const { outcome } = await play("email.find", bill, fixture("leadmagic", "email_finder.not_found"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no address found", cost: { unit: "credit", amount: "0" } })
  })

  test("valid_catch_all is catch_all", async () => {
    const { outcome } = await play("email.find", bill, answer(200, { email: "b@c.de", status: "valid_catch_all" }))
    expect(outcome).toMatchObject({ _tag: "Match", output: { email_status: "catch_all" } })
  })

  const failures = [
    // Its specification shows a bad key with every status, so the words count more than the number.
    ["email_finder.400", 400, "provider_account", "HTTP 400: API key is missing or invalid."],
    ["email_finder.401", 401, "provider_account", "HTTP 401: API key is missing or invalid."],
    ["error.400", 400, "provider_error", "HTTP 400: Request validation failed. Check your input parameters."],
    ["error.402", 402, "provider_account", "HTTP 402: Not enough credits."],
    ["profile_search.429", 429, "provider_rate_limited", "HTTP 429: API key is missing or invalid."]
  ] as const
  for (const [name, status, reason, detail] of failures) {
    test(`${name} is ${reason}`, async () => {
      const { outcome } = await play("email.find", bill, fixture("leadmagic", name, status))
      expect(outcome).toEqual({ _tag: "Failure", reason, detail })
    })
  }

  test("a 500 is provider_error, a body without the expected fields unreadable", async () => {
    expect((await play("email.find", bill, answer(500, {}))).outcome).toMatchObject({ reason: "provider_error" })
    expect((await play("email.find", bill, answer(200, []))).outcome).toMatchObject({ reason: "invalid_response" })
  })
})

describe("leadmagic email.verify", () => {
  const input = { email: "jane@example.com" }

  test("a verdict, with a fraction of a credit", async () => {
    const { asked, outcome } = await play("email.verify", input, fixture("leadmagic", "email_validation"))
    expect(asked[0]).toMatchObject({ ...post("/v1/people/email-validation", input), secret: secretInHeader })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "jane@example.com",
        email_status: "valid",
        score: null,
        is_disposable: null,
        is_role: null,
        is_free: null,
        mx_found: true,
        did_you_mean: null,
        provider_status: "valid"
      },
      cost: { unit: "credit", amount: "0.05" }
    })
  })

  test("an invalid address is a verdict too", async () => {
    const { outcome } = await play("email.verify", input, fixture("leadmagic", "email_validation.invalid"))
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: { email: "nobody@example.com", email_status: "invalid" },
      cost: { unit: "credit", amount: "0.25" }
    })
  })

  test("no mail server is not the same as nobody looked", async () => {
    const none = await play("email.verify", input, answer(200, { email_status: "invalid", mx_record: null }))
    expect(none.outcome).toMatchObject({ output: { mx_found: false, email: "jane@example.com" } })
    const silent = await play("email.verify", input, answer(200, { email_status: "catch_all" }))
    expect(silent.outcome).toMatchObject({ output: { mx_found: null, email_status: "catch_all" } })
  })
})

describe("leadmagic company.enrich", () => {
  const input = { domain: "leadmagic.io" }

  test("a match", async () => {
    const { asked, outcome } = await play("company.enrich", input, fixture("leadmagic", "company_search"))
    expect(asked[0]).toMatchObject({
      ...post("/v1/companies/company-search", { company_domain: "leadmagic.io" }),
      secret: secretInHeader
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        name: "LeadMagic",
        domain: "leadmagic.io",
        website: "https://leadmagic.io",
        network_url: "https://profiles.example.com/company/leadmagichq/",
        industry: "Internet",
        employee_count: 9,
        employee_range: "11-50",
        founded_year: 2022,
        location: { city: "Boston", region: "Massachusetts", country: "US" },
        description:
          "LeadMagic tells you exactly what businesses are on your website and helps you enrich your contact and company data.",
        revenue: null,
        funding: null,
        technologies: null,
        phone: null,
        provider_ids: { leadmagic: "75153174" }
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("by name and by page", async () => {
    const both = { name: "Leadmagic", network_url: "https://profiles.example.com/company/leadmagichq" }
    const { asked } = await play("company.enrich", both, fixture("leadmagic", "company_search"))
    expect(asked[0]?.body).toEqual({ company_name: both.name, profile_url: both.network_url })
  })

  test("no match", async () => {
    const missing = { company_name: null, message: "Company not found.", credits_consumed: 0 }
    const { outcome } = await play("company.enrich", input, answer(200, missing))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no company found", cost: { unit: "credit", amount: "0" } })
  })
})
