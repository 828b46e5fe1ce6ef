/** Apify's offers: each is one run of an actor, held here against the marketplace's documents and the actors' input schemas. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { compileEndpoint } from "../../../src/layers/catalog/input/EndpointInput.ts"
import { apify } from "../../../src/layers/providers/apify/index.ts"
import type { Call } from "../../../src/schema/catalog/Provider.ts"
import { conforms } from "./conformance.ts"
import { specification } from "./specifications.ts"
import { answer, get, offerOf, type Played, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(apify)
const shared = new URL("../../fixtures/payloads/", import.meta.url)
const text = (file: string) => readFileSync(new URL(file, shared), "utf8")
const example = (name: string, status = 200): Played => answer(status, text(`apify/${name}.response.json`))

const started = example("actor_run", 201)
const ended = example("run.pay_per_event")
const run = (status: string): Played =>
  answer(200, { data: { id: "HG7ML7M8z78YcAPEB", status, defaultDatasetId: "wmKPijuyDnPZAPRMk" } })
/** Actors whose record is read before the items. */
const recorded = new Set(["social.posts", "serp.search"])
/** A run that goes well, and its items. */
const items = (found: unknown, capability = ""): ReadonlyArray<Played> => [
  started,
  ended,
  ...(recorded.has(capability) ? [answer(200, {})] : []),
  answer(200, found)
]

const document = specification("apify")

/** What the marketplace's document says against a call. It calls `/acts`, which every client uses, `/actors`. */
const against = async (call: Call): Promise<ReadonlyArray<string>> => {
  const { endpoints, definitions } = await document
  const path = `/v2${call.path}`.replace("/v2/acts/", "/v2/actors/")
  const found = endpoints.find(
    (one) => one.method === call.method && new RegExp(`^${one.path.replace(/\{[^}]+\}/g, "[^/]+")}$`).test(path)
  )
  if (found === undefined) return [`${call.method} ${path} is no operation`]
  const query = JSON.parse(JSON.stringify(call.query ?? {}))
  // Amounts are decimal strings here; on the wire nobody can tell.
  const sent = "maxTotalChargeUsd" in query ? { ...query, maxTotalChargeUsd: Number(query.maxTotalChargeUsd) } : query
  const names = Object.keys(Object(found.query_params["properties"]))
  return [
    ...compileEndpoint(found, definitions)
      .query(sent)
      .map((issue) => `${issue.path} ${issue.message}`),
    ...Object.keys(query).filter((name) => !names.includes(name))
  ]
}

