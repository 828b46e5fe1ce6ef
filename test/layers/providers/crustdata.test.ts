import { describe, expect, test } from "bun:test"
import { crustdata } from "../../../src/layers/providers/crustdata/index.ts"
import { conforms } from "./conformance.ts"
import { altered, example, reviewed } from "./example.ts"
import { answer, offerOf, post, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(crustdata)
const ask = (capability: string, input: unknown) => offerOf(crustdata, capability).request(input, { run_id: runId })
const spent = (credits: string) => ({ "x-credits-used": credits })
const profile = { network_url: "https://www.linkedin.com/in/example" }
const column = (name: string) => `experience.employment_details.current.${name}`

describe("crustdata people.search", () => {
  test("people who meet the conditions", async () => {
    const input = { name: "David Hsu", limit: 1 }
    const { asked, outcome } = await play(
      "people.search",
      input,
      example("crustdata", "person_search", 200, spent("0.03"))
    )
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/person/search", {
          filters: { field: "basic_profile.name", type: "(.)", value: "David Hsu" },
          limit: 1
        }),
        secret: secretAsBearer,
        headers: expect.objectContaining({ "x-api-version": "2025-11-01" })
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            full_name: "David Hsu",
            first_name: null,
            last_name: null,
            headline: "CEO",
            title: "Founder",
            seniority: null,
            company_name: "Retool",
            company_domain: null,
            network_url: "https://www.linkedin.com/in/example",
            location: { city: null, region: null, country: "United States" },
            email: null,
            email_status: null,
            phone: null,
            provider_ids: { crustdata: "703874" }
          }
        ],
        total: 1,
        next_cursor: null
      },
      cost: { unit: "credit", amount: "0.03" }
    })
  })

  test("people as the provider documents them", async () => {
    const played = answer(200, reviewed("crustdata-people.search"), spent("0.03"))
    const { outcome } = await play("people.search", { titles: ["vp engineering"], limit: 1 }, played)
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            full_name: "Jane Dalone",
            first_name: "Jane",
            last_name: "Dalone",
            headline: "VP Engineering at Sudasa",
            title: "VP Engineering",
            seniority: "VP",
            company_name: "Sudasa",
            company_domain: "example.com",
            network_url: null,
            location: { city: "San Francisco", region: "California", country: "US" },
            email: null,
            email_status: null,
            phone: null,
            provider_ids: { crustdata: "12345" }
          }
        ],
        total: 42,
        next_cursor: "crustdata:..."
      },
      cost: { unit: "credit", amount: "0.03" }
    })
  })

  test("every filter is a condition, all of them joined", async () => {
    const input = {
      titles: ["head of sales", "sales lead"],
      seniorities: ["cxo", "Monami"],
      company_domains: ["Example.com"],
      company_names: ["Acme"],
      locations: ["Berlin"],
      industries: ["software"],
      employee_range: "51-200",
      keywords: "saas",
      cursor: "crustdata:abc"
    }
    const call = ask("people.search", input)
    const words = (field: string, value: string) => ({ field, type: "(.)", value })
    expect(call.body).toEqual({
      filters: {
        op: "and",
        conditions: [
          { op: "or", conditions: [words(column("title"), "head of sales"), words(column("title"), "sales lead")] },
          { field: column("seniority_level"), type: "in", value: ["CXO", "Monami"] },
          { field: column("company_website_domain"), type: "in", value: ["example.com"] },
          words(column("name"), "Acme"),
          words("basic_profile.location.full_location", "Berlin"),
          words(column("company_professional_network_industry"), "software"),
          {
            op: "and",
            conditions: [
              { field: column("company_headcount_latest"), type: "=>", value: 51 },
              { field: column("company_headcount_latest"), type: "=<", value: 200 }
            ]
          },
          { op: "or", conditions: [words("basic_profile.headline", "saas"), words("basic_profile.summary", "saas")] }
        ]
      },
      limit: 10,
      cursor: "abc"
    })
    expect(conforms(crustdata, call)).toEqual([])
    expect(ask("people.search", { employee_range: "10001+" }).body).toMatchObject({
      filters: { field: column("company_headcount_latest"), type: "=>", value: 10001 }
    })
  })

  test("the next page, and no more people than asked for", async () => {
    const played = altered("crustdata", "person_search", (body) => {
      const { profiles } = Object(body)
      return { profiles: [...profiles, ...profiles], total_count: null, next_cursor: "xyz" }
    })
    const { outcome } = await play("people.search", { name: "David", limit: 1 }, played)
    expect(outcome).toMatchObject({ output: { items: [{ full_name: "David Hsu" }], next_cursor: "crustdata:xyz" } })
    expect(outcome).not.toMatchObject({ output: { items: [{}, {}] } })
  })

  test("serves its own cursors, and bands that are numbers", () => {
    const { serves } = offerOf(crustdata, "people.search")
    expect(serves({ name: "x", cursor: "crustdata:abc" })).toBe(true)
    expect(serves({ name: "x", cursor: "prospeo:1" })).toBe(false)
    expect(serves({ employee_range: "many" })).toBe(false)
  })

  test("nobody", async () => {
    const played = example("crustdata", "person_search.no_match", 200, spent("0"))
    expect((await play("people.search", { name: "x" }, played)).outcome).toEqual({
      _tag: "NoMatch",
      detail: "nobody found",
      cost: { unit: "credit", amount: "0" }
    })
  })

  const failures = [
    [example("crustdata", "error.400", 400), "provider_error", "HTTP 400: Missing required header: x-api-version"],
    [answer(401, { error: { message: "bad key" } }), "provider_account", "HTTP 401: bad key"],
    [
      answer(403, { error: { message: "Access denied to endpoint" } }),
      "provider_account",
      "HTTP 403: Access denied to endpoint"
    ],
    [answer(429, {}), "provider_rate_limited", "HTTP 429"],
    [answer(200, { total_count: 0 }), "invalid_response", "the answer has no readable profiles"]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${detail} is ${reason}`, async () => {
      expect((await play("people.search", { name: "x" }, played)).outcome).toEqual({ _tag: "Failure", reason, detail })
    })
  }
})

/** The envelope of an enrichment of one. */
const enriched = (person_data: unknown, credits = "1") =>
  answer(
    200,
    [{ matched_on: profile.network_url, match_type: "x", matches: [{ confidence_score: 0.98, person_data }] }],
    spent(credits)
  )

describe("crustdata people.enrich", () => {
  const data = {
    crustdata_person_id: 14540,
    basic_profile: {
      name: "David Hsu",
      headline: "Founder, CEO @ Retool",
      location: { city: "", state: "California", country: "United States" }
    },
    experience: {
      employment_details: {
        current: [
          { name: "Club", title: "Member", start_date: null },
          {
            name: "Retool",
            title: "Founder, CEO",
            seniority_level: "CXO",
            company_website_domain: "retool.com",
            start_date: "2017-01-01T00:00:00+00:00",
            is_default: true
          }
        ],
        past: [{ name: "Google", title: "Intern", start_date: "2014-05-01T00:00:00", end_date: "2014-08-01T00:00:00" }]
      }
    },
    education: {
      schools: [{ school: "Oxford", degree: "BA", field_of_study: "Philosophy", start_year: 2012, end_year: 2016 }]
    },
    skills: { professional_network_skills: ["Python"] },
    social_handles: { professional_network_identifier: { profile_url: "https://www.linkedin.com/in/dvdhsu" } }
  }

  test("a profile", async () => {
    const played = example("crustdata", "person_enrich", 200, spent("1"))
    const { asked, outcome } = await play("people.enrich", profile, played)
    expect(asked[0]).toMatchObject({
      ...post("/person/enrich", {
        professional_network_profile_urls: [profile.network_url],
        fields: ["basic_profile", "experience", "education", "skills", "social_handles"]
      }),
      secret: secretAsBearer
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        full_name: "Jane Dalone",
        first_name: null,
        last_name: null,
        headline: "Founder, CEO @ Sudasa",
        title: "Founder, CEO",
        seniority: "CXO",
        company_name: "Sudasa",
        company_domain: "example.com",
        network_url: "https://www.linkedin.com/in/example",
        location: { city: null, region: "California", country: "United States" },
        email: null,
        email_status: null,
        phone: null,
        provider_ids: { crustdata: "12345" },
        experience: [
          {
            title: "Founder, CEO",
            company_name: "Sudasa",
            company_domain: "example.com",
            start_date: "2017-01-01",
            end_date: null,
            is_current: true
          }
        ],
        education: [
          {
            school: "University of Oxford",
            degree: "Bachelor of Arts (B.A.)",
            field: "Philosophy and Computer Science",
            start_date: null,
            end_date: null
          }
        ],
        skills: [],
        match_confidence: 1
      },
      cost: { unit: "credit", amount: "1" }
    })
    expect(conforms(crustdata, ask("people.enrich", profile))).toEqual([])
  })

  test("jobs of before, the main one of several, years of study and skills", async () => {
    const { outcome } = await play("people.enrich", profile, enriched(data))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        full_name: "David Hsu",
        first_name: null,
        last_name: null,
        headline: "Founder, CEO @ Retool",
        title: "Founder, CEO",
        seniority: "CXO",
        company_name: "Retool",
        company_domain: "retool.com",
        network_url: "https://www.linkedin.com/in/dvdhsu",
        location: { city: null, region: "California", country: "United States" },
        email: null,
        email_status: null,
        phone: null,
        provider_ids: { crustdata: "14540" },
        experience: [
          {
            title: "Member",
            company_name: "Club",
            company_domain: null,
            start_date: null,
            end_date: null,
            is_current: true
          },
          {
            title: "Founder, CEO",
            company_name: "Retool",
            company_domain: "retool.com",
            start_date: "2017-01-01",
            end_date: null,
            is_current: true
          },
          {
            title: "Intern",
            company_name: "Google",
            company_domain: null,
            start_date: "2014-05-01",
            end_date: "2014-08-01",
            is_current: false
          }
        ],
        education: [{ school: "Oxford", degree: "BA", field: "Philosophy", start_date: "2012", end_date: "2016" }],
        skills: ["Python"],
        match_confidence: 0.98
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("no match: an empty list, no matches, a 404 that says so, an empty profile", async () => {
    const none = await play("people.enrich", profile, example("crustdata", "person_contact_enrich.no_match"))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "nobody found" })
    expect((await play("people.enrich", profile, answer(200, [{ matches: [] }]))).outcome?._tag).toBe("NoMatch")
    const unknown = answer(404, { error: { type: "not_found", message: "No match" } })
    expect((await play("people.enrich", profile, unknown)).outcome).toEqual({
      _tag: "NoMatch",
      detail: "nothing on record"
    })
    expect((await play("people.enrich", profile, enriched({}))).outcome?._tag).toBe("NoMatch")
    expect((await play("people.enrich", profile, answer(404, {}))).outcome).toMatchObject({ reason: "provider_error" })
  })

  test("strange answers are none", async () => {
    for (const body of [{}, [{}], [{ matches: [{}] }], { results: "x" }]) {
      const { outcome } = await play("people.enrich", profile, answer(200, body))
      expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    }
  })

  test("serves known profiles without contact data", () => {
    const { serves, lacks } = offerOf(crustdata, "people.enrich")
    expect(serves(profile)).toBe(true)
    expect(lacks).toContain("email")
    expect(serves({ email: "david@retool.com" })).toBe(false)
    expect(serves({ full_name: "A B", company_domain: "b.co" })).toBe(false)
  })
})

describe("crustdata email.find", () => {
  const input = { full_name: "David Hsu", company_domain: "retool.com", ...profile }
  const contact = (business_emails: unknown) => enriched({ contact: { business_emails } })

  test("an address, and no other contact data", async () => {
    const played = example("crustdata", "person_contact_enrich", 200, spent("1"))
    const { asked, outcome } = await play("email.find", input, played)
    expect(asked[0]).toMatchObject(
      post("/person/contact/enrich", {
        professional_network_profile_urls: [profile.network_url],
        fields: ["contact.business_emails"]
      })
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "david@example.com",
        email_status: "valid",
        confidence: null,
        first_name: null,
        last_name: null,
        company_domain: null,
        source_count: null
      },
      cost: { unit: "credit", amount: "1" }
    })
    expect(conforms(crustdata, ask("email.find", input))).toEqual([])
  })

  test("no invalid address before another", async () => {
    const emails = [
      { email: "old@retool.com", status: "invalid" },
      { email: "david@retool.com", status: "deliverable" }
    ]
    const { outcome } = await play("email.find", input, contact(emails))
    expect(outcome).toMatchObject({ output: { email: "david@retool.com" } })
  })

  const statuses = { catch_all: "catch_all", unknown: "unknown", invalid: "invalid", new: "unknown" }
  for (const [status, email_status] of Object.entries(statuses)) {
    test(`${status} is ${email_status}`, async () => {
      const { outcome } = await play("email.find", input, contact([{ email: "d@retool.com", status }]))
      expect(outcome).toMatchObject({ output: { email_status } })
    })
  }

  test("no match", async () => {
    for (const played of [contact([]), contact(undefined), example("crustdata", "person_contact_enrich.no_match")]) {
      expect((await play("email.find", input, played)).outcome).toMatchObject({
        _tag: "NoMatch",
        detail: "no address found"
      })
    }
  })

  test("serves profiles only", () => {
    expect(offerOf(crustdata, "email.find").serves({ full_name: "A B", company_domain: "b.co" })).toBe(false)
  })
})

describe("crustdata phone.find", () => {
  test("a number", async () => {
    const played = example("crustdata", "person_contact_enrich", 200, spent("2"))
    const { asked, outcome } = await play("phone.find", { email: "david@retool.com" }, played)
    expect(asked[0]).toMatchObject(
      post("/person/contact/enrich", { business_emails: ["david@retool.com"], fields: ["contact.phone_numbers"] })
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: { phone: "+15555550123", phone_type: null, confidence: null },
      cost: { unit: "credit", amount: "2" }
    })
    expect(conforms(crustdata, ask("phone.find", { email: "david@retool.com" }))).toEqual([])
  })

  test("no number", async () => {
    const { outcome } = await play("phone.find", profile, enriched({ contact: { phone_numbers: [] } }, "0"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no number found", cost: { unit: "credit", amount: "0" } })
    expect((await play("phone.find", profile, answer(403, { error: {} }))).outcome).toMatchObject({
      reason: "provider_account"
    })
  })
})

describe("crustdata company.search", () => {
  const retool = {
    crustdata_company_id: 1,
    basic_info: {
      name: "Retool",
      primary_domain: "retool.com",
      website: "https://retool.com",
      professional_network_url: "https://www.linkedin.com/company/tryretool",
      year_founded: "2017-01-01",
      employee_count_range: "201-500",
      industries: ["Software Development"],
      description: "Builds internal tools."
    },
    headcount: { total: 400 },
    revenue: { estimated: { lower_bound_usd: 1000000, upper_bound_usd: 5000000 } },
    funding: { total_investment_usd: 141000000 },
    locations: { hq_city: "San Francisco", hq_state: "California", hq_country: "USA" }
  }

  test("companies that meet the conditions", async () => {
    const input = {
      query: "internal tools",
      industries: ["software"],
      locations: ["California"],
      employee_ranges: ["201-500", "10001+"],
      technologies: ["React"],
      keywords: ["low code"],
      limit: 1
    }
    const { asked, outcome } = await play(
      "company.search",
      input,
      example("crustdata", "company_search", 200, spent("0.03"))
    )
    const words = (field: string, value: string) => ({ field, type: "(.)", value })
    expect(asked[0]).toMatchObject(
      post("/company/search", {
        filters: {
          op: "and",
          conditions: [
            {
              op: "or",
              conditions: [
                words("basic_info.name", "internal tools"),
                words("taxonomy.professional_network_specialities", "internal tools"),
                words("taxonomy.categories", "internal tools")
              ]
            },
            words("taxonomy.professional_network_industry", "software"),
            words("locations.headquarters", "California"),
            {
              op: "or",
              conditions: [
                {
                  op: "and",
                  conditions: [
                    { field: "headcount.total", type: "=>", value: 201 },
                    { field: "headcount.total", type: "=<", value: 500 }
                  ]
                },
                { field: "headcount.total", type: "=>", value: 10001 }
              ]
            },
            { field: "technographics.technologies.name", type: "in", value: ["React"] },
            {
              op: "or",
              conditions: [
                words("taxonomy.professional_network_specialities", "low code"),
                words("taxonomy.categories", "low code")
              ]
            }
          ]
        },
        limit: 1
      })
    )
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            name: "HubSpot",
            domain: "hubspot.com",
            website: "https://hubspot.com",
            network_url: "https://www.linkedin.com/company/hubspot",
            industry: "Software Development",
            employee_count: 11965,
            employee_range: "5001-10000",
            founded_year: 2006,
            location: null,
            description: null,
            revenue: null,
            funding: "130000000",
            technologies: null,
            phone: null,
            provider_ids: {}
          }
        ],
        total: 264,
        next_cursor: "crustdata:H4sIAJj5zGkC_xXMMQ7CMAxA0..."
      },
      cost: { unit: "credit", amount: "0.03" }
    })
    expect(conforms(crustdata, ask("company.search", { ...input, cursor: "crustdata:n" }))).toEqual([])
  })

  test("a company of which more is known, and no more companies than asked for", async () => {
    const played = answer(200, { companies: [retool, retool], total_count: 9, next_cursor: "n" })
    const { outcome } = await play("company.search", { query: "x", limit: 1 }, played)
    const known = {
      founded_year: 2017,
      location: { city: "San Francisco", region: "California", country: "USA" },
      description: "Builds internal tools.",
      revenue: "1000000-5000000",
      provider_ids: { crustdata: "1" }
    }
    expect(outcome).toMatchObject({ output: { items: [known], total: 9, next_cursor: "crustdata:n" } })
  })

  test("nothing found; a company of which little is known", async () => {
    const input = { query: "x" }
    expect((await play("company.search", input, answer(200, { companies: [] }))).outcome?._tag).toBe("NoMatch")
    const bare = await play(
      "company.search",
      input,
      answer(200, { companies: [{ basic_info: { year_founded: 1998 } }] })
    )
    expect(bare.outcome).toMatchObject({ output: { items: [{ name: null, founded_year: 1998, location: null }] } })
    expect((await play("company.search", input, answer(200, {}))).outcome).toMatchObject({ reason: "invalid_response" })
  })

  test("serves no founding years", () => {
    expect(offerOf(crustdata, "company.search").serves({ query: "x", founded_min: 2000 })).toBe(false)
  })
})

describe("crustdata jobs.search", () => {
  const input = {
    query: "engineer",
    company_domain: "Stripe.com",
    company_name: "Stripe",
    location: "Melbourne",
    limit: 2
  }

  test("jobs that meet the conditions", async () => {
    const played = example("crustdata", "job_search", 200, spent("0.09"))
    const { asked, outcome } = await play("jobs.search", input, played)
    expect(asked[0]).toMatchObject(
      post("/job/search", {
        filters: {
          op: "and",
          conditions: [
            { field: "job_details.title", type: "(.)", value: "engineer" },
            { field: "company.basic_info.primary_domain", type: "in", value: ["stripe.com"] },
            { field: "company.basic_info.name", type: "(.)", value: "Stripe" },
            { field: "location.raw", type: "(.)", value: "Melbourne" }
          ]
        },
        fields: ["job_details", "company.basic_info", "location", "content.description", "metadata.date_added"],
        limit: 2
      })
    )
    const blank = { employment_type: null, salary_min: null, salary_max: null, currency: null }
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            ...blank,
            title: "Integration Engineer (AUNZ)",
            company_name: "Stripe",
            company_domain: "stripe.com",
            location: "Melbourne, Victoria, Australia",
            url: "https://www.linkedin.com/jobs/view/4398377738",
            posted_at: "2026-04-07T11:37:29",
            // The document's workplace type is empty, which stands for "not specified".
            remote: null,
            description: "Stripe is a financial infrastructure platform for businesses..."
          }
        ],
        total: 1676,
        next_cursor: null
      },
      cost: { unit: "credit", amount: "0.09" }
    })
    expect(conforms(crustdata, ask("jobs.search", input))).toEqual([])
  })

  test("remote or not", async () => {
    const job = (workplace_type: string) => ({ job_details: { title: "Engineer", workplace_type } })
    const listed = answer(200, { job_listings: [job("Remote"), job("Hybrid"), job("On-site")] })
    const { outcome } = await play("jobs.search", { query: "x", limit: 2 }, listed)
    expect(outcome).toMatchObject({ output: { items: [{ remote: true, url: null }, { remote: false }] } })
    const field = "job_details.workplace_type"
    expect(ask("jobs.search", { query: "x", remote: true }).body).toMatchObject({
      filters: { conditions: [{}, { field, type: "=", value: "Remote" }] }
    })
    expect(ask("jobs.search", { query: "x", remote: false }).body).toMatchObject({
      filters: { conditions: [{}, { field, type: "!=", value: "Remote" }] }
    })
  })

  test("nothing found, and what it does not serve", async () => {
    const { outcome } = await play("jobs.search", { query: "x" }, answer(200, { job_listings: [] }, spent("0")))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no jobs found", cost: { unit: "credit", amount: "0" } })
    expect(offerOf(crustdata, "jobs.search").serves({ query: "x", posted_within_days: 7 })).toBe(false)
  })
})

test("any answer of crustdata tells its cost", () => {
  const reply = { status: 200, headers: { "x-credits-used": "2.5" }, text: "", body: {} }
  expect(crustdata.measured(reply)).toEqual({ unit: "credit", amount: "2.5" })
  expect(crustdata.measured({ ...reply, headers: {} })).toBeNull()
})
