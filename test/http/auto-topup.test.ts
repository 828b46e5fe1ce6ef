import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { startApp, type Tenant, until, verify, withApp } from "../kit/app.ts"

const path = "/v1/wallet/auto-topup"
const unset = { enabled: false, threshold: "0.00", amount: "0.00", last_error: null }
const good = { enabled: true, threshold: "5.00", amount: "25.00" }

describe("automatic top-up in the sandbox", () => {
  let org: Tenant
  let session: string
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant()
    session = await org.session()
  })
  afterEach(async () => {
    await app.books()
  })

  const set = (body: unknown, token: string | null = session) => app.call(token, "POST", path, { body })
  const read = async (tenant = org) => (await tenant.get(path)).body
  const checkout = (amount: string) => org.post("/v1/wallet/topups/checkout", { amount })

  test("before anything was set it is off, and a key may read that", async () => {
    const { status, body } = await org.get(path)
    expect([status, body]).toEqual([200, unset])
    expect((await app.call(session, "GET", path)).body).toEqual(unset)
  })

  test("a key may not change it", async () => {
    for (const asked of [good, { ...good, enabled: false }, { ...good, amount: "0.01" }]) {
      const { status, body } = await set(asked, org.key)
      expect([status, body.error.code]).toEqual([403, "forbidden"])
    }
    expect((await set(good, null)).status).toBe(401)
    expect(await read()).toEqual(unset)
  })

  test("switching it on needs a method that a checkout has saved", async () => {
    const { status, body } = await set(good)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", "enabled"])
    expect(body.error.message).toContain("POST /v1/wallet/topups/checkout")
    expect(await read()).toEqual(unset)
  })

  test("switching it off needs none", async () => {
    const off = { enabled: false, threshold: "1.00", amount: "10.00" }
    const { status, body } = await set(off)
    expect([status, body]).toEqual([200, { ...off, last_error: null }])
    expect(await read()).toEqual(body)
  })

  test("it can be switched off after the operator lowered the daily maximum below its amount", async () => {
    const other = await app.tenant()
    const own = await other.session()
    await other.post("/v1/wallet/topups/checkout", { amount: "10.00" })
    expect((await set(good, own)).status).toBe(200)
    const strict = await startApp({ beside: app, role: "http", settings: { RUNGATE_AUTO_TOPUP_DAILY_MAX: "20.00" } })
    try {
      const { status, body } = await strict.call(own, "POST", path, { body: { ...good, enabled: false } })
      expect([status, body]).toEqual([200, { ...good, enabled: false, last_error: null }])
    } finally {
      await strict.stop()
    }
  })

  test.each([
    [{ ...good, amount: "9.99" }, "amount", "must be at least 10.00"],
    [{ ...good, amount: "0.00" }, "amount", "must be at least 10.00"],
    [{ ...good, amount: "10.001" }, "amount", "must be whole cents"],
    [{ ...good, amount: "500.01" }, "amount", "must be at most 500.00, the daily maximum of automatic top-ups"],
    [{ ...good, threshold: "1000000.01" }, "threshold", "must be at most 1000000.00"],
    [{ ...good, amount: "-10.00" }, "amount", "must be a decimal string"],
    [{ ...good, amount: "1e3" }, "amount", "must be a decimal string"],
    [{ ...good, amount: 25 }, "amount", ""],
    [{ ...good, amount: null }, "amount", ""],
    [{ ...good, threshold: 5 }, "threshold", ""],
    [{ ...good, threshold: "-0.01" }, "threshold", "must be a decimal string"],
    [{ ...good, threshold: "" }, "threshold", "must be a decimal string"],
    [{ ...good, threshold: ["5.00"] }, "threshold", ""],
    [{ ...good, enabled: "true" }, "enabled", ""],
    [{ ...good, enabled: 1 }, "enabled", ""],
    [{ enabled: true, threshold: "5.00" }, "amount", ""],
    [{ enabled: true, amount: "25.00" }, "threshold", ""],
    [{ threshold: "5.00", amount: "25.00" }, "enabled", ""],
    [{ ...good, last_error: null }, "last_error", ""],
    [{ ...good, org_id: "org_1" }, "org_id", ""],
    [{ ...good, enabled: false, amount: "9.99" }, "amount", "must be at least 10.00"]
  ])("refuses %j", async (asked, field, message) => {
    const before = await read()
    const { status, body } = await set(asked)
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    const about = body.error.details.find((one: { path: string }) => one.path === field)
    expect(about?.message ?? `nothing about ${field}: ${JSON.stringify(body)}`).toContain(message)
    expect(await read()).toEqual(before)
  })

  test("at the bounds it is taken as it was said", async () => {
    expect((await checkout("10.00")).body.status).toBe("simulated")
    for (const bound of [
      { enabled: true, threshold: "0.00", amount: "10.00" },
      { enabled: true, threshold: "0.000001", amount: "500.00" },
      { enabled: false, threshold: "1000000.00", amount: "500.00" }
    ]) {
      const { status, body } = await set(bound)
      expect([status, body]).toEqual([200, { ...bound, last_error: null }])
      expect(await read()).toEqual(body)
    }
    expect((await org.wallet()).balance).toBe("10.00")
  })

  test("a run that takes the balance below the threshold brings a simulated top-up, which says so", async () => {
    await set({ enabled: true, threshold: "10.00", amount: "25.00" })
    expect((await org.wallet()).balance).toBe("10.00")
    const { body } = await org.run(verify())
    expect(body.status).toBe("succeeded")
    const charged = Number(body.billing.charged)
    const wallet = await until(
      "the top-up arrives",
      () => org.wallet(),
      ({ balance }) => Number(balance) > 10
    )
    expect(Number(wallet.balance)).toBeCloseTo(35 - charged, 6)
    const topups = (await org.ledger()).filter((one) => one.type === "topup")
    expect(topups.map((one) => [one.amount, one.note])).toEqual([
      ["25.00", "simulated automatic top-up (sandbox: no money moved)"],
      ["10.00", "simulated top-up (sandbox: no money moved)"]
    ])
    expect(await read()).toEqual({ enabled: true, threshold: "10.00", amount: "25.00", last_error: null })
  })

  test("a wallet far below is filled step by step, up to the daily maximum", async () => {
    // $25.00 of today's $500.00 were charged by the test before.
    await set({ enabled: true, threshold: "1000.00", amount: "200.00" })
    const { last_error } = await until(
      "the maximum is reached",
      () => read(),
      (setting) => setting.last_error !== null
    )
    expect(last_error).toBe("The daily maximum of $500.00 for automatic top-ups is reached; the next is at 00:00 UTC.")
    const amounts = (await org.ledger()).filter((one) => one.type === "topup").map((one) => one.amount)
    expect(amounts).toEqual(["200.00", "200.00", "25.00", "10.00"])
    await set({ ...good, enabled: false })
    expect(await read()).toEqual({ ...good, enabled: false, last_error: null })
  })

  test("another organization sees nothing of it, and has its own", async () => {
    const other = await app.tenant("1.00")
    expect(await read(other)).toEqual(unset)
    const theirs = await set(good, await other.session())
    expect([theirs.status, theirs.body.error.details[0].path]).toEqual([400, "enabled"])
    const off = { enabled: false, threshold: "3.00", amount: "30.00" }
    await set(off, await other.session())
    expect(await read(other)).toEqual({ ...off, last_error: null })
    expect(await read()).toEqual({ ...good, enabled: false, last_error: null })
  })
})

describe("automatic top-up in production without a processor", () => {
  test("can be read and switched off; switching it on says what is missing", async () => {
    const app = await startApp({ settings: { RUNGATE_MODE: "production" } })
    try {
      const org = await app.tenant("1.00")
      const session = await org.session()
      const { status, body } = await app.call(session, "POST", path, { body: good })
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
      expect((await app.call(session, "POST", path, { body: { ...good, enabled: false } })).status).toBe(200)
      expect((await org.get(path)).body).toEqual({ ...good, enabled: false, last_error: null })
      await app.books()
    } finally {
      await app.stop()
    }
  })
})