interface Case {
  readonly capability: string
  readonly actor: string
  readonly input: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly cap: string
  readonly limit: number
}
const cases: ReadonlyArray<Case> = [
  {
    capability: "people.search",
    actor: "harvestapi/linkedin-profile-search",
    input: {
      titles: ["head of sales"],
      name: "Jane",
      keywords: "sumolu",
      seniorities: ["VP", "manager"],
      locations: ["Berlin"],
      limit: 5
    },
    body: {
      profileScraperMode: "Full",
      searchQuery: "Jane sumolu",
      currentJobTitles: ["head of sales"],
      locations: ["Berlin"],
      seniorityLevelIds: ["300", "200", "210"],
      startPage: 1,
      takePages: 1,
      maxItems: 5
    },
    cap: "0.1700",
    limit: 5
  },
  {
    capability: "people.search",
    actor: "harvestapi/linkedin-profile-search",
    input: { titles: ["head of sales"], limit: 25, cursor: "apify:3" },
    body: {
      profileScraperMode: "Full",
      currentJobTitles: ["head of sales"],
      startPage: 3,
      takePages: 1,
      maxItems: 25
    },
    cap: "0.2500",
    limit: 25
  },
  {
    capability: "company.enrich",
    actor: "harvestapi/linkedin-company",
    input: { network_url: "https://www.linkedin.com/company/netflix", name: "Netflix" },
    body: { companies: ["https://www.linkedin.com/company/netflix"] },
    cap: "0.0540",
    limit: 1
  },
  {
    capability: "company.enrich",
    actor: "harvestapi/linkedin-company",
    input: { name: "Netflix" },
    body: { searches: ["Netflix"] },
    cap: "0.0540",
    limit: 1
  },
  {
    capability: "jobs.search",
    actor: "harvestapi/linkedin-job-search",
    input: { query: "data engineer", company_name: "Acme", location: "Denver", remote: true, posted_within_days: 10 },
    body: {
      jobTitles: ["data engineer"],
      locations: ["Denver"],
      company: ["Acme"],
      workplaceType: ["remote"],
      postedLimit: "week",
      maxItems: 10
    },
    cap: "0.0600",
    limit: 10
  },
  {
    capability: "web.scrape",
    actor: "thescrappa/website-content-extractor-scraper",
    input: { url: "https://example.com" },
    body: { urls: ["https://example.com"], response_type: "markdown" },
    cap: "0.0503",
    limit: 1
  },
  {
    capability: "web.scrape",
    actor: "thescrappa/website-content-extractor-scraper",
    input: { url: "https://example.com", format: "text", only_main_content: false },
    body: { urls: ["https://example.com"], response_type: "json" },
    cap: "0.0503",
    limit: 1
  },
  {
    capability: "places.search",
    actor: "thescrappa/google-maps-search-scraper",
    input: { query: "dentist", location: "Berlin", country: "DE", limit: 5 },
    body: { query: "dentist in Berlin", gl: "de" },
    cap: "0.0800",
    limit: 5
  },
  {
    capability: "news.search",
    actor: "thescrappa/google-news-scraper",
    input: { query: "electric trucks", country: "US", language: "pt-br" },
    body: { queries: ["electric trucks"], gl: "us", hl: "pt" },
    cap: "0.0800",
    limit: 10
  },
  {
    capability: "social.profile",
    actor: "thescrappa/instagram-user-info-cheapest-0-20-1000-results",
    input: { platform: "instagram", handle: "@keloro" },
    body: { username: "keloro" },
    cap: "0.0503",
    limit: 1
  },
  {
    capability: "social.profile",
    actor: "thescrappa/tiktok-profile-scraper",
    input: { platform: "tiktok", url: "https://www.tiktok.com/@tiktok?lang=en" },
    body: { profile: "@tiktok" },
    cap: "0.0503",
    limit: 1
  },
  {
    capability: "social.posts",
    actor: "thescrappa/instagram-user-posts-cheapest-0-20-1000-results",
    input: { platform: "instagram", handle: "keloro" },
    body: { username: "keloro" },
    cap: "0.0650",
    limit: 10
  },
  {
    capability: "social.posts",
    actor: "thescrappa/tiktok-user-posts-scraper",
    input: { platform: "tiktok", handle: "tiktok", limit: 80 },
    body: { profile: "@tiktok", count: 50 },
    cap: "0.0650",
    limit: 80
  },
  {
    capability: "ads.search",
    actor: "thescrappa/tiktok-ads-scraper",
    input: {
      platform: "tiktok",
      query: "https://ads.tiktok.com/business/creativecenter/topads/7213160569871581185/pc/en?countryCode=US"
    },
    body: {
      urls: ["https://ads.tiktok.com/business/creativecenter/topads/7213160569871581185/pc/en?countryCode=US"]
    },
    cap: "0.0503",
    limit: 1
  },
  {
    capability: "network.profile",
    actor: "thescrappa/linkedin-profile-scraper",
    input: { network_url: "https://www.linkedin.com/in/jane-doe" },
    body: { urls: ["https://www.linkedin.com/in/jane-doe"] },
    cap: "0.0503",
    limit: 1
  },
  {
    capability: "social.posts",
    actor: "thescrappa/instagram-user-posts-cheapest-0-20-1000-results",
    input: { platform: "instagram", handle: "keloro", cursor: "apify:QVFDcF" },
    body: { username: "keloro", max_id: "QVFDcF" },
    cap: "0.0650",
    limit: 10
  },
  {
    capability: "social.posts",
    actor: "thescrappa/tiktok-user-posts-scraper",
    input: { platform: "tiktok", handle: "tiktok", limit: 5, cursor: "apify:1731161993000" },
    body: { profile: "@tiktok", count: 5, cursor: "1731161993000" },
    cap: "0.0650",
    limit: 5
  },
  {
    capability: "serp.search",
    actor: "thescrappa/google-search",
    input: { query: "crm software", country: "DE", language: "pt-br", location: "Berlin" },
    body: { query: "crm software", gl: "de", hl: "pt", amount: 10, location: "Berlin" },
    cap: "0.0530",
    limit: 10
  },
  {
    capability: "serp.search",
    actor: "thescrappa/google-search",
    input: { query: "crm software" },
    body: { query: "crm software", gl: "us", hl: "en", amount: 10 },
    cap: "0.0530",
    limit: 10
  },
  {
    capability: "seo.domain",
    actor: "thescrappa/similarweb-traffic-analytics-scraper",
    input: { domain: "google.com" },
    body: { domain: "google.com" },
    cap: "0.0503",
    limit: 1
  },
  {
    capability: "domain.check",
    actor: "thescrappa/domain-availability-checker",
    input: { domain: "example.com" },
    body: { domains: ["example.com"] },
    cap: "0.0503",
    limit: 1
  }
]

