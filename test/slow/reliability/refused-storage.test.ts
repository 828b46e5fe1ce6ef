/** What an organization stores with runs and batch rows that are refused: the day's limit holds at every door, and who can pay goes on. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { type Reply, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { calling, postTo } from "../../http/mcp-request.ts"

const mebibyte = 1024 * 1024
const app = withApp({ settings: { RUNGATE_FREE_DAILY_MB: "1" } })
let org: Tenant
beforeEach(async () => {
  org = await app.tenant()
})
afterEach(async () => {
  await app.books()
})

const mail = (to: string, more: object = {}) => ({
  capability: "email.send",
  input: { from: "hello@example.com", to: `${to}@example.com`, subject: "Hello", text: "x".repeat(480_000) },
  ...more
})
/** It holds $0.003. */
const cheap = { ...verify(), routing: { provider: "leadmagic" } }
/** It holds more. */
const dear = (name: string) => ({ capability: "company.enrich", input: { domain: `${name}.example.com` } })
const storedToday = async () =>
  Number((await app.sql("SELECT bytes FROM free_storage WHERE org_id = $1", [org.org_id]))[0]?.["bytes"] ?? 0)
const fill = (bytes: number) =>
  app.sql("INSERT INTO free_storage VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2)", [org.org_id, bytes])
const runs = async () => (await org.list("?limit=200")).body.items.length
const unstored = ({ status, body }: Reply) => {
  expect([status, body.error?.code, body.run_id]).toEqual([429, "rate_limited", undefined])
  expect(body.error.message).toContain("top up with POST /v1/wallet/topups/checkout")
}

test("an empty wallet's runs are stored as far as the limit allows, and beyond it no door stores one", async () => {
  const first = await org.run(mail("first"), { "idempotency-key": "first" })
  expect([first.status, first.body.error.code]).toEqual([402, "insufficient_balance"])
  const replies = [first]
  while (replies.at(-1)?.status === 402 && replies.length < 9) replies.push(await org.run(mail(`p${replies.length}`)))
  unstored(replies.pop() ?? first)
  expect(replies).toHaveLength(3)
  expect(await storedToday()).toBeWithin(3 * 480_000, 3 * 490_000)
  const raw = { provider: "hunter", endpoint: "/email-verifier", query: { email: "jane@example.com" }, input: {} }
  for (const one of [
    mail("again"),
    verify(),
    verify("jane", "example.com"),
    { ...verify(), reuse: { mode: "prefer" } },
    raw
  ])
    unstored(await org.run(one))
  unstored(await org.run({ ...verify(), wait_seconds: 0 }))
  unstored(await org.run(mail("later"), { "idempotency-key": "later" }))
  const tool = await postTo(app.url, calling("run", { ...verify(), max_cost: "0.05" }), { key: org.key })
  expect(await tool.text()).toContain("rate_limited")
  expect(await runs()).toBe(3)
  // What was stored is there as before.
  const replay = await org.run(mail("first"), { "idempotency-key": "first" })
  expect([replay.status, replay.body.run_id]).toEqual([402, first.body.run_id])
  expect((await org.get(`/v1/runs/${first.body.run_id}`)).body.error.code).toBe("insufficient_balance")
  await org.credit("1.00")
  expect((await org.run(mail("paid"))).body.status).toBe("succeeded")
  // Its key was not used up.
  expect((await org.run(mail("later"), { "idempotency-key": "later" })).body.status).toBe("succeeded")
})

test("the request of a run counts that fails at its providers and charges nothing", async () => {
  await org.credit("1.00")
  const failed = await org.run(mail("hello", { input: { ...mail("hello").input, to: "error@sandbox.test" } }))
  expect(failed.body).toMatchObject({ status: "failed", billing: { charged: null } })
  expect(await storedToday()).toBeWithin(480_000, 490_000)
  expect((await org.run(mail("paid"))).body.status).toBe("succeeded")
  expect(await storedToday()).toBeWithin(480_000, 490_000)
})

test("the webhooks that tell of a run without a charge count too", async () => {
  const session = await org.session()
  const body = { url: "https://hooks.example.com/in", events: ["run.created", "run.finished"] }
  for (let endpoint = 0; endpoint < 3; endpoint++)
    expect((await app.call(session, "POST", "/v1/webhook-endpoints", { body })).status).toBe(200)
  expect((await org.run(verify())).body.error.code).toBe("insufficient_balance")
  await until("six deliveries to count", storedToday, (bytes) => bytes > 6 * 1_024)
  expect(await storedToday()).toBeLessThan(10 * 1_024)
  const counted = await storedToday()
  await org.credit("1.00")
  expect((await org.run(verify("paid"))).body.status).toBe("succeeded")
  await until(
    "the paid run's deliveries",
    async () =>
      (
        await app.sql(
          "SELECT count(*)::int AS n FROM webhook_deliveries JOIN webhook_endpoints e USING (endpoint_id) WHERE e.org_id = $1",
          [org.org_id]
        )
      )[0]?.["n"],
    (deliveries) => deliveries === 12
  )
  expect(await storedToday()).toBe(counted)
})

