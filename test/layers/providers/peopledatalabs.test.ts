import { describe, expect, test } from "bun:test"
import { peopledatalabs } from "../../../src/layers/providers/peopledatalabs.ts"
import { conforms } from "./conformance.ts"
import { answer, fixture, get, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

const play = stage(peopledatalabs)
const spent = { "x-call-credits-spent": "1" }

const sean = {
  full_name: "sean thorne",
  first_name: "sean",
  last_name: "thorne",
  headline: null,
  title: "co-founder and executive chairman",
  seniority: "owner",
  company_name: "people data labs",
  company_domain: "peopledatalabs.com",
  network_url: "https://linkedin.com/in/seanthorne",
  location: { city: "san francisco", region: "california", country: "united states" },
  email: null,
  email_status: null,
  phone: null,
  provider_ids: { peopledatalabs: "qEnOZ5Oh0poWnQ1luFBfVw_0000" }
}

describe("peopledatalabs people.enrich", () => {
  const input = { network_url: "linkedin.com/in/seanthorne" }

  test("a match, whose cost is a header", async () => {
    const played = fixture("peopledatalabs", "person_enrich", 200, spent)
    const { asked, outcome } = await play("people.enrich", input, played)
    expect(asked).toEqual([
      expect.objectContaining({
        ...get("/v5/person/enrich", { profile: "linkedin.com/in/seanthorne", min_likelihood: "6", titlecase: "true" }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        ...sean,
        experience: [
          {
            title: "co-founder",
            company_name: "people data labs",
            company_domain: "peopledatalabs.com",
            start_date: "2015-03",
            end_date: null,
            is_current: true
          }
        ],
        education: [
          {
            school: "university of oregon",
            degree: null,
            field: "entrepreneurship",
            start_date: "2010",
            end_date: "2014"
          }
        ],
        skills: ["entrepreneurship", "start ups"],
        match_confidence: 1
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("asks by address, or by name and employer, and for what is required", async () => {
    const played = fixture("peopledatalabs", "person_enrich")
    const { request } = offerOf(peopledatalabs, "people.enrich")
    const wanted = ["email", "phone", "title"]
    expect(request({ email: "a@b.co" }, { run_id: runId, wanted }).query).toMatchObject({
      email: "a@b.co",
      required: "emails AND phone_numbers"
    })
    const second = await play("people.enrich", { full_name: "Sean Thorne", company_name: "PDL" }, played)
    expect(second.asked[0]?.query).toMatchObject({ name: "Sean Thorne", company: "PDL" })
  })

  test("contact data that the plan hides is missing", async () => {
    const played = fixture("peopledatalabs", "person_enrich", 200, spent)
    const { outcome } = await play("people.enrich", input, played)
    expect(outcome).toMatchObject({ _tag: "Match", output: { email: null }, cost: { unit: "credit", amount: "1" } })
  })

  test("contact data that the plan shows", async () => {
    const data = {
      full_name: "A B",
      work_email: "a@b.co",
      personal_emails: ["a@home.example"],
      mobile_phone: "+15550100"
    }
    const { outcome } = await play("people.enrich", input, answer(200, { status: 200, likelihood: 7, data }))
    expect(outcome).toMatchObject({ output: { email: "a@b.co", phone: "+15550100", match_confidence: 0.7 } })
    expect(outcome).not.toHaveProperty("cost")
  })

  test("a 404 is a miss and free", async () => {
    const free = { _tag: "NoMatch", detail: "no record found", cost: { unit: "credit", amount: "0" } } as const
    expect((await play("people.enrich", input, fixture("peopledatalabs", "person_enrich.404", 404))).outcome).toEqual(
      free
    )
    const listed = answer(404, { status: 404, error: { type: ["not_found"], message: "none" } })
    expect((await play("people.enrich", input, listed)).outcome).toEqual(free)
  })

  test("a 404 of somebody else is no miss", async () => {
    const { outcome } = await play("people.enrich", input, answer(404, "no such route"))
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
  })

  const failures = [
    ["person_enrich.400", 400, "provider_error", "Request contained either missing or invalid parameters"],
    ["person_enrich.402", 402, "provider_account", "You have reached your account maximum (all matches used)"],
    ["person_enrich.429", 429, "provider_rate_limited", "An error occurred due to requests hitting the API too quick"]
  ] as const
  for (const [name, status, reason, words] of failures) {
    test(`${name} is ${reason}`, async () => {
      const played = fixture("peopledatalabs", name, status, status === 429 ? { "retry-after": "7" } : {})
      expect((await play("people.enrich", input, played)).outcome).toEqual({
        _tag: "Failure",
        reason,
        detail: `HTTP ${status}: ${words}`,
        ...(status === 429 ? { retryAfterSeconds: 7 } : {}),
        ...(status === 402 ? { outOfCredits: true } : {})
      })
    })
  }

  test("401 and 500", async () => {
    const denied = answer(401, { status: 401, error: { type: "authentication_error", message: "bad key" } })
    expect((await play("people.enrich", input, denied)).outcome).toMatchObject({ reason: "provider_account" })
    expect((await play("people.enrich", input, answer(500, {}))).outcome).toMatchObject({ reason: "provider_error" })
  })
})

describe("peopledatalabs people.search", () => {
  const input = {
    titles: ["Founder", "Chairman"],
    seniorities: ["C-Level", "VP"],
    company_domains: ["PDL.com"],
    limit: 1
  }

  test("a page, with the provider's own cursor", async () => {
    const played = fixture("peopledatalabs", "person_search", 200, spent)
    const { asked, outcome } = await play("people.search", input, played)
    const must = [
      { bool: { should: [{ match: { job_title: "Founder" } }, { match: { job_title: "Chairman" } }] } },
      { terms: { job_title_levels: ["cxo", "vp"] } },
      { terms: { job_company_website: ["pdl.com"] } }
    ]
    expect(asked[0]).toMatchObject({
      ...post("/v5/person/search", { query: { bool: { must } }, size: 1, titlecase: true }),
      secret: secretInHeader
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: { items: [sean], total: 1, next_cursor: "peopledatalabs:104$14.278746" },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("every filter has a place", async () => {
    const all = {
      name: "Sean Thorne",
      company_names: ["PDL"],
      locations: ["Oregon"],
      industries: ["software"],
      employee_range: "51-200",
      keywords: "start ups"
    }
    const { asked } = await play("people.search", all, fixture("peopledatalabs", "person_search"))
    expect(asked[0]?.body).toEqual({
      query: {
        bool: {
          must: [
            { bool: { should: [{ match: { full_name: "Sean Thorne" } }] } },
            { bool: { should: [{ match: { job_company_name: "PDL" } }] } },
            { bool: { should: [{ match: { location_name: "Oregon" } }] } },
            { bool: { should: [{ match: { job_company_industry: "software" } }] } },
            { terms: { job_company_size: ["51-200"] } },
            {
              bool: {
                should: ["job_title", "skills", "summary"].map((field) => ({ match: { [field]: "start ups" } }))
              }
            }
          ]
        }
      },
      size: 10,
      titlecase: true
    })
  })

  test("a cursor goes back to its issuer only, and a short page is the last", async () => {
    const offer = offerOf(peopledatalabs, "people.search")
    expect(offer.serves({ ...input, cursor: "exa:2" })).toBe(false)
    const next = { ...input, limit: 10, cursor: "peopledatalabs:104$14" }
    const { asked, outcome } = await play("people.search", next, fixture("peopledatalabs", "person_search"))
    expect(asked[0]?.body).toMatchObject({ scroll_token: "104$14", size: 10 })
    expect(outcome).toMatchObject({ output: { next_cursor: null } })
  })

  test("more records than asked for are cut off", async () => {
    const data = [{ full_name: "A" }, { full_name: "B" }]
    const { outcome } = await play("people.search", input, answer(200, { status: 200, data, total: 2 }))
    expect(outcome).toMatchObject({ output: { items: [{ full_name: "A" }] } })
  })

  test("nobody", async () => {
    const { outcome } = await play("people.search", input, fixture("peopledatalabs", "person_search.404", 404))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no record found", cost: { unit: "credit", amount: "0" } })
    const empty = await play("people.search", input, answer(200, { status: 200, data: [], total: 0 }))
    expect(empty.outcome?._tag).toBe("NoMatch")
  })
})

describe("peopledatalabs company.enrich", () => {
  test("a match lies flat beside the status", async () => {
    const played = fixture("peopledatalabs", "company_enrich", 200, spent)
    const { asked, outcome } = await play("company.enrich", { domain: "google.com" }, played)
    expect(asked[0]).toMatchObject({
      ...get("/v5/company/enrich", { website: "google.com", titlecase: "true" }),
      secret: secretInHeader
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        name: "Google",
        domain: "google.com",
        website: "https://google.com",
        network_url: "https://linkedin.com/company/google",
        industry: "internet",
        employee_count: 278000,
        employee_range: "10001+",
        founded_year: 1998,
        location: { city: "mountain view", region: "california", country: "united states" },
        description: null,
        revenue: null,
        funding: null,
        technologies: null,
        phone: null,
        provider_ids: { peopledatalabs: "aKCIYBNF9ey6o5CjHCCO4goHYKlf" }
      },
      cost: { unit: "USD", amount: "0.1" }
    })
  })

  test("no match", async () => {
    const played = fixture("peopledatalabs", "company_enrich.404", 404)
    expect((await play("company.enrich", { name: "Nobody" }, played)).outcome?._tag).toBe("NoMatch")
  })
})

describe("peopledatalabs company.search", () => {
  const google = {
    id: "g1",
    name: "google",
    display_name: "Google",
    website: "google.com",
    size: "10001+",
    founded: 1998
  }

  test("records that fit the filters", async () => {
    const input = {
      query: "maps",
      industries: ["internet"],
      locations: ["California", "Oregon"],
      employee_ranges: ["10001+"],
      keywords: ["search"],
      founded_min: 1990,
      limit: 1
    }
    const { asked, outcome } = await play(
      "company.search",
      input,
      answer(200, { status: 200, data: [google], total: 3, scroll_token: "7$1" }, spent)
    )
    const should = (...clauses: ReadonlyArray<object>) => ({ bool: { should: clauses } })
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v5/company/search", {
          query: {
            bool: {
              must: [
                should({ match: { name: "maps" } }, { match: { summary: "maps" } }, { match: { tags: "maps" } }),
                should({ match: { industry: "internet" } }),
                should({ match: { "location.name": "California" } }, { match: { "location.name": "Oregon" } }),
                { terms: { size: ["10001+"] } },
                should({ match: { tags: "search" } }, { match: { summary: "search" } }),
                { range: { founded: { gte: 1990 } } }
              ]
            }
          },
          size: 1,
          titlecase: true
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            name: "Google",
            domain: "google.com",
            website: "https://google.com",
            network_url: null,
            industry: null,
            employee_count: null,
            employee_range: "10001+",
            founded_year: 1998,
            location: null,
            description: null,
            revenue: null,
            funding: null,
            technologies: null,
            phone: null,
            provider_ids: { peopledatalabs: "g1" }
          }
        ],
        total: 3,
        next_cursor: "peopledatalabs:7$1"
      },
      cost: { unit: "USD", amount: "0.1" }
    })
  })

  test("the next page; a short one is the last", async () => {
    const input = { founded_max: 2000, limit: 5, cursor: "peopledatalabs:7$1" }
    const played = answer(200, { status: 200, data: [google, google], total: 3, scroll_token: "7$3" })
    const { asked, outcome } = await play("company.search", input, played)
    expect(asked[0]?.body).toMatchObject({
      query: { bool: { must: [{ range: { founded: { lte: 2000 } } }] } },
      size: 5,
      scroll_token: "7$1"
    })
    expect(outcome).toMatchObject({ output: { items: [{ name: "Google" }, { name: "Google" }], next_cursor: null } })
  })

  test("serves what its records tell, and its own cursors", () => {
    const { serves } = offerOf(peopledatalabs, "company.search")
    expect(serves({ industries: ["internet"] })).toBe(true)
    expect(serves({ technologies: ["Salesforce"] })).toBe(false)
    expect(serves({ industries: ["internet"], cursor: "hunter:2" })).toBe(false)
  })

  test("nothing found", async () => {
    const played = fixture("peopledatalabs", "person_search.404", 404)
    expect((await play("company.search", { query: "x" }, played)).outcome).toEqual({
      _tag: "NoMatch",
      detail: "no record found",
      cost: { unit: "credit", amount: "0" }
    })
    expect((await play("company.search", { query: "x" }, answer(404, {}))).outcome?._tag).toBe("Failure")
    expect((await play("company.search", { query: "x" }, answer(200, { data: [] }))).outcome?._tag).toBe("NoMatch")
  })
})

describe("peopledatalabs network.profile", () => {
  const input = { network_url: "https://linkedin.com/in/seanthorne" }

  test("a profile", async () => {
    const { asked, outcome } = await play(
      "network.profile",
      input,
      fixture("peopledatalabs", "person_enrich", 200, spent)
    )
    expect(asked[0]).toMatchObject({
      ...get("/v5/person/enrich", { profile: input.network_url, min_likelihood: "6", titlecase: "true" }),
      secret: secretInHeader
    })
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: { full_name: "sean thorne", network_url: input.network_url, followers: null, is_connected: null },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("what the person says, and how many know the person", async () => {
    const data = { full_name: "A B", summary: "Writes.", linkedin_connections: 401, skills: ["go"] }
    const { outcome } = await play("network.profile", input, answer(200, { status: 200, data }))
    expect(outcome).toMatchObject({
      output: { about: "Writes.", connections: 401, skills: ["go"], experience: null, education: null }
    })
  })

  test("no match", async () => {
    const played = fixture("peopledatalabs", "person_enrich.404", 404)
    expect((await play("network.profile", input, played)).outcome).toMatchObject({
      _tag: "NoMatch",
      cost: { amount: "0" }
    })
    const nameless = await play("network.profile", input, answer(200, { data: { id: "x" } }, spent))
    expect(nameless.outcome).toMatchObject({ _tag: "NoMatch", detail: "an empty record", cost: { amount: "1" } })
    const strange = await play("network.profile", input, answer(200, { data: [] }))
    expect(strange.outcome).toMatchObject({ reason: "invalid_response" })
  })

  test("serves addresses, not identifiers", () => {
    expect(offerOf(peopledatalabs, "network.profile").serves({ identifier: "seanthorne" })).toBe(false)
  })
})

describe("peopledatalabs as a whole", () => {
  test("is asked what its document knows", () => {
    const ask = (capability: string, input: unknown) =>
      conforms(peopledatalabs, offerOf(peopledatalabs, capability).request(input, { run_id: runId, wanted: ["phone"] }))
    expect(ask("people.enrich", { email: "a@b.co" })).toEqual([])
    expect(ask("company.enrich", { domain: "b.co" })).toEqual([])
    expect(ask("network.profile", { network_url: "https://linkedin.com/in/x" })).toEqual([])
    // Its document calls the query a string; its documentation and its clients send the object.
    expect(ask("people.search", { name: "A" })).toEqual(["body.query must be string"])
    expect(ask("company.search", { query: "A", founded_min: 1990 })).toEqual(["body.query must be string"])
  })

  test("any answer of its tells its cost", () => {
    const reply = { status: 200, headers: { "x-call-credits-spent": "25" }, text: "", body: {} }
    expect(peopledatalabs.measured(reply)).toEqual({ unit: "credit", amount: "25" })
    expect(peopledatalabs.measured({ ...reply, headers: {} })).toBeNull()
  })
})
