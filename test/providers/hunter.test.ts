import { describe, expect, test } from "bun:test"
import { hunter } from "../../src/layers/providers/hunter.ts"
import { answer, fixture, get, offerOf, secretInHeader, stage } from "./stage.ts"

const play = stage(hunter)
const jane = { first_name: "Patrick", last_name: "Collison", company_domain: "stripe.com" }

describe("hunter email.find", () => {
  test("a match", async () => {
    const { asked, outcome } = await play("email.find", jane, fixture("hunter", "email_finder"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...get("/v2/email-finder", { domain: "stripe.com", first_name: "Patrick", last_name: "Collison" }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "patrick@stripe.com",
        email_status: "valid",
        confidence: 99,
        first_name: "Patrick",
        last_name: "Collison",
        company_domain: "stripe.com",
        source_count: 1
      }
    })
  })

  test("asks by full name and company name when that is all there is", async () => {
    const input = { full_name: "Patrick Collison", company_name: "Stripe" }
    const { asked } = await play("email.find", input, fixture("hunter", "email_finder"))
    expect(asked[0]).toMatchObject(get("/v2/email-finder", { company: "Stripe", full_name: "Patrick Collison" }))
  })

  test("the domain wins over the company's name", async () => {
    const { asked } = await play("email.find", { ...jane, company_name: "S" }, fixture("hunter", "email_finder"))
    expect(asked[0]?.query).toEqual({ domain: "stripe.com", first_name: "Patrick", last_name: "Collison" })
  })

  test("no match: no address, not found, or opted out", async () => {
    const none = await play("email.find", jane, fixture("hunter", "email_finder.no_match"))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no address found" })
    const unknown = await play("email.find", jane, fixture("hunter", "error.404", 404))
    expect(unknown.outcome).toEqual({ _tag: "NoMatch", detail: "nothing on record" })
    const optedOut = await play("email.find", jane, fixture("hunter", "error.451", 451))
    expect(optedOut.outcome).toMatchObject({ _tag: "NoMatch", detail: expect.stringContaining("asked") })
  })

  test("a 404 of somebody else is no miss", async () => {
    const { outcome } = await play("email.find", jane, answer(404, "<h1>Not Found</h1>"))
    expect(outcome).toEqual({ _tag: "Failure", reason: "provider_error", detail: "HTTP 404" })
  })

  test("an address without a verdict: catch-all when the host takes all, else unknown", async () => {
    const data = { email: "a@b.co", score: 50, accept_all: true, verification: { status: null } }
    const all = await play("email.find", jane, answer(200, { data }))
    expect(all.outcome).toMatchObject({ output: { email_status: "catch_all", source_count: null } })
    const some = await play("email.find", jane, answer(200, { data: { ...data, accept_all: false } }))
    expect(some.outcome).toMatchObject({ output: { email_status: "unknown" } })
  })

  test("202: asks the same again until the answer is there", async () => {
    const working = fixture("hunter", "email_verifier.202", 202)
    const { asked, outcomes, outcome } = await play(
      "email.find",
      jane,
      working,
      working,
      fixture("hunter", "email_finder")
    )
    expect(asked.length).toBe(3)
    expect(new Set(asked.map((one) => JSON.stringify([one.method, one.path, one.query]))).size).toBe(1)
    expect(outcomes[0]).toMatchObject({ _tag: "Again", afterMillis: 2000 })
    expect(outcome?._tag).toBe("Match")
  })

  test("202 with an empty body asks again too", async () => {
    const { outcome } = await play("email.find", jane, answer(202, ""), fixture("hunter", "email_finder"))
    expect(outcome?._tag).toBe("Match")
  })

  const failures = [
    [fixture("hunter", "error.400", 400), "provider_error", "HTTP 400: You are missing the domain parameter"],
    [
      answer(401, { errors: [{ id: "authentication_failed", code: 401, details: "No user found" }] }),
      "provider_account",
      "HTTP 401: No user found"
    ],
    [fixture("hunter", "error.403_rate", 403), "provider_rate_limited", "HTTP 403: Rate limit reached"],
    [fixture("hunter", "error.429_quota", 429), "provider_account", "HTTP 429: Your plan usage is exhausted"],
    [answer(500, "oops"), "provider_error", "HTTP 500"]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${played.status} is ${reason}`, async () => {
      const { outcome } = await play("email.find", jane, played)
      expect(outcome).toEqual({ _tag: "Failure", reason, detail })
    })
  }
})

describe("hunter email.verify", () => {
  const input = { email: "patrick@stripe.com" }

  test("a verdict", async () => {
    const { asked, outcome } = await play("email.verify", input, fixture("hunter", "email_verifier"))
    expect(asked[0]).toMatchObject({ ...get("/v2/email-verifier", input), secret: secretInHeader })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "patrick@stripe.com",
        email_status: "valid",
        score: 99,
        is_disposable: false,
        is_role: null,
        is_free: false,
        mx_found: true,
        did_you_mean: null,
        provider_status: "valid"
      }
    })
  })

  const verdicts = {
    accept_all: "catch_all",
    webmail: "valid",
    disposable: "risky",
    unknown: "unknown",
    novel: "unknown"
  }
  for (const [status, email_status] of Object.entries(verdicts)) {
    test(`${status} is ${email_status}`, async () => {
      const { outcome } = await play("email.verify", input, answer(200, { data: { status } }))
      expect(outcome).toMatchObject({ _tag: "Match", output: { email_status, provider_status: status } })
    })
  }

  test("202 repeats the verifier's own call", async () => {
    const { asked } = await play(
      "email.verify",
      input,
      fixture("hunter", "email_verifier.202", 202),
      fixture("hunter", "email_verifier")
    )
    expect(asked.map(({ path, query }) => ({ path, query }))).toEqual([
      { path: "/v2/email-verifier", query: input },
      { path: "/v2/email-verifier", query: input }
    ])
  })

  test("a miss is charged here, so a 404 is none", async () => {
    const { outcome } = await play("email.verify", input, fixture("hunter", "error.404", 404))
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
  })

  test("an opted-out person is a miss; an answer without a verdict is unreadable", async () => {
    expect((await play("email.verify", input, fixture("hunter", "error.451", 451))).outcome?._tag).toBe("NoMatch")
    expect((await play("email.verify", input, answer(200, { data: {} }))).outcome).toMatchObject({
      reason: "invalid_response"
    })
  })
})

describe("hunter people.enrich", () => {
  test("a match", async () => {
    const input = { email: "patrick@stripe.com" }
    const { asked, outcome } = await play("people.enrich", input, fixture("hunter", "people_find"))
    expect(asked[0]).toMatchObject({ ...get("/v2/people/find", input), secret: secretInHeader })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        full_name: "Patrick Collison",
        first_name: "Patrick",
        last_name: "Collison",
        headline: null,
        title: "CEO",
        seniority: "executive",
        company_name: "Stripe",
        company_domain: "stripe.com",
        network_url: "https://www.linkedin.com/in/patrickcollison",
        location: { city: "San Francisco", region: "California", country: "United States" },
        email: "patrick@stripe.com",
        email_status: null,
        phone: null,
        provider_ids: { hunter: "8d0e8cf5-1e19-5a1c-8b1e-1e0a5d6c7b8a" },
        experience: null,
        education: null,
        skills: null,
        match_confidence: null
      }
    })
  })

  test("asks by the handle of a profile", async () => {
    const input = { network_url: "https://www.linkedin.com/in/patrickcollison/details/?trk=x" }
    const { asked } = await play("people.enrich", input, fixture("hunter", "people_find"))
    expect(asked[0]?.query).toEqual({ linkedin_handle: "patrickcollison" })
  })

  test("serves addresses and profiles only", () => {
    const offer = offerOf(hunter, "people.enrich")
    expect(offer.serves({ email: "a@b.co" })).toBe(true)
    expect(offer.serves({ network_url: "https://network.example/jane" })).toBe(false)
    expect(offer.serves({ full_name: "Jane Doe", company_domain: "b.co" })).toBe(false)
  })

  test("no match: nobody, opted out, or without the phone that was asked for", async () => {
    const input = { email: "a@b.co" }
    expect((await play("people.enrich", input, fixture("hunter", "error.404", 404))).outcome?._tag).toBe("NoMatch")
    expect((await play("people.enrich", input, fixture("hunter", "error.451", 451))).outcome?._tag).toBe("NoMatch")
    const strict = { ...input, require: ["phone"] }
    expect((await play("people.enrich", strict, fixture("hunter", "people_find"))).outcome).toMatchObject({
      _tag: "NoMatch",
      detail: "found, but without the contact data asked for"
    })
  })
})

describe("hunter company.enrich", () => {
  test("a match", async () => {
    const { asked, outcome } = await play(
      "company.enrich",
      { domain: "stripe.com" },
      fixture("hunter", "companies_find")
    )
    expect(asked[0]).toMatchObject({ ...get("/v2/companies/find", { domain: "stripe.com" }), secret: secretInHeader })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        name: "Stripe",
        domain: "stripe.com",
        website: "https://stripe.com",
        network_url: "https://www.linkedin.com/company/stripe",
        industry: "Internet Software & Services",
        employee_count: 8000,
        employee_range: "5001-10000",
        founded_year: 2010,
        location: { city: "South San Francisco", region: "California", country: "United States" },
        description: "Stripe is a financial infrastructure platform for businesses.",
        revenue: null,
        funding: "8700000000",
        technologies: ["ruby", "react"],
        phone: "+1 888-926-2289",
        provider_ids: { hunter: "7c1f4f7e-9a3b-4f37-8a58-2f1d4f1e0a11" }
      }
    })
  })

  test("serves domains only; an unknown domain is a miss", async () => {
    expect(offerOf(hunter, "company.enrich").serves({ name: "Stripe" })).toBe(false)
    const { outcome } = await play("company.enrich", { domain: "b.co" }, fixture("hunter", "error.404", 404))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "nothing on record" })
  })
})
