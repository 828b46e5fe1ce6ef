/** Discover and the catalog's lists: public, free, ranked as the specification says, and cached. */
import { beforeAll, describe, expect, test } from "bun:test"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { acme, documentOf, endpointOf } from "../kit/provider-documents.ts"
import { startApp, withApp } from "../kit/app.ts"

const app = withApp()
beforeAll(async () => {
  await app.catalog(acme)
})

const discover = (body: Record<string, unknown>) => app.call(null, "POST", "/v1/discover", { body })
const get = (path: string, headers: Record<string, string> = {}) => app.call(null, "GET", path, { headers })

describe("POST /v1/discover", () => {
  test("needs no key, and shows what each kind of item must show", async () => {
    const { status, body } = await discover({ query: "find a work email" })
    expect(status).toBe(200)
    const [first] = body.items
    expect(first).toMatchObject({
      kind: "capability",
      capability: "email.find",
      score: 1,
      title: expect.any(String),
      description: expect.any(String),
      status: "live",
      providers: expect.arrayContaining(["hunter"]),
      live_providers: [],
      platforms: [],
      starting_price: { amount: expect.any(String), currency: "USD" },
      health: { status: expect.any(String), source: "measured" },
      hint: "rungate inspect email.find"
    })
    expect(body.items.length).toBeLessThanOrEqual(10)
    const scores = body.items.map((one: { score: number }) => one.score)
    for (const score of scores) expect(score > 0 && score <= 1).toBe(true)
  })

  test("finds an import at once, with its price and the command that inspects it", async () => {
    const { body } = await discover({ query: "widgets by filter", provider: "acme" })
    expect(body.items[0]).toMatchObject({
      kind: "endpoint",
      provider: "acme",
      endpoint: "/search",
      method: "POST",
      title: "Search for widgets",
      status: "live",
      cost: { model: "unpublished", estimate: null, currency: "USD", note: null },
      wrapped_by: [],
      hint: "rungate inspect acme /search"
    })
    for (const item of body.items) expect(item.provider).toBe("acme")
    const ambiguous = await discover({ query: "acme people", provider: "acme" })
    const hints = ambiguous.body.items.map((one: { hint: string }) => one.hint)
    expect(hints).toContain("rungate inspect acme '/people/{id}' --method GET")
  })

  test("restricts to a kind", async () => {
    for (const kind of ["capability", "endpoint"]) {
      const { body } = await discover({ query: "search people", kind, limit: 50 })
      for (const item of body.items) expect(item.kind).toBe(kind)
    }
  })

  test("answers nothing with hints that help", async () => {
    const { status, body } = await discover({ query: "zzqx vvkjw" })
    expect([status, body.items]).toEqual([200, []])
    expect(body.hints.length).toBeGreaterThan(0)
  })

  test("says what fits an identifier", async () => {
    const { body } = await discover({ query: "jane.doe@example.com" })
    expect(body.hints.join(" ")).toContain("email.verify")
    expect(body.items.map((one: { capability?: string }) => one.capability)).toEqual(
      expect.arrayContaining(["email.verify", "people.enrich"])
    )
    expect(body.items[0].kind).toBe("capability")
    const named = await discover({ query: "hunter domain search" })
    expect([named.body.items[0].provider, named.body.items[0].endpoint]).toEqual(["hunter", "/domain-search"])
  })

  test.each([
    [{}, "query"],
    [{ query: "" }, "query"],
    [{ query: 7 }, "query"],
    [{ query: "x".repeat(1_001) }, "query"],
    [{ query: "x", limit: 0 }, "limit"],
    [{ query: "x", limit: 51 }, "limit"],
    [{ query: "x", limit: 1.5 }, "limit"],
    [{ query: "x", kind: "provider" }, "kind"],
    [{ query: "x", kinds: "endpoint" }, "kinds"]
  ])("refuses %j", async (request, path) => {
    const { status, body } = await discover(request)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", path])
  })

  test("names a provider that it does not know", async () => {
    const { status, body } = await discover({ query: "x", provider: "nobody" })
    expect([status, body.error.code]).toEqual([404, "provider_not_found"])
  })
})

