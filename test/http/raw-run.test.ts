/** Raw runs over HTTP: what inspect states is what run takes, what is held is what the rate card says, and the payload is untouched. */
import { beforeAll, describe, expect, test } from "bun:test"
import { acme, documentOf, endpointOf } from "../kit/provider-documents.ts"
import { type Tenant, withApp } from "../kit/app.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  await app.catalog(acme)
  await app.catalog(
    documentOf("sec_edgar", [endpointOf({ path: "/filings", cost: { model: "free", estimate: "0.00", note: null } })])
  )
  org = await app.tenant("10.00")
})

const run = (body: Record<string, unknown>) => org.run({ provider: "acme", input: {}, ...body })
const moved = async () => (await org.ledger()).map(({ type, amount }) => `${type} ${amount}`)

describe("a raw run", () => {
  test("answers data, untouched, and charges the rate card's estimate", async () => {
    const before = (await moved()).length
    const { status, body } = await run({
      endpoint: "/people/{id}",
      method: "GET",
      path: { id: "p 1" },
      input: { fields: "name" }
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      kind: "endpoint",
      capability: null,
      endpoint: "/people/{id}",
      provider: "acme",
      status: "succeeded",
      billing: { quoted: "0.02", charged: "0.02", currency: "USD" },
      attempts: [{ provider: "acme", outcome: "succeeded" }],
      result: {
        raw: true,
        sandbox: true,
        data: {
          sandbox: true,
          request: { method: "GET", path: "/people/p%201", query: [{ name: "fields", value: "name" }], body: null }
        }
      }
    })
    const entries = await moved()
    expect(entries.slice(0, entries.length - before)).toEqual(["release 0.01", "settle -0.02", "reserve -0.03"])
    const listed = await org.list("?endpoint=/people/{id}")
    expect(listed.body.items[0].run_id).toBe(body.run_id)
  })

  test("without published rates holds $1.00, or the cap, and costs what the provider reports: here nothing", async () => {
    const { body } = await run({ endpoint: "/search", input: { filter: { field: "x" } } })
    expect(body).toMatchObject({ status: "succeeded", billing: { quoted: "0.00", charged: "0.00" } })
    expect((await moved()).find((entry) => entry.startsWith("reserve"))).toBe("reserve -1.00")
    await run({ endpoint: "/search", input: { filter: { field: "x" } }, routing: { max_cost: "0.10" } })
    expect((await moved()).find((entry) => entry.startsWith("reserve"))).toBe("reserve -0.10")
  })

  test("without a field that leaves the price open is filled in, held for and says so; a field that is set stays", async () => {
    const scrape = { provider: "firecrawl", endpoint: "/scrape" }
    const parsers = [{ type: "pdf", maxPages: 1 }]
    const { body: inspected } = await org.post("/v1/inspect", scrape)
    expect(inspected.filled).toEqual([{ field: "parsers", value: parsers, why: expect.any(String) }])
    expect(inspected.hints.join(" ")).toContain("If parsers is left out, Rungate sends")
    // The provider's own first example.
    const { status, body } = await org.run({ ...scrape, input: { url: "https://docs.firecrawl.dev" } })
    expect([status, body.status]).toEqual([200, "succeeded"])
    expect(body.result.data.request.body).toEqual({ url: "https://docs.firecrawl.dev", parsers })
    const said = "parsers was left out, so Rungate sent"
    expect([body.hints.join(" "), body.attempts[0].detail]).toEqual([
      expect.stringContaining(said),
      expect.stringContaining(said)
    ])
    const same = await org.run({ ...scrape, input: { url: "https://docs.firecrawl.dev", parsers } })
    expect(same.body).toMatchObject({ billing: body.billing, hints: [], attempts: [{ detail: null }] })
    const less = await org.run({ ...scrape, input: { url: "https://docs.firecrawl.dev", parsers: [] } })
    expect(less.body.result.data.request.body.parsers).toEqual([])
    expect(Number(less.body.billing.charged)).toBeLessThan(Number(body.billing.charged))
    const crawl = { ...scrape, endpoint: "/crawl", input: { url: "https://docs.firecrawl.dev" } }
    expect((await org.run(crawl)).body.result.data.request.body).toMatchObject({
      limit: 10,
      scrapeOptions: { parsers }
    })
  })

  test("of a task endpoint takes one task or up to ten", async () => {
    const task = { keyword: "widgets" }
    expect((await run({ endpoint: "/tasks", input: task })).status).toBe(200)
    const ten = await run({ endpoint: "/tasks", input: Array.from({ length: 10 }, () => task) })
    expect([ten.status, ten.body.billing.quoted, ten.body.billing.charged]).toEqual([200, "0.20", "0.20"])
    const eleven = await run({ endpoint: "/tasks", input: Array.from({ length: 11 }, () => task) })
    expect([eleven.status, eleven.body.error.details[0].path]).toEqual([400, "input"])
    const second = await run({ endpoint: "/tasks", input: [task, {}] })
    expect([second.status, second.body.error.details[0].path]).toEqual([400, "input.1.keyword"])
  })

  test("of public data needs no money, and works under a reached guard", async () => {
    const poor = await app.tenant()
    await poor.post("/v1/spend-guard", { per_run_limit: "0.00", daily_limit: "0.00" })
    const { status, body } = await poor.run({ provider: "sec_edgar", endpoint: "/filings", input: {} })
    expect([status, body.status, body.billing.charged]).toEqual([200, "succeeded", "0.00"])
    expect(await poor.ledger()).toEqual([])
  })

  test("of an actor holds at least what it needs, and refuses a lower cap", async () => {
    const actor = { endpoint: "someone/some-actor", input: { anything: [1] } }
    expect((await run(actor)).status).toBe(200)
    expect((await moved()).find((entry) => entry.startsWith("reserve"))).toBe("reserve -0.50")
    const low = await run({ ...actor, routing: { max_cost: "0.10" } })
    expect([low.status, low.body.error.details[0].path]).toEqual([400, "routing.max_cost"])
  })

  test.each([
    ["error", "failed", 502, "provider_error"],
    ["rate_limited", "failed", 502, "provider_error"],
    ["timeout", "timed_out", 504, "provider_timeout"]
  ])("that ends with %s releases its hold", async (word, status, http, code) => {
    const before = await org.wallet()
    const answer = await run({ endpoint: "/search", input: { filter: { field: `sandbox:${word}` } } })
    expect([answer.status, answer.body.status, answer.body.error.code]).toEqual([http, status, code])
    expect(answer.body.attempts.length).toBe(1)
    expect(await org.wallet()).toEqual(before)
  })

  test("whose measured cost is zero charges nothing", async () => {
    const { body } = await run({ endpoint: "/search", input: { filter: { field: "sandbox:no_match" } } })
    expect([body.status, body.billing.charged, body.result.data.results]).toEqual(["succeeded", "0.00", []])
  })

  test("joins its idempotency key, and another request does not", async () => {
    const ask = (q: string) =>
      org.run(
        { provider: "acme", endpoint: "/search", input: { filter: { field: q } } },
        { "idempotency-key": "raw-1" }
      )
    const first = await ask("a")
    const again = await ask("a")
    expect([again.body.run_id, again.headers.get("idempotent-replay")]).toEqual([first.body.run_id, "true"])
    expect((await ask("b")).body.error.code).toBe("idempotency_key_reused")
  })
})

