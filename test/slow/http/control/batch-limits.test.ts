/** What ends a batch's rows early: the API key, the wallet, the spend guard and caps. Each row says why, and nothing hangs. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { type App, oneBackend, type Reply, startApp, type Tenant, until, verify } from "../../../kit/app.ts"

interface Line {
  readonly row: number
  readonly status: string
  readonly run_id: string | null
  readonly error?: { readonly code: string; readonly message: string }
}

describe.each(oneBackend)("limits of a batch, queues on %s", (backend) => {
  let app: App
  let org: Tenant
  let session: string
  beforeAll(async () => {
    // A batch has at most half of these slots, so its other rows wait.
    app = await startApp({ backend, settings: { RUNGATE_CONCURRENCY: "6" } })
    org = await app.tenant("20.00")
    session = await org.session()
  })
  afterAll(() => app.stop())
  afterEach(async () => {
    await app.books()
  })

  const mint = async (rules: object = {}) =>
    (await app.call(session, "POST", "/v1/api-keys", { body: { name: "k", environment: "test", ...rules } })).body
  const change = async (key_id: string, body: object) => {
    const { status, text } = await app.call(session, "PATCH", `/v1/api-keys/${key_id}`, { body })
    expect([status, status === 200 ? "" : text]).toEqual([200, ""])
  }
  const start = async (token: string, runs: ReadonlyArray<object>, more: object = {}): Promise<string> => {
    const { status, body, text } = await app.call(token, "POST", "/v1/batches", { body: { runs, ...more } })
    expect([status, status === 202 ? "" : text]).toEqual([202, ""])
    return body.id
  }
  const read = async (id: string, by = session): Promise<Reply["body"]> =>
    (await app.call(by, "GET", `/v1/batches/${id}`)).body
  const finished = (id: string, by = session) =>
    until(
      "the batch to finish",
      () => read(id, by),
      ({ done }) => done
    )
  const firstRowEnded = (id: string, by = session) =>
    until(
      "a row to end",
      () => read(id, by),
      ({ rows: counts }) => counts.open < counts.total
    )
  const results = async (id: string, by = session): Promise<ReadonlyArray<Line>> => {
    const { text } = await app.call(by, "GET", `/v1/batches/${id}/results`)
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
  }
  const codes = async (id: string, by = session) => [
    ...new Set((await results(id, by)).flatMap(({ error }) => error?.code ?? []))
  ]
  /** Three are open at a time, so the batch goes on while its key changes. */
  const rows = (count: number, name: string) => Array.from({ length: count }, (_, n) => verify(`${name}${n}`))

  const ends: ReadonlyArray<readonly [string, string, (key_id: string) => Promise<unknown>]> = [
    ["a revoked key", "unauthorized", (key_id) => app.call(session, "DELETE", `/v1/api-keys/${key_id}`)],
    [
      "a key rotated without grace",
      "unauthorized",
      (key_id) => app.call(session, "POST", `/v1/api-keys/${key_id}/rotate`, { body: { grace_seconds: 0 } })
    ],
    [
      "an expired key",
      "unauthorized",
      (key_id) => app.sql("UPDATE api_keys SET expires_at = now() WHERE key_id = $1", [key_id])
    ],
    [
      "a scope without the capability",
      "forbidden",
      (key_id) => change(key_id, { allow: { capabilities: ["email.find"] } })
    ],
    ["a scope with a lower cap", "forbidden", (key_id) => change(key_id, { allow: { max_cost: "0.0001" } })]
  ]
  test.each(ends)("%s blocks the rows that have not started, and lets those end that have", async (_, code, end) => {
    const key = await mint()
    const id = await start(key.api_key, rows(40, key.id.slice(-4)))
    await firstRowEnded(id)
    await end(key.id)
    const batch = await finished(id)
    expect(batch.status).toBe("finished")
    expect(batch.rows.succeeded).toBeGreaterThan(0)
    expect(batch.rows.blocked).toBeGreaterThan(0)
    expect(batch.rows.succeeded + batch.rows.blocked).toBe(40)
    const blocked = (await results(id)).filter(({ status }) => status === "blocked")
    expect(new Set(blocked.map(({ run_id, error }) => `${run_id} ${error?.code}`))).toEqual(new Set([`null ${code}`]))
  })

  test("a key rotated with grace goes on", async () => {
    const key = await mint()
    const id = await start(key.api_key, rows(12, "grace"))
    await firstRowEnded(id)
    await app.call(session, "POST", `/v1/api-keys/${key.id}/rotate`, { body: { grace_seconds: 3600 } })
    expect((await finished(id)).rows.succeeded).toBe(12)
  })

  test("a budget that the key gets meanwhile counts the rows after it, and max_total still holds", async () => {
    const key = await mint()
    // A row holds 0.0039 and charges 0.003.
    const id = await start(key.api_key, rows(30, "budget"), { max_total: "1.00" })
    await firstRowEnded(id)
    await change(key.id, { budget: { limit: "0.012", period: "total" } })
    const batch = await finished(id)
    const { budget } = (await app.call(session, "GET", `/v1/api-keys/${key.id}`)).body
    expect(Number(budget.spent)).toBeGreaterThan(0)
    expect(Number(budget.spent)).toBeLessThanOrEqual(0.012)
    expect(Number(batch.charged)).toBeGreaterThan(Number(budget.spent))
    expect(batch.rows.succeeded + batch.rows.blocked).toBe(30)
    expect(await codes(id)).toEqual(["budget_exceeded"])
    const blocked = (await results(id)).filter(({ status }) => status === "blocked")
    expect(blocked.every(({ error }) => error?.message.includes("budget of this API key"))).toBe(true)
  })

  test("a wallet that runs empty blocks the other rows, and credit helps the next batch only", async () => {
    const poor = await app.tenant("0.01")
    const id = await start(poor.key, rows(10, "poor"))
    const batch = await finished(id, poor.key)
    expect(batch.rows.succeeded).toBeGreaterThan(0)
    expect(batch.rows.succeeded + batch.rows.blocked).toBe(10)
    expect(await codes(id, poor.key)).toEqual(["insufficient_balance"])
    expect((await poor.wallet()).reserved).toBe("0.00")
    await poor.credit("1.00")
    expect(await read(id, poor.key)).toEqual(batch)
  })

  test("the spend guard, set in the middle, blocks the other rows", async () => {
    const careful = await app.tenant("1.00")
    const id = await start(careful.key, rows(20, "guard"))
    await firstRowEnded(id, careful.key)
    const { status } = await careful.post("/v1/spend-guard", { daily_limit: "0.00" })
    expect(status).toBe(200)
    const batch = await finished(id, careful.key)
    expect(batch.rows.blocked).toBeGreaterThan(0)
    expect(batch.rows.succeeded + batch.rows.blocked).toBe(20)
    expect(await codes(id, careful.key)).toEqual(["budget_exceeded"])
  })

  test("a row's own max_cost blocks that row only", async () => {
    const capped = { ...verify("capped"), routing: { max_cost: "0.0001" } }
    const id = await start(org.key, [verify("one"), capped, verify("two")])
    const batch = await finished(id)
    expect(batch.rows).toMatchObject({ succeeded: 2, blocked: 1 })
    const [, blocked] = await results(id)
    expect(blocked).toMatchObject({ status: "blocked", run_id: null, error: { code: "provider_not_available" } })
  })

  test("a key whose scope lacks a capability starts no batch with it", async () => {
    const key = await mint({ allow: { capabilities: ["email.find"] } })
    const { status, body }: Reply = await app.call(key.api_key, "POST", "/v1/batches", { body: { runs: [verify()] } })
    expect([status, body.error.code]).toEqual([403, "forbidden"])
    expect(body.error.message).toStartWith("runs.0: ")
  })
})
