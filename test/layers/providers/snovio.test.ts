import { describe, expect, test } from "bun:test"
import { snovio } from "../../../src/layers/providers/snovio.ts"
import { flat } from "../../../src/schema/money/Pricing.ts"
import { altered, example } from "./example.ts"
import { answer, get, issuedToken, offerOf, type Played, post, stage } from "./stage.ts"

/** Without the distance between two requests, which would be waited for. */
const play = stage({ ...snovio, spacingMillis: 0 })
const played = (name: string) => example("snovio", name)
const ended = (name: string, change: object): Played =>
  altered("snovio", name, (body) => ({ ...Object(body), ...change }))
const secret = `bearer ${issuedToken}`

describe("snovio email.find", () => {
  const input = { full_name: "Jane Doe", company_domain: "Acme.example" }
  const hash = "0d0c862099b22bdf300b8c8e67754e49"
  const started = played("emails_by_name_started")
  const completed = played("emails_by_name_completed")

  test("starts a search with a token, keeps its hash, and polls until it has ended", async () => {
    const waiting = ended("emails_by_name_completed", { status: "in_progress", data: [] })
    const scene = await play("email.find", input, started, waiting, answer(429, {}), completed)
    const rows = [{ first_name: "Jane", last_name: "Doe", domain: "acme.example" }]
    expect(scene.asked[0]).toMatchObject({ ...post("/v2/emails-by-domain-by-name/start", { rows }), secret })
    for (const asked of scene.asked.slice(1))
      expect(asked).toMatchObject({ ...get("/v2/emails-by-domain-by-name/result", { task_hash: hash }), secret })
    expect([scene.asked.length, scene.kept.at(-1)]).toEqual([4, { hash }])
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
      }
    })
    expect(offerOf(snovio, "email.find").price).toEqual(flat("0.0468"))
    expect(offerOf(snovio, "email.find").serves({ full_name: "Jane Doe", company_name: "Acme" })).toBe(false)
  })

  test("an address that nobody found is no match", async () => {
    const none = ended("emails_by_name_completed", { data: [{ people: "Jane Doe", result: [] }] })
    expect((await play("email.find", input, started, none)).outcome).toMatchObject({ _tag: "NoMatch" })
  })

  const failures = [
    [[answer(402, {})], "provider_account"],
    [[answer(429, {})], "provider_rate_limited"],
    [[answer(200, { data: {} })], "invalid_response"],
    [[started, ended("emails_by_name_completed", { status: "not_enough_credits" })], "provider_account"],
    [[started, ended("emails_by_name_completed", { status: "broken" })], "provider_error"],
    [[started, ended("emails_by_name_completed", { data: null })], "invalid_response"],
    [[started, answer(404, { errors: { title: "not found" } })], "provider_error"]
  ] as const
  for (const [at, [answers, reason]] of failures.entries()) {
    test(`failure ${at + 1} is ${reason}`, async () => {
      expect((await play("email.find", input, ...answers)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("snovio email.verify", () => {
  const input = { email: "jane.doe@acme.example" }
  const started = played("verification_started")

  test("the state of an address", async () => {
    const { asked, outcome } = await play("email.verify", input, started, played("verification_completed"))
    expect(asked[0]).toMatchObject(post("/v2/email-verification/start", [["emails[]", input.email]]))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "jane.doe@acme.example",
        email_status: "catch_all",
        score: null,
        is_disposable: false,
        is_role: null,
        is_free: false,
        mx_found: null,
        did_you_mean: null,
        provider_status: "unknown"
      }
    })
  })

  test.each([
    [{ smtp_status: "valid" }, "valid"],
    [{ smtp_status: "not_valid" }, "invalid"],
    [{ smtp_status: "unknown", unknown_status_reason: "greylist" }, "unknown"]
  ])("%j is %s", async (result, email_status) => {
    const done = ended("verification_completed", { data: [{ result }] })
    expect((await play("email.verify", input, started, done)).outcome).toMatchObject({ output: { email_status } })
  })

  test("no state is no answer", async () => {
    const { outcome } = await play("email.verify", input, started, ended("verification_completed", { data: [] }))
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("snovio people.enrich", () => {
  test("a person by profile: a position with an address at the network has no domain", async () => {
    const input = { network_url: "linkedin.com/in/jane-doe" }
    const completed = played("profiles_completed")
    const { asked, outcome } = await play("people.enrich", input, played("profiles_started"), completed)
    expect(asked[0]).toMatchObject(
      post("/v2/li-profiles-by-urls/start", [["urls[]", "https://linkedin.com/in/jane-doe"]])
    )
    expect(outcome).toMatchObject({
      output: {
        full_name: "Jane Doe",
        title: "Head of Sales",
        company_name: "Acme",
        company_domain: "acme.example",
        network_url: "https://www.linkedin.com/in/jane-doe",
        location: { city: null, region: null, country: "United States" },
        email: null,
        skills: ["communication", "java"],
        experience: [{ company_domain: "acme.example" }, { title: "Treasurer", company_domain: null }]
      }
    })
    const none = ended("profiles_completed", { data: [{ url: "", result: [] }] })
    expect((await play("people.enrich", input, played("profiles_started"), none)).outcome?._tag).toBe("NoMatch")
  })

  test("a person by address, in one request", async () => {
    const input = { email: "jane.doe@acme.example" }
    const { asked, outcome } = await play("people.enrich", input, played("profile_by_email"))
    expect(asked).toMatchObject([post("/v1/get-profile-by-email", [["email", input.email]])])
    expect(outcome).toMatchObject({
      output: {
        full_name: "Jane Doe",
        title: "Regional Creative Director",
        company_domain: "acme.example",
        network_url: "https://www.linkedin.com/in/jane-doe/",
        provider_ids: { snovio: "301592" },
        experience: [
          { company_name: "Acme", start_date: "2016-01-31", end_date: null, is_current: true },
          { company_name: "Example Labs", end_date: "2013-10-31", is_current: false }
        ]
      }
    })
    expect((await play("people.enrich", input, answer(200, { success: false }))).outcome?._tag).toBe("NoMatch")
    expect((await play("people.enrich", input, answer(200, "no JSON"))).outcome?._tag).toBe("Failure")
    expect(offerOf(snovio, "people.enrich").lacks).toContain("phone")
  })
})

describe("snovio network.profile", () => {
  test("a profile with what the provider knows of it", async () => {
    const input = { network_url: "https://www.linkedin.com/in/jane-doe" }
    const started = played("profiles_started")
    const { asked, outcome } = await play("network.profile", input, started, played("profiles_completed"))
    expect(asked[0]).toMatchObject(post("/v2/li-profiles-by-urls/start", [["urls[]", input.network_url]]))
    expect(outcome).toMatchObject({ output: { full_name: "Jane Doe", about: null, skills: ["communication", "java"] } })
    const none = ended("profiles_completed", { data: [{ url: "", result: [] }] })
    expect((await play("network.profile", input, started, none)).outcome?._tag).toBe("NoMatch")
    expect(offerOf(snovio, "network.profile").serves({ identifier: "jane-doe" })).toBe(false)
  })
})

describe("snovio company.enrich", () => {
  test("a company by domain", async () => {
    const input = { domain: "Acme.example" }
    const started = played("company_started")
    const { asked, outcome } = await play("company.enrich", input, started, played("company_completed"))
    expect(asked).toMatchObject([
      post("/v2/domain-search/start", [["domain", "acme.example"]]),
      get("/v2/domain-search/result/6f15de14db954c761f8e7507547b3bd7", {})
    ])
    expect(outcome).toMatchObject({
      output: {
        name: "Acme",
        domain: "acme.example",
        employee_range: "51-200",
        founded_year: 2017,
        location: { city: "New York", region: null, country: null },
        phone: "12125550100"
      }
    })
    const none = ended("company_completed", { data: [] })
    expect((await play("company.enrich", input, started, none)).outcome?._tag).toBe("NoMatch")
  })
})
