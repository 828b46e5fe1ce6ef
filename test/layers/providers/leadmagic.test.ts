import { describe, expect, test } from "bun:test"
import { leadmagic } from "../../../src/layers/providers/leadmagic/index.ts"
import { conforms } from "./conformance.ts"
import { altered, example } from "./example.ts"
import { answer, failed, fixture, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

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
      expect(outcome).toEqual(failed(reason, detail))
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

const profile = { network_url: "https://profiles.example.com/williamhgates/" }

describe("leadmagic phone.find", () => {
  test("a number", async () => {
    const played = altered("leadmagic", "mobile_finder", (body) => ({
      ...Object(body),
      credits_consumed: 5,
      mobile_number: "+1 202 555 0143"
    }))
    const { asked, outcome } = await play("phone.find", { ...profile, email: "bill@example.com" }, played)
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v1/people/mobile-finder", { profile_url: profile.network_url, work_email: "bill@example.com" }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: { phone: "+12025550143", phone_type: "mobile", confidence: null },
      cost: { unit: "credit", amount: "5" }
    })
  })

  test("no match costs nothing", async () => {
    const { outcome } = await play("phone.find", profile, example("leadmagic", "mobile_finder.not_found"))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no number found", cost: { unit: "credit", amount: "0" } })
  })

  test("nonsense is no miss; a bad key is the operator's trouble", async () => {
    expect((await play("phone.find", profile, answer(200, {}))).outcome).toMatchObject({ reason: "invalid_response" })
    expect((await play("phone.find", profile, example("leadmagic", "mobile_finder.400", 400))).outcome).toMatchObject({
      reason: "provider_account"
    })
  })

  test("serves profiles and addresses", () => {
    const { serves } = offerOf(leadmagic, "phone.find")
    expect(serves({ email: "a@b.co" })).toBe(true)
    expect(serves({ full_name: "Bill Gates", company_domain: "microsoft.com" })).toBe(false)
  })
})

