/** A key with allow.read "own" sees its own runs, batches and budget. Everything else of the organization does not exist or is refused. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, type Reply, startApp, type Tenant, until, verify } from "../kit/app.ts"
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/http/api/Api.ts"
import { indexedAndCounted } from "../kit/finished-work.ts"
import { listen } from "../kit/event-stream.ts"
import { heldProvider, rehearseHeld } from "../kit/held-provider.ts"
import { connect } from "./oauth/agent.ts"
import { calling, postTo } from "./mcp-request.ts"

type Json = ReturnType<typeof JSON.parse>
interface Key {
  readonly id: string
  readonly token: string
}

const held = heldProvider()
let app: App
let org: Tenant
let session: string
/** Reads its own runs, with a budget of $1.00. */
let own: Key
const mine: Record<string, string> = {}
const theirs: Record<string, string> = {}
const unknown: Readonly<Record<string, string>> = {
  run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
  batch_id: "bat_01m81nzk95mq351g8pvrxgm8m4",
  allowance_id: "key_01m81nzk95mq351g8pvrxgm8m4"
}
const day = 86_400_000
const expires_at = new Date(Date.now() + day).toISOString()

const call = (by: string, method: string, path: string, body?: unknown) =>
  app.call(by, method, path, body === undefined ? {} : { body })
const get = (path: string, by = own.token) => call(by, "GET", path)
const mint = async (rules: object): Promise<Key> => {
  const { body } = await call(session, "POST", "/v1/api-keys", { name: "k", environment: "test", ...rules })
  return { id: body.id, token: body.api_key }
}
const allowance = async (by: string, more: object = {}): Promise<Key> => {
  const { body } = await call(by, "POST", "/v1/allowances", { name: "a", amount: "0.50", expires_at, ...more })
  return { id: body.id, token: body.api_key }
}
const run = async (by: string, name: string): Promise<string> =>
  (await call(by, "POST", "/v1/run", verify(name, "subject.example"))).body.run_id
const batch = async (by: string): Promise<string> => {
  const { id } = (await call(by, "POST", "/v1/batches", { runs: [verify("b", "batch.example")] })).body
  await until(
    "the batch to finish",
    () => get(`/v1/batches/${id}`, by),
    (reply: Reply) => reply.body.done
  )
  return id
}
const ids = ({ body }: Reply) => body.items.map((one: { id?: string; run_id?: string }) => one.run_id ?? one.id)

beforeAll(async () => {
  app = await startApp({ held })
  org = await app.tenant("20.00")
  session = await org.session()
  own = await mint({ budget: { limit: "1.00", period: "day" }, allow: { raw: true, read: "own", mint: true } })
  Object.assign(mine, { run_id: await run(own.token, "mine"), batch_id: await batch(own.token) })
  Object.assign(theirs, {
    run_id: await run(org.key, "theirs"),
    batch_id: await batch(org.key),
    allowance_id: (await allowance(session)).id
  })
})
afterAll(async () => {
  await app.books()
  await app.stop()
})

/** What is open to such a key, beside paths with an id. */
const open = new Set([
  ...["POST /v1/run", "GET /v1/runs", "POST /v1/batches", "GET /v1/batches", "POST /v1/quote", "POST /v1/inspect"],
  ...["GET /v1/usage", "GET /v1/history", "POST /v1/history", "GET /v1/events", "GET /v1/wallet"],
  ...["GET /v1/allowances", "POST /v1/allowances", "DELETE /v1/api-keys/{key_id}"]
])
const operations = Object.entries<Json>(OpenApi.fromApi(Api).paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods)
    .filter(([, one]) => one.security !== undefined && one.security.length > 0 && !path.startsWith("/v1/operator"))
    .map(([method]): readonly [string, string] => [method.toUpperCase(), path])
)
const idOf = (path: string) => ["run_id", "batch_id", "allowance_id"].find((name) => path.includes(`{${name}}`))

