/**
 * Raw runs in production: the request leaves as the endpoint takes it, the payload comes back untouched, and what is charged
 * is the cost that the provider reports, or the rate card's, and never more than the hold.
 */
import { Layer } from "effect"
import { DriftTolerancePercent } from "../../../src/layers/executor/CostDrifts.ts"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { Breakers } from "../../../src/layers/executor/Breakers.ts"
import { type App, figures, startApp, type Tenant, until } from "../../kit/app.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { answer, type Played } from "../../layers/providers/stage.ts"
import { standIn } from "../../layers/providers/standin.ts"

const open = { type: "object", additionalProperties: true }
const acme = documentOf("acme", [
  endpointOf({ path: "/form", method: "POST", encoding: "form", body: open }),
  endpointOf({ path: "/multipart", method: "POST", encoding: "multipart", body: open }),
  endpointOf({ path: "/json", method: "POST", body: open }),
  endpointOf({ path: "/unpriced", cost: { model: "unpublished", estimate: null, note: null } })
])
const there = standIn({ slug: "acme", auth: { kind: "bearer" } })
const settings = { ...there.settings, RUNGATE_PROVIDER_EXA_API_KEY: "", RUNGATE_HEALTH_SECONDS: "1" }

let app: App
let org: Tenant
beforeAll(async () => {
  // Each lie stands alone: the sentinel would price the next call by it (cost-drift.test.ts).
  app = await startApp({ settings, limits: Layer.succeed(DriftTolerancePercent, 1e15) })
  await app.catalog(acme)
})
afterAll(async () => {
  await app.stop()
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
})
/** What an account did in one test is nothing to the next. */
const forgive = Effect.gen(function* () {
  const breakers = yield* Effect.serviceOption(Breakers)
  if (breakers._tag === "None") throw new Error("the app has no breakers")
  for (const { provider, subject, org_id } of breakers.value.all())
    yield* breakers.value.record(provider, subject, org_id, null)
})
afterEach(async () => {
  await app.books()
  Effect.runSync(Effect.provideContext(forgive, app.context))
})

const ok = answer(200, { ok: true })
const moved = async () => [...(await org.ledger())].reverse().map(({ type, amount }) => `${type} ${amount}`)
/** Runs an endpoint against this answer. */
const ask = async (provider: string, endpoint: string, request: Record<string, unknown>, played: Played = ok) => {
  there.play(provider, played)
  return org.run({ provider, endpoint, input: {}, ...request })
}
const serp = "/v3/serp/google/organic/live/advanced"
const task = { keyword: "albert einstein", location_code: 2840, language_code: "en" }

describe("what leaves", () => {
  test("a JSON body, as the caller wrote it", async () => {
    const input = { a: [1, 2.5, -3, { b: null }], text: 'ü "quoted" \n\u2028', empty: {}, yes: true }
    const { body } = await ask("acme", "/json", { input })
    expect(body.result).toEqual({ data: { ok: true }, raw: true })
    expect(there.heard()).toMatchObject([{ method: "POST", path: "/v1/json", query: {}, body: input }])
    expect(there.heard()[0]?.text).toBe(JSON.stringify(input))
  })

  test("a GET's input as its query, beside what query says; lists as repeated names", async () => {
    await ask("scrapecreators", "/v1/tiktok/profile", { input: { handle: "a&b=c d" } })
    expect(there.heard()).toMatchObject([
      { method: "GET", path: "/v1/tiktok/profile", query: { handle: "a&b=c d" }, text: "" }
    ])
    there.forget()
    await ask("hunter", "/email-verifier", { query: { email: "jane@example.com" } })
    expect(there.heard()).toMatchObject([
      { method: "GET", path: "/v2/email-verifier", query: { email: "jane@example.com" } }
    ])
  })

  test("a placeholder's value in its own segment", async () => {
    await ask("peopledatalabs", "/v5/person/retrieve/{person_id}", { path: { person_id: "a/b?c#d é%2e" } })
    expect(there.heard()).toMatchObject([{ path: "/v5/person/retrieve/a%2Fb%3Fc%23d%20%C3%A9%252e", query: {} }])
  })

  test("one task as an array of one, and several as they are", async () => {
    await ask("dataforseo", serp, { input: task })
    await ask("dataforseo", serp, { input: [task, { ...task, keyword: "other" }] })
    expect(there.heard().map((one) => one.body)).toEqual([[task], [task, { ...task, keyword: "other" }]])
  })

  test("JSON exactly as it was written: numbers of any length, doubled names, order and spaces", async () => {
    const written = '{ "b" : 12345678901234567890, "1":1.0, "a": [ 1e2 ],\n "dup":1, "dup":2, "text":"\\u00e9 \\/ é" }'
    const send = (provider: string, endpoint: string, input: string) =>
      org.post("/v1/run", undefined, {
        raw: `{"provider":"${provider}", "endpoint":"${endpoint}",\n"input" : ${input} }`
      })
    there.play("acme", { status: 200, body: "{}" })
    expect((await send("acme", "/json", written)).body.status).toBe("succeeded")
    const task = '{"keyword":"a", "language_code" :"en","location_code":2840 ,"depth":10}'
    there.play("dataforseo", { status: 200, body: "{}" })
    expect((await send("dataforseo", serp, task)).body.status).toBe("succeeded")
    expect(there.heard().map((one) => one.text)).toEqual([written, `[${task}]`])
  })

  test("a form and a multipart form", async () => {
    const input = { text: "a&b=ü", list: ["x", "y"], deep: { n: 1 }, number: 1.5, flag: false }
    const pairs = [
      ["text", "a&b=ü"],
      ["list", "x"],
      ["list", "y"],
      ["deep", '{"n":1}'],
      ["number", "1.5"],
      ["flag", "false"]
    ]
    await ask("acme", "/form", { input })
    await ask("acme", "/multipart", { input })
    const [form, multipart] = there.heard()
    expect([form?.headers["content-type"], form?.body]).toEqual(["application/x-www-form-urlencoded", pairs])
    expect(multipart?.headers["content-type"]).toStartWith("multipart/form-data; boundary=")
    expect(multipart?.body).toEqual(pairs)
  })

  test("another origin of a provider goes to its configured address too", async () => {
    const { body } = await ask("sec_edgar", "/LATEST/search-index", { input: { q: "lithium" } })
    expect(body.status).toBe("succeeded")
    expect(there.heard("sec_edgar")).toMatchObject([{ path: "/LATEST/search-index", query: { q: "lithium" } }])
  })
})