describe("leadmagic network.profile", () => {
  test("a profile", async () => {
    const { asked, outcome } = await play("network.profile", profile, example("leadmagic", "profile_search"))
    expect(asked[0]).toMatchObject({
      ...post("/v1/people/profile-search", { profile_url: profile.network_url }),
      secret: secretInHeader
    })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        full_name: "Bill Gates",
        first_name: "Bill",
        last_name: "Gates",
        headline: "Made-up text 122. Gates Pelupi",
        title: "Co-lurine",
        seniority: null,
        company_name: "Gates Pelupi",
        company_domain: "sukena.org",
        network_url: "https://profiles.example.com/williamhgates/",
        location: { city: "Seattle", region: "Washington", country: "United States" },
        email: null,
        email_status: null,
        phone: null,
        provider_ids: { leadmagic: "williamhgates" },
        about: "Made-up text 123. Founder of Rokavi Energy; Gates Pelupi; Microsoft",
        followers: 37841613,
        connections: 8,
        experience: [
          {
            title: "Co-lurine",
            company_name: "Gates Pelupi",
            company_domain: null,
            start_date: "2000",
            end_date: null,
            is_current: true
          }
        ],
        education: [{ school: "Lerole University", degree: null, field: null, start_date: "1973", end_date: "1975" }],
        skills: null,
        is_connected: null
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("dates and places as they are printed", async () => {
    const experiences = [
      { title: "A", subtitle: "Acme · Full-time", caption: "Jan 2020 - Mar 2021 · 1 yr 3 mos" },
      { title: "B", subtitle: null, caption: "a while ago" },
      { title: "C" }
    ]
    const body = { full_name: "A B", location: "Greater Boston", experiences, credits_consumed: 1 }
    const { outcome } = await play("network.profile", profile, answer(200, body))
    expect(outcome).toMatchObject({
      output: {
        location: null,
        education: null,
        experience: [
          { company_name: "Acme", start_date: "2020-01", end_date: "2021-03", is_current: false },
          { company_name: null, start_date: null, end_date: null, is_current: null },
          { company_name: null, start_date: null, end_date: null, is_current: null }
        ]
      }
    })
  })

  test("nobody, nonsense and too fast", async () => {
    const none = answer(200, { message: "Profile not found", credits_consumed: 0, full_name: null })
    expect((await play("network.profile", profile, none)).outcome).toMatchObject({
      _tag: "NoMatch",
      cost: { amount: "0" }
    })
    const strange = await play("network.profile", profile, answer(200, { ok: true }))
    expect(strange.outcome).toMatchObject({ reason: "invalid_response" })
    const fast = await play("network.profile", profile, example("leadmagic", "profile_search.429", 429))
    expect(fast.outcome).toMatchObject({ reason: "provider_rate_limited" })
  })
})

describe("leadmagic jobs.search", () => {
  const input = { query: "Developer", company_domain: "microsoft.com", location: "New York", limit: 5 }

  test("jobs, each of them charged", async () => {
    const { asked, outcome } = await play("jobs.search", input, example("leadmagic", "jobs_finder"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v1/jobs/jobs-finder", {
          job_title: "Developer",
          company_website: "microsoft.com",
          location: "New York",
          page: 1,
          per_page: 5
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Made-up text 121. Developer",
            company_name: "Microsoft",
            company_domain: "microsoft.com",
            location: "Mipive, Washington, United States",
            url: "https://jobs.careers.microsoft.com/global/en/job/1833754/",
            posted_at: "2025-06-25T20:36:00Z",
            employment_type: "Full Time",
            salary_min: 100600,
            salary_max: 215400,
            currency: "USD",
            remote: false,
            description: null
          }
        ],
        total: 105,
        next_cursor: null
      },
      cost: { unit: "credit", amount: "5" }
    })
  })

  test("more than asked for are cut off; none is a miss", async () => {
    const results = [{ title: "A" }, { title: "B" }]
    const cut = await play("jobs.search", { company_name: "Microsoft", limit: 1 }, answer(200, { results }))
    expect(cut.asked[0]?.body).toEqual({ company_name: "Microsoft", page: 1, per_page: 1 })
    expect(cut.outcome).toMatchObject({ output: { items: [{ title: "A", remote: null }], total: null } })
    const none = await play("jobs.search", input, answer(200, { results: [], total_count: 0, credits_consumed: 0 }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no jobs found", cost: { unit: "credit", amount: "0" } })
  })

  test("serves what it can filter, a page at most", () => {
    const { serves } = offerOf(leadmagic, "jobs.search")
    expect(serves({ query: "x", limit: 50 })).toBe(true)
    for (const more of [{ limit: 51 }, { remote: true }, { posted_within_days: 7 }]) {
      expect(serves({ query: "x", ...more })).toBe(false)
    }
  })
})

describe("leadmagic ads.search", () => {
  const blank = {
    headline: null,
    text: null,
    image_url: null,
    video_url: null,
    landing_url: null,
    started_at: null,
    ended_at: null,
    active: null
  }
  const libraries = {
    google: [
      "google-ads-search",
      {
        ...blank,
        id: "CR14003695067076755457",
        advertiser: "Namo.io Inc",
        platform: "google",
        started_at: "2025-03-06",
        ended_at: "2025-06-27",
        library_url:
          "https://nepivi.google.com/advertiser/AR14106062795078369281/creative/CR14003695067076755457?region=anywhere"
      },
      "8"
    ],
    meta: [
      "meta-ads-search",
      {
        ...blank,
        id: "618153827656899",
        advertiser: "Pimoke Nalusu",
        platform: "meta",
        library_url: "https://www.facebook.com/ads/library/?id=618153827656899"
      },
      "2.6"
    ],
    network: [
      "b2b-ads-search",
      {
        ...blank,
        id: "12345",
        advertiser: "Microsoft",
        platform: "network",
        headline: "Microsoft Kapile Mosulo Services",
        library_url: null
      },
      "5"
    ]
  } as const

  for (const [platform, [path, item, amount]] of Object.entries(libraries)) {
    test(`ads on ${platform}`, async () => {
      const input = { platform, company_domain: "namo.io", company_name: "namo" }
      const { asked, outcome } = await play("ads.search", input, example("leadmagic", path.replaceAll("-", "_")))
      expect(asked).toEqual([
        expect.objectContaining({
          ...post(`/v1/ads/${path}`, { company_domain: "namo.io", company_name: "namo" }),
          secret: secretInHeader
        })
      ])
      expect(outcome).toEqual({
        _tag: "Match",
        output: { items: [item], total: 1, next_cursor: null },
        cost: { unit: "credit", amount }
      })
      expect(conforms(leadmagic, offerOf(leadmagic, "ads.search").request(input, { run_id: runId }))).toEqual([])
    })
  }

  test("all of an ad on meta, and no more ads than asked for", async () => {
    const snapshot = {
      body: { text: "Buy" },
      title: "Sale",
      link_url: "example.com/sale",
      images: [{ original_image_url: "https://i.example/1.jpg" }],
      videos: [{ video_hd_url: "https://v.example/1.mp4" }]
    }
    const ads = [{ ad_archive_id: "1", is_active: true, snapshot }, { ad_archive_id: "2" }]
    const { outcome } = await play(
      "ads.search",
      { platform: "meta", company_name: "x", limit: 1 },
      answer(200, { ads, credits_consumed: 0.4 })
    )
    expect(outcome).toMatchObject({
      output: {
        items: [
          {
            headline: "Sale",
            text: "Buy",
            image_url: "https://i.example/1.jpg",
            video_url: "https://v.example/1.mp4",
            landing_url: "https://example.com/sale",
            active: true
          }
        ],
        total: 2
      },
      cost: { unit: "credit", amount: "0.4" }
    })
  })

  test("an empty list is a miss; no list is none, because misses are charged", async () => {
    const input = { platform: "google", company_domain: "namo.io" }
    expect((await play("ads.search", input, answer(200, { ads: [], credits_consumed: 0 }))).outcome).toEqual({
      _tag: "NoMatch",
      detail: "no ads found",
      cost: { unit: "credit", amount: "0" }
    })
    const strange = await play("ads.search", input, answer(200, { message: "ok" }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    const refused = await play("ads.search", input, example("leadmagic", "google_ads_search.400", 400))
    expect(refused.outcome).toMatchObject({ reason: "provider_account" })
  })

  test("serves a company on its platforms, without filters", () => {
    const { serves } = offerOf(leadmagic, "ads.search")
    const company = { platform: "google", company_domain: "namo.io" }
    expect(serves(company)).toBe(true)
    expect(serves({ ...company, active_only: false })).toBe(true)
    for (const more of [
      { platform: "tiktok" },
      { active_only: true },
      { country: "de" },
      { query: "x" },
      { cursor: "x" }
    ]) {
      expect(serves({ ...company, ...more })).toBe(false)
    }
    expect(serves({ platform: "google", query: "x" })).toBe(false)
  })
})

test("leadmagic is asked what its document knows, and any answer of its tells its cost", () => {
  const ask = (capability: string, input: unknown) =>
    conforms(leadmagic, offerOf(leadmagic, capability).request(input, { run_id: runId }))
  expect(ask("email.find", { full_name: "Bill Gates", company_domain: "microsoft.com" })).toEqual([])
  expect(ask("email.verify", { email: "a@b.co" })).toEqual([])
  expect(ask("company.enrich", { domain: "microsoft.com" })).toEqual([])
  expect(ask("phone.find", profile)).toEqual([])
  expect(ask("network.profile", profile)).toEqual([])
  expect(ask("jobs.search", { query: "Developer", company_domain: "microsoft.com" })).toEqual([])
  const reply = { status: 200, headers: {}, text: "", body: { credits_consumed: 0.25 } }
  expect(leadmagic.measured(reply)).toEqual({ unit: "credit", amount: "0.25" })
  expect(leadmagic.measured({ ...reply, body: {} })).toBeNull()
})
