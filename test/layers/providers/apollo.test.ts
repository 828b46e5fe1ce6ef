import { describe, expect, test } from "bun:test"
import { apollo } from "../../../src/layers/providers/apollo/index.ts"
import { conforms } from "./conformance.ts"
import { altered, example, reviewed } from "./example.ts"
import { answer, get, offerOf, runId, secretInHeader, stage } from "./stage.ts"

const play = stage(apollo)
const context = { run_id: runId }
const ask = (capability: string, input: unknown) => offerOf(apollo, capability).request(input, context)
/** What the server must have seen of a POST whose input is its query. */
const posted = (path: string, query: Readonly<Record<string, string>>) => ({ method: "POST", path, query, body: null })
const field = (body: unknown, name: string): unknown => Object(body)[name]

describe("apollo people.search", () => {
  const input = { titles: ["marketing manager"], seniorities: ["vp"], employee_range: "251-500", limit: 2 }

  test("people, without the names that it shortens", async () => {
    const { asked, outcome } = await play("people.search", input, example("apollo", "mixed_people_api_search"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...posted("/api/v1/mixed_people/api_search", {
          "person_titles[]": "marketing manager",
          "person_seniorities[]": "vp",
          "organization_num_employees_ranges[]": "251,500",
          page: "1",
          per_page: "2"
        }),
        secret: secretInHeader
      })
    ])
    const unknown = {
      full_name: null,
      last_name: null,
      headline: null,
      seniority: null,
      company_domain: null,
      network_url: null,
      location: null,
      email: null,
      email_status: null,
      phone: null
    }
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            ...unknown,
            first_name: "Napita",
            title: "Made-up text 89.",
            company_name: "Nepimo Media",
            provider_ids: { apollo: "67bdafd0c3a4c50001bbd7c2" }
          },
          {
            ...unknown,
            first_name: "Vimo",
            title: "Managing Director",
            company_name: "Tatave",
            provider_ids: { apollo: "6775057df8360a0001a6852c" }
          }
        ],
        total: 232764882,
        next_cursor: "apollo:2"
      }
    })
  })

  test("people as they were captured", async () => {
    const played = answer(200, reviewed("apollo-people.search"))
    const { outcome } = await play("people.search", { titles: ["founder"], limit: 5 }, played)
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          { first_name: "Pesu", last_name: null, company_name: "Sudale Health" },
          { first_name: "Bill", title: "Founder", provider_ids: { apollo: "6867cec58eea26000153fa61" } },
          {},
          {},
          {}
        ],
        total: 243009131,
        next_cursor: "apollo:5"
      }
    })
  })

  test("every filter in the words of its document", () => {
    const call = ask("people.search", {
      titles: ["head of sales", "sales lead"],
      seniorities: ["CXO", "Director"],
      name: "Jane Doe",
      company_domains: ["example.com"],
      locations: ["berlin"],
      employee_range: "10001+",
      keywords: "saas"
    })
    expect(call.query).toEqual({
      "person_titles[]": ["head of sales", "sales lead"],
      "person_seniorities[]": ["c_suite", "director"],
      "q_organization_domains_list[]": ["example.com"],
      "person_locations[]": ["berlin"],
      "organization_num_employees_ranges[]": ["10001,10000000"],
      q_keywords: "Jane Doe saas",
      page: 1,
      per_page: 10
    })
    expect(conforms(apollo, call)).toEqual([])
  })

  const pages = [
    ["apollo:20", 10, { page: 3, per_page: 10 }],
    ["apollo:20", 15, { page: 2, per_page: 18 }],
    ["apollo:7", 1, { page: 8, per_page: 1 }],
    ["apollo:99", 100, { page: 1, per_page: 100 }]
  ] as const
  for (const [cursor, limit, expected] of pages) {
    test(`${limit} results from ${cursor} on are on page ${expected.page} of ${expected.per_page}`, () => {
      const { query } = ask("people.search", { name: "x", cursor, limit })
      expect(query).toMatchObject(expected)
      // The first result that is asked for is on that page.
      const { page, per_page } = Object(query)
      const skipped = Number(cursor.split(":")[1]) - (page - 1) * per_page
      expect(skipped).toBeGreaterThanOrEqual(0)
      expect(skipped).toBeLessThan(per_page)
    })
  }

  test("a window is cut out of its page, and the last page has no next", async () => {
    const people = Array.from({ length: 18 }, (_, index) => ({ id: `p${18 + index}`, first_name: `P${18 + index}` }))
    const body = { total_entries: 35, people: people.slice(0, 17) }
    const { outcome } = await play("people.search", { name: "x", cursor: "apollo:20", limit: 15 }, answer(200, body))
    expect(outcome).toMatchObject({ _tag: "Match", output: { next_cursor: null } })
    const items = field(field(outcome, "output"), "items")
    expect(Array.isArray(items) ? [items.length, field(items[0], "first_name")] : []).toEqual([15, "P20"])
  })

  test("serves what it can filter, and its own cursors", () => {
    const { serves } = offerOf(apollo, "people.search")
    expect(serves({ name: "x", cursor: "apollo:49999" })).toBe(true)
    for (const more of [
      { company_names: ["Acme"] },
      { industries: ["software"] },
      { employee_range: "many" },
      { cursor: "apollo:50000" },
      { cursor: "apollo:x" },
      { cursor: "exa:1" }
    ]) {
      expect(serves({ name: "x", ...more })).toBe(false)
    }
  })

  const failures = [
    ["401", 401, "provider_account"],
    ["403", 403, "provider_account"],
    ["422", 422, "provider_error"],
    ["429", 429, "provider_rate_limited"]
  ] as const
  for (const [name, status, reason] of failures) {
    test(`${name} is ${reason}`, async () => {
      const played = example("apollo", `mixed_people_api_search.${name}`, status)
      expect((await play("people.search", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }

  test("nobody, and no list", async () => {
    expect((await play("people.search", input, answer(200, { people: [], total_entries: 0 }))).outcome).toEqual({
      _tag: "NoMatch",
      detail: "nobody found"
    })
    expect((await play("people.search", input, answer(200, { total_entries: 3 }))).outcome).toMatchObject({
      reason: "invalid_response"
    })
  })
})

describe("apollo people.enrich", () => {
  test("an empty record, as it was captured for nobody, is a miss", async () => {
    const input = { email: "tasamo@pirole-test.io" }
    const { outcome } = await play("people.enrich", input, answer(200, reviewed("apollo-people.enrich.miss")))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "an empty record" })
  })

  const input = { full_name: "lumo lovita", company_domain: "apollo.io" }

  test("a person, but nothing of the operator's own records", async () => {
    const { asked, outcome } = await play("people.enrich", input, example("apollo", "people_match"))
    expect(asked[0]).toMatchObject({
      ...posted("/api/v1/people/match", { name: "lumo lovita", domain: "apollo.io" }),
      secret: secretInHeader
    })
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        full_name: "Lumo Lovita",
        first_name: "Lumo",
        last_name: "Lovita",
        headline: "Founder & CEO at Apollo",
        title: "Founder & CEO",
        seniority: "founder",
        company_name: "Apollo.io",
        company_domain: "apollo.io",
        network_url: "http://www.linkedin.com/in/lumo-lovita-677ba010",
        location: { city: "San Francisco", region: "California", country: "United States" },
        email: "lumo@apollo.io",
        email_status: "valid",
        phone: null,
        provider_ids: { apollo: "64a7ff0cc4dfae00013df1a5" },
        education: null,
        skills: null,
        match_confidence: null
      }
    })
    const experience = field(field(outcome, "output"), "experience")
    expect(Array.isArray(experience) ? experience.slice(0, 2) : []).toEqual([
      {
        title: "Founder & CEO",
        company_name: "Apollo",
        company_domain: null,
        start_date: "2016-01-01",
        end_date: null,
        is_current: true
      },
      {
        title: "Founder & CEO",
        company_name: "Dolori",
        company_domain: null,
        start_date: "2011-01-01",
        end_date: "2015-01-01",
        is_current: false
      }
    ])
    expect(JSON.stringify(outcome)).not.toContain("neda@")
    expect(JSON.stringify(outcome)).not.toContain("+1123555")
  })

  test("asks by whatever is known", () => {
    const call = ask("people.enrich", {
      network_url: "https://www.linkedin.com/in/x",
      email: "a@b.co",
      full_name: "A B",
      company_name: "B"
    })
    expect(call.query).toEqual({
      linkedin_url: "https://www.linkedin.com/in/x",
      email: "a@b.co",
      name: "A B",
      domain: undefined,
      organization_name: "B"
    })
    expect(conforms(apollo, call)).toEqual([])
  })

  test("an address that was not paid for is none", async () => {
    const person = { id: "1", name: "A B", email: "email_not_unlocked@domain.com", email_status: "unavailable" }
    const { outcome } = await play("people.enrich", input, answer(200, { person }))
    expect(outcome).toMatchObject({ output: { email: null, email_status: null, company_domain: null } })
  })

  test("nobody, an empty record, and nonsense", async () => {
    const nobody = await play("people.enrich", input, example("apollo", "people_match.no_match"))
    expect(nobody.outcome).toEqual({ _tag: "NoMatch", detail: "nobody found" })
    expect((await play("people.enrich", input, answer(200, { person: { id: "1" } }))).outcome?._tag).toBe("NoMatch")
    expect((await play("people.enrich", input, answer(200, { person: "Lumo" }))).outcome).toMatchObject({
      reason: "invalid_response"
    })
    expect(offerOf(apollo, "people.enrich").lacks).toEqual(["phone"])
  })
})