test("production says of each capability whether it runs now, and through whom", async () => {
  const production = await startApp({
    settings: { RUNGATE_MODE: "production", RUNGATE_PROVIDER_HUNTER_API_KEY: "k" }
  })
  const seen = ({ status, live_providers }: { status: string; live_providers: ReadonlyArray<string> }) => [
    status,
    live_providers
  ]
  // Hunter serves the first, no account serves the second, and the third runs in the sandbox only.
  const expected = [
    ["email.verify", "live", ["hunter"]],
    ["phone.lookup", "coming_soon", []],
    ["company.tech", "coming_soon", []]
  ] as const
  const { body: list } = await production.call(null, "GET", "/v1/catalog/capabilities?limit=100")
  const org = await production.tenant("1.00")
  for (const [capability, ...rest] of expected) {
    const listed = list.items.find((one: { capability: string }) => one.capability === capability)
    const found = await production.call(null, "POST", "/v1/discover", {
      body: { query: listed.title, kind: "capability", limit: 50 }
    })
    const hit = found.body.items.find((one: { capability: string }) => one.capability === capability)
    const { body: inspected } = await org.post("/v1/inspect", { capability })
    for (const one of [listed, hit, inspected]) expect([capability, ...seen(one)]).toEqual([capability, ...rest])
    const routable = inspected.offers.filter((one: { executable: boolean }) => one.executable)
    expect(routable.map((one: { provider: string }) => one.provider)).toEqual([...rest[1]])
  }
  // What a refusal recommends can run, too.
  const pinned = async (capability: string, input: object, provider: string) =>
    (await org.run({ capability, input, routing: { provider } })).body.error.message
  expect(await pinned("email.verify", { email: "ada@example.com" }, "zerobounce")).toEndWith(
    'use "auto" or one of: hunter.'
  )
  expect(await pinned("phone.lookup", { phone: "+14155550123" }, "twilio_lookup")).toEndWith(
    "this service has no account at any of its providers yet."
  )
  await production.stop()
})

test("too many searches from one address are told when to come back", async () => {
  const limited = await startApp({ settings: { RUNGATE_RATE_LIMIT: "1" } })
  const search = () => limited.call(null, "POST", "/v1/discover", { body: { query: "email" } })
  const answers = await Promise.all(Array.from({ length: 6 }, search))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  for (const { body, headers } of refused) {
    expect(body.error.code).toBe("rate_limited")
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
  }
  await limited.stop()
})