describe("a raw run is refused before it is one", () => {
  const cases: ReadonlyArray<[string, Record<string, unknown>, number, string, string | null]> = [
    ["unknown endpoint", { endpoint: "/nothing" }, 404, "endpoint_not_found", null],
    ["unknown provider", { provider: "nobody", endpoint: "/x" }, 404, "endpoint_not_found", null],
    ["excluded provider", { provider: "fal", endpoint: "/fal-ai/flux" }, 404, "endpoint_not_found", null],
    [
      "no method where there are two",
      { endpoint: "/people/{id}", path: { id: "1" } },
      400,
      "invalid_request",
      "method"
    ],
    ["another method", { endpoint: "/search", method: "PUT" }, 400, "invalid_request", "method"],
    ["missing placeholder", { endpoint: "/people/{id}", method: "GET" }, 400, "invalid_request", "path.id"],
    [
      "a value that climbs",
      { endpoint: "/people/{id}", method: "GET", path: { id: ".." } },
      400,
      "invalid_request",
      "path.id"
    ],
    [
      "a field that the provider requires in words only",
      { provider: "dataforseo", endpoint: "/v3/backlinks/referring_domains/live", input: {} },
      400,
      "invalid_request",
      "input.target"
    ],
    [
      "unknown query",
      { endpoint: "/people/{id}", method: "GET", path: { id: "1" }, query: { nope: 1 } },
      400,
      "invalid_request",
      "query.nope"
    ],
    [
      "input beyond its bounds",
      { endpoint: "/people/{id}", method: "GET", path: { id: "1" }, input: { limit: 11 } },
      400,
      "invalid_request",
      "input.limit"
    ],
    [
      "body against its schema",
      { endpoint: "/search", input: { filter: { and: [] } } },
      400,
      "invalid_request",
      "input.filter.field"
    ],
    [
      "deep in a schema that refers to itself",
      { endpoint: "/search", input: { filter: { field: "a", and: [{ field: 1 }] } } },
      400,
      "invalid_request",
      "input.filter.and.0.field"
    ],
    [
      "another provider in routing",
      { endpoint: "/search", input: {}, routing: { provider: "hunter" } },
      400,
      "invalid_request",
      "routing.provider"
    ]
  ]
  test.each(cases)("%s", async (_name, request, status, code, path) => {
    const before = [await org.wallet(), (await org.list("?limit=200")).body.items.length]
    const answer = await run(request)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    // A detail with a request is a next step, and no field is wrong.
    const wrong = answer.body.error.details?.filter((one: { http?: string }) => one.http === undefined)
    expect(wrong?.[0]?.path ?? null).toBe(path)
    expect([await org.wallet(), (await org.list("?limit=200")).body.items.length]).toEqual(before)
  })

  const product = [
    "dataforseo",
    "/v3/merchant/google/product_info/task_post",
    "product_id, or data_docid, or gid"
  ] as const
  const album = ["scrapecreators", "/v1/spotify/album", "id, or url"] as const
  test.each([
    [...product, { gid: "4702526954592161872" }],
    [...album, { url: "https://open.spotify.com/album/0pgrg7phBbnwGJ2HBEl9EG" }],
    ["apify", "thescrappa/linkedin-profile-scraper", "urls, or url", { url: "https://www.linkedin.com/in/x" }],
    ["hunter", "/email-count", "domain, or company", { domain: "example.com" }]
  ])("%s %s without any of %s, and not with one of them", async (provider, endpoint, fields, input) => {
    const before = await org.wallet()
    const { status, body } = await run({ provider, endpoint })
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(body.error.details[0]).toEqual({ path: "input", message: `needs ${fields}` })
    expect(await org.wallet()).toEqual(before)
    expect((await run({ provider, endpoint, input })).body.status).toBe("succeeded")
  })

  test("a pattern that would run for ages is checked at once", async () => {
    const answer = await run({ endpoint: "/search", input: { filter: { field: "x" }, q: `${"a".repeat(5_000)}!` } })
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, "input.q"])
  })

  test("the books add up", () => app.books())
})