describe("what comes back", () => {
  const payloads: ReadonlyArray<readonly [string, string]> = [
    ["numbers that no double holds", '{"big":12345678901234567890,"one":1.0,"tiny":1e-400,"huge":1E+400,"zero":-0.00}'],
    ["a name twice", '{"a":1,"a":2,"a":{"b":1,"b":2}}'],
    ["white space", ' \n{ "a" :\t[ 1 ,2 ]\r\n }  \n'],
    ["escapes", '{"a":"\\u00e9\\u0000\\ud800 \\/ é 😀"}'],
    ["a bare value", '"text"'],
    ["null", "null"]
  ]
  test.each(payloads)("%s, byte for byte, at once and later", async (_name, body) => {
    const first = await ask("acme", "/json", {}, { status: 200, body, headers: { "content-type": "application/json" } })
    expect(first.text).toContain(`"result":{"data":${body},"raw":true}`)
    expect((await org.get(`/v1/runs/${first.body.run_id}`)).text).toContain(`"result":{"data":${body},"raw":true}`)
  })

  test.each([
    ["text", 'plain "é"\n'],
    ["nothing but spaces", " "]
  ])("%s is delivered as text", async (_name, body) => {
    const { body: run } = await ask("acme", "/json", {}, { status: 200, body })
    expect([run.status, run.result.data]).toEqual(["succeeded", body])
  })

  test("beside a capability's result, where it is asked for", async () => {
    const payload = '{ "result" : "ok", "credits": 12345678901234567890,\n "role":true, "role":true }'
    const asked = { capability: "email.verify", input: { email: "a@b.co" }, routing: { provider: "millionverifier" } }
    there.play("millionverifier", { status: 200, body: payload }, { status: 200, body: payload })
    const { body, text } = await org.run({ ...asked, response: { include_raw: true } })
    expect(text).toContain(`,"raw":${payload}}`)
    expect(body.result).toMatchObject({ email_status: "valid", is_role: true })
    expect((await org.get(`/v1/runs/${body.run_id}`)).text).toContain(`,"raw":${payload}}`)
    expect((await org.run(asked)).body.result).not.toHaveProperty("raw")
  })

  test("a secret that the provider repeats is not among it", async () => {
    const { text } = await ask("acme", "/json", {}, answer(200, { you: "sent s3cret-of-the/account" }))
    expect(text).toContain('{"you":"sent <redacted>"}')
  })
})

