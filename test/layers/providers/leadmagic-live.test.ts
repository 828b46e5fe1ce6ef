/**
 * LeadMagic's live answers of July 2026 have other fields than its specification (third-party capture 2026-07). The answers here have
 * their field names and nesting, and invented values.
 */
import { describe, expect, test } from "bun:test"
import { leadmagic } from "../../../src/layers/providers/leadmagic/index.ts"
import { answer, offerOf, stage } from "./stage.ts"

const play = stage(leadmagic)

const jane = { first_name: "Jane", last_name: "Doe", company_domain: "example.com" }
const profile = { network_url: "https://profiles.example.com/jane-doe/" }

test("email.find: an answer whose address and status are null is a miss that costs nothing", async () => {
  const miss = { email: null, status: null, credits_consumed: 0, message: "Nobody there.", domain: "example.com" }
  expect((await play("email.find", jane, answer(200, miss))).outcome).toEqual({
    _tag: "NoMatch",
    detail: "no address found",
    cost: { unit: "credit", amount: "0" }
  })
})

describe("company.enrich", () => {
  const live = {
    credits_consumed: 1,
    companyName: "Acme",
    companyId: 42,
    locations: [
      { country: "US", city: "Boston", geographicArea: "Massachusetts", headquarter: true, localizedName: "Boston" }
    ],
    employeeCount: 9,
    employeeCountRange: { start: 1, end: 10 },
    industry: "Internet Publishing",
    description: "Sells anvils.",
    websiteUrl: "https://acme.example/",
    foundedOn: { month: null, year: 2022, day: null },
    url: "https://profiles.example.com/company/acme/",
    revenue: 1260000,
    total_funding: 500000
  }
  const enrich = (body: unknown) => play("company.enrich", { domain: "acme.example" }, answer(200, body))

  test("reads an answer in camelCase", async () => {
    expect((await enrich(live)).outcome).toEqual({
      _tag: "Match",
      output: {
        name: "Acme",
        domain: "acme.example",
        website: "https://acme.example/",
        network_url: "https://profiles.example.com/company/acme/",
        industry: "Internet Publishing",
        employee_count: 9,
        employee_range: "1-10",
        founded_year: 2022,
        location: { city: "Boston", region: "Massachusetts", country: "US" },
        description: "Sells anvils.",
        revenue: "1260000",
        funding: "500000",
        technologies: null,
        phone: null,
        provider_ids: { leadmagic: "42" }
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("reads the headquarters and the year from where they are if the others are missing", async () => {
    const sparse = {
      ...live,
      locations: [],
      headquarter: { country: "US", city: "Austin", geographicArea: "Texas" },
      foundedOn: null,
      founded_year: "2019",
      companyId: null
    }
    expect((await enrich(sparse)).outcome).toMatchObject({
      output: {
        location: { city: "Austin", region: "Texas", country: "US" },
        founded_year: 2019,
        provider_ids: {}
      }
    })
  })
})

describe("a 404", () => {
  const inputs = {
    "email.find": jane,
    "company.enrich": { domain: "acme.example" },
    "phone.find": profile,
    "network.profile": profile,
    "jobs.search": { query: "Developer" },
    "ads.search": { platform: "meta", company_domain: "acme.example" }
  }
  for (const [capability, input] of Object.entries(inputs)) {
    test(`that says what was not found is a miss of ${capability}`, async () => {
      const missing = answer(404, { error: "Not Found", message: "Company not found" })
      expect((await play(capability, input, missing)).outcome).toEqual({
        _tag: "NoMatch",
        detail: "nothing on record",
        cost: { unit: "credit", amount: "0" }
      })
    })

    test(`about the route is an error of ${capability}`, async () => {
      for (const body of [{ message: "Route POST:/v1/x not found" }, { error: "Not Found" }, "<html>"]) {
        expect((await play(capability, input, answer(404, body))).outcome).toMatchObject({
          _tag: "Failure",
          reason: "provider_error"
        })
      }
    })
  }

  test("is an error of email.verify, because every address gets a verdict", async () => {
    const { outcome } = await play("email.verify", { email: "a@b.co" }, answer(404, { message: "Email not found" }))
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
  })
})

test("network.profile reads the title, the text, the positions and the studies", async () => {
  const body = {
    credits_consumed: 1,
    profile_url: "https://profiles.example.com/jane-doe/",
    first_name: "Jane",
    last_name: "Doe",
    full_name: "Jane Doe",
    professional_title: "CEO at Acme",
    bio: "Sells anvils.",
    company_name: "Acme",
    company_website: "https://acme.example/",
    country: "US",
    location: "Greater Boston",
    current_position: { position_title: "CEO", employment_period: "Feb 2014 - Present" },
    work_experience: [
      {
        position_title: "CEO",
        company_name: "Acme",
        employment_period: "Feb 2014 - Present",
        company_website: "https://acme.example/",
        employment_type: "C-Team"
      },
      { position_title: "Clerk", company_name: "Bolt", employment_period: "Jan 2010 - Mar 2013", company_website: null }
    ],
    education: [
      { institution_name: "State University", degree: "BA", attendance_period: "2006 - 2010" },
      { institution_name: "College", degree: null, attendance_period: "" }
    ]
  }
  expect((await play("network.profile", profile, answer(200, body))).outcome).toMatchObject({
    _tag: "Match",
    output: {
      headline: "CEO at Acme",
      title: "CEO",
      about: "Sells anvils.",
      company_domain: "acme.example",
      experience: [
        {
          title: "CEO",
          company_name: "Acme",
          company_domain: "acme.example",
          start_date: "2014-02",
          end_date: null,
          is_current: true
        },
        {
          title: "Clerk",
          company_name: "Bolt",
          company_domain: null,
          start_date: "2010-01",
          end_date: "2013-03",
          is_current: false
        }
      ],
      education: [
        { school: "State University", degree: "BA", field: null, start_date: "2006", end_date: "2010" },
        { school: "College", degree: null, field: null, start_date: null, end_date: null }
      ]
    }
  })
})

test.each(["google", "meta", "network"])("ads.search reads the fields that ads on %s share", async (platform) => {
  const one = {
    ad_id: "1",
    advertiser: "Acme",
    headline: "Anvils",
    description: "Buy one.",
    content: "Buy one now.",
    ad_url: "https://ads.example/1",
    image_url: "https://i.example/1.jpg",
    video_url: "https://v.example/1.mp4",
    landing_page_url: "acme.example/anvils",
    start_date: "2026-01-02",
    end_date: "2026-02-03"
  }
  const input = { platform, company_domain: "acme.example" }
  expect(offerOf(leadmagic, "ads.search").serves(input)).toBe(true)
  expect((await play("ads.search", input, answer(200, { ads: [one], credits_consumed: 0.2 }))).outcome).toMatchObject({
    _tag: "Match",
    output: {
      items: [
        {
          advertiser: "Acme",
          headline: "Anvils",
          text: "Buy one.",
          image_url: "https://i.example/1.jpg",
          video_url: "https://v.example/1.mp4",
          landing_url: "https://acme.example/anvils",
          started_at: "2026-01-02",
          ended_at: "2026-02-03"
        }
      ]
    },
    cost: { unit: "credit", amount: "0.2" }
  })
})