describe("inspect of a raw endpoint", () => {
  const inspect = (endpoint: string, method?: string) =>
    org.post("/v1/inspect", { provider: "acme", endpoint, ...(method === undefined ? {} : { method }) })

  test("tells the whole truth, and its example runs at the stated price", async () => {
    const { status, body } = await inspect("/search")
    expect(status).toBe(200)
    expect(body).toMatchObject({
      provider: "acme",
      endpoint: "/search",
      method: "POST",
      title: "Search for widgets",
      status: "live",
      sandbox: true,
      input: {
        bodyType: "json",
        pathParams: { properties: {} },
        queryParams: { properties: {} },
        body: { required: ["filter"] }
      },
      cost: { model: "unpublished", estimate: null, currency: "USD" },
      health: { status: expect.any(String), source: "measured" },
      wrapped_by: []
    })
    // Exactly the shared schemas that it stands on, so that the schema is whole by itself.
    expect(Object.keys(body.input.body.$defs)).toEqual(["Filter"])
    const ran = await org.run(body.example)
    expect([ran.status, ran.body.status]).toEqual([200, "succeeded"])
  })

  test.each([
    ["postmark", "/email/batch"],
    ["dataforseo", "/v3/serp/google/organic/live/advanced"],
    ["apify", "apify/web-scraper"],
    ["exa", "/search"]
  ])(
    "of %s %s says what its input has and must have, if only that nothing must be there",
    async (provider, endpoint) => {
      const { body } = await org.post("/v1/inspect", { provider, endpoint })
      expect(body.input.body).toMatchObject({ properties: expect.any(Object), required: expect.any(Array) })
    }
  )

  test("quotes its command for a shell", async () => {
    expect((await inspect("/search")).body.run.cli).toBe(
      `rungate call acme /search -i '{"filter":{"field":"it'\\''s"}}' --max-cost 1.00`
    )
    expect((await inspect("/people/{id}", "GET")).body.run.cli).toBe(
      `rungate call acme '/people/{id}' --method GET --path '{"id":"p 1"}' -i '{"fields":"name"}' --max-cost 0.03`
    )
  })

  test("asks which method, when the path has several", async () => {
    const { status, body } = await inspect("/people/{id}")
    expect([status, body.error.details[0].path]).toEqual([400, "method"])
    expect(body.error.message).toContain("GET, DELETE")
  })

  test("of an actor shows the provider's own 30-day record until there are measurements", async () => {
    await app.catalog({ ...acme, provider: "acme2" })
    const { body } = await org.post("/v1/inspect", { provider: "acme2", endpoint: "someone/some-actor" })
    expect(body.health).toMatchObject({
      status: "stable",
      success_rate: 0.98,
      sample_size: 100,
      source: "provider_reported",
      latency_ms_p50: null
    })
    expect(body.input.bodyType).toBe("actor_input")
    expect(body.hints.join(" ")).toContain("could not be loaded")
  })
})