describe("the catalog's lists", () => {
  test("capabilities, all of them, page by page", async () => {
    const seen: Array<string> = []
    let cursor: string | null = null
    do {
      const page: { body: any } = await get(
        `/v1/catalog/capabilities?limit=10${cursor === null ? "" : `&cursor=${cursor}`}`
      )
      expect(page.body.items.length).toBeLessThanOrEqual(10)
      seen.push(...page.body.items.map((one: { capability: string }) => one.capability))
      cursor = page.body.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(capabilities.map((one) => one.slug))
  })

  test("providers, with how many endpoints they have and whether they run", async () => {
    const { body } = await get("/v1/catalog/providers?limit=200")
    const bySlug = new Map(body.items.map((one: { provider: string }) => [one.provider, one]))
    expect(bySlug.get("acme")).toMatchObject({
      endpoints: { count: 5, status: "live", reason: null },
      capabilities: []
    })
    for (const slug of ["fal", "agentmail", "porkbun"])
      expect(bySlug.get(slug)).toMatchObject({
        endpoints: { count: 0, status: "excluded", reason: expect.any(String) }
      })
    const one = await get("/v1/catalog/providers/hunter")
    expect(one.body).toMatchObject({
      provider: "hunter",
      title: "Hunter",
      capabilities: expect.arrayContaining(["email.find"])
    })
    const none = await get("/v1/catalog/providers/nobody")
    expect([none.status, none.body.error.code]).toEqual([404, "provider_not_found"])
  })

  test("a provider's endpoints, by the provider's own paths", async () => {
    const { body } = await get("/v1/catalog/providers/acme/endpoints?limit=2")
    expect(body.items[0]).toEqual({
      provider: "acme",
      endpoint: "/people/{id}",
      method: "GET",
      title: "Read a person",
      status: "live",
      cost: { model: "per_call", estimate: "0.02", currency: "USD", note: null },
      wrapped_by: []
    })
    const rest = await get(`/v1/catalog/providers/acme/endpoints?cursor=${body.next_cursor}`)
    expect(rest.body.items.length).toBe(3)
    expect(rest.body.next_cursor).toBeNull()
    const wrong = await get("/v1/catalog/providers/acme/endpoints?cursor=nonsense")
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, "query.cursor"])
  })

  test("pages of endpoints with long paths", async () => {
    const paths = [1, 2, 3].map((n) => `/v1/${"a".repeat(900)}/${n}`)
    await app.catalog(
      documentOf(
        "lambda",
        paths.map((path) => endpointOf({ path }))
      )
    )
    const listed: Array<string> = []
    let next: string | null = ""
    while (next !== null) {
      const { status, body } = await get(`/v1/catalog/providers/lambda/endpoints?limit=1${next}`)
      expect(status).toBe(200)
      listed.push(...body.items.map((one: { endpoint: string }) => one.endpoint))
      next = body.next_cursor === null ? null : `&cursor=${body.next_cursor}`
    }
    expect(listed).toEqual(paths)
  })

  test("leave out what another host serves, unless the adapter names that host", async () => {
    const elsewhere = endpointOf({ path: "/elsewhere", origin: "https://evil.example" })
    await app.catalog(documentOf("kappa", [endpointOf({ path: "/here" }), elsewhere]))
    const { body } = await get("/v1/catalog/providers/kappa/endpoints")
    expect(body.items.map((one: { endpoint: string }) => one.endpoint)).toEqual(["/here"])
    const edgar = await get("/v1/catalog/providers/sec_edgar/endpoints")
    expect(edgar.body.items.map((one: { endpoint: string }) => one.endpoint)).toContain("/LATEST/search-index")
  })

  test("are not sent twice to who has them", async () => {
    for (const path of [
      "/v1/catalog/capabilities",
      "/v1/catalog/providers",
      "/v1/catalog/providers/acme",
      "/v1/catalog/providers/acme/endpoints"
    ]) {
      const first = await get(path)
      const etag = first.headers.get("etag") ?? ""
      expect(etag).toMatch(/^W\/".+"$/)
      for (const known of [etag, etag.slice("W/".length), `"other", ${etag}`]) {
        const again = await get(path, { "if-none-match": known })
        expect([path, again.status, again.text]).toEqual([path, 304, ""])
        expect(again.headers.get("etag")).toBe(etag)
      }
      expect((await get(path, { "if-none-match": '"other"' })).status).toBe(200)
    }
  })

  test("an import is seen by search and lists, and what it replaced is not", async () => {
    await app.catalog(documentOf("zeta", [endpointOf({ path: "/one", title: "Count moonbeams" })]))
    const before = await get("/v1/catalog/providers/zeta/endpoints")
    expect((await discover({ query: "moonbeams" })).body.items[0].endpoint).toBe("/one")
    await app.catalog(documentOf("zeta", [endpointOf({ path: "/two", title: "Count sunrays" })]))
    const after = await get("/v1/catalog/providers/zeta/endpoints", {
      "if-none-match": before.headers.get("etag") ?? ""
    })
    expect([after.status, after.body.items[0].endpoint]).toEqual([200, "/two"])
    expect((await discover({ query: "sunrays" })).body.items[0].endpoint).toBe("/two")
    const stale = (await discover({ query: "moonbeams", provider: "zeta" })).body.items
    expect(stale.filter((one: { endpoint: string }) => one.endpoint === "/one")).toEqual([])
  })
})
