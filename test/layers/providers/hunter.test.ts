import { describe, expect, test } from "bun:test"
import { hunter } from "../../../src/layers/providers/hunter.ts"
import { conforms } from "./conformance.ts"
import { answer, failed, fixture, get, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

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
      expect(outcome).toEqual(failed(reason, detail))
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

  test("an opted-out person is not charged as a miss; an answer without a verdict is unreadable", async () => {
    expect((await play("email.verify", input, fixture("hunter", "error.451", 451))).outcome).toMatchObject({
      _tag: "Failure",
      reason: "provider_rejected"
    })
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

  test("no match: nobody, or opted out", async () => {
    const input = { email: "a@b.co" }
    expect((await play("people.enrich", input, fixture("hunter", "error.404", 404))).outcome?._tag).toBe("NoMatch")
    expect((await play("people.enrich", input, fixture("hunter", "error.451", 451))).outcome?._tag).toBe("NoMatch")
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

describe("hunter company.search", () => {
  const data = [
    { domain: "stripe.com", organization: "Stripe", emails_count: { personal: 1, generic: 2, total: 3 } },
    { domain: "adyen.com", organization: "Adyen", emails_count: { personal: 4, generic: 5, total: 9 } }
  ]
  const page = (results: number | null) => answer(200, { data, meta: { results, limit: 2, offset: 0 } })
  const bare = {
    network_url: null,
    industry: null,
    employee_count: null,
    employee_range: null,
    founded_year: null,
    location: null,
    description: null,
    revenue: null,
    funding: null,
    technologies: null,
    phone: null,
    provider_ids: {}
  }

  test("companies by a sentence of all filters", async () => {
    const input = {
      query: "payment processors",
      industries: ["financial services", "software"],
      locations: ["Ireland"],
      employee_ranges: ["51-200", "201-500"],
      technologies: ["ruby"],
      keywords: ["cards"],
      founded_min: 2000,
      founded_max: 2015,
      limit: 2
    }
    const { asked, outcome } = await play("company.search", input, page(7))
    const query = [
      "payment processors",
      "companies in the industry financial services or software",
      "companies with headquarters in Ireland",
      "with this many employees: 51-200 or 201-500",
      "using ruby",
      "about cards",
      "founded from 2000 to 2015"
    ].join(", ")
    expect(asked).toEqual([
      expect.objectContaining({ ...post("/v2/discover", { query, limit: 2, offset: 0 }), secret: secretInHeader })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          { ...bare, name: "Stripe", domain: "stripe.com", website: "https://stripe.com" },
          { ...bare, name: "Adyen", domain: "adyen.com", website: "https://adyen.com" }
        ],
        total: 7,
        next_cursor: "hunter:2"
      }
    })
    expect(conforms(hunter, offerOf(hunter, "company.search").request(input, { run_id: runId }))).toEqual([])
  })

  test("goes on where the cursor says, and cuts to the limit", async () => {
    const input = { query: "payments", founded_max: 1999, limit: 1, cursor: "hunter:5" }
    const { asked, outcome } = await play("company.search", input, page(6))
    expect(asked[0]?.body).toEqual({ query: "payments, founded in 1999 or before", limit: 1, offset: 5 })
    expect(outcome).toMatchObject({ output: { items: [{ name: "Stripe" }], next_cursor: null } })
    const young = await play("company.search", { founded_min: 2020, limit: 2 }, page(null))
    expect(young.asked[0]?.body).toMatchObject({ query: "founded in 2020 or later" })
    expect(young.outcome).toMatchObject({ output: { total: null, next_cursor: "hunter:2" } })
  })

  test("serves its own cursors only", () => {
    const { serves } = offerOf(hunter, "company.search")
    expect(serves({ query: "x", cursor: "hunter:10000" })).toBe(true)
    for (const cursor of ["hunter:10001", "hunter:x", "exa:1"]) expect(serves({ query: "x", cursor })).toBe(false)
  })

  test("nothing found, working, and no list", async () => {
    const none = await play("company.search", { query: "x" }, answer(200, { data: [], meta: { results: 0 } }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no companies found" })
    const slow = await play("company.search", { query: "x" }, answer(202, ""), page(2))
    expect(slow.outcome?._tag).toBe("Match")
    const strange = await play("company.search", { query: "x" }, answer(200, { data: {} }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("hunter company.tech", () => {
  const input = { domain: "stripe.com" }

  test("technologies", async () => {
    const { asked, outcome } = await play("company.tech", input, fixture("hunter", "companies_find"))
    expect(asked[0]).toMatchObject({ ...get("/v2/companies/find", input), secret: secretInHeader })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        domain: "stripe.com",
        technologies: [
          { name: "ruby", category: null },
          { name: "react", category: null }
        ],
        detected_at: null
      }
    })
    expect(conforms(hunter, offerOf(hunter, "company.tech").request(input, { run_id: runId }))).toEqual([])
  })

  test("no match: nobody, none known, opted out", async () => {
    expect((await play("company.tech", input, fixture("hunter", "error.404", 404))).outcome?._tag).toBe("NoMatch")
    expect((await play("company.tech", input, fixture("hunter", "error.451", 451))).outcome?._tag).toBe("NoMatch")
    expect((await play("company.tech", input, answer(200, { data: { tech: [] } }))).outcome).toEqual({
      _tag: "NoMatch",
      detail: "no technologies found"
    })
  })

  test("out of credits is the operator's trouble", async () => {
    expect((await play("company.tech", input, fixture("hunter", "error.429_quota", 429))).outcome).toMatchObject({
      reason: "provider_account"
    })
  })
})

test("hunter's other calls are what its document knows, and none reports a cost", () => {
  const ask = (capability: string, input: unknown) => offerOf(hunter, capability).request(input, { run_id: runId })
  expect(conforms(hunter, ask("email.find", jane))).toEqual([])
  expect(conforms(hunter, ask("email.verify", { email: "a@b.co" }))).toEqual([])
  expect(conforms(hunter, ask("people.enrich", { email: "a@b.co" }))).toEqual([])
  expect(conforms(hunter, ask("company.enrich", { domain: "b.co" }))).toEqual([])
  expect(hunter.measured({ status: 200, headers: {}, text: "", body: { data: {} } })).toBeNull()
})
