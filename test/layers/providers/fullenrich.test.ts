import { describe, expect, test } from "bun:test"
import { fullenrich } from "../../../src/layers/providers/fullenrich.ts"
import { flat } from "../../../src/schema/money/Pricing.ts"
import { altered, example } from "./example.ts"
import { answer, get, offerOf, post, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(fullenrich)
const started = example("fullenrich", "enrich_started")
const waiting = example("fullenrich", "enrich_in_progress", 400)
const finished = example("fullenrich", "enrich_finished")
const id = "2db5ea61-1752-42cf-8ea1-ab1da060cd0a"
const ended = (change: object) => altered("fullenrich", "enrich_finished", (body) => ({ ...Object(body), ...change }))

describe("fullenrich email.find", () => {
  const input = { full_name: "Jane Doe", company_domain: "Acme.example" }

  test("starts a job, keeps its id, and polls until it has ended", async () => {
    const limited = answer(429, { code: "error.rate.limit" })
    const scene = await play("email.find", input, started, waiting, limited, ended({ status: "IN_PROGRESS" }), finished)
    const person = { first_name: "Jane", last_name: "Doe", domain: "acme.example" }
    expect(scene.asked[0]).toMatchObject({
      ...post("/api/v2/contact/enrich/bulk", {
        name: runId,
        data: [{ ...person, enrich_fields: ["contact.work_emails"] }]
      }),
      secret: secretAsBearer
    })
    expect(scene.asked).toHaveLength(5)
    for (const asked of scene.asked.slice(1)) expect(asked).toMatchObject(get(`/api/v2/contact/enrich/bulk/${id}`, {}))
    expect(scene.kept).toContainEqual({ id })
    expect(scene.outcome).toEqual({
      _tag: "Match",
      output: {
        email: "jane.doe@acme.example",
        email_status: "valid",
        confidence: null,
        first_name: "Jane",
        last_name: "Doe",
        company_domain: "acme.example",
        source_count: null
      },
      cost: { unit: "credit", amount: "1" }
    })
    expect(offerOf(fullenrich, "email.find").price).toEqual(flat("0.0696"))
  })

  test("what is not found costs nothing", async () => {
    const none = ended({ cost: { credits: 0 }, data: [{ contact_info: {} }] })
    expect((await play("email.find", input, started, none)).outcome).toEqual({
      _tag: "NoMatch",
      detail: "no address found",
      cost: { unit: "credit", amount: "0" }
    })
  })

  test.each([
    ["HIGH_PROBABILITY", "risky"],
    ["CATCH_ALL", "catch_all"],
    ["INVALID", "invalid"],
    ["NEW", "unknown"]
  ])("an address that is %s is %s", async (status, email_status) => {
    const found = { most_probable_work_email: { email: "jane.doe@acme.example", status } }
    const { outcome } = await play("email.find", input, started, ended({ data: [{ contact_info: found }] }))
    expect(outcome).toMatchObject({ output: { email_status } })
  })

  const failures = [
    [[answer(400, { code: "error.enrichment.data.empty", message: "Data is empty" })], "provider_error"],
    [[answer(401, { code: "error.api.key" })], "provider_account"],
    [[answer(429, { code: "error.rate.limit" })], "provider_rate_limited"],
    [[answer(200, {})], "invalid_response"],
    [[started, ended({ status: "CREDITS_INSUFFICIENT" })], "provider_account"],
    [[started, ended({ status: "CANCELED" })], "provider_error"],
    [[started, answer(404, { code: "error.enrichment.not_found" })], "provider_error"],
    [[started, answer(200, {})], "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.map(({ status, body }) => `${status} ${body.replace(/\s+/g, " ").slice(0, 60)}`).join(", ")} is ${reason}`, async () => {
      const { outcome } = await play("email.find", input, ...played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("fullenrich phone.find", () => {
  test("a mobile number by profile", async () => {
    const network_url = "https://www.linkedin.com/in/jane-doe"
    const { asked, outcome } = await play("phone.find", { network_url }, started, finished)
    expect(asked[0]?.body).toMatchObject({ data: [{ linkedin_url: network_url, enrich_fields: ["contact.phones"] }] })
    expect(outcome).toMatchObject({ output: { phone: "+15551234567", phone_type: null } })
    expect(offerOf(fullenrich, "phone.find").serves({ email: "jane@acme.example" })).toBe(false)
    const none = ended({ data: [{ contact_info: { most_probable_phone: null } }] })
    expect((await play("phone.find", { network_url }, started, none)).outcome?._tag).toBe("NoMatch")
  })
})

describe("fullenrich company.enrich", () => {
  const input = { domain: "acme.example" }

  test("a company, for a quarter of a credit", async () => {
    const { asked, outcome } = await play("company.enrich", input, example("fullenrich", "company_lookup"))
    expect(asked).toMatchObject([post("/api/v2/company/lookup", { domain: "acme.example" })])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        name: "Acme",
        domain: "acme.example",
        industry: "Manufacturing",
        employee_count: 250,
        employee_range: "201-500",
        founded_year: 2010,
        location: { city: "Austin", region: "Texas", country: "United States" },
        network_url: "https://www.linkedin.com/company/acme"
      },
      cost: { unit: "credit", amount: "0.25" }
    })
  })

  test("zero stands for unknown, and an empty list for nobody", async () => {
    const unsized = altered("fullenrich", "company_lookup", () => ({ companies: [{ name: "Acme", headcount: 0 }] }))
    expect((await play("company.enrich", input, unsized)).outcome).toMatchObject({ output: { employee_count: null } })
    const none = answer(200, { companies: [], metadata: { credits: 0 } })
    expect((await play("company.enrich", input, none)).outcome).toMatchObject({
      _tag: "NoMatch",
      cost: { amount: "0" }
    })
  })
})

describe("fullenrich people.enrich", () => {
  const jane = { full_name: "Jane Doe", company_domain: "example.com" }

  test("a profile with its history", async () => {
    const { asked, outcome } = await play("people.enrich", jane, example("fullenrich", "people_lookup"))
    const body = { person_name: "Jane Doe", company_domain: "example.com" }
    expect(asked).toMatchObject([post("/api/v2/people/lookup", body)])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        full_name: "Jane Doe",
        title: "Head of Sales Operations",
        company_domain: "example.com",
        network_url: "https://www.linkedin.com/in/jane-doe",
        location: { city: "Springfield", region: "California", country: "United States" },
        email: null,
        experience: [
          { title: "Head of Sales Operations", start_date: "2022-03-15", end_date: null, is_current: true },
          { company_name: "Previous Corp", start_date: "2019-07-01", end_date: "2022-03-01", is_current: false }
        ],
        education: [{ school: "Example University", start_date: "2015-09-01" }],
        skills: ["Sales Operations", "CRM Management"]
      },
      cost: { unit: "credit", amount: "0.25" }
    })
  })

  test("nobody, nonsense, and what it does not know", async () => {
    const none = await play("people.enrich", jane, answer(200, { people: [], metadata: { credits: 0 } }))
    expect(none.outcome).toMatchObject({ _tag: "NoMatch", cost: { amount: "0" } })
    const strange = await play("people.enrich", jane, answer(200, {}))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    const limited = await play("people.enrich", jane, answer(429, {}))
    expect(limited.outcome).toMatchObject({ _tag: "Failure", reason: "provider_rate_limited" })
    const { serves, lacks } = offerOf(fullenrich, "people.enrich")
    expect(serves({ email: "jane@example.com" })).toBe(false)
    expect(lacks).toContain("email")
  })
})