describe("a key with allow.read own", () => {
  test.each(operations)(
    "%s %s: another's object is unknown, and the organization's are refused",
    async (method, path) => {
      const name = idOf(path)
      const body = method === "GET" || method === "DELETE" ? undefined : {}
      if (name === undefined) {
        if (open.has(`${method} ${path}`)) return
        const reply = await call(own.token, method, path.replaceAll(/\{\w+\}/g, "key_x"), body)
        // A body without its fields is refused later than the key.
        expect([reply.status, reply.body.error.code]).toEqual([403, "forbidden"])
        return
      }
      const answer = async (id: string) => {
        const given = path.endsWith("/dispute") && body !== undefined ? { reason: "bounced", evidence: "x" } : body
        const { status, text } = await call(own.token, method, path.replace(`{${name}}`, id), given)
        return [status, text.replaceAll(id, "ID").replace(/req_\w+/, "REQ")]
      }
      const asked = await answer(theirs[name] ?? "")
      expect(asked[0]).toBeGreaterThanOrEqual(400)
      expect(asked).toEqual(await answer(unknown[name] ?? ""))
    }
  )

  test("reads, waits for, lists and exports its own runs and batches", async () => {
    for (const path of ["", "?wait=1", "/details", "/events"])
      expect([path, (await get(`/v1/runs/${mine["run_id"]}${path}`)).status]).toEqual([path, 200])
    // Entries of the ledger say what the organization had: they are in no details, and a receipt is refused.
    const details = await get(`/v1/runs/${mine["run_id"]}/details`)
    expect([details.body.ledger, details.text]).toEqual([[], expect.not.stringContaining("balance_after")])
    expect((await get(`/v1/runs/${mine["run_id"]}/receipt`)).body.error.code).toBe("forbidden")
    expect((await get(`/v1/runs/${mine["run_id"]}/details`, org.key)).body.ledger.length).toBeGreaterThan(0)
    const listed = ids(await get("/v1/runs"))
    expect(listed).toContain(mine["run_id"])
    expect(listed).not.toContain(theirs["run_id"])
    expect(listed).toHaveLength(2)
    const csv = await app.call(own.token, "GET", "/v1/runs", { headers: { accept: "text/csv" } })
    expect(csv.text).not.toContain(theirs["run_id"] ?? "")
    expect(csv.text).toContain(mine["run_id"] ?? "")
    expect(ids(await get(`/v1/runs?key_id=${org.key_id}`))).toEqual([])
    expect(ids(await get("/v1/batches"))).toEqual([mine["batch_id"]])
    expect((await get(`/v1/batches/${mine["batch_id"]}/results`)).text).toContain('"row":1')
    // An ordinary key reads the organization, as before.
    expect(ids(await get("/v1/runs", org.key))).toContain(mine["run_id"])
  })

  // Runs that have just ended are read themselves, and later found by the index.
  test.each(["new", "indexed"])("finds its own runs in history and usage, when they are %s", async (when) => {
    if (when === "indexed") await indexedAndCounted(app)
    const q = (by: string) => get("/v1/history?q=subject.example", by)
    const found = (await q(own.token)).body
    expect([found.count, found.items.map((one: { run_id: string }) => one.run_id)]).toEqual([1, [mine["run_id"]]])
    expect((await q(org.key)).body.count).toBe(2)
    const words = (await get("/v1/history?q=theirs&kind=text")).body
    expect(words.count).toBe(0)
    const many = await call(own.token, "POST", "/v1/history", {
      subjects: ["mine@subject.example", "theirs@subject.example"]
    })
    expect(many.body.items.map((one: { seen: boolean }) => one.seen)).toEqual([true, false])
    const usage = (by: string) => get("/v1/usage?group_by=key", by)
    await until(
      "the runs to be counted",
      () => usage(own.token),
      ({ body }) => body.items[0]?.runs >= 2
    )
    expect((await usage(own.token)).body.items.map((one: { key: string }) => one.key)).toEqual([own.id])
    expect((await usage(org.key)).body.items).toHaveLength(2)
  })

  test("sees its budget in place of the wallet, and no balance of the organization", async () => {
    expect((await get("/v1/wallet")).body).toEqual({
      currency: "USD",
      balance: "0.994",
      reserved: "0.00",
      available: "0.994"
    })
    const reply = await get(`/v1/runs/${mine["run_id"]}`)
    expect([reply.headers.get("wallet-available"), reply.headers.get("run-charged")]).toEqual([null, "0.003"])
    const bare = await mint({ allow: { raw: true, read: "own" } })
    const refused = await get("/v1/wallet", bare.token)
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining("has no budget")])
    expect((await get("/v1/api-keys")).body.error.message).toContain('allow.read "organization"')
  })

  test("reads no balance in the errors of its runs, rows, quotes and events", async () => {
    const poor = await app.tenant("0.0025")
    const person = await poor.session()
    const { body } = await call(person, "POST", "/v1/api-keys", {
      ...{ name: "k", environment: "test", allow: { raw: true, read: "own", mint: true } }
    })
    const by = body.api_key
    const refused = await call(by, "POST", "/v1/run", verify())
    expect([refused.status, refused.body.error.code]).toEqual([402, "insufficient_balance"])
    const rows = (await call(by, "POST", "/v1/batches", { runs: [verify("poor")] })).body.id
    await until(
      "the batch to finish",
      () => get(`/v1/batches/${rows}`, by),
      (reply: Reply) => reply.body.done
    )
    const shown = [
      refused,
      await get(`/v1/runs/${refused.body.run_id}`, by),
      await get("/v1/runs", by),
      await get(`/v1/batches/${rows}/results`, by),
      await call(by, "POST", "/v1/quote", verify()),
      await call(by, "POST", "/v1/allowances", { name: "a", amount: "0.50", expires_at })
    ]
    for (const { text } of shown) {
      expect(text).toContain("insufficient_balance")
      expect(text).toContain("has too little")
      expect(text).not.toContain("0.0025")
    }
    const stream = await listen(app.url, by, `/v1/runs/${refused.body.run_id}/events`)
    await stream.ended
    expect(stream.text()).toContain("has too little")
    expect(stream.text()).not.toContain("0.0025")
    await call(person, "POST", "/v1/spend-guard", { daily_limit: "0.001" })
    const limited = await call(by, "POST", "/v1/run", verify("limited"))
    expect([limited.body.error.code, limited.body.error.message.includes("$")]).toEqual(["budget_exceeded", false])
    expect((await call(poor.key, "POST", "/v1/run", verify("all"))).body.error.message).toContain("$0.001")
  })

  test("reads nothing of what others spent for a label, and of whom another run may contact", async () => {
    const other = await app.tenant("5.00")
    const person = await other.session()
    const { body } = await call(person, "POST", "/v1/api-keys", {
      ...{ name: "k", environment: "test", allow: { raw: true, read: "own" } }
    })
    const metadata = { customer: "acme, $9 per day; it resets" }
    const budget = { label: "customer", value: metadata.customer, limit: "0.007", period: "day" }
    expect((await call(person, "PUT", "/v1/label-budgets", budget)).status).toBe(200)
    expect((await call(other.key, "POST", "/v1/run", { ...verify("one"), metadata })).body.status).toBe("succeeded")
    const over = { ...verify("two"), metadata }
    const { message } = (await call(other.key, "POST", "/v1/run", over)).body.error
    expect(message).toContain("$0.003 spent or held")
    const refused = await call(body.api_key, "POST", "/v1/run", over)
    expect(refused.body.error.message).toBe(
      'this run would exceed the budget of the label customer with the value "acme, $9 per day; it resets" per day; it resets at 00:00 UTC; a person can raise it with PUT /v1/label-budgets'
    )
    const quoted = await call(body.api_key, "POST", "/v1/quote", over)
    expect(quoted.text).not.toContain("spent or held")
    await call(person, "POST", "/v1/approval-rules", { name: "mail", keys: [other.key_id] })
    const input = { from: "hello@example.com", to: "ada@example.com", subject: "Hello", text: "Hello" }
    const mail = { capability: "email.send", input, unless_contacted_within_seconds: 3_600 }
    const waiting = (await call(other.key, "POST", "/v1/run", mail)).body.run_id
    const { error } = (await call(body.api_key, "POST", "/v1/run", mail)).body
    expect([error.code, error.message]).toEqual([
      "contact_guard",
      expect.stringMatching(/^ada@example.com will be contacted if another run is approved before 20.*Z; leave/)
    ])
    expect((await call(person, "POST", `/v1/runs/${waiting}/deny`, {})).status).toBe(200)
  })

  test("takes no result and no run of another key", async () => {
    const reuse = (mode: string) => ({ ...verify("theirs", "subject.example"), reuse: { mode } })
    expect((await call(own.token, "POST", "/v1/run", reuse("only"))).body.status).toBe("no_match")
    const quote = await call(own.token, "POST", "/v1/quote", reuse("prefer"))
    expect([quote.status, quote.text.includes("reused_from"), quote.text.includes("run_")]).toEqual([200, false, false])
    const bought = (await call(own.token, "POST", "/v1/run", reuse("prefer"))).body
    expect([bought.status, bought.billing.charged, bought.reused_from ?? null]).toEqual(["succeeded", "0.003", null])
    for (const mode of ["only", "prefer"]) {
      const { body } = await call(own.token, "POST", "/v1/run", reuse(mode))
      expect([body.status, body.billing.charged, body.reused_from]).toEqual(["succeeded", "0.00", bought.run_id])
    }
    const headers = { "idempotency-key": "shared" }
    const body = verify("shared", "subject.example")
    const first = await app.call(org.key, "POST", "/v1/run", { body, headers })
    const repeated = await app.call(own.token, "POST", "/v1/run", { body, headers })
    expect([repeated.status, repeated.body.error.code]).toEqual([422, "idempotency_key_reused"])
    expect(repeated.text).not.toContain(first.body.run_id)
    const runs = { runs: [verify("shared-b", "subject.example")] }
    const one = await app.call(org.key, "POST", "/v1/batches", { body: runs, headers })
    const again = await app.call(own.token, "POST", "/v1/batches", { body: runs, headers })
    expect([again.status, again.text.includes(one.body.id)]).toEqual([422, false])
  })

  test("joins no run of another key, and another key joins none of its runs", async () => {
    const joining = { ...rehearseHeld("joins"), reuse: { mode: "prefer" } }
    const [first, second] = [call(own.token, "POST", "/v1/run", joining), call(own.token, "POST", "/v1/run", joining)]
    await held.holds(2)
    const other = call(org.key, "POST", "/v1/run", joining)
    await held.holds(3)
    const third = call(own.token, "POST", "/v1/run", joining)
    await held.holds(4)
    held.release()
    for (const { body } of await Promise.all([first, second, other, third]))
      expect([body.status, body.billing.charged, body.reused_from ?? null]).toEqual(["succeeded", "0.003", null])
  })

  test("follows the events of its own runs", async () => {
    const stream = await listen(app.url, own.token)
    const [other, another] = [await run(org.key, "evt-theirs"), await run(own.token, "evt-mine")]
    await stream.wait("the end of the own run", (seen) =>
      seen.some(({ type, data }) => type === "run.finished" && JSON.stringify(data).includes(another))
    )
    const text = stream.text()
    expect(text).toContain(another)
    expect(text).not.toContain(other)
    expect(text).not.toContain("wallet.changed")
    stream.close()
  })

  test("the tools of MCP show the same", async () => {
    const tool = async (name: string, given: Record<string, unknown> = {}) =>
      (await (await postTo(app.url, calling(name, given), { key: own.token })).text()).replaceAll("\\", "")
    const listed = await tool("list_runs")
    expect(listed).toContain(mine["run_id"] ?? "")
    expect(listed).not.toContain(theirs["run_id"] ?? "")
    expect(await tool("get_run", { run_id: theirs["run_id"] })).toContain("There is no run")
    const wallet = await tool("wallet")
    expect(wallet).toContain('"isError":false')
    expect(wallet).not.toContain("daily_limit")
  })

  test("a key that replaces it goes on reading its runs", async () => {
    const first = await mint({ budget: { limit: "1.00", period: "day" }, allow: { raw: true, read: "own" } })
    const id = await run(first.token, "rotated")
    const { body } = await call(session, "POST", `/v1/api-keys/${first.id}/rotate`, {})
    expect((await get(`/v1/runs/${id}`, body.api_key)).status).toBe(200)
    const later = await run(body.api_key, "after")
    expect(ids(await get("/v1/runs", body.api_key))).toEqual([later, id])
  })

  test("a change of what it reads holds for the next request", async () => {
    const key = await mint({ allow: { raw: true } })
    expect((await get(`/v1/runs/${theirs["run_id"]}`, key.token)).status).toBe(200)
    const changed = await call(session, "PATCH", `/v1/api-keys/${key.id}`, { allow: { raw: true, read: "own" } })
    expect(changed.body.allow).toEqual({ raw: true, read: "own" })
    expect((await get(`/v1/runs/${theirs["run_id"]}?wait=1`, key.token)).status).toBe(400)
  })
})