describe("every offer of an actor", () => {
  for (const { capability, actor, input, body, cap, limit } of cases) {
    test(`${capability} runs ${actor} on ${JSON.stringify(input)}`, async () => {
      const offer = offerOf(apify, capability)
      expect(offer.serves(input)).toBe(true)
      expect(offer.timeoutMillis).toBe(180_000)
      const { asked, kept, outcome } = await play(capability, input, ...items([], capability))
      const record = get("/v2/key-value-stores/eJNzqsbPiopwJcgGQ/records/OUTPUT", {})
      expect(asked.map(({ headers: _headers, ...rest }) => rest)).toEqual([
        {
          method: "POST",
          path: `/v2/acts/${actor.replace("/", "~")}/runs`,
          query: {
            maxTotalChargeUsd: cap,
            timeout: "150",
            maxItems: String(limit),
            forcePermissionLevel: "LIMITED_PERMISSIONS"
          },
          secret: secretAsBearer,
          body
        },
        { ...get("/v2/actor-runs/HG7ML7M8z78YcAPEB", { waitForFinish: "30" }), secret: secretAsBearer },
        ...(recorded.has(capability) ? [{ ...record, secret: secretAsBearer }] : []),
        {
          ...get("/v2/datasets/wmKPijuyDnPZAPRMk/items", { clean: "true", format: "json", limit: String(limit) }),
          secret: secretAsBearer
        }
      ])
      // Stored before it is waited for: a restart goes on with the run and starts no second one.
      expect(kept[0]).toMatchObject({ run: "HG7ML7M8z78YcAPEB", dataset: null })
      expect(kept[1]).toMatchObject({ run: "HG7ML7M8z78YcAPEB", dataset: "wmKPijuyDnPZAPRMk", cost: "0.00805" })
      // Nothing found; where every name has an answer, none is none.
      if (capability === "domain.check" || capability === "seo.domain")
        expect(outcome).toMatchObject({ reason: "invalid_response" })
      else expect(outcome).toMatchObject({ _tag: "NoMatch", cost: { unit: "USD", amount: "0.00805" } })
    })

    test(`${capability} asks what the documents know: ${JSON.stringify(input)}`, async () => {
      const offer = offerOf(apify, capability)
      const call = offer.request(input, { run_id: runId })
      expect(conforms(apify, { method: "POST", path: `/${actor}`.slice(1), body: call.body })).toEqual([])
      const at = { run: "a", cost: null, item_price: null, misses: 0 }
      const calls = [
        call,
        offer.next({ ...at, dataset: null }, input, { run_id: runId }),
        offer.next({ ...at, dataset: "b", store: "c" }, input, { run_id: runId }),
        offer.next({ ...at, dataset: "b" }, input, { run_id: runId })
      ]
      for (const one of calls) expect(await against(one)).toEqual([])
    })
  }

  test("is resumed by its run's id, wherever it was", () => {
    const offer = offerOf(apify, "company.enrich")
    const input = { name: "Netflix" }
    const next = (state: unknown) => offer.next(JSON.parse(JSON.stringify(state)), input, { run_id: runId })
    expect(next({ run: "abc" })).toMatchObject({ method: "GET", path: "/actor-runs/abc" })
    expect(next({ run: "abc", dataset: "def" })).toMatchObject({ method: "GET", path: "/datasets/def/items" })
    for (const state of [{}, [], "abc", 7, { run: "../acts" }, { run: 7 }])
      expect(() => next(state)).toThrow("no actor's run")
  })

  test("waits as long as the run works", async () => {
    const input = { name: "Netflix" }
    const waits = [run("READY"), run("RUNNING"), run("RUNNING"), run("TIMING-OUT")]
    const mivelo = await play("company.enrich", input, started, ...waits, ended, example("dataset_items.empty"))
    expect(mivelo.outcomes.map((one) => (one._tag === "Again" ? [one.afterMillis, one.job] : one._tag))).toEqual([
      ...Array.from({ length: 5 }, () => [1_000, true]),
      [0, true],
      "NoMatch"
    ])
  })

  const noMemory = answer(402, {
    error: { type: "actor-memory-limit-exceeded", message: "By launching this job you will exceed the memory limit." }
  })
  const failing: ReadonlyArray<[string, ReadonlyArray<Played>, string, string]> = [
    ["fails", [started, example("run.failed")], "provider_error", "the actor's run ended as FAILED: Actor failed"],
    ["is ended for its time", [started, example("run.timed_out")], "provider_timeout", "TIMED-OUT"],
    ["is ended for its cost", [started, run("ABORTED")], "provider_error", "the actor's run ended as ABORTED"],
    ["refuses its input", [example("actor_run.400", 400)], "provider_error", "HTTP 400: Invalid input"],
    ["is refused a token", [example("actor_run.401", 401)], "provider_account", "HTTP 401: Authentication token"],
    ["wants money", [example("actor_run.402", 402)], "provider_account", "HTTP 402"],
    ["finds no memory free", [noMemory], "provider_rate_limited", "HTTP 402: By launching this job"],
    ["needs permission", [example("actor_run.403", 403)], "provider_account", "HTTP 403"],
    ["is gone", [example("actor_run.404", 404)], "provider_error", "HTTP 404: The requested resource was not found."],
    ["takes too long to start", [example("actor_run.408", 408)], "provider_timeout", "HTTP 408"],
    ["is asked too much", [example("actor_run.413", 413)], "provider_error", "HTTP 413"],
    ["is asked too often", [example("actor_run.429", 429)], "provider_rate_limited", "HTTP 429: You have exceeded"],
    ["is gone while it is waited for", [started, example("actor_run.404", 404)], "provider_error", "HTTP 404"],
    ["writes what is no list", [started, ended, answer(200, {})], "invalid_response", "items"],
    ["writes what is no JSON", [started, ended, answer(200, "<html>")], "invalid_response", "not JSON"]
  ]
  test.each(failing)("an actor that %s is a failure", async (_name, answers, reason, detail) => {
    const { outcome, asked } = await play("company.enrich", { name: "Netflix" }, ...answers)
    expect(outcome).toMatchObject({ _tag: "Failure", reason, detail: expect.stringContaining(detail) })
    expect(asked.length).toBe(answers.length)
  })

  test("questions that fail are asked again, within bounds, and the start never is", async () => {
    const late = example("actor_run.429", 429)
    const down = answer(503, {})
    const empty = example("dataset_items.empty")
    const saved = await play("company.enrich", { name: "N" }, started, late, down, ended, down, late, empty)
    expect(saved.outcome).toMatchObject({ _tag: "NoMatch" })
    const lost = await play("company.enrich", { name: "N" }, started, ...Array(9).fill(down))
    expect([lost.asked.length, lost.outcome]).toMatchObject([7, { _tag: "Failure", reason: "provider_error" }])
    expect(lost.asked.filter(({ method }) => method === "POST").length).toBe(1)
  })

  test("no item of the wrong kind is a match or a crash", async () => {
    for (const { capability, input } of cases) {
      for (const found of [[null], [7, "x", [], {}], [{ success: "maybe", available: 1, name: {}, title: [] }]]) {
        const { outcome } = await play(capability, input, ...items(found, capability))
        expect(["NoMatch", "Failure"]).toContain(outcome?._tag ?? "")
        if (capability === "news.search" && found[0] !== null) expect(outcome?._tag).toBe("Failure")
      }
    }
  })
})

