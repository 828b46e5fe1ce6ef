/** `Prefer: wait=` and the money headers of run answers, on both routes of a run. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { maySeeWallet } from "../../../src/http/access/Access.ts"
import { waitsFor } from "../../../src/http/standards/Prefer.ts"
import { roles } from "../../../src/schema/accounts/Role.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { type App, rehearse, startApp, type Tenant, verify } from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"

const held = heldProvider()
let app: App
let org: Tenant
beforeAll(async () => {
  app = await startApp({ held })
  org = await app.tenant("10.00")
})
afterAll(async () => {
  await app.books()
  await app.stop()
})

describe("the header Prefer", () => {
  test.each([
    ["wait=7", null, { seconds: 7, applied: "wait=7" }],
    ["WAIT = 7", null, { seconds: 7, applied: "wait=7" }],
    ['wait="7"; x=y', null, { seconds: 7, applied: "wait=7" }],
    ["return=minimal, wait=7, wait=9", null, { seconds: 7, applied: "wait=7" }],
    ["respond-async", null, { seconds: 0, applied: "respond-async" }],
    ["respond-async, wait=7", null, { seconds: 7, applied: "respond-async, wait=7" }],
    ["wait=100000", null, { seconds: 120, applied: "wait=120" }],
    ["wait=7", 3, { seconds: 3, applied: null }],
    ["respond-async", 3, { seconds: 3, applied: null }],
    ["wait=-1", null, { seconds: 30, applied: null }],
    ["wait=soon", null, { seconds: 30, applied: null }],
    ["wait", null, { seconds: 30, applied: null }],
    ["", null, { seconds: 30, applied: null }]
  ] as const)("%p beside %p means %p", (header, own, expected) => {
    expect(waitsFor(header, own, 30)).toEqual(expected)
  })

  const asked = async (body: object, prefer: string) => {
    const { status, headers } = await app.call(org.key, "POST", "/v1/run", { body, headers: { prefer } })
    return [status, headers.get("preference-applied")]
  }
  test("decides how long POST /v1/run waits, unless the body does", async () => {
    expect(await asked(rehearse("slow_60"), "wait=0")).toEqual([202, "wait=0"])
    expect(await asked(rehearse("slow_60"), "respond-async")).toEqual([202, "respond-async"])
    expect(await asked({ ...rehearse("slow_60"), wait_seconds: 0 }, "wait=60")).toEqual([202, null])
    expect(await asked({ ...rehearse("slow_60"), async: true }, "wait=60")).toEqual([202, null])
    expect(await asked(verify(), "wait=60")).toEqual([200, "wait=60"])
    expect(await asked({ ...verify(), async: false }, "respond-async")).toEqual([200, null])
  })

  test("is no part of the request that an Idempotency-Key stands for", async () => {
    const asks = (prefer: string) =>
      app.call(org.key, "POST", "/v1/run", { body: verify(), headers: { prefer, "idempotency-key": "preferred" } })
    const [first, again] = [await asks("wait=60"), await asks("wait=30")]
    expect([again.status, again.body.run_id]).toEqual([200, first.body.run_id])
  })

  test("decides how long GET /v1/runs/{id} waits, unless the query does", async () => {
    const { run_id } = (await org.run({ ...rehearseHeld(), async: true })).body
    const read = (query: string, prefer: string) =>
      app.call(org.key, "GET", `/v1/runs/${run_id}${query}`, { headers: { prefer } })
    const queried = await read("?wait=0", "wait=60")
    expect([queried.body.done, queried.headers.get("preference-applied")]).toEqual([false, null])
    await held.holds(1)
    const waiting = read("", "wait=60")
    held.release()
    const preferred = await waiting
    expect([preferred.body.done, preferred.headers.get("preference-applied")]).toEqual([true, "wait=60"])
  })
})

describe("money headers", () => {
  const micro = (text: string | null) => dollars(text ?? "")
  const readable = async (tenant: Tenant) => (await tenant.get("/v1/wallet")).body.available

  test("say what the run cost and what is left, by the door and by the general router", async () => {
    const tenant = await app.tenant("10.00")
    for (const headers of [{}, { "content-type": "application/json" }]) {
      const { body, headers: told } = await app.call(tenant.key, "POST", "/v1/run", { body: verify(), headers })
      expect(told.get("run-charged")).toBe(body.billing.charged)
      expect(told.get("wallet-available")).toBe(await readable(tenant))
    }
    const { body } = await tenant.run(verify())
    const read = await tenant.get(`/v1/runs/${body.run_id}`)
    expect(read.headers.get("run-charged")).toBe(body.billing.charged)
    expect(micro(read.headers.get("wallet-available"))).toBeLessThan(micro("10.00"))
  })

  test("a run under way has no charge yet, and its hold is not available", async () => {
    const tenant = await app.tenant("10.00")
    const { body, headers } = await tenant.run({ ...rehearse("slow_60"), wait_seconds: 1 })
    expect([headers.get("run-charged"), body.done]).toEqual([null, false])
    expect(headers.get("wallet-available")).toBe(await readable(tenant))
    expect(micro(headers.get("wallet-available"))).toBeLessThan(micro("10.00"))
  })

  test("a run that failed, and one that the wallet can't pay, cost nothing", async () => {
    const failed = await org.run(rehearse("error"))
    expect([failed.status, failed.headers.get("run-charged")]).toEqual([502, "0.00"])
    const poor = await app.tenant()
    const { status, headers } = await poor.run(verify())
    expect([status, headers.get("run-charged"), headers.get("wallet-available")]).toEqual([402, "0.00", "0.00"])
  })

  test("the wallet is told to whom GET /v1/wallet tells it: keys and every role", () => {
    expect([null, ...roles].filter((role) => !maySeeWallet(role))).toEqual([])
  })
})
