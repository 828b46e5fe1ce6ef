/** Provider credits over HTTP: an operator sets and reads them, a wrong request names its field, and nobody else sees a balance. */
import { beforeAll, describe, expect, test } from "bun:test"
import { type Reply, verify, withApp } from "../../kit/app.ts"
import { type OperatorTab, operatorOf, ownPage } from "./operator.ts"

const app = withApp()
let operator: OperatorTab
beforeAll(async () => {
  operator = await operatorOf(app)
})

const put = (provider: string, body: unknown): Promise<Reply> =>
  app.call(null, "PUT", `/v1/operator/credits/${provider}`, {
    headers: { ...ownPage(app), cookie: operator.cookie },
    body
  })

test("a balance that was set by hand is listed with what follows from it, and the audit log has who set it", async () => {
  const { status, body } = await put("lusha", {
    balance: "4321.25",
    expires_at: "2100-01-31T00:00:00Z",
    low_below: "5000"
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    provider: "lusha",
    state: "low",
    unit: "credit",
    balance: "4321.25",
    reserved: "0.00",
    available: "4321.25",
    burn_per_day: "0.00",
    days_left: null,
    expires_at: "2100-01-31T00:00:00.000Z",
    renews: false,
    low_below: "5000.00",
    source: "set"
  })
  expect((await put("lusha", { low_below: null })).body).toMatchObject({ state: "ok", balance: "4321.25" })
  const listed = await operator.get("/credits")
  expect(listed.body.items).toEqual([
    expect.objectContaining({ provider: "lusha", balance: "4321.25", low_below: null })
  ])
  const { body: log } = await operator.get("/audit-log?action=provider_credits")
  expect(log.items[0]).toMatchObject({ object: "lusha", actor: { kind: "operator", name: "grace" } })
})

test("a reading is due now, of one account or of all", async () => {
  await put("hunter", { low_below: "10" })
  await app.sql("UPDATE provider_credits SET next_read_at = now() + interval '1 hour'")
  expect((await operator.post("/credits/refresh", { provider: "hunter" })).status).toBe(200)
  const due = "SELECT provider FROM provider_credits WHERE next_read_at <= now() ORDER BY 1"
  expect(await app.sql(due)).toEqual([{ provider: "hunter" }])
  expect((await operator.post("/credits/refresh", {})).status).toBe(200)
  expect(await app.sql(due)).toEqual([{ provider: "hunter" }, { provider: "lusha" }])
})

describe("a wrong request names its field", () => {
  test.each([
    ["lusha", {}, "balance"],
    ["lusha", { expires_at: "2100-01-01T00:00:00Z", low_below: "1" }, "expires_at"],
    ["hunter", { balance: "10" }, "balance"],
    ["brave", { balance: "10" }, "unit"],
    ["lusha", { balance: "-1" }, "balance"],
    ["lusha", { balance: "1e5" }, "balance"],
    ["lusha", { balance: "10", unit: "EUR" }, "unit"],
    ["lusha", { balance: "10", expires_at: "tomorrow" }, "expires_at"]
  ])("%s %j", async (provider, body, field) => {
    const { status, body: refusal } = await put(provider, body)
    expect([status, refusal.error.code, refusal.error.details[0].path]).toEqual([400, "invalid_request", field])
  })

  test("an unknown provider does not exist", async () => {
    expect((await put("hunt'; --", { low_below: "1" })).status).toBe(404)
    const { status, body } = await put("huntr", { low_below: "1" })
    expect([status, body.error.message]).toEqual([404, expect.stringContaining("hunter")])
    expect((await operator.post("/credits/refresh", { provider: "nobody" })).status).toBe(404)
    expect(await app.sql("SELECT 1 FROM provider_credits WHERE provider NOT IN ('lusha', 'hunter')")).toEqual([])
  })
})

test("no customer's request shows a balance, and none may read or set one", async () => {
  const org = await app.tenant("5.00")
  await put("lusha", { balance: "4321.25" })
  const answers = await Promise.all([
    org.run(verify()),
    org.post("/v1/quote", verify()),
    org.post("/v1/inspect", { capability: "people.enrich" }),
    org.post("/v1/discover", { query: "lusha" }),
    org.get("/v1/catalog/providers"),
    org.get("/v1/catalog/providers/lusha"),
    org.get("/v1/wallet"),
    org.get("/v1/service"),
    org.get("/openapi.json")
  ])
  for (const { text } of answers) expect(text).not.toContain("4321")
  for (const [method, path] of [
    ["GET", "/v1/operator/credits"],
    ["PUT", "/v1/operator/credits/lusha"],
    ["POST", "/v1/operator/credits/refresh"]
  ] as const) {
    const body = method === "GET" ? {} : { body: { low_below: "1" } }
    expect((await app.call(org.key, method, path, body)).status).toBe(403)
    expect((await app.call(null, method, path, body)).status).toBe(403)
  }
  expect(await app.metrics()).toContain('rungate_provider_credits{provider="lusha",unit="credit"} 4321.25')
})

describe("a provider's bill", () => {
  const run = async (ended: string, cost: string) => {
    const org = await app.tenant("5.00")
    const { body } = await org.run(verify())
    await app.sql("ALTER TABLE runs DISABLE TRIGGER ALL")
    await app.sql("UPDATE runs SET provider = 'hunter', finished_at = $2, provider_cost = $3 WHERE run_id = $1", [
      body.run_id,
      ended,
      cost
    ])
    await app.sql("ALTER TABLE runs ENABLE TRIGGER ALL")
    return String(body.run_id)
  }
  const match = (body: object) => operator.post("/bills/match", { provider: "hunter", ...body })

  test("is compared by run and by day, in credits", async () => {
    // A credit of Hunter costs $0.0245.
    const first = await run("2026-11-20T23:59:59Z", "24500")
    await run("2026-11-21T00:00:00Z", "49000")
    await run("2026-11-23T00:00:00Z", "24500")
    const lines = [
      { date: "2026-11-20", amount: "2", reference: first },
      { date: "2026-11-21", amount: "1.5" },
      { date: "2026-11-21", amount: "0.5", reference: "inv-1" },
      { date: "2026-11-22", amount: "3" }
    ]
    const { status, body } = await match({ from: "2026-11-20", to: "2026-11-22", lines })
    expect([status, body]).toEqual([
      200,
      {
        provider: "hunter",
        unit: "credit",
        billed: "7.00",
        recorded: "3.00",
        differences: [
          { kind: "other_amount", day: "2026-11-20", run_id: first, billed: "2.00", recorded: "1.00" },
          { kind: "not_recorded", day: "2026-11-22", run_id: null, billed: "3.00", recorded: "0.00" }
        ]
      }
    ])
  })

  test.each([
    [{ from: "2026-11-20", to: "2026-11-22", lines: [{ date: "2026-11-23", amount: "1" }] }, "lines.0.date"],
    [{ from: "2026-11-20", to: "2026-11-22", lines: [{ date: "yesterday", amount: "1" }] }, "lines.0.date"],
    [{ from: "2026-11-20", to: "2026-11-22", lines: [{ date: "2026-11-21", amount: "-1" }] }, "lines.0.amount"],
    [{ from: "2026-02-31", to: "2026-11-22", lines: [] }, "from"],
    [{ provider: "brave", from: "2026-11-20", to: "2026-11-22", lines: [] }, "unit"]
  ])("%j names what is wrong", async (body, field) => {
    const { status, body: refusal } = await match(body)
    expect([status, refusal.error.details?.[0].path]).toEqual([400, field])
  })
})