describe("T38 provider.cost_lies", () => {
  /** The rate card says 0.0024, so 0.0036 is held. */
  const said = (cost: string) => `{"version":"0.1","status_code":20000,"cost":${cost},"tasks":[]}`
  const table: ReadonlyArray<readonly [string, string, string]> = [
    ["0.002", "0.0024", "its cost at the platform's rate"],
    ['"0.002"', "0.0024", "a decimal in a string is a decimal"],
    ["0", "0.00", "zero charges nothing"],
    ["-0", "0.00", "and so does the other zero"],
    ["0.00000001", "0.000002", "rounded up, twice, to a microdollar"],
    ["5", "0.0036", "never above the hold"],
    ["999999999", "0.0036", "however far"],
    ["-1", "0.0024", "what nobody can owe is no report"],
    ["1e308", "0.0024", "what nobody can pay is none"],
    ["1e400", "0.0024", "nor is infinity"],
    ["NaN", "0.0024", "which is not even JSON"],
    ['"NaN"', "0.0024", ""],
    ['"-0.5"', "0.0024", ""],
    ['"1e2"', "0.0024", ""],
    ["null", "0.0024", ""],
    ["true", "0.0024", ""],
    ["[0]", "0.0024", ""],
    ['{"amount":0}', "0.0024", ""]
  ]
  const found = { lies: 0, above_the_hold: 0, negative: 0 }
  test.each(table)("cost %s charges %s %s", async (cost, charged) => {
    const { body } = await ask("dataforseo", serp, { input: task }, { status: 200, body: said(cost) })
    expect([body.status, body.billing.charged]).toEqual(["succeeded", charged])
    const entries = await moved()
    expect(entries.slice(0, 2)).toEqual(["bonus 5.00", "reserve -0.0036"])
    expect(entries.filter((entry) => entry.startsWith("settle"))).toEqual(
      charged === "0.00" ? [] : [`settle -${charged}`]
    )
    found.lies += 1
    if (Number(charged) > 0.0036) found.above_the_hold += 1
    if (Number(charged) < 0) found.negative += 1
  })

  test.each([
    ["5", "0.003"],
    ["null", "0.0024"],
    ["0.0005", "0.0006"]
  ])("cost %s under a cap of 0.003 charges %s", async (cost, charged) => {
    const capped = { input: task, routing: { max_cost: "0.003" } }
    const { body } = await ask("dataforseo", serp, capped, { status: 200, body: said(cost) })
    expect(body.billing.charged).toBe(charged)
  })

  test("figures", () => {
    expect(found).toEqual({ lies: table.length, above_the_hold: 0, negative: 0 })
    figures("T38 provider.cost_lies", found)
  })
})

describe("a cost in credits", () => {
  test.each([
    [0, "0.00"],
    [1, "0.001193"],
    [50, "0.00179"]
  ])("of the body: %p of them", async (credits_charged, charged) => {
    const played = answer(200, { success: true, credits_charged })
    const { body } = await ask("scrapecreators", "/v1/tiktok/profile", { input: { handle: "nasa" } }, played)
    expect(body.billing.charged).toBe(charged)
  })
  test.each([
    ["0", "0.00"],
    ["1", "0.336"],
    ["-1", "0.336"],
    ["9", "0.504"]
  ])("of a header: %s of them", async (credits, charged) => {
    const played = answer(200, { status: 200, data: {} }, { "x-call-credits-spent": credits })
    const { body } = await ask(
      "peopledatalabs",
      "/v5/person/retrieve/{person_id}",
      { path: { person_id: "x" } },
      played
    )
    expect(body.billing.charged).toBe(charged)
  })
})

describe("a refusal releases the hold", () => {
  test.each([
    [400, "provider_rejected"],
    [404, "provider_rejected"],
    [409, "provider_rejected"],
    [422, "provider_rejected"],
    [401, "provider_account"],
    [402, "provider_account"],
    [403, "provider_account"],
    [429, "provider_rate_limited"],
    [302, "provider_error"],
    [500, "provider_error"],
    [503, "provider_error"]
  ])("HTTP %p is %s", async (status, outcome) => {
    const played = answer(status, { message: "no", cost: 0.002 }, { location: "/exa/stolen" })
    const { body } = await ask("dataforseo", serp, { input: task }, played)
    expect(body).toMatchObject({ status: "failed", error: { code: "provider_error" }, billing: { charged: null } })
    expect(body.attempts).toMatchObject([{ provider: "dataforseo", outcome }])
    expect(await moved()).toEqual(["bonus 5.00", "reserve -0.0036", "release 0.0036"])
    expect(there.heard()).toHaveLength(1)
  })

  test("what the caller got wrong does not count against the endpoint's health", async () => {
    const endpoint = { provider: "usaspending", endpoint: "/api/v2/awards/last_updated/" }
    const health = async () => (await org.post("/v1/inspect", endpoint)).body.health
    for (const status of [200, 400, 422, 404, 500])
      await ask(endpoint.provider, endpoint.endpoint, {}, answer(status, {}))
    const seen = await until("its health is measured", health, (one) => one?.sample_size > 1)
    expect(seen).toMatchObject({ sample_size: 2, success_rate: 0.5 })
  })
})

