import { describe, expect, test } from "bun:test"
import { lusha } from "../../../src/layers/providers/lusha.ts"
import { flat } from "../../../src/schema/money/Pricing.ts"
import { altered, example } from "./example.ts"
import { answer, offerOf, post, secretInHeader, stage } from "./stage.ts"

const play = stage(lusha)
const both = "/v3/contacts/search-and-enrich"

describe("lusha email.find", () => {
  const input = { full_name: "Jane Doe", company_domain: "Acme.example" }

  test("an address, for a search and a reveal", async () => {
    const { asked, outcome } = await play("email.find", input, example("lusha", "contacts_search_and_enrich"))
    const contacts = [{ firstName: "Jane", lastName: "Doe", companyDomain: "acme.example" }]
    expect(asked).toEqual([
      expect.objectContaining({ ...post(both, { contacts, reveal: ["emails"] }), secret: secretInHeader })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "jane.doe@acme.example",
        email_status: "valid",
        confidence: null,
        first_name: "Jane",
        last_name: "Doe",
        company_domain: null,
        source_count: null
      },
      cost: { unit: "credit", amount: "2" }
    })
    expect(offerOf(lusha, "email.find").price).toEqual(flat("0.29952"))
  })

  test("a live answer without a grade, by profile", async () => {
    const by = { ...input, network_url: "www.linkedin.com/in/jane-doe" }
    const { asked, outcome } = await play("email.find", by, example("lusha", "contacts_enrich"))
    expect(asked[0]?.body).toMatchObject({ contacts: [{ linkedinUrl: "https://www.linkedin.com/in/jane-doe" }] })
    expect(outcome).toMatchObject({ output: { email_status: "unknown", company_domain: "acme.example" } })
  })

  test("nobody, a private address only, and one of a low grade", async () => {
    const nobody = await play("email.find", input, example("lusha", "contacts_search_and_enrich.not_found"))
    expect(nobody.outcome).toEqual({
      _tag: "NoMatch",
      detail: "the person is not known",
      cost: { unit: "credit", amount: "0" }
    })
    const address = (one: object) =>
      altered("lusha", "contacts_search_and_enrich", (body) => ({ ...Object(body), results: [{ emails: [one] }] }))
    const own = await play("email.find", input, address({ email: "jane@mail.example", type: "private" }))
    expect(own.outcome).toMatchObject({ _tag: "NoMatch", cost: { amount: "2" } })
    const low = await play("email.find", input, address({ email: "jane@acme.example", type: "work", confidence: "B" }))
    expect(low.outcome).toMatchObject({ output: { email_status: "risky" } })
  })

  const failures = [
    [answer(200, { results: [{ error: { code: "INTERNAL" } }] }), "provider_error"],
    [answer(200, { results: {} }), "invalid_response"],
    [answer(401, {}), "provider_account"],
    [answer(402, {}), "provider_account"],
    [answer(429, {}, { "retry-after": "2" }), "provider_rate_limited"],
    [answer(500, "x"), "provider_error"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body} is ${reason}`, async () => {
      expect((await play("email.find", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("lusha phone.find", () => {
  const input = { email: "jane.doe@acme.example" }

  test("a number that may be called", async () => {
    const { asked, outcome } = await play("phone.find", input, example("lusha", "contacts_search_and_enrich"))
    expect(asked).toMatchObject([post(both, { contacts: [{ email: "jane.doe@acme.example" }], reveal: ["phones"] })])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: { phone: "+14155551234", phone_type: "direct", confidence: null }
    })
    expect((await play("phone.find", input, example("lusha", "contacts_enrich"))).outcome?._tag).toBe("NoMatch")
  })
})

describe("lusha company.enrich", () => {
  test("a company by domain", async () => {
    const { asked, outcome } = await play(
      "company.enrich",
      { domain: "acme.example" },
      example("lusha", "companies_search_and_enrich")
    )
    expect(asked).toMatchObject([post("/v3/companies/search-and-enrich", { companies: [{ domain: "acme.example" }] })])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        name: "Acme",
        domain: "acme.example",
        website: "https://acme.example",
        network_url: "https://www.linkedin.com/company/acme",
        industry: "Manufacturing",
        employee_count: 357,
        employee_range: "201-500",
        founded_year: 2016,
        location: { city: "Boston", region: "Massachusetts", country: "United States" },
        funding: "245000000",
        provider_ids: { lusha: "v1.EXAMPLE_COMPANY" }
      },
      cost: { unit: "credit", amount: "2" }
    })
  })
})
