import { describe, expect, test } from "bun:test"
import { prospeo } from "../../../src/layers/providers/prospeo/index.ts"
import { conforms } from "./conformance.ts"
import { reviewed } from "./example.ts"
import { answer, failed, fixture, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

const play = stage(prospeo)
const credit = { unit: "credit", amount: "1" } as const
const miss = { _tag: "NoMatch", detail: "nothing on record", cost: { unit: "credit", amount: "0" } } as const
const noMatch = fixture("prospeo", "enrich_person.no_match", 400)

const eva = {
  full_name: "Eva Kiegler",
  first_name: "Eva",
  last_name: "Kiegler",
  headline: "Growth",
  title: "Director Growth",
  seniority: "Director",
  company_name: "Intercom",
  company_domain: "intercom.com",
  network_url: "https://www.linkedin.com/in/example",
  location: { city: "San Francisco", region: "California", country: "United States" },
  email: "eva@example.com",
  email_status: "valid",
  phone: null,
  provider_ids: { prospeo: "aaaabbbbcccc" }
}

describe("prospeo email.find", () => {
  const input = { first_name: "Eva", last_name: "Kiegler", company_domain: "intercom.com" }

  test("a match", async () => {
    const { asked, outcome } = await play("email.find", input, fixture("prospeo", "enrich_person"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/enrich-person", {
          data: { first_name: "Eva", last_name: "Kiegler", company_website: "intercom.com" },
          only_verified_email: true,
          enrich_mobile: false
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "eva@example.com",
        email_status: "valid",
        confidence: null,
        first_name: "Eva",
        last_name: "Kiegler",
        company_domain: "intercom.com",
        source_count: null
      },
      cost: credit
    })
  })

  test("asks by full name, company name and profile", async () => {
    const other = { full_name: "Eva Kiegler", company_name: "Intercom", network_url: "https://network.example/in/eva" }
    const { asked } = await play("email.find", other, fixture("prospeo", "enrich_person"))
    expect(asked[0]?.body).toMatchObject({
      data: { full_name: "Eva Kiegler", company_name: "Intercom", linkedin_url: "https://network.example/in/eva" }
    })
  })

  test("no match, masked, and free", async () => {
    expect((await play("email.find", input, noMatch)).outcome).toEqual(miss)
    const masked = {
      error: false,
      person: { email: { status: "VERIFIED", revealed: false, email: "e**@example.com" } }
    }
    expect((await play("email.find", input, answer(200, masked))).outcome).toMatchObject({ _tag: "NoMatch" })
    const free = {
      ...masked,
      free_enrichment: true,
      person: { email: { status: "UNVERIFIED", email: "e@example.com" } }
    }
    expect((await play("email.find", input, answer(200, free))).outcome).toMatchObject({
      _tag: "Match",
      output: { email_status: "risky" },
      cost: { unit: "credit", amount: "0" }
    })
  })

  const failures = [
    [fixture("prospeo", "error.insufficient_credits", 400), "provider_account", "HTTP 400: INSUFFICIENT_CREDITS"],
    [answer(401, { error: true, error_code: "INVALID_API_KEY" }), "provider_account", "HTTP 401: INVALID_API_KEY"],
    [
      answer(200, { error: true, error_code: "ACCOUNT_RESTRICTED" }),
      "provider_account",
      "HTTP 200: ACCOUNT_RESTRICTED"
    ],
    [
      answer(400, { error: true, error_code: "RATE_LIMIT_EXCEEDED" }),
      "provider_rate_limited",
      "HTTP 400: RATE_LIMIT_EXCEEDED"
    ],
    [
      answer(400, { error: true, error_code: "INVALID_DATAPOINTS" }),
      "provider_rejected",
      "HTTP 400: INVALID_DATAPOINTS"
    ],
    [answer(400, { error: true, error_code: "SOMETHING_NEW" }), "provider_error", "HTTP 400: SOMETHING_NEW"],
    [answer(500, "x"), "provider_error", "HTTP 500"]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${detail} is ${reason}`, async () => {
      expect((await play("email.find", input, played)).outcome).toEqual(failed(reason, detail))
    })
  }
})

describe("prospeo people.enrich", () => {
  test("a match", async () => {
    const input = { full_name: "Eva Kiegler", company_domain: "intercom.com" }
    const { asked, outcome } = await play("people.enrich", input, fixture("prospeo", "enrich_person"))
    expect(asked[0]).toMatchObject({
      ...post("/enrich-person", {
        data: { full_name: "Eva Kiegler", company_website: "intercom.com" },
        only_verified_email: false,
        enrich_mobile: false
      }),
      secret: secretInHeader
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        ...eva,
        experience: [
          {
            title: "Director Growth",
            company_name: "Intercom",
            company_domain: null,
            start_date: "2022-05",
            end_date: null,
            is_current: true
          }
        ],
        education: null,
        skills: ["growth"],
        match_confidence: null
      },
      cost: credit
    })
  })

  test("a match as the provider documents it", async () => {
    const { outcome } = await play("people.enrich", { email: "a@b.co" }, answer(200, reviewed("prospeo-people.enrich")))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        full_name: "John Doe",
        first_name: "John",
        last_name: "Doe",
        headline: "VP of Sales at Acme Corp",
        title: "VP of Sales",
        seniority: null,
        company_name: "Acme Corp",
        company_domain: "acme.com",
        network_url: "https://linkedin.com/in/sasu",
        location: { city: "San Francisco", region: "California", country: "United States" },
        email: "john@acme.com",
        email_status: "valid",
        phone: null,
        provider_ids: { prospeo: "abc123" },
        experience: [
          {
            title: "VP of Sales",
            company_name: "Acme Corp",
            company_domain: null,
            start_date: "2021-01",
            end_date: null,
            is_current: true
          }
        ],
        education: null,
        skills: ["SaaS", "B2B Sales", "CRM"],
        match_confidence: null
      },
      cost: credit
    })
  })

  test("the seniority is that of the main job", async () => {
    const job = (job_key: string, seniority: string, current: boolean) => ({ job_key, seniority, current })
    const seniority = async (more: object, ...job_history: ReadonlyArray<object>) => {
      const person = { full_name: "John Doe", job_history, ...more }
      const { outcome } = await play("people.enrich", { email: "a@b.co" }, answer(200, { error: false, person }))
      return outcome?._tag === "Match" ? Object(outcome.output).seniority : outcome
    }
    const jobs = [job("1", "Intern", false), job("2", "Director", true), job("3", "C-Suite", true)]
    expect(await seniority({ current_job_key: "3" }, ...jobs)).toBe("C-Suite")
    expect(await seniority({ current_job_key: "9" }, ...jobs)).toBe("Director")
    expect(await seniority({}, job("1", "Intern", false))).toBeNull()
  })

  test("an address that is masked is none", async () => {
    const person = { full_name: "John Doe", email: { status: "VERIFIED", revealed: true, email: "j**@acme.com" } }
    const { outcome } = await play("people.enrich", { email: "a@b.co" }, answer(200, { error: false, person }))
    expect(outcome).toMatchObject({ output: { email: null, email_status: null } })
  })

  test("a mobile number costs ten credits, so others look for it", () => {
    expect(offerOf(prospeo, "people.enrich").lacks).toEqual(["phone"])
  })

  test("no match", async () => {
    expect((await play("people.enrich", { email: "a@b.co" }, noMatch)).outcome).toEqual(miss)
    const nobody = answer(200, { error: false, person: null })
    expect((await play("people.enrich", { email: "a@b.co" }, nobody)).outcome?._tag).toBe("NoMatch")
  })
})

describe("prospeo people.search", () => {
  const input = { company_domains: ["intercom.com"], seniorities: ["director"] }

  test("a page, which has no addresses", async () => {
    const { asked, outcome } = await play("people.search", input, fixture("prospeo", "search_person"))
    expect(asked[0]).toMatchObject({
      ...post("/search-person", {
        filters: {
          company: { websites: { include: ["intercom.com"] } },
          person_seniority: { include: ["Director"] }
        },
        page: 1
      }),
      secret: secretInHeader
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: { items: [{ ...eva, email: null, email_status: null }], total: 1, next_cursor: null },
      cost: credit
    })
  })

  test("no limit skips a person between two pages", async () => {
    const person = (id: number) => ({ person: { person_id: String(id), full_name: `P ${id}` }, company: {} })
    const page = (from: number, to: number) =>
      answer(200, {
        error: false,
        results: Array.from({ length: to - from }, (_, index) => person(from + index)),
        pagination: { total_count: 30 }
      })
    const seen: Array<string> = []
    let cursor: string | undefined
    const pages: Array<unknown> = []
    do {
      const asking = { ...input, limit: 10, ...(cursor === undefined ? {} : { cursor }) }
      expect(offerOf(prospeo, "people.search").serves(asking)).toBe(true)
      const second = Number(cursor?.split(":")[1] ?? 0) >= 25
      const { asked, outcome } = await play("people.search", asking, second ? page(25, 30) : page(0, 25))
      pages.push(asked[0]?.body)
      if (outcome?._tag !== "Match") throw new Error("no match")
      const output = outcome.output as { items: Array<{ full_name: string }>; next_cursor: string | null }
      seen.push(...output.items.map((one) => one.full_name))
      cursor = output.next_cursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => `P ${index}`))
    expect(pages).toMatchObject([{ page: 1 }, { page: 1 }, { page: 1 }, { page: 2 }])
  })

  const words: ReadonlyArray<[string, string]> = [
    ["VP", "Vice President"],
    ["vice president", "Vice President"],
    ["cxo", "C-Suite"],
    ["C-Level", "C-Suite"],
    ["c_suite", "C-Suite"],
    ["founder", "Founder/Owner"],
    ["Owner", "Founder/Owner"],
    ["partner", "Partner"],
    ["Head", "Head"],
    [" director ", "Director"],
    ["manager", "Manager"],
    ["senior", "Senior"],
    ["junior", "Entry"],
    ["intern", "Intern"]
  ]
  test.each(words)("the seniority %s is called %s", (word, name) => {
    const asking = { company_domains: ["intercom.com"], seniorities: [word] }
    expect(offerOf(prospeo, "people.search").serves(asking)).toBe(true)
    const { body } = offerOf(prospeo, "people.search").request(asking, { run_id: runId })
    expect(body).toMatchObject({ filters: { person_seniority: { include: [name] } } })
  })

  test("a seniority is asked for once, and one without a name is left to others", () => {
    const { serves, request } = offerOf(prospeo, "people.search")
    const { body } = request({ seniorities: ["owner", "founder", "vp"] }, { run_id: runId })
    expect(body).toMatchObject({ filters: { person_seniority: { include: ["Founder/Owner", "Vice President"] } } })
    for (const word of ["wizard", "constructor", "__proto__"])
      expect(serves({ ...input, seniorities: ["vp", word] })).toBe(false)
  })

  test("a filter that the provider refuses is the caller's, not its fault", async () => {
    const { outcome } = await play("people.search", input, answer(400, reviewed("prospeo-error.filters")))
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "provider_rejected" })
  })

  test("serves only the filters whose names are known", () => {
    const { serves } = offerOf(prospeo, "people.search")
    expect(serves({ ...input, limit: 26 })).toBe(false)
    expect(serves({ ...input, titles: ["cto"] })).toBe(false)
    expect(serves({ ...input, cursor: "peopledatalabs:1" })).toBe(false)
    expect(serves({ ...input, cursor: "prospeo:x" })).toBe(false)
  })

  test("nobody", async () => {
    expect((await play("people.search", input, noMatch)).outcome).toEqual(miss)
  })
})

describe("prospeo company.enrich", () => {
  test("a match", async () => {
    const { asked, outcome } = await play(
      "company.enrich",
      { domain: "intercom.com" },
      fixture("prospeo", "enrich_company")
    )
    expect(asked[0]).toMatchObject({
      ...post("/enrich-company", { data: { company_website: "intercom.com" } }),
      secret: secretInHeader
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        name: "Intercom",
        domain: "intercom.com",
        website: "https://intercom.com",
        network_url: "https://www.linkedin.com/company/intercom",
        industry: "Software",
        employee_count: 1100,
        employee_range: "1001-2000",
        founded_year: 2011,
        location: { city: "San Francisco", region: "California", country: "United States" },
        description: "Customer service",
        revenue: "200000000-500000000",
        funding: "240000000",
        technologies: ["Salesforce", "Slack"],
        phone: "+14155550100",
        provider_ids: { prospeo: "c1" }
      },
      cost: credit
    })
  })

  const about = async (more: object) => {
    const company = { name: "Acme Corp", domain: "acme.com", ...more }
    const { outcome } = await play("company.enrich", { name: "Acme" }, answer(200, { error: false, company }))
    return outcome?._tag === "Match" ? Object(outcome.output) : {}
  }
  const revenues: ReadonlyArray<[unknown, string | null]> = [
    ["$10M-$50M", "10000000-50000000"],
    ["$1.5M-$2B", "1500000-2000000000"],
    ["$5B+", "5000000000"],
    ["unknown", null],
    [{ min: 10, max: 50 }, "10-50"],
    [{ min: 10, max: null }, "10"],
    [null, null],
    [["$10M"], null]
  ]
  test.each(revenues)("the revenue %j is %p", async (revenue_range, revenue) => {
    expect(await about({ revenue_range })).toMatchObject({ revenue })
  })

  test("funding and technologies, by both of their names", async () => {
    const { company } = reviewed("prospeo-people.enrich")
    expect(await about(company)).toMatchObject({
      funding: "25000000",
      technologies: ["Salesforce", "HubSpot", "SULU"],
      revenue: "10000000-50000000"
    })
    expect(await about({ funding: { total_raised: 7 } })).toMatchObject({ funding: "7", technologies: null })
    expect(await about({ funding: { total_funding: 9, total_raised: 7 } })).toMatchObject({ funding: "9" })
  })

  test("no match", async () => {
    expect((await play("company.enrich", { name: "Nobody" }, noMatch)).outcome).toEqual(miss)
  })
})

describe("prospeo phone.find", () => {
  const input = { network_url: "https://www.linkedin.com/in/eva" }
  const found = (mobile: unknown, free_enrichment = false) =>
    answer(200, { error: false, free_enrichment, person: { person_id: "p1", mobile }, company: null })

  test("a number, for ten credits", async () => {
    const mobile = {
      status: "VERIFIED",
      revealed: true,
      mobile: "555-867-5309",
      mobile_international: "+1 555-867-5309"
    }
    const { asked, outcome } = await play("phone.find", input, found(mobile))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/enrich-person", {
          data: { linkedin_url: input.network_url },
          enrich_mobile: true,
          only_verified_mobile: true
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: { phone: "+15558675309", phone_type: "mobile", confidence: null },
      cost: { unit: "credit", amount: "10" }
    })
    expect((await play("phone.find", input, found(mobile, true))).outcome).toMatchObject({ cost: { amount: "0" } })
  })

  test("asks by whatever is known", async () => {
    const known = { email: "eva@example.com", full_name: "Eva Kiegler", company_domain: "intercom.com" }
    const { asked } = await play("phone.find", known, noMatch)
    expect(asked[0]?.body).toMatchObject({
      data: { email: "eva@example.com", full_name: "Eva Kiegler", company_website: "intercom.com" }
    })
  })

  test("a masked number is none", async () => {
    const { outcome } = await play("phone.find", input, fixture("prospeo", "enrich_person"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no number found", cost: credit })
    expect((await play("phone.find", input, noMatch)).outcome).toEqual(miss)
  })

  test("without credits it is the operator's trouble", async () => {
    const played = fixture("prospeo", "error.insufficient_credits", 400)
    expect((await play("phone.find", input, played)).outcome).toMatchObject({ reason: "provider_account" })
  })
})

describe("prospeo company.search", () => {
  const { company } = JSON.parse(fixture("prospeo", "enrich_company").body)
  const page = (count: number, total_count: number | null, more = {}) =>
    answer(200, {
      error: false,
      results: Array.from({ length: count }, (_, index) => ({ company: { ...company, company_id: `c${index}` } })),
      pagination: { current_page: 1, per_page: 25, total_page: 2, total_count },
      ...more
    })

  test("companies that fit the filters", async () => {
    const input = {
      query: "Intercom",
      locations: ["United States"],
      employee_ranges: ["51-200", "10001+"],
      keywords: ["chat"],
      founded_min: 1800,
      founded_max: 2015,
      limit: 1
    }
    const { asked, outcome } = await play("company.search", input, page(2, 2))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/search-company", {
          filters: {
            company: { names: { include: ["Intercom"] } },
            company_location_search: { include: ["United States"] },
            company_headcount_range: ["51-100", "101-200", "10000+"],
            company_keywords: { include: ["chat"], include_company_description: true },
            company_founded: { min: 1900, max: 2015 }
          },
          page: 1
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            name: "Intercom",
            domain: "intercom.com",
            website: "https://intercom.com",
            network_url: "https://www.linkedin.com/company/intercom",
            industry: "Software",
            employee_count: 1100,
            employee_range: "1001-2000",
            founded_year: 2011,
            location: { city: "San Francisco", region: "California", country: "United States" },
            description: "Customer service",
            revenue: "200000000-500000000",
            funding: "240000000",
            technologies: ["Salesforce", "Slack"],
            phone: "+14155550100",
            provider_ids: { prospeo: "c0" }
          }
        ],
        total: 2,
        next_cursor: "prospeo:1"
      },
      cost: credit
    })
    expect(conforms(prospeo, offerOf(prospeo, "company.search").request(input, { run_id: runId }))).toEqual([])
  })

  test("the cursor counts companies, over the provider's pages", async () => {
    const input = { keywords: ["chat"], limit: 10, cursor: "prospeo:45" }
    const { asked, outcome } = await play("company.search", input, page(25, 60))
    expect(asked[0]?.body).toMatchObject({ page: 2 })
    expect(outcome).toMatchObject({
      output: { items: [{ provider_ids: { prospeo: "c20" } }, {}, {}, {}, { provider_ids: { prospeo: "c24" } }] }
    })
    expect(outcome).toMatchObject({ output: { total: 60, next_cursor: "prospeo:50" } })
  })

  test("a page that was bought before is free", async () => {
    const { outcome } = await play("company.search", { keywords: ["chat"] }, page(1, null, { free: true }))
    expect(outcome).toMatchObject({ output: { total: null, next_cursor: null }, cost: { amount: "0" } })
  })

  test("serves the filters that need no list of its own words", () => {
    const { serves } = offerOf(prospeo, "company.search")
    expect(serves({ keywords: ["chat"], limit: 25 })).toBe(true)
    for (const input of [
      { keywords: ["chat"], limit: 26 },
      { industries: ["logistics"] },
      { technologies: ["Salesforce"] },
      { founded_max: 1899 },
      { keywords: ["chat"], cursor: "exa:1" }
    ]) {
      expect(serves(input)).toBe(false)
    }
  })

  const refusals = [
    [answer(400, { error: true, error_code: "NO_RESULTS" }), "NoMatch"],
    [answer(200, { error: false, results: [] }), "NoMatch"],
    [answer(400, { error: true, error_code: "INVALID_FILTERS", filter_error: "unknown place" }), "provider_rejected"],
    [answer(429, { error: true, error_code: "RATE_LIMITED" }), "provider_rate_limited"],
    [answer(200, { error: false }), "invalid_response"]
  ] as const
  for (const [played, meaning] of refusals) {
    test(`${played.body} is ${meaning}`, async () => {
      const { outcome } = await play("company.search", { locations: ["nowhere"] }, played)
      expect([outcome?._tag, outcome?._tag === "Failure" ? outcome.reason : null]).toContain(meaning)
    })
  }
})

describe("prospeo as a whole", () => {
  test("is asked what its document knows", () => {
    const ask = (capability: string, input: unknown) =>
      conforms(prospeo, offerOf(prospeo, capability).request(input, { run_id: runId }))
    expect(ask("email.find", { full_name: "Eva Kiegler", company_domain: "intercom.com" })).toEqual([])
    expect(ask("people.enrich", { email: "a@b.co" })).toEqual([])
    expect(ask("people.search", { company_domains: ["intercom.com"], seniorities: ["director"] })).toEqual([])
    expect(ask("company.enrich", { name: "Intercom" })).toEqual([])
    expect(ask("phone.find", { email: "a@b.co" })).toEqual([])
  })

  test("an enrichment and a miss tell their cost, a search does not", () => {
    const measured = (body: unknown) => prospeo.measured({ status: 200, headers: {}, text: "", body })
    expect(measured({ free_enrichment: true })).toEqual({ unit: "credit", amount: "0" })
    expect(measured({ free_enrichment: false, person: { mobile: { revealed: true } } })).toEqual({
      unit: "credit",
      amount: "10"
    })
    expect(measured({ free_enrichment: false, company: {} })).toEqual(credit)
    expect(measured({ error: true, error_code: "NO_RESULTS" })).toEqual({ unit: "credit", amount: "0" })
    expect(measured({ error: false, results: [{}] })).toBeNull()
  })
})
