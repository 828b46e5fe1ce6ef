/** Allowances over the API: who may give one, how much it holds, how far it reaches, and where its money goes when it ends. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { oneBackend, type Reply, type Tenant, until, verify, withApp } from "../../kit/app.ts"

const minute = 60_000
const inAnHour = new Date(Date.now() + 60 * minute).toISOString()
const forbidden = [403, "forbidden"]
const codeOf = ({ status, body }: Reply) => [status, body.error?.code]
const fieldOf = ({ status, body }: Reply) => [status, body.error?.code, body.error?.details?.[0]?.path]
/** The requests that an error offers as next steps. */
const stepsOf = ({ error }: Reply["body"]) =>
  error.details.flatMap(({ http }: { readonly http?: string }) => (http === undefined ? [] : [http]))

describe.each(oneBackend)("allowances, queues on %s", (backend) => {
  let org: Tenant
  let session: string
  const app = withApp({ backend })
  beforeEach(async () => {
    org = await app.tenant("1.00")
    session = await org.session()
  })
  afterEach(async () => {
    await app.books()
  })

  const ask = (token: string, given: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    app.call(token, "POST", "/v1/allowances", {
      body: { name: "agent", amount: "0.50", expires_at: inAnHour, ...given },
      headers
    })
  /** An allowance of $0.50 for an hour, if nothing else is said. */
  const give = async (token: string, given: Record<string, unknown> = {}) => {
    const { status, body } = await ask(token, given)
    expect([status, body]).toEqual([
      200,
      { id: expect.any(String), api_key: expect.any(String), note: expect.any(String) }
    ])
    const path = `/v1/allowances/${body.id}`
    return {
      id: String(body.id),
      token: String(body.api_key),
      path,
      run: (request: unknown = verify()) => app.call(body.api_key, "POST", "/v1/run", { body: request }),
      record: async () => (await app.call(session, "GET", path)).body,
      revoke: (by = session) => app.call(by, "DELETE", path)
    }
  }
  const minting = (more: Record<string, unknown> = {}) => ({ allow: { mint: true, ...more } })
  const keyWith = async (rules: Record<string, unknown>) => {
    const body = { name: "orchestrator", environment: "test", ...rules }
    return (await app.call(session, "POST", "/v1/api-keys", { body })).body
  }
  const available = async () => (await org.wallet()).available

  test("its runs have at most 16 labels, with those of the keys above it", async () => {
    const labels = (count: number, name: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, "x"]))
    const { api_key: parent } = await keyWith(minting({ labels: labels(15, "own") }))
    expect(fieldOf(await ask(parent, { allow: { labels: labels(2, "more") } }))).toEqual([
      400,
      "invalid_request",
      "allow.labels"
    ])
    const agent = await give(parent, { allow: { labels: labels(1, "more") } })
    expect(Object.keys((await agent.record()).allow.labels)).toHaveLength(16)
    const refused = await agent.run({ ...verify(), metadata: labels(1, "third") })
    expect([codeOf(refused), refused.body.error.message]).toEqual([
      forbidden,
      expect.stringContaining("A run has at most 16 labels, and this API key gives it 16 (allow.labels)")
    ])
    expect(Object.keys((await agent.run()).body.metadata)).toHaveLength(16)
  })

  test("its runs wait for an approval as those of the keys above it do", async () => {
    const { id, api_key: parent } = await keyWith(minting())
    const agent = await give(parent, { allow: { mint: true } })
    const beneath = await give(agent.token, { amount: "0.20" })
    const other = await give(session, { amount: "0.10" })
    expect((await beneath.run()).body.status).toBe("succeeded")
    const rule = { name: "orchestrator", keys: [id] }
    expect((await app.call(session, "POST", "/v1/approval-rules", { body: rule })).status).toBe(200)
    const from = new Date(Date.now() - minute).toISOString()
    const simulated = await app.call(session, "POST", "/v1/simulate", { body: { from } })
    expect(simulated.body.limits).toMatchObject({ waiting_runs: 1 })
    const quote = await app.call(beneath.token, "POST", "/v1/quote", { body: verify() })
    expect(quote.body).toMatchObject({ approval_required: true, approval_rule: "orchestrator" })
    const inspected = await app.call(agent.token, "POST", "/v1/inspect", { body: { capability: "email.verify" } })
    expect(inspected.text).toContain('(rule \\"orchestrator\\")')
    const waiting = [await agent.run(), await beneath.run()]
    for (const { status, body } of waiting) {
      expect([status, body.approval?.rule]).toEqual([202, "orchestrator"])
      expect((await app.call(session, "POST", `/v1/runs/${body.run_id}/deny`, { body: {} })).status).toBe(200)
    }
    expect((await other.run()).body.status).toBe("succeeded")
    expect((await app.call(session, "GET", "/v1/approval-rules")).body.items[0].keys).toEqual([id])
  })

  test("holds the amount at once, spends it only, and returns the rest when it is revoked", async () => {
    const agent = await give(session, { allow: { capabilities: ["email.verify"] } })
    expect(await org.wallet()).toMatchObject({ balance: "1.00", reserved: "0.50", available: "0.50" })
    expect((await agent.run()).body.billing.charged).toBe("0.003")
    expect(await org.wallet()).toMatchObject({ balance: "0.997", reserved: "0.497", available: "0.50" })
    const shown = {
      ...{ id: agent.id, name: "agent", parent_id: null, depth: 1, status: "active", amount: "0.50" },
      ...{ spent: "0.003", held: "0.497", available: "0.497", allow: { capabilities: ["email.verify"], raw: false } }
    }
    expect(await agent.record()).toMatchObject({ ...shown, allow: { capabilities: ["email.verify"] } })
    expect((await app.call(session, "GET", "/v1/allowances")).body.items).toEqual([await agent.record()])

    const revoked = await agent.revoke()
    expect([revoked.status, revoked.body]).toMatchObject([200, { status: "ended", spent: "0.003", held: "0.00" }])
    expect(await org.wallet()).toMatchObject({ balance: "0.997", reserved: "0.00", available: "0.997" })
    expect(codeOf(await agent.run())).toEqual([401, "unauthorized"])
    expect((await agent.revoke()).body).toEqual(revoked.body)
  })

  test("a run that does not fit into it is blocked, and the organization's other keys can't take its money", async () => {
    const agent = await give(session, { amount: "0.0050" })
    expect((await agent.run()).status).toBe(200)
    const blocked = await agent.run()
    expect(blocked.body).toMatchObject({
      status: "blocked",
      error: { code: "budget_exceeded" },
      controls: [{ control: "key_budget" }]
    })
    expect(blocked.body.error.message).toContain("the allowance of this API key, $0.005 in total")

    const rest = await give(session, { amount: await available() })
    expect(codeOf(await org.run(verify()))).toEqual([402, "insufficient_balance"])
    expect((await rest.run()).status).toBe(200)
    const quoted = await app.call(rest.token, "POST", "/v1/quote", { body: verify() })
    expect(quoted.body.would).toBe("run")
  })

  test("more than is available is refused, and leaves nothing behind", async () => {
    const { status, body } = await ask(session, { amount: "1.01" })
    expect([status, body.error.code, body.error.details[0].path]).toEqual([402, "insufficient_balance", "amount"])
    expect(body.error.message).toContain("$1.00 is available")
    expect(stepsOf(body)).toEqual(["POST /v1/wallet/topups/checkout"])
    const poor = await (await app.tenant()).session()
    expect(codeOf(await ask(poor, { amount: "0.01" }))).toEqual([402, "insufficient_balance"])
    expect(await available()).toBe("1.00")
    expect((await app.call(session, "GET", "/v1/allowances")).body.items).toEqual([])
    // An Idempotency-Key that was refused can be used again.
    const once = { "idempotency-key": "once" }
    expect((await ask(session, { amount: "1.01" }, once)).status).toBe(402)
    expect((await ask(session, { amount: "0.10" }, once)).status).toBe(200)
  })

  test("a repeat with the same Idempotency-Key holds nothing more, and its key is the one that works", async () => {
    const expires_at = inAnHour
    const headers = { "idempotency-key": "agent-1" }
    const first = await ask(session, { expires_at }, headers)
    const again = await ask(session, { expires_at }, headers)
    expect([again.status, again.body.id, again.headers.get("idempotent-replay")]).toEqual([200, first.body.id, "true"])
    expect(await available()).toBe("0.50")
    const works = (token: string) => app.call(token, "GET", "/v1/wallet")
    expect((await works(again.body.api_key)).status).toBe(200)
    expect((await works(first.body.api_key)).status).toBe(401)
    expect(codeOf(await ask(session, { expires_at, amount: "0.20" }, headers))).toEqual([422, "idempotency_key_reused"])
  })

  test("a repeat by somebody else gets nothing, and the first one's key goes on", async () => {
    const headers = { "idempotency-key": "agent-of-one" }
    const first = await ask(session, {}, headers)
    const other = await ask(await org.session(), {}, headers)
    expect([...codeOf(other), other.body.error.message]).toEqual([
      422,
      "idempotency_key_reused",
      expect.stringContaining("by somebody else")
    ])
    expect(other.text).not.toContain(first.body.id)
    expect((await app.call(first.body.api_key, "GET", "/v1/wallet")).status).toBe(200)
    // The database refuses a new secret too, whatever the service computed.
    const person = JSON.stringify({ kind: "person", id: "usr_other", name: null, address: null })
    const renewed = app.sql(
      `SELECT set_config('rungate.actor', '${person}', true); UPDATE api_keys SET key_hash = sha256('x') WHERE key_id = '${first.body.id}'`
    )
    await expect(renewed).rejects.toThrow("another person")
  })

  test("a key needs allow.mint, and a scope with it changes nothing else", async () => {
    expect(codeOf(await ask(org.key))).toEqual(forbidden)
    expect(codeOf(await ask((await keyWith({ allow: { raw: true } })).api_key))).toEqual(forbidden)
    const parent = await keyWith(minting())
    expect((await ask(parent.api_key)).status).toBe(200)
    const body = { name: "x", environment: "test" }
    expect(codeOf(await app.call(parent.api_key, "POST", "/v1/api-keys", { body }))).toEqual(forbidden)
    const agent = await give(parent.api_key, { amount: "0.10" })
    expect(codeOf(await ask(agent.token))).toEqual(forbidden)
  })

  test("is held within its parent: an allowance inside an allowance, three deep", async () => {
    const first = await give(session, minting())
    const second = await give(first.token, { ...minting(), amount: "0.20" })
    const third = await give(second.token, { amount: "0.05" })
    // All of it was held already.
    expect(await available()).toBe("0.50")
    expect(await first.record()).toMatchObject({ held: "0.50", available: "0.30", depth: 1 })
    expect(await third.record()).toMatchObject({ parent_id: second.id, depth: 3, available: "0.05" })
    const widest = await give(second.token, { ...minting(), amount: "0.05" })
    const tooDeep = await ask(widest.token, { amount: "0.01" })
    expect(codeOf(tooDeep)).toEqual(forbidden)
    expect(tooDeep.body.error.message).toContain("3 deep")

    const tooMuch = await ask(first.token, { amount: "0.31" })
    expect([...fieldOf(tooMuch)]).toEqual([402, "insufficient_balance", "amount"])
    expect(tooMuch.body.error.message).toContain("the allowance of this API key, $0.50")
    expect(stepsOf(tooMuch.body)).toEqual([])
    expect((await third.run()).status).toBe(200)
    await second.revoke()
    // What its parents get back is theirs again.
    expect(await first.record()).toMatchObject({ spent: "0.003", available: "0.497", status: "active" })
    for (const ended of [second, third, widest]) expect((await ended.record()).status).toBe("ended")
    expect(codeOf(await third.run())).toEqual([401, "unauthorized"])
    expect((await first.run()).status).toBe(200)
  })

  test("counts in its parent's budget, and ends with the parent", async () => {
    const parent = await keyWith({ ...minting(), budget: { limit: "0.30", period: "total" } })
    const agent = await give(parent.api_key, { amount: "0.20" })
    const late = await ask(parent.api_key, { amount: "0.11" })
    expect([late.status, late.body.error.code]).toEqual([402, "insufficient_balance"])
    expect((await agent.run()).status).toBe(200)
    await app.call(session, "DELETE", `/v1/api-keys/${parent.id}`)
    expect(codeOf(await agent.run())).toEqual([401, "unauthorized"])
    await until("the rest is back", available, (one) => one === "0.997")
    const { budget } = (await app.call(session, "GET", `/v1/api-keys/${parent.id}`)).body
    expect(budget.spent).toBe("0.003")
  })

  test("returns the rest at its expiry", async () => {
    const agent = await give(session)
    expect((await agent.run()).status).toBe(200)
    await app.sql("UPDATE api_keys SET expires_at = now() WHERE key_id = $1", [agent.id])
    await until("the rest is back", available, (one) => one === "0.997")
    expect(await agent.record()).toMatchObject({ status: "ended", held: "0.00", spent: "0.003" })
  })

  test("never reaches further than its parent", async () => {
    const expires_at = inAnHour
    const parent = await keyWith({
      ...minting({
        capabilities: ["email.verify"],
        providers: ["hunter", "zerobounce"],
        read_only: true,
        max_cost: "0.01"
      }),
      expires_at
    })
    const refused = async (given: Record<string, unknown>) =>
      fieldOf(await ask(parent.api_key, { expires_at, ...given }))
    const cases: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
      [{ allow: { capabilities: ["email.verify", "email.find"] } }, "allow.capabilities.1"],
      [{ allow: { providers: ["exa"] } }, "allow.providers.0"],
      [{ allow: { read_only: false } }, "allow.read_only"],
      [{ allow: { raw: true } }, "allow.raw"],
      [{ allow: { max_cost: "0.02" } }, "allow.max_cost"],
      [{ expires_at: new Date(Date.parse(expires_at) + minute).toISOString() }, "expires_at"],
      [{ amount: "0" }, "amount"],
      [{ amount: "-1" }, "amount"],
      [{ name: "" }, "name"],
      [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
      [{ allow: { capabilities: ["email.fnd"] } }, "allow.capabilities.0"],
      [{ allow: { write: true } }, "allow.write"]
    ]
    for (const [given, path] of cases)
      expect([given, await refused(given)]).toEqual([given, [400, "invalid_request", path]])
    expect(await available()).toBe("1.00")
    // What is left out is the parent's.
    const agent = await give(parent.api_key, { expires_at })
    const allow = {
      capabilities: ["email.verify"],
      providers: ["hunter", "zerobounce"],
      read_only: true,
      max_cost: "0.01",
      raw: false
    }
    expect(await agent.record()).toMatchObject({ allow, parent_id: parent.id })
    // A parent that may do less from now on ends those that may do more.
    await app.call(session, "PATCH", `/v1/api-keys/${parent.id}`, {
      body: { allow: { mint: true, capabilities: ["web.search"] } }
    })
    expect(codeOf(await agent.run())).toEqual([401, "unauthorized"])
    await until("the rest is back", available, (one) => one === "1.00")
  })

  test("is changed by nobody, and revoked by a person, by its parent and by itself", async () => {
    const parent = await keyWith(minting())
    const [agent, sibling] = [await give(parent.api_key, { amount: "0.10" }), await give(session, { amount: "0.10" })]
    for (const [method, path, body] of [
      ["PATCH", `/v1/api-keys/${agent.id}`, { allow: null }],
      ["POST", `/v1/api-keys/${agent.id}/rotate`, {}]
    ] as const)
      expect(fieldOf(await app.call(session, method, path, { body }))).toEqual([400, "invalid_request", "path.key_id"])
    expect(codeOf(await sibling.revoke(parent.api_key))).toEqual(forbidden)
    expect(codeOf(await sibling.revoke(agent.token))).toEqual([404, "not_found"])
    expect((await agent.revoke(parent.api_key)).body.status).toBe("ended")
    expect((await sibling.revoke(sibling.token)).body.status).toBe("ended")
    expect(await available()).toBe("1.00")
  })

  test("is nobody's but its organization's", async () => {
    const agent = await give(session)
    const stranger = await (await app.tenant("1.00")).session()
    for (const method of ["GET", "DELETE"]) {
      const answer = await app.call(stranger, method, agent.path)
      expect([method, ...fieldOf(answer)]).toEqual([method, 404, "not_found", "path.allowance_id"])
    }
    expect((await app.call(stranger, "GET", "/v1/allowances")).body.items).toEqual([])
    expect((await app.call(session, "GET", `/v1/allowances/${org.key_id}`)).status).toBe(404)
    expect((await agent.record()).status).toBe("active")
  })
})