const cost = { unit: "USD", amount: "0.00805" }
const nobody = { headline: null, title: null, seniority: null, company_name: null, company_domain: null }
const unreached = { email: null, email_status: null, phone: null }

describe("people.search", () => {
  const input = { titles: ["pharmacist"] }
  test("people", async () => {
    const found = example("dataset_items.harvestapi_linkedin_profile_search")
    const { outcome } = await play("people.search", input, started, ended, found)
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            ...nobody,
            ...unreached,
            full_name: "Jane Example",
            first_name: "Jane",
            last_name: "Example",
            headline: "Staff Pharmacist at Example Health",
            title: "Staff Pharmacist",
            company_name: "Example Health",
            network_url: "https://www.linkedin.com/in/jane-example",
            location: { city: "Los Angeles", region: "California", country: "United States" },
            provider_ids: { apify: "ACoAAExample" }
          }
        ],
        total: null,
        next_cursor: null
      },
      cost
    } as never)
  })

  test("a whole page has a next one; the last page has none", async () => {
    const page = Array.from({ length: 25 }, (_, index) => ({
      firstName: `P${index}`,
      linkedinUrl: `https://x/${index}`
    }))
    const next = async (cursor: string | undefined, limit: number) => {
      const asked = { ...input, limit, ...(cursor === undefined ? {} : { cursor }) }
      const { outcome } = await play("people.search", asked, ...items(page.slice(0, limit)))
      return outcome?._tag === "Match" ? Object(outcome.output).next_cursor : outcome
    }
    expect(await next(undefined, 25)).toBe("apify:2")
    expect(await next("apify:99", 25)).toBe("apify:100")
    expect(await next("apify:100", 25)).toBeNull()
    // The rest of the page would be lost.
    expect(await next(undefined, 24)).toBeNull()
  })

  test("serves what the actor can search for", () => {
    const serves = (more: Record<string, unknown>) => offerOf(apify, "people.search").serves({ ...input, ...more })
    expect(serves({ limit: 25, cursor: "apify:2" })).toBe(true)
    for (const more of [
      { limit: 26 },
      { cursor: "exa:2" },
      { cursor: "apify:0" },
      { cursor: "apify:two" },
      { company_domains: ["example.com"] },
      { company_names: ["Acme"] },
      { industries: ["software"] },
      { employee_range: "11-50" },
      { seniorities: ["wizard"] },
      { seniorities: ["constructor"] },
      { name: "x".repeat(150), keywords: "y".repeat(150) }
    ]) {
      expect([more, serves(more)]).toEqual([more, false])
    }
  })
})

