/**
 * `POST /v1/quote` over HTTP: what it says, that a run which follows holds and charges accordingly, what it refuses, and that it changes
 * nothing.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { Layer } from "effect"
import { LookSeconds } from "../../src/actors/runs/OutcomeLookups.ts"
import { OutcomesEveryMillis } from "../../src/layers/quotes/OfferOutcomes.ts"
import { rehearse, type Reply, startApp, type Tenant, until, verify, withApp } from "../kit/app.ts"
import { acme, crawler } from "../kit/provider-documents.ts"
import { dumpDatabase } from "../kit/stored-text.ts"
import { indexedAndCounted } from "../kit/finished-work.ts"

let org: Tenant
const app = withApp({
  limits: Layer.merge(Layer.succeed(LookSeconds, 3_600), Layer.succeed(OutcomesEveryMillis, 20))
})
beforeAll(async () => {
  await app.catalog({ ...acme, endpoints: [...crawler.endpoints, ...acme.endpoints] })
  org = await app.tenant("1000.00")
})

const quoteOf = (body: unknown, tenant = org) => tenant.post("/v1/quote", body)
const held = async (tenant = org) => (await tenant.ledger()).find(({ type }) => type === "reserve")?.amount
const chosen = ({ body }: Reply) =>
  body.offers.flatMap((one: { provider: string; chosen: boolean }) => (one.chosen ? [one.provider] : []))
const reasons = ({ body }: Reply) =>
  Object.fromEntries(
    body.offers.map((one: { provider: string; excluded_because: string | null }) => [
      one.provider,
      one.excluded_because
    ])
  )

describe("a price per page", () => {
  test("is quoted, held and charged by the depth that the input asks for", async () => {
    const routing = { provider: "dataforseo" }
    for (const [depth, amount] of [
      [undefined, "0.0024"],
      [25, "0.006"],
      [100, "0.0186"]
    ] as const) {
      const body = { capability: "serp.search", input: { query: "coffee", ...(depth && { depth }) }, routing }
      const quote = await quoteOf(body)
      expect(quote.body).toMatchObject({ hold: amount, maximum: amount })
      const run = await org.run(body)
      expect(run.body.billing).toMatchObject({ quoted: amount, charged: amount })
      expect(await held()).toBe(`-${amount}`)
    }
    const { body } = await org.post("/v1/inspect", { capability: "serp.search" })
    const offer = body.offers.find((one: { provider: string }) => one.provider === "dataforseo")
    expect(offer).toMatchObject({
      price: { amount: "0.0024" },
      pricing: { first_page: "0.0024", further_page: "0.0018", page_size: 10 }
    })
  })
})

describe("a quote", () => {
  test("of a capability says what the run holds, calls and may charge", async () => {
    const quote = await quoteOf(verify())
    expect(quote.status).toBe(200)
    expect(quote.body).toMatchObject({
      currency: "USD",
      minimum: "0.00",
      maximum: quote.body.hold,
      would: "run",
      controls: []
    })
    expect(quote.body.error).toBeUndefined()
    expect(chosen(quote)).toHaveLength(3)
    expect(Object.values(reasons(quote)).filter((one) => one === "attempt_limit")).toHaveLength(
      quote.body.offers.length - 3
    )
    const run = await org.run(verify())
    expect([run.body.billing.quoted, await held(), run.body.provider, run.body.routing_reason]).toEqual([
      quote.body.hold,
      `-${quote.body.hold}`,
      chosen(quote)[0],
      quote.body.routing_reason
    ])
    expect(Number(run.body.billing.charged)).toBeLessThanOrEqual(Number(quote.body.maximum))
  })

  test("names why each other offer is left out", async () => {
    const pinned = await quoteOf({ ...verify(), routing: { provider: "hunter" } })
    expect(chosen(pinned)).toEqual(["hunter"])
    expect(reasons(pinned)).toMatchObject({ hunter: null, leadmagic: "not_pinned" })
    const capped = await quoteOf({ ...verify(), routing: { max_cost: "0.0048" } })
    expect(reasons(capped)).toMatchObject({ leadmagic: null, hunter: "max_cost" })
    const single = await quoteOf({ ...verify(), routing: { allow_fallback: false } })
    expect(chosen(single)).toHaveLength(1)
  })

  test("of a raw call follows its input, as the run does", async () => {
    const body = { provider: "acme", endpoint: "/crawl", input: { url: "https://example.com", limit: 1_000 } }
    const quote = await quoteOf(body)
    expect(quote.body).toMatchObject({ minimum: "0.00", expected: "0.15", maximum: "0.225", hold: "0.225" })
    expect(quote.body.offers).toEqual([
      { provider: "acme", price: "0.15", expected_success: null, chosen: true, excluded_because: null }
    ])
    const run = await org.run(body)
    expect([run.body.billing.charged, await held()]).toEqual(["0.15", "-0.225"])
  })

  test("with an empty wallet says that the run would be blocked, and with which error", async () => {
    const poor = await app.tenant()
    const quote = await quoteOf(verify(), poor)
    const run = await poor.run(verify())
    expect([quote.status, quote.body.would, quote.body.controls, quote.body.error]).toEqual([
      200,
      "block",
      [],
      run.body.error
    ])
    expect(run.body.error.code).toBe("insufficient_balance")
    const free = { capability: "gov.filings", input: { company_name: "Apple" } }
    expect((await quoteOf(free, poor)).body).toMatchObject({ hold: "0.00", expected: "0.00", would: "run" })
    expect((await poor.run(free)).body.status).toBe("succeeded")
  })

  test.each([
    ["per_run_limit", { per_run_limit: "0.001" }, "per_run_limit"],
    ["daily_limit", { daily_limit: "0.001" }, "daily_spend_guard"]
  ])("above the %s names the controls of the blocked run", async (_name, guard, control) => {
    const careful = await app.tenant("10.00")
    await careful.post("/v1/spend-guard", guard)
    const { body: quote } = await quoteOf(verify(), careful)
    const { body: run } = await careful.run(verify())
    expect([quote.would, quote.controls, quote.error]).toEqual(["block", run.controls, run.error])
    expect([run.status, quote.controls]).toEqual(["blocked", [{ control, manage: "/v1/spend-guard" }]])
  })

  test("is limited and authenticated like any read", async () => {
    expect((await app.call(null, "POST", "/v1/quote", { body: verify() })).status).toBe(401)
    expect((await app.call("rg_test_aaaaaaaaaaaaaaaaaaaaaaaa", "POST", "/v1/quote", { body: verify() })).status).toBe(
      401
    )
    expect((await app.call(org.key, "GET", "/v1/quote")).status).toBe(405)
    const limited = await startApp({ beside: app, role: "http", settings: { RUNGATE_RATE_LIMIT: "1" } })
    const tenant = (await app.tenant()).over(limited)
    const statuses = await Promise.all(Array.from({ length: 80 }, () => quoteOf(verify(), tenant)))
    expect(statuses.some(({ status }) => status === 429)).toBe(true)
    await limited.stop()
  })
})

describe("a request that a run refuses", () => {
  const crawl = { provider: "acme", endpoint: "/crawl" }
  test.each<[string, unknown]>([
    ["no body", undefined],
    ["an array", []],
    ["no target", { input: {} }],
    ["both targets", { ...verify(), provider: "acme" }],
    ["an unknown field", { ...verify(), capabilty: "x" }],
    ["an unknown option", { ...verify(), routing: { max_costs: "1.00" } }],
    ["an unknown capability", { capability: "email.verfy", input: {} }],
    ["an unknown provider", { provider: "acmee", endpoint: "/x", input: {} }],
    ["an unknown endpoint", { provider: "acme", endpoint: "/craw", input: {} }],
    ["an unknown input field", { capability: "email.verify", input: { email: "a@example.com", mail: 1 } }],
    ["a missing input field", { capability: "email.verify", input: {} }],
    ["an input of another type", { capability: "email.verify", input: "x" }],
    ["NUL", { capability: "email.verify", input: { email: "a\u0000@example.com" } }],
    ["half a surrogate", { capability: "email.verify", input: { email: "\ud800@example.com" } }],
    ["a huge value", { capability: "email.verify", input: { email: `${"a".repeat(100_000)}@example.com` } }],
    ["a hostile platform", { capability: "social.profile", input: { platform: "__proto__", handle: "x" } }],
    ["a provider that does not serve it", { ...verify(), routing: { provider: "twilio_lookup" } }],
    ["a cap below every price", { ...verify(), routing: { max_cost: "0.000001" } }],
    ["a total below every price", { ...verify(), routing: { max_total: "0.000001" } }],
    ["a cap that is no amount", { ...verify(), routing: { max_cost: "-1" } }],
    ["a total that is no amount", { ...verify(), routing: { max_total: "1e3" } }],
    ["a total that is a number", { ...verify(), routing: { max_total: 1 } }],
    ["a raw call without its cost driver", { ...crawl, input: { url: "https://a.example" } }],
    ["a raw cap below its estimate", { ...crawl, input: { url: "x", limit: 1000 }, routing: { max_cost: "0.1" } }],
    ["a raw total below its estimate", { ...crawl, input: { url: "x", limit: 1000 }, routing: { max_total: "0.1" } }]
  ])("for %s is refused by a quote with the same error", async (_name, body) => {
    const [quote, run] = [await quoteOf(body), await org.post("/v1/run", body)]
    expect(quote.status).toBeGreaterThanOrEqual(400)
    expect(quote.status).toBeLessThan(500)
    expect([quote.status, quote.body.error]).toEqual([run.status, run.body.error])
  })

  test("a total names its field", async () => {
    const raw = await quoteOf({ ...crawl, input: { url: "x", limit: 1000 }, routing: { max_total: "0.1" } })
    expect(raw.body.error.details[0].path).toBe("routing.max_total")
    const capability = await quoteOf({ ...verify(), routing: { max_total: "0.000001" } })
    expect(capability.body.error.details.map((one: { path: string }) => one.path)).toContain("routing.max_total")
  })
})

describe("routing.max_total", () => {
  test("leaves out the attempts that it does not pay for, and says so", async () => {
    const [all, few] = [
      await quoteOf(verify()),
      await quoteOf({ ...verify(), routing: { max_total: "0.005", strategy: "cheapest" } })
    ]
    const prices = few.body.offers.flatMap((one: { chosen: boolean; price: string }) =>
      one.chosen ? [Number(one.price)] : []
    )
    expect(prices.reduce((sum: number, one: number) => sum + one, 0)).toBeLessThanOrEqual(0.005)
    expect(chosen(few).length).toBeLessThan(chosen(all).length)
    expect(Object.values(reasons(few))).toContain("max_total")
  })

  test("ends a run whose next attempt it does not pay for, and the run says so", async () => {
    const { body } = await org.run({ ...rehearse("no_match"), routing: { max_total: "0.003", strategy: "cheapest" } })
    expect([body.status, body.attempts.length]).toEqual(["no_match", 1])
    expect(body.error.message).toContain("routing.max_total excluded")
    expect(body.hints.join(" ")).toContain("routing.max_total excluded")
  })
})

describe("expected success", () => {
  const find = (name: string) => ({
    capability: "email.find",
    input: { full_name: name, company_domain: "example.com" }
  })
  const successOf = async (body: unknown) => (await quoteOf(body)).body.offers[0].expected_success

  test("is measured per kind of input, and the expected charge follows it", async () => {
    const before = await quoteOf(find("Ada Lovelace"))
    expect(before.body.offers[0].expected_success).toBeNull()
    expect(before.body.expected).toBe(before.body.offers[0].price)
    for (let call = 0; call < 5; call++) {
      await org.run(find("Ada Lovelace"))
      await org.run(find("sandbox:no_match"))
    }
    expect(
      await until(
        "successes",
        () => successOf(find("Grace Hopper")),
        (share) => share !== null
      )
    ).toBe(1)
    // A rehearsal counts for its own kind: real inputs are not expected to fail because somebody rehearsed a failure.
    expect(
      await until(
        "misses",
        () => successOf(find("sandbox:no_match")),
        (share) => share !== null
      )
    ).toBe(0)
    const missed = await quoteOf(find("sandbox:no_match"))
    expect(missed.body.expected).toBe("0.00")
    const byUrl = { capability: "email.find", input: { network_url: "https://www.linkedin.com/in/ada" } }
    const other = await quoteOf(byUrl)
    // Too few calls of this kind: those of all inputs count.
    if (other.status === 200) expect(other.body.offers[0].expected_success).not.toBe(0)
  })

  test("is not counted by quotes", async () => {
    const body = { capability: "domain.check", input: { domain: "example.com" } }
    for (let call = 0; call < 8; call++) await quoteOf(body)
    expect(await successOf(body)).toBeNull()
  })
})

/** Written by workers and queues on their own schedule. */
const volatile = /\.(workers|attempt_windows|offer_outcomes|history_\w+|job|event|meta|metrics|dedup|dedup_next)$/

test("a quote leaves all tables as they are", async () => {
  const session = await org.session()
  const tables = async () =>
    (await dumpDatabase(app))
      .filter(({ place }) => !volatile.test(place) && !/api_keys/.test(place))
      .map(({ place, text }) => `${place} ${text}`)
      .sort()
  await indexedAndCounted(app)
  const before = await tables()
  const bodies = [
    verify(),
    { ...verify(), routing: { max_total: "0.01", strategy: "highest_success_rate" } },
    { provider: "acme", endpoint: "/crawl", input: { url: "https://example.com", limit: 10 } },
    { provider: "acme", endpoint: "someone/some-actor", input: {} },
    { capability: "email.verify", input: {} }
  ]
  for (const body of bodies)
    await app.call(session, "POST", "/v1/quote", { body, headers: { "idempotency-key": "q1" } })
  expect(await tables()).toEqual(before)
  expect((await org.list()).body.items.length).toBeGreaterThan(0)
})

test("the books add up", () => app.books())