describe("apollo phone.find", () => {
  const input = { network_url: "http://www.linkedin.com/in/lumo-lovita-677ba010" }
  // Two digits more than a number of JavaScript holds.
  const request_id = "1039995589705121927"
  const accepted = answer(200, `{"person":{"id":"64a7","name":"Lumo Lovita"},"request_id":${request_id}}`)
  const pending = (retry_after_seconds?: number) => answer(404, { error_code: "result_pending", retry_after_seconds })
  const numbers = [
    { confidence_cd: "high", raw_number: "+1 555-555-0164", sanitized_number: "+15555550164", status_cd: "no_status" },
    { confidence_cd: "high", sanitized_number: "+14155550117", status_cd: "valid_number", type_cd: "mobile" }
  ]
  const done = (people: unknown, webhook_status = "success") =>
    answer(200, {
      request_id,
      webhook_status,
      failure_reason: null,
      webhook_result: { status: "success", credits_consumed: 9, people }
    })

  test("asks once, and for the number until it is there", async () => {
    const { asked, outcome, outcomes, kept } = await play(
      "phone.find",
      input,
      accepted,
      pending(10),
      pending(),
      answer(200, { webhook_status: "in_progress", webhook_result: null }),
      done([{ id: "64a7", status: "success", phone_numbers: numbers }])
    )
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/people/match",
      ...Array.from({ length: 4 }, () => `GET /api/v1/webhook_result/${request_id}`)
    ])
    expect(asked[0]).toMatchObject({
      query: {
        linkedin_url: input.network_url,
        reveal_phone_number: "true",
        // Nobody can own it, so nobody is sent the number.
        webhook_url: "https://results.invalid/phone"
      },
      secret: secretInHeader
    })
    const again = (afterMillis: number) => ({ _tag: "Again" as const, state: { request_id }, afterMillis, job: true })
    expect(outcomes.slice(0, 4)).toEqual([again(5000), again(10_000), again(5000), again(5000)])
    expect(kept).toEqual(Array.from({ length: 4 }, () => ({ request_id })))
    expect(outcome).toEqual({
      _tag: "Match",
      output: { phone: "+14155550117", phone_type: "mobile", confidence: 90 },
      cost: { unit: "credit", amount: "9" }
    })
  })

  test("asked too often, it asks again", async () => {
    const message = "The maximum number of api calls allowed for api/v1/webhook_result/show is 600 times per hour."
    const found = done([{ phone_numbers: numbers }])
    const { outcome } = await play("phone.find", input, accepted, answer(429, { message }), found)
    expect(outcome?._tag).toBe("Match")
  })

  test("a result that could not be sent anywhere is a result", async () => {
    const { outcome } = await play(
      "phone.find",
      input,
      accepted,
      done([{ phone_numbers: numbers.slice(0, 1) }], "failed")
    )
    expect(outcome).toMatchObject({ output: { phone: "+15555550164", phone_type: null } })
  })

  test("no match: nobody, or nobody with a number", async () => {
    const nobody = await play("phone.find", input, example("apollo", "people_match.no_match"))
    expect(nobody.outcome).toEqual({ _tag: "NoMatch", detail: "nobody found" })
    for (const people of [[], [{ id: "1", phone_numbers: [] }], [{ id: "1", status: "not_found" }]]) {
      expect((await play("phone.find", input, accepted, done(people))).outcome).toMatchObject({
        _tag: "NoMatch",
        detail: "no number found"
      })
    }
  })

  const failures = [
    [[answer(200, { person: { id: "1" } })], "invalid_response", "the answer has no readable request_id"],
    [[accepted, answer(404, { error_code: "request_id_unknown" })], "provider_error", "HTTP 404: request_id_unknown"],
    [[accepted, answer(410, { error_code: "request_id_expired" })], "provider_error", "HTTP 410: request_id_expired"],
    [[accepted, answer(400, { error_code: "invalid_request_id" })], "provider_error", "HTTP 400: invalid_request_id"],
    [
      [accepted, answer(200, { webhook_status: "failed", failure_reason: "no vendor", webhook_result: null })],
      "provider_error",
      "no vendor"
    ],
    [[accepted, answer(200, {})], "invalid_response", "the answer has no readable webhook_result"],
    [[accepted, done("none")], "invalid_response", "the answer has no readable people"],
    [[example("apollo", "people_match.401", 401)], "provider_account", null],
    [[example("apollo", "people_match.429", 429)], "provider_rate_limited", null]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${detail ?? played[0].status} is ${reason}`, async () => {
      expect((await play("phone.find", input, ...played)).outcome).toMatchObject({
        _tag: "Failure",
        reason,
        ...(detail === null ? {} : { detail })
      })
    })
  }

  test("has minutes, and fits its document", () => {
    const offer = offerOf(apollo, "phone.find")
    expect(offer.timeoutMillis).toBe(300_000)
    expect(conforms(apollo, offer.request(input, context))).toEqual([])
    const reply = { status: 200, headers: {}, text: "{}", body: {} }
    expect(offer.response(reply, input, "nonsense")).toMatchObject({ reason: "invalid_response" })
  })
})

describe("apollo company.enrich", () => {
  test("a company, but nothing of the operator's own records", async () => {
    const { asked, outcome } = await play(
      "company.enrich",
      { domain: "apollo.io", name: "Apollo" },
      example("apollo", "organizations_enrich")
    )
    expect(asked).toEqual([
      expect.objectContaining({
        ...get("/api/v1/organizations/enrich", { domain: "apollo.io" }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        name: "Apollo.io",
        domain: "apollo.io",
        website: "http://www.apollo.io",
        network_url: "http://www.linkedin.com/company/lonavi",
        industry: "information technology & services",
        employee_count: 1600,
        employee_range: null,
        founded_year: 2015,
        location: { city: "San Francisco", region: "California", country: "United States" },
        revenue: "100000000",
        funding: "251200000",
        phone: null,
        provider_ids: { apollo: "5e66b6381e05b4008c8331b8" }
      }
    })
    expect(field(field(outcome, "output"), "technologies")).toContain("Android")
  })

  test("a company as it was captured", async () => {
    const played = answer(200, reviewed("apollo-company.enrich"))
    const { outcome } = await play("company.enrich", { domain: "apollo.io" }, played)
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        name: "Apollo.io",
        domain: "apollo.io",
        employee_count: 990,
        location: { city: "San Francisco", region: "California", country: "United States" },
        revenue: "150000000",
        funding: "253400000",
        phone: "+34955627015"
      }
    })
    expect(field(field(outcome, "output"), "technologies")).toContain("Nesumi")
  })

  test("the revenue is read by both of its names", async () => {
    const revenue = async (more: object) => {
      const { outcome } = await play(
        "company.enrich",
        { domain: "x.co" },
        answer(200, { organization: { name: "X", ...more } })
      )
      return field(field(outcome, "output"), "revenue")
    }
    expect(await revenue({ organization_revenue: 7, annual_revenue: 9 })).toBe("7")
    expect(await revenue({ annual_revenue: 9 })).toBe("9")
    expect(await revenue({ organization_revenue: null })).toBeNull()
  })

  test("by profile, else by name", () => {
    const network_url = "http://www.linkedin.com/company/lonavi"
    expect(ask("company.enrich", { name: "Apollo", network_url }).query).toEqual({ linkedin_url: network_url })
    expect(ask("company.enrich", { name: "Apollo" }).query).toEqual({ name: "Apollo" })
    expect(conforms(apollo, ask("company.enrich", { name: "Apollo" }))).toEqual([])
  })

  test("nobody, and nonsense", async () => {
    for (const body of [{ organization: null }, {}]) {
      const { outcome } = await play("company.enrich", { domain: "x.co" }, answer(200, body))
      expect(outcome).toEqual({ _tag: "NoMatch", detail: "no company found" })
    }
    expect((await play("company.enrich", { domain: "x.co" }, answer(200, { organization: {} }))).outcome?._tag).toBe(
      "NoMatch"
    )
    for (const body of [{ organization: "x" }, []]) {
      const { outcome } = await play("company.enrich", { domain: "x.co" }, answer(200, body))
      expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    }
  })

  for (const [status, reason] of [
    [401, "provider_account"],
    [403, "provider_account"],
    [422, "provider_error"],
    [429, "provider_rate_limited"]
  ] as const) {
    test(`${status} is ${reason}`, async () => {
      const played = example("apollo", `organizations_enrich.${status}`, status)
      expect((await play("company.enrich", { domain: "x.co" }, played)).outcome).toMatchObject({ reason })
    })
  }
})

describe("apollo company.search", () => {
  test("companies as they were captured", async () => {
    const played = answer(200, reviewed("apollo-company.search"))
    const { outcome } = await play("company.search", { query: "apollo", limit: 2 }, played)
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          { name: "Apollo Navimo", domain: "tarike.com", revenue: "2551200000", phone: "+914428290200" },
          { name: "Apollo Global Management, Inc.", founded_year: 1990, revenue: "30299000000" }
        ],
        total: 4348,
        next_cursor: "apollo:2"
      }
    })
  })

  test("companies that fit, but none of the operator's own", async () => {
    const input = { locations: ["japan", "ireland"], employee_ranges: ["201-500", "5001-10000"], limit: 2 }
    const played = altered("apollo", "mixed_companies_search", (body) => ({
      ...Object(body),
      accounts: [{ id: "a1", name: "Saved Ltd." }]
    }))
    const { asked, outcome } = await play("company.search", input, played)
    expect(asked[0]).toMatchObject({ method: "POST", path: "/api/v1/mixed_companies/search", secret: secretInHeader })
    const call = ask("company.search", input)
    expect(call.query).toMatchObject({
      "organization_locations[]": ["japan", "ireland"],
      "organization_num_employees_ranges[]": ["201,500", "5001,10000"],
      page: 1,
      per_page: 2
    })
    expect(conforms(apollo, call)).toEqual([])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          {
            name: "Talomi Asia",
            domain: "talomi.com",
            website: "http://www.talomi.com",
            founded_year: 1876,
            phone: "+81576950781",
            provider_ids: { apollo: "615d029256de500001bdb460" },
            location: null,
            technologies: null
          },
          { name: "Vekavi & Co., Ltd.", domain: "vekavi.com", phone: "+81465881655" }
        ],
        total: 1184,
        next_cursor: "apollo:2"
      }
    })
    expect(JSON.stringify(outcome)).not.toContain("Saved")
  })

  test("name, keywords and technologies in its own words", () => {
    const call = ask("company.search", {
      query: "acme",
      industries: ["mining"],
      technologies: ["Google Analytics", "Node.js"]
    })
    expect(call.query).toMatchObject({
      q_organization_name: "acme",
      "q_organization_keyword_tags[]": ["mining"],
      "currently_using_any_of_technology_uids[]": ["google_analytics", "node_js"]
    })
    expect(conforms(apollo, call)).toEqual([])
  })

  test("serves what it can filter", () => {
    const { serves } = offerOf(apollo, "company.search")
    expect(serves({ keywords: ["mining"] })).toBe(true)
    for (const more of [
      { industries: ["mining"] },
      { founded_min: 2000 },
      { founded_max: 2000 },
      { cursor: "exa:1" }
    ]) {
      expect(serves({ keywords: ["mining"], ...more })).toBe(false)
    }
  })

  test("none, and the plan's refusals", async () => {
    const input = { keywords: ["x"] }
    const none = answer(200, { organizations: [], accounts: [{ name: "Saved" }], pagination: { total_entries: 1 } })
    expect((await play("company.search", input, none)).outcome?._tag).toBe("NoMatch")
    const free = await play("company.search", input, example("apollo", "mixed_companies_search.403", 403))
    expect(free.outcome).toMatchObject({ reason: "provider_account" })
    const fast = await play("company.search", input, example("apollo", "mixed_companies_search.429", 429))
    expect(fast.outcome).toMatchObject({ reason: "provider_rate_limited" })
  })
})

describe("apollo company.tech", () => {
  test("technologies by category", async () => {
    const { outcome } = await play("company.tech", { domain: "apollo.io" }, example("apollo", "organizations_enrich"))
    expect(outcome).toMatchObject({ _tag: "Match", output: { domain: "apollo.io", detected_at: null } })
    const technologies = field(field(outcome, "output"), "technologies")
    expect(Array.isArray(technologies) ? technologies.slice(0, 2) : []).toEqual([
      { name: "AI", category: "Other" },
      { name: "Android", category: "Frameworks and Programming Languages" }
    ])
  })

  test("names alone, none, nobody", async () => {
    const tech = (organization: unknown) => play("company.tech", { domain: "x.co" }, answer(200, { organization }))
    expect((await tech({ technology_names: ["AI"] })).outcome).toMatchObject({
      output: { domain: "x.co", technologies: [{ name: "AI", category: null }] }
    })
    expect((await tech({ name: "X" })).outcome).toEqual({ _tag: "NoMatch", detail: "no technologies found" })
    expect((await tech(null)).outcome).toEqual({ _tag: "NoMatch", detail: "no company found" })
  })
})

const company = example("apollo", "organizations_enrich")
const state = { organization_id: "5e66b6381e05b4008c8331b8", name: "Apollo.io", domain: "apollo.io" }

describe("apollo jobs.search", () => {
  test("looks the employer up, then its postings", async () => {
    const input = { company_domain: "apollo.io", limit: 2 }
    const { asked, outcome, outcomes, kept } = await play(
      "jobs.search",
      input,
      company,
      example("apollo", "organization_job_postings")
    )
    expect(asked).toEqual([
      expect.objectContaining(get("/api/v1/organizations/enrich", { domain: "apollo.io" })),
      expect.objectContaining(
        get("/api/v1/organizations/5e66b6381e05b4008c8331b8/job_postings", { page: "1", per_page: "2" })
      )
    ])
    expect(outcomes[0]).toEqual({ _tag: "Again", state, afterMillis: 0, job: false })
    expect(kept).toEqual([])
    const blank = {
      employment_type: null,
      salary_min: null,
      salary_max: null,
      currency: null,
      remote: null,
      description: null,
      company_name: "Apollo.io",
      company_domain: "apollo.io"
    }
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          {
            ...blank,
            title: "IT Support Analyst - L2",
            location: "Canada",
            posted_at: "2024-08-29T19:19:10.200+00:00"
          },
          { ...blank, title: "Vice President of Customer Support", location: "United States" }
        ],
        total: null,
        next_cursor: null
      }
    })
    const items = field(field(outcome, "output"), "items")
    expect(Array.isArray(items) ? items.length : 0).toBe(2)
  })

  test("filters by the words of the title and by the place", async () => {
    const input = { query: "Customer, SUPPORT", location: "united states", company_name: "Apollo" }
    const { asked, outcome } = await play("jobs.search", input, company, example("apollo", "organization_job_postings"))
    expect(asked[0]?.query).toEqual({ name: "Apollo" })
    expect(asked[1]?.query).toEqual({ page: "1", per_page: "1000" })
    const items = field(field(outcome, "output"), "items")
    expect(Array.isArray(items) ? items.map((item) => field(item, "title")) : []).toEqual([
      "Vice President of Customer Support",
      "Vice President, Customer Support"
    ])
    const none = await play(
      "jobs.search",
      { ...input, query: "astronaut" },
      company,
      example("apollo", "organization_job_postings")
    )
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no postings found" })
  })

  test("an employer that nobody knows ends it at the first step", async () => {
    const { asked, outcome } = await play(
      "jobs.search",
      { company_domain: "x.co" },
      answer(200, { organization: null })
    )
    expect(asked.length).toBe(1)
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no company found" })
  })

  test("failures of either step", async () => {
    const input = { company_domain: "x.co" }
    const second = (status: number) => example("apollo", `organization_job_postings.${status}`, status)
    const reasons = [
      [401, "provider_account"],
      [422, "provider_error"],
      [429, "provider_rate_limited"]
    ] as const
    for (const [status, reason] of reasons) {
      expect((await play("jobs.search", input, company, second(status))).outcome).toMatchObject({ reason })
    }
    for (const played of [answer(200, {}), answer(200, { organization_job_postings: "none" })]) {
      expect((await play("jobs.search", input, company, played)).outcome).toMatchObject({ reason: "invalid_response" })
    }
    expect((await play("jobs.search", input, answer(200, { organization: {} }))).outcome).toMatchObject({
      reason: "invalid_response"
    })
  })

  test("both calls fit the document; a state that is none goes nowhere", () => {
    const offer = offerOf(apollo, "jobs.search")
    const input = { company_domain: "x.co" }
    expect(conforms(apollo, offer.request(input, context))).toEqual([])
    expect(conforms(apollo, offer.next(state, input, context))).toEqual([])
    const reply = { status: 200, headers: {}, text: "", body: { organization_job_postings: [] } }
    expect(offer.response(reply, input, { id: 1 })).toMatchObject({ reason: "invalid_response" })
    for (const more of [{ remote: true }, { posted_within_days: 7 }])
      expect(offer.serves({ ...input, ...more })).toBe(false)
    expect(offer.serves({ query: "engineer" })).toBe(false)
  })
})

describe("apollo news.search", () => {
  const input = { query: "series funding raises", company_domain: "apollo.io", limit: 3 }

  test("looks the company up, then its news; what the query is about comes first", async () => {
    const { asked, outcome } = await play("news.search", input, company, example("apollo", "news_articles_search"))
    expect(asked).toEqual([
      expect.objectContaining(get("/api/v1/organizations/enrich", { domain: "apollo.io" })),
      expect.objectContaining(
        posted("/api/v1/news_articles/search", {
          "organization_ids[]": "5e66b6381e05b4008c8331b8",
          page: "1",
          per_page: "25"
        })
      )
    ])
    const items = field(field(outcome, "output"), "items")
    expect(Array.isArray(items) ? items[0] : null).toEqual({
      title: "Apollo.io (made-up text 98) Series B Funding",
      url: "https://www.dadana.com/2021/11/apollo-io-raises-32m-in-series-b-funding.html",
      source: "dadana.com",
      published_at: "2021-11-01T21:44:42.000+00:00",
      snippet: expect.stringContaining("partner at Tribe Capital"),
      image_url: null
    })
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        items: [{}, { source: "kapipe.com" }, { source: "kapipe.com" }],
        total: 10,
        next_cursor: null
      }
    })
  })

  test("misses are charged: only a null and an empty list are one", async () => {
    const unknown = await play("news.search", input, answer(200, { organization: null }))
    expect(unknown.outcome).toEqual({ _tag: "NoMatch", detail: "no company found" })
    const quiet = await play("news.search", input, company, answer(200, { news_articles: [], pagination: {} }))
    expect(quiet.outcome).toEqual({ _tag: "NoMatch", detail: "no articles found" })
    expect((await play("news.search", input, answer(200, {}))).outcome?._tag).toBe("Failure")
    expect((await play("news.search", input, company, answer(200, {}))).outcome?._tag).toBe("Failure")
    const refused = await play("news.search", input, company, example("apollo", "news_articles_search.422", 422))
    expect(refused.outcome).toMatchObject({ _tag: "Failure", detail: "HTTP 422: organization_ids is required" })
  })

  test("serves a company's news of any age, a page at most", () => {
    const { serves, request, next } = offerOf(apollo, "news.search")
    expect(serves(input)).toBe(true)
    for (const more of [{ limit: 26 }, { recency: "week" }, { language: "en" }, { country: "us" }]) {
      expect(serves({ ...input, ...more })).toBe(false)
    }
    expect(serves({ query: "x" })).toBe(false)
    expect(conforms(apollo, request(input, context))).toEqual([])
    expect(conforms(apollo, next(state, input, context))).toEqual([])
  })
})

test("apollo reports no cost", () => {
  expect(apollo.measured({ status: 200, headers: {}, text: "", body: { person: {} } })).toBeNull()
})