describe("company.enrich", () => {
  test("a company", async () => {
    const found = example("dataset_items.harvestapi_linkedin_company")
    const { outcome } = await play("company.enrich", { name: "Netflix" }, started, ended, found)
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        name: "Netflix",
        domain: "jobs.netflix.com",
        website: "https://jobs.netflix.com?utm_campaign=Lemolo&utm_source=linkedin",
        network_url: "https://www.linkedin.com/company/netflix",
        industry: "Lolule Providers",
        employee_count: 16985,
        employee_range: "10001+",
        founded_year: 1997,
        location: { city: "Los Midasa", region: "California", country: "United States of America" },
        description: expect.stringContaining("lolule services"),
        revenue: null,
        funding: null,
        technologies: null,
        phone: null,
        provider_ids: { apify: "165158" }
      },
      cost
    } as never)
  })

  test("serves names and network pages", () => {
    const { serves } = offerOf(apify, "company.enrich")
    expect(serves({ domain: "netflix.com" })).toBe(false)
    expect(serves({ network_url: "https://example.com/netflix" })).toBe(false)
    expect(serves({ network_url: "linkedin.com/company/netflix" })).toBe(true)
  })
})

describe("jobs.search", () => {
  test("jobs", async () => {
    const found = example("dataset_items.harvestapi_linkedin_job_search")
    const { outcome } = await play("jobs.search", { query: "data engineer" }, started, ended, found)
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            title: "Associate Data Engineer",
            company_name: "East Rosuna Analytics",
            company_domain: null,
            location: "Tanata Samisu, CO",
            url: "https://www.linkedin.com/jobs/view/4227647589/",
            posted_at: "2025-05-14T17:12:41.000Z",
            employment_type: "full_time",
            salary_min: 80000,
            salary_max: 85000,
            currency: "USD",
            remote: false,
            description: expect.stringContaining("East Rosuna Analytics")
          }
        ],
        total: null,
        next_cursor: null
      },
      cost
    } as never)
  })

  test("no more than the limit", async () => {
    const many = Array.from({ length: 7 }, (_, index) => ({ title: `Job ${index}` }))
    const { outcome } = await play("jobs.search", { query: "x", limit: 3 }, ...items(many))
    expect(outcome?._tag === "Match" && Object(outcome.output).items.length).toBe(3)
  })

  test.each([
    [1, "24h"],
    [6, "24h"],
    [7, "week"],
    [29, "week"],
    [30, "month"],
    [365, "month"]
  ])("nothing older than %i days is asked for", (posted_within_days, postedLimit) => {
    const call = offerOf(apify, "jobs.search").request({ query: "x", posted_within_days }, { run_id: runId })
    expect(call.body).toMatchObject({ postedLimit })
  })

  test("serves what the actor can search for", () => {
    const { serves } = offerOf(apify, "jobs.search")
    expect(serves({ company_name: "Acme", company_domain: "acme.com" })).toBe(true)
    expect(serves({ query: "x", company_domain: "acme.com" })).toBe(false)
    expect(serves({ location: "Berlin" })).toBe(false)
  })
})

test("the provider's own report is read of a run, not of its items", () => {
  const reply = (body: unknown) => ({ status: 200, headers: {}, text: "", body })
  expect(apify.measured(reply(JSON.parse(text("apify/run.response.json"))))).toEqual({
    unit: "USD",
    amount: "0.2654"
  })
  expect(apify.measured(reply([{ usageTotalUsd: 1 }]))).toBeNull()
})
