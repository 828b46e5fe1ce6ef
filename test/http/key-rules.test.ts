/** What budgets, expiry, scopes and rotation of API keys guarantee, over the API. */
import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { oneBackend, type Reply, startApp, type Tenant, verify, withApp } from "../kit/app.ts"

const search = { capability: "web.search", input: { query: "x" } }

describe.each(oneBackend)("rules of API keys, queues on %s", (backend) => {
  let org: Tenant
  let session: string
  const app = withApp({ backend })
  beforeAll(async () => {
    org = await app.tenant("20.00")
    session = await org.session()
  })
  afterEach(async () => {
    await app.books()
  })
  const asPerson = (method: string, path: string, body?: unknown) => app.call(session, method, path, { body })
  const keyOf = ({ id, api_key: token }: { readonly id: string; readonly api_key: string }) => ({
    id,
    path: `/v1/api-keys/${id}`,
    call: (method: string, path: string, body?: unknown) => app.call(token, method, path, { body }),
    run: (body: unknown, on = app) => on.call(token, "POST", "/v1/run", { body }),
    change: (change: unknown) => asPerson("PATCH", `/v1/api-keys/${id}`, change),
    rotate: (body: unknown) => asPerson("POST", `/v1/api-keys/${id}/rotate`, body),
    record: async () => (await asPerson("GET", `/v1/api-keys/${id}`)).body
  })
  const mint = async (rules: Record<string, unknown>) => {
    const { status, body } = await asPerson("POST", "/v1/api-keys", { name: "k", environment: "test", ...rules })
    expect([status, body]).toEqual([200, expect.anything()])
    return keyOf(body)
  }
  const codeOf = ({ status, body }: Reply) => [status, body.error?.code]
  const send = {
    capability: "email.send",
    input: { from: "me@example.com", to: ["you@example.com"], subject: "Hi", text: "Hello" }
  }
  const forbidden = [403, "forbidden"]
  const invalid = async (reply: Promise<Reply>) => {
    const { status, body } = await reply
    return [status, body.error?.code, body.error?.details?.[0]?.path]
  }

  describe("budget", () => {
    test("blocks a run that would exceed it, and names the control", async () => {
      const key = await mint({ budget: { limit: "0.0078", period: "day" } })
      expect((await key.run(verify())).status).toBe(200)
      expect((await key.run(verify())).status).toBe(200)
      const { status, body } = await key.run(verify())
      expect(status).toBe(402)
      expect(body).toMatchObject({
        status: "blocked",
        error: { code: "budget_exceeded" },
        controls: [{ control: "key_budget", manage: key.path }],
        attempts: [],
        billing: { charged: null }
      })
      expect(body.error.message).toContain("$0.0078 per day")
      expect((await org.get(`/v1/runs/${body.run_id}`)).body).toEqual(body)
      const [listed] = (await org.list("?status=blocked")).body.items
      expect(listed.controls).toEqual(body.controls)
      expect((await key.record()).budget).toEqual({
        limit: "0.0078",
        period: "day",
        spent: "0.006",
        resets_at: expect.stringMatching(/T00:00:00.000Z$/)
      })
      // The organization's other keys are not concerned.
      expect((await org.run(verify())).status).toBe(200)
      expect((await key.change({ budget: { limit: "1.00", period: "total" } })).body.budget).toEqual({
        ...{ limit: "1.00", period: "total", spent: "0.006", resets_at: null }
      })
      expect((await key.run(verify())).status).toBe(200)
      expect((await key.change({ budget: { limit: "0.001", period: "month" } })).body.budget.spent).toBe("0.009")
      expect(codeOf(await key.run(verify()))).toEqual([402, "budget_exceeded"])
      expect((await key.change({ budget: null })).body.budget).toBeNull()
      expect((await key.run(verify())).status).toBe(200)
    })
  })

  describe("expiry", () => {
    test("a key stops at its expiry for good, also where its caller is cached", async () => {
      const key = await mint({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })
      expect((await key.run(verify())).status).toBe(200)
      await app.sql("UPDATE api_keys SET expires_at = now() WHERE key_id = $1", [key.id])
      expect(codeOf(await key.run(verify()))).toEqual([401, "unauthorized"])
      expect(codeOf(await key.call("GET", "/v1/wallet"))).toEqual([401, "unauthorized"])
      const late = await key.change({ expires_at: null })
      expect([late.status, late.body.error.details[0].path]).toEqual([400, "path.key_id"])
    })

    test.each(["2020-01-01T00:00:00Z", "yesterday", 5, ""])("refuses %p", async (expires_at) => {
      const key = await mint({})
      expect(await invalid(key.change({ expires_at }))).toEqual([400, "invalid_request", "expires_at"])
      const minted = asPerson("POST", "/v1/api-keys", { name: "k", environment: "test", expires_at })
      expect(await invalid(minted)).toEqual([400, "invalid_request", "expires_at"])
    })
  })

  describe("scope", () => {
    test("allows its capabilities only, and no raw call beside them", async () => {
      const key = await mint({ allow: { capabilities: ["email.verify"] } })
      expect((await key.run(verify())).status).toBe(200)
      const other = await key.run(search)
      expect(codeOf(other)).toEqual(forbidden)
      expect(other.body.error.message).toContain("It can run: email.verify")
      expect(codeOf(await key.run({ provider: "hunter", endpoint: "/v2/account", input: {} }))).toEqual(forbidden)
      const raw = await mint({ allow: { raw: false } })
      expect(codeOf(await raw.run({ provider: "hunter", endpoint: "/v2/account", input: {} }))).toEqual(forbidden)
      expect((await raw.run(search)).status).toBe(200)
    })

    test("calls its providers only, whoever chooses them", async () => {
      const key = await mint({ allow: { providers: ["hunter"] } })
      expect((await key.run(verify())).body.provider).toBe("hunter")
      expect(codeOf(await key.run({ ...verify(), routing: { provider: "zerobounce" } }))).toEqual(forbidden)
      expect(codeOf(await key.run(search))).toEqual(forbidden)
      expect(codeOf(await key.run({ provider: "exa", endpoint: "/search", input: {} }))).toEqual(forbidden)
    })

    test("max_cost is the cap of runs without one; a higher cap is refused", async () => {
      const key = await mint({ allow: { max_cost: "0.0047" } })
      expect(codeOf(await key.run({ ...verify(), routing: { max_cost: "0.0048" } }))).toEqual(forbidden)
      expect((await key.run({ ...verify(), routing: { max_cost: "0.0047" } })).status).toBe(200)
      const { status, body } = await key.run(verify())
      expect([status, Number(body.billing.quoted) <= 0.0047]).toEqual([200, true])
      const pinned = await key.run({ ...verify(), routing: { provider: "hunter" } })
      expect(codeOf(pinned)).toEqual(forbidden)
      expect(pinned.body.error.message).toContain("allow.max_cost")
      expect(pinned.body.error.details).toMatchObject([{ path: "allow.max_cost" }])
      const failed = await key.run(verify("error", "sandbox.test"))
      expect(failed.body.error.message).toContain("allow.max_cost of this API key excluded")
      expect(failed.text).not.toContain("routing.max_cost")
    })

    test("read_only reads and looks up, and sends, cancels and changes nothing", async () => {
      const { run_id } = (await org.run(verify())).body
      const key = await mint({ allow: { read_only: true } })
      for (const path of ["/v1/wallet", "/v1/runs", `/v1/runs/${run_id}`, "/v1/history?q=jane.doe@example.com"])
        expect([path, (await key.call("GET", path)).status]).toEqual([path, 200])
      expect((await key.call("POST", "/v1/history", { subjects: ["jane.doe@example.com"] })).status).toBe(200)
      expect((await key.call("POST", "/v1/inspect", { capability: "email.verify" })).status).toBe(200)
      expect((await key.run(verify())).status).toBe(200)
      expect(codeOf(await key.run(send))).toEqual(forbidden)
      expect(codeOf(await key.call("POST", `/v1/runs/${run_id}/cancel`))).toEqual(forbidden)
    })

    test("a key with a scope changes nothing, and may still revoke itself", async () => {
      const key = await mint({ allow: { max_cost: "1.00" } })
      const changes = [
        ["POST", "/v1/spend-guard", { daily_limit: "0.01" }],
        ["POST", "/v1/wallet/topups/checkout", { amount: "25.00" }],
        ["POST", "/v1/wallet/auto-topup", { enabled: false, threshold: "1.00", amount: "25.00" }],
        ["POST", "/v1/senders", { domain: "example.com" }],
        ["DELETE", "/v1/history?q=jane.doe@example.com"],
        ["POST", "/v1/api-keys", { name: "x", environment: "test" }],
        ["PATCH", key.path, { allow: null }],
        ["POST", `${key.path}/rotate`, {}]
      ] as const
      for (const [method, path, body] of changes)
        expect([path, ...codeOf(await key.call(method, path, body))]).toEqual([path, ...forbidden])
      expect((await key.call("DELETE", key.path)).body.revoked).toBe(true)
    })

    test("a change holds for the next run in every process", async () => {
      const beside = await startApp({ beside: app })
      const key = await mint({})
      for (const one of [app, beside]) expect((await key.run(verify(), one)).status).toBe(200)
      await key.change({ allow: { capabilities: ["web.search"] } })
      for (const one of [app, beside]) expect(codeOf(await key.run(verify(), one))).toEqual(forbidden)
      await key.change({ allow: null })
      for (const one of [app, beside]) expect((await key.run(verify(), one)).status).toBe(200)
      await beside.stop()
    })
  })

  describe("PATCH", () => {
    test("keeps what is left out, removes with null, and needs a person of the organization", async () => {
      const key = await mint({ allow: { raw: true }, budget: { limit: "5", period: "week" } })
      const before = await key.record()
      expect(before.allow).toEqual({ raw: true })
      expect(new Date(before.budget.resets_at).getUTCDay()).toBe(1)
      expect((await key.change({})).body).toEqual(before)
      expect((await key.change({ name: "agent" })).body).toEqual({ ...before, name: "agent" })
      expect((await key.change({ allow: {} })).body.allow).toBeNull()
      expect(codeOf(await key.call("PATCH", key.path, { name: "mine" }))).toEqual(forbidden)
      const stranger = await (await app.tenant()).session()
      for (const [method, path] of [
        ["PATCH", key.path],
        ["POST", `${key.path}/rotate`]
      ] as const)
        expect(await invalid(app.call(stranger, method, path, { body: {} }))).toEqual([
          ...[400, "invalid_request", "path.key_id"]
        ])
      expect(await invalid(app.call(stranger, "GET", key.path))).toEqual([400, "invalid_request", "path.key_id"])
    })

    test.each([
      [{ budget: { limit: "-1", period: "day" } }, "budget.limit"],
      [{ budget: { limit: "1", period: "year" } }, "budget.period"],
      [{ allow: { capabilities: ["email.fnd"] } }, "allow.capabilities.0"],
      [{ allow: { providers: ["huntr"] } }, "allow.providers.0"],
      [{ allow: { max_cost: 5 } }, "allow.max_cost"],
      [{ allow: { write: true } }, "allow.write"]
    ])("refuses %j", async (change, path) => {
      const key = await mint({})
      expect(await invalid(key.change(change))).toEqual([400, "invalid_request", path])
    })
  })

  describe("rotation", () => {
    test("both keys spend from one budget until the grace ends", async () => {
      const old = await mint({
        allow: { capabilities: ["email.verify"] },
        budget: { limit: "0.0108", period: "total" }
      })
      expect((await old.run(verify())).status).toBe(200)
      const { status, body } = await old.rotate({ grace_seconds: 3_600 })
      expect([status, Object.keys(body).sort()]).toEqual([200, ["api_key", "id", "note"]])
      const fresh = keyOf(body)
      expect((await old.run(verify())).status).toBe(200)
      expect((await fresh.run(verify())).status).toBe(200)
      for (const key of [old, fresh]) {
        expect(codeOf(await key.run(verify()))).toEqual([402, "budget_exceeded"])
        expect((await key.record()).budget.spent).toBe("0.009")
      }
      expect(codeOf(await fresh.run(search))).toEqual(forbidden)
      expect((await old.record()).expires_at).not.toBeNull()
      expect(await invalid(old.rotate({}))).toEqual([400, "invalid_request", "path.key_id"])
      expect(await invalid(old.change({ expires_at: null }))).toEqual([400, "invalid_request", "path.key_id"])
    })

    test("without grace the old key stops at once", async () => {
      const old = await mint({})
      const fresh = keyOf((await old.rotate({ grace_seconds: 0 })).body)
      expect(codeOf(await old.run(verify()))).toEqual([401, "unauthorized"])
      expect((await fresh.run(verify())).status).toBe(200)
      expect(await invalid(fresh.rotate({ grace_seconds: -1 }))).toEqual([400, "invalid_request", "grace_seconds"])
    })
  })
})