test("a wallet with money keeps what a guard refuses, up to three times the limit, and its other runs go on", async () => {
  await org.credit("1.00")
  await org.post("/v1/spend-guard", { per_run_limit: "0.003" })
  await fill(mebibyte)
  const blocked = await org.run(dear("one"))
  expect([blocked.status, blocked.body.status, blocked.body.error.code]).toEqual([
    402,
    "blocked",
    "cost_limit_exceeded"
  ])
  expect((await org.run(cheap)).body.status).toBe("succeeded")
  await app.sql("UPDATE free_storage SET bytes = $2 WHERE org_id = $1", [org.org_id, 3 * mebibyte])
  unstored(await org.run(dear("more")))
  await app.sql("UPDATE free_storage SET day = day - 1 WHERE org_id = $1", [org.org_id])
  expect((await org.run(dear("tomorrow"))).body.status).toBe("blocked")
})

test("a key with a scope or a budget stores up to twice the limit, so it stops no work of keys without one", async () => {
  await org.credit("1.00")
  const session = await org.session()
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const made = async (path: string, body: object) => {
    const reply = await app.call(session, "POST", path, { body })
    expect(reply.body).toMatchObject({ id: expect.any(String) })
    return String(reply.body.api_key ?? reply.body.key)
  }
  const limited = [
    await made("/v1/allowances", { name: "agent", amount: "0.01", expires_at: inAnHour }),
    await made("/v1/api-keys", { name: "scope", environment: "test", allow: { raw: true } }),
    await made("/v1/api-keys", { name: "budget", environment: "test", budget: { limit: "0.50", period: "total" } })
  ]
  const whole = [session, org.key, await made("/v1/api-keys", { name: "whole", environment: "test" })]
  await org.post("/v1/spend-guard", { per_run_limit: "0.003" })
  const buy = (key: string, body: object = cheap) => app.call(key, "POST", "/v1/run", { body })
  const batch = (key: string) => app.call(key, "POST", "/v1/batches", { body: { runs: [cheap] } })
  await fill(2 * mebibyte - 1)
  for (const key of limited) expect((await buy(key)).body).toMatchObject({ status: "succeeded" })
  await app.sql("UPDATE free_storage SET bytes = $2 WHERE org_id = $1", [org.org_id, 2 * mebibyte])
  for (const key of limited) for (const asked of [await buy(key, dear("one")), await batch(key)]) unstored(asked)
  for (const key of whole) {
    expect((await buy(key)).body.status).toBe("succeeded")
    expect((await batch(key)).status).toBe(202)
  }
})

test("rows that wait for money count, and can be retried when there is some", async () => {
  const finished = ({ body }: Reply) =>
    until(
      "the batch to finish",
      async () => (await org.get(`/v1/batches/${body.id}`)).body,
      ({ done }: Reply["body"]) => done
    )
  const batch = await org.post("/v1/batches", { runs: Array.from({ length: 3 }, (_, n) => mail(`row${n}`)) })
  expect((await finished(batch)).rows).toMatchObject({ total: 3, blocked: 3 })
  expect(await storedToday()).toBeGreaterThan(3 * 480_000)
  const stored = await runs()
  unstored(await org.post("/v1/batches", { runs: [verify()] }))
  unstored(
    await app.call(org.key, "POST", "/v1/batches?capability=email.verify&map=email=Mail", {
      raw: "Mail\njane@example.com\n",
      headers: { "content-type": "text/csv" }
    })
  )
  // Without money they are blocked again, and make no run where nothing more is stored.
  await app.sql("UPDATE free_storage SET bytes = bytes + $2 WHERE org_id = $1", [org.org_id, 1.5 * mebibyte])
  expect((await org.post(`/v1/batches/${batch.body.id}/retry`, {})).status).toBe(202)
  expect((await finished(batch)).rows).toMatchObject({ blocked: 3 })
  const { text } = await org.get(`/v1/batches/${batch.body.id}/results`)
  expect(text).toContain(`POST /v1/batches/${batch.body.id}/retry`)
  expect(await runs()).toBe(stored)
  await org.credit("1.00")
  expect((await org.post(`/v1/batches/${batch.body.id}/retry`, {})).status).toBe(202)
  expect((await finished(batch)).rows).toMatchObject({ succeeded: 3, blocked: 0 })
})