describe("the default", () => {
  test("of an allowance is own, unless a person gives more", async () => {
    const agent = await allowance(session)
    const agentRun = await run(agent.token, "allowance")
    expect(ids(await get("/v1/runs", agent.token))).toEqual([agentRun])
    expect((await get("/v1/wallet", agent.token)).body.available).toBe("0.497")
    expect((await get(`/v1/allowances/${agent.id}`, session)).body.allow).toMatchObject({ read: "own" })
    const wide = await allowance(session, { allow: { read: "organization" } })
    expect(ids(await get("/v1/runs", wide.token))).toContain(theirs["run_id"])
    // What it can spend is its own, whatever it reads.
    expect((await get("/v1/wallet", wide.token)).body).toMatchObject({ balance: "0.50", available: "0.50" })
    const available = async (key: { token: string }) =>
      (await get(`/v1/runs/${await run(key.token, "subject")}`, key.token)).headers.get("wallet-available")
    expect(await available(wide)).toBeNull()
    const spender = await mint({ allow: { raw: true }, budget: { limit: "1.00", period: "day" } })
    expect(await available(spender)).toBe((await get("/v1/wallet", spender.token)).body.available)
    const child = await allowance(own.token, { amount: "0.10" })
    expect(ids(await get("/v1/allowances"))).toEqual([child.id])
    expect((await get(`/v1/allowances/${child.id}`)).status).toBe(200)
    const wider = await call(own.token, "POST", "/v1/allowances", {
      ...{ name: "a", amount: "0.10", expires_at },
      allow: { read: "organization" }
    })
    expect([wider.status, wider.body.error.details[0].path]).toEqual([400, "allow.read"])
  })

  test("an allowance ends when the key that gave it reads less than the allowance", async () => {
    const giver = await mint({ allow: { mint: true } })
    const [wide, narrow] = [
      await allowance(giver.token, { amount: "0.10", allow: { read: "organization" } }),
      await allowance(giver.token, { amount: "0.10" })
    ]
    expect((await get("/v1/runs", wide.token)).status).toBe(200)
    await call(session, "PATCH", `/v1/api-keys/${giver.id}`, { allow: { mint: true, read: "own" } })
    expect((await get("/v1/runs", wide.token)).status).toBe(401)
    expect((await get("/v1/runs", narrow.token)).status).toBe(200)
  })

  test("of a connected agent is own, also if it was connected before this release", async () => {
    const { kept } = await connect(app, session, { approve: true, budget: { limit: "1.00", period: "month" } })
    const token = kept.tokens?.access_token ?? ""
    expect(ids(await get("/v1/runs", token))).toEqual([])
    const [{ id }] = (await get("/v1/api-keys?limit=1", session)).body.items
    await app.sql(`UPDATE api_keys SET allow = '{"raw": true}' WHERE key_id = $1`, [id])
    expect(ids(await get("/v1/runs", token))).toEqual([])
    expect((await get(`/v1/api-keys/${id}`, session)).body.allow).toEqual({ raw: true, read: "own" })
    await call(session, "PATCH", `/v1/api-keys/${id}`, { allow: { raw: true, read: "organization" } })
    expect(ids(await get("/v1/runs", token))).toContain(theirs["run_id"])
  })
})
