/** A key's budget under concurrency: no interleaving over two processes admits more than it allows. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, backends, figures, startApp, type Tenant, timed, verify } from "../kit/app.ts"
import { howMany, sampled } from "../kit/input-samples.ts"

const parallel = howMany(2_000, 200)
const held = 4_800n
const micros = (usd: string) => BigInt(Math.round(Number(usd) * 1_000_000))

describe.each(sampled(backends, 1))("budgets of API keys over two processes, queues on %s", (backend) => {
  let apps: readonly [App, App]
  beforeAll(async () => {
    const first = await startApp({ backend, settings: { RUNGATE_ORG_QUEUE: "10000" } })
    apps = [first, await startApp({ beside: first, settings: { RUNGATE_ORG_QUEUE: "10000" } })]
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
  })

  /** Runs of one key over both processes, in turn, and how many had each status. */
  const race = async (org: Tenant, token: string, of: (index: number) => Record<string, unknown>) => {
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, index) =>
        apps[index % 2 === 0 ? 0 : 1].call(token, "POST", "/v1/run", { body: of(index) })
      )
    )
    await apps[0].books()
    const admitted = answers.filter(({ status }) => status === 200)
    const codes = new Set(answers.flatMap(({ status, body }) => (status === 200 ? [] : [body.error.code])))
    const controls = new Set(
      answers.flatMap(({ body }) => (body.controls ?? []).map((one: { control: string }) => one.control))
    )
    const charged = (await org.ledger()).filter(({ type }) => type === "settle")
    const spent = charged.reduce((sum, { amount }) => sum - micros(amount), 0n)
    return { admitted: admitted.length, refused: answers.length - admitted.length, codes, controls, spent }
  }
  const keyWith = async (org: Tenant, rules: Record<string, unknown>) => {
    const session = await org.session()
    const body = { name: "k", environment: "test", ...rules }
    return { session, ...(await apps[0].call(session, "POST", "/v1/api-keys", { body })).body }
  }

  test("never admits more than the budget allows, and counts exactly what the ledger has", async () => {
    const org = await apps[0].tenant("50.00")
    const limit = parallel === 2_000 ? "0.45" : "0.15"
    const key = await keyWith(org, { budget: { limit, period: "day" } })
    const { value, millis } = await timed(() => race(org, key.api_key, (index) => verify(`p${index}`)))
    const { admitted, refused, codes, controls, spent } = value
    expect(spent).toBeLessThanOrEqual(micros(limit))
    expect(refused).toBeGreaterThan(0)
    expect([...codes]).toEqual(["budget_exceeded"])
    expect([...controls]).toEqual(["key_budget"])
    const record = await apps[0].call(key.session, "GET", `/v1/api-keys/${key.id}`)
    expect(micros(record.body.budget.spent)).toBe(spent)
    // What is left is less than one more run holds, unless runs were still open when the last one was refused.
    const rest = await apps[0].call(key.api_key, "POST", "/v1/run", { body: verify("last") })
    expect(rest.status).toBe(micros(limit) - spent >= held ? 200 : 402)
    figures("key_budget.race", { backend, parallel, admitted, refused, spent: String(spent), millis })
  })

  test("daily guard, per-run limit, budget and wallet hold together", async () => {
    const org = await apps[0].tenant("0.30")
    await org.post("/v1/spend-guard", { per_run_limit: "0.0050", daily_limit: "0.12" })
    const key = await keyWith(org, { budget: { limit: "0.10", period: "week" } })
    const other = await keyWith(org, {})
    const both = (index: number) =>
      index % 10 === 0 ? { ...verify(`q${index}`), routing: { provider: "hunter" } } : verify(`q${index}`)
    const first = await race(org, key.api_key, both)
    expect(first.spent).toBeLessThanOrEqual(100_000n)
    const second = await race(org, other.api_key, both)
    expect(second.spent).toBeLessThanOrEqual(120_000n)
    expect([...first.codes, ...second.codes]).toContain("budget_exceeded")
    expect([...second.controls]).not.toContain("key_budget")
  })
})