test("an endpoint whose provider neither publishes rates nor reports costs is not called, because nobody could charge it", async () => {
  const called = { provider: "acme", endpoint: "/unpriced" }
  const { status, body } = await org.run({ ...called, input: {} })
  expect([status, body.error.code]).toEqual([409, "provider_not_available"])
  expect(body.error.message).toContain("The operator can import a manifest with its rates")
  expect(there.heard()).toEqual([])
  expect((await org.post("/v1/inspect", called)).body.hints.join(" ")).toContain("this service makes none through its")
})

describe("T11 zero_cost.passthrough: with an empty wallet and a guard that is used up", () => {
  beforeEach(async () => {
    org = await app.tenant()
    await org.post("/v1/spend-guard", { per_run_limit: "0.00", daily_limit: "0.00" })
  })

  test("public data runs raw, delivered or refused, and leaves no entry", async () => {
    const last = "/api/v2/awards/last_updated/"
    expect((await ask("usaspending", last, {})).body).toMatchObject({
      status: "succeeded",
      billing: { charged: "0.00" }
    })
    expect((await ask("sec_edgar", "/submissions/CIK{cik}.json", { path: { cik: "0000320193" } })).status).toBe(200)
    expect((await ask("usaspending", last, {}, answer(500, {}))).body.status).toBe("failed")
    expect((await ask("apollo", "/mixed_people/api_search", {})).body.billing.charged).toBe("0.00")
    expect(await org.ledger()).toEqual([])
  })

  test("capabilities without a price run, and their misses too; the others say what is missing", async () => {
    expect((await org.run({ capability: "email.inbox_list", input: {} })).status).toBe(200)
    there.play("usaspending", answer(200, { results: [] }))
    const missed = await org.run({
      capability: "gov.entity",
      input: { name: "Nobody at all" },
      routing: { provider: "usaspending" }
    })
    expect([missed.status, missed.body.status]).toEqual([404, "no_match"])
    expect(await org.ledger()).toEqual([])
    const paid = await ask("dataforseo", serp, { input: task })
    expect([paid.status, paid.body.error.code]).toEqual([402, "cost_limit_exceeded"])
    expect(there.heard("dataforseo")).toEqual([])
  })
})

describe("refused before a run or a hold exists", () => {
  test.each([
    ["a provider without an account", "exa", "/search", { query: "x" }, 409, "provider_not_available"],
    ["an excluded provider", "agentmail", "/v0/inboxes", {}, 404, "endpoint_not_found"],
    ["an excluded provider", "porkbun", "/api/json/v3/ping", {}, 404, "endpoint_not_found"],
    ["an excluded provider", "fal", "/fal-ai/flux/dev", {}, 404, "endpoint_not_found"],
    ["an unknown endpoint", "hunter", "/nothing", {}, 404, "endpoint_not_found"]
  ])("%s: %s", async (_name, provider, endpoint, input, status, code) => {
    const refused = await ask(provider, endpoint, { input })
    expect([refused.status, refused.body.error.code]).toEqual([status, code])
    expect(there.heard()).toEqual([])
    expect((await org.list()).body.items).toEqual([])
    expect(await moved()).toEqual(["bonus 5.00"])
  })

  test("its capability's offer is out of routing, too", async () => {
    const pinned = { capability: "web.search", input: { query: "x" }, routing: { provider: "exa" } }
    const { status, body } = await org.run(pinned)
    expect([status, body.error.code]).toEqual([409, "provider_not_available"])
    expect(body.error.message).toContain("this service has no account at exa yet")
  })
})

test("nothing went anywhere else", () => expect(there.astray(app.url)).toEqual([]))

test("an account that is refused is not tried again at once, and the caller is not blamed", async () => {
  const filters = { field: "basic_profile.name", type: "=", value: "Jane Doe" }
  const first = await ask(
    "crustdata",
    "/person/search",
    { input: { filters } },
    { status: 401, body: '{"error":"no"}' }
  )
  expect([first.status, first.body.status, first.body.attempts[0].outcome]).toEqual([502, "failed", "provider_account"])
  there.forget()
  const before = await org.wallet()
  const second = await ask("crustdata", "/person/search", { input: { filters } })
  expect([second.status, second.body.error.code]).toEqual([409, "provider_not_available"])
  expect(there.heard()).toEqual([])
  expect(await org.wallet()).toEqual(before)
})
