/**
 * Allowances under concurrency: over two processes, siblings, their children and the organization's other keys spend at once while
 * allowances are given and revoked. None of them passes its amount, and what comes back is exact.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, startApp, type Tenant, until, verify } from "../kit/app.ts"

const expires_at = new Date(Date.now() + 3_600_000).toISOString()
const micros = (usd: string) => BigInt(Math.round(Number(usd) * 1_000_000))

let apps: readonly [App, App]
beforeAll(async () => {
  const settings = { RUNGATE_ORG_QUEUE: "10000" }
  const first = await startApp({ settings })
  apps = [first, await startApp({ beside: first, settings })]
})
afterAll(async () => {
  await apps[1].stop()
  await apps[0].stop()
})

interface Given {
  readonly id: string
  readonly api_key: string
}
const either = (index: number) => apps[index % 2 === 0 ? 0 : 1]
const give = (token: string, amount: string, index = 0, more: Record<string, unknown> = {}) =>
  either(index).call(token, "POST", "/v1/allowances", { body: { name: `agent ${index}`, amount, expires_at, ...more } })
const given = async (token: string, amount: string, more: Record<string, unknown> = {}): Promise<Given> =>
  (await give(token, amount, 0, more)).body
const minting = { allow: { mint: true } }

/** Charged to the runs of each key, in microdollars. */
const chargedOf = async (org: Tenant) => {
  const rows = await apps[0].sql(
    "SELECT key_id, sum(charged)::text AS sum FROM runs WHERE org_id = $1 AND charged > 0 GROUP BY key_id",
    [org.org_id]
  )
  return new Map(rows.map(({ key_id, sum }) => [String(key_id), BigInt(String(sum))]))
}

describe("allowances over two processes", () => {
  test("siblings, children and other keys spend at once, and none passes its amount", async () => {
    const org = await apps[0].tenant("0.50")
    const session = await org.session()
    const parent = await given(session, "0.15", minting)
    const child = await given(parent.api_key, "0.06")
    const sibling = await given(session, "0.06")
    const spenders = [parent, child, sibling, { id: org.key_id, api_key: org.key }]
    const runs = Array.from({ length: 160 }, (_, index) => {
      const { api_key } = spenders[index % spenders.length] ?? sibling
      return either(index >> 2).call(api_key, "POST", "/v1/run", { body: verify(`p${index}`) })
    })
    // Meanwhile: one that is given and revoked, and more than is left.
    const late = give(parent.api_key, "0.04", 1).then(({ body }) =>
      body.id === undefined ? null : apps[1].call(session, "DELETE", `/v1/allowances/${body.id}`)
    )
    const answers = await Promise.all(runs)
    await late
    await apps[0].books()
    const refused = new Set(answers.flatMap(({ status, body }) => (status === 200 ? [] : [body.error.code])))
    expect([...refused].toSorted()).toEqual(
      ["budget_exceeded", "insufficient_balance"].filter((code) => refused.has(code))
    )
    expect(refused.has("budget_exceeded")).toBe(true)
    const charged = await chargedOf(org)
    const of = ({ id }: Given) => charged.get(id) ?? 0n
    expect(of(sibling)).toBeLessThanOrEqual(60_000n)
    expect(of(child)).toBeLessThanOrEqual(60_000n)
    expect(of(parent) + of(child)).toBeLessThanOrEqual(150_000n)
    // Forty runs of $0.003 fit into no allowance of $0.06, and into $0.06 fit more than ten holds.
    for (const one of [child, sibling]) expect(of(one)).toBeGreaterThan(30_000n)

    await Promise.all([parent, sibling].map(({ id }, n) => either(n).call(session, "DELETE", `/v1/allowances/${id}`)))
    const total = [...charged.values()].reduce((sum, one) => sum + one, 0n)
    const wallet = await until("all of it is back", org.wallet, ({ reserved }) => micros(reserved) === 0n)
    expect(micros(wallet.available)).toBe(500_000n - total)
    const { violations } = await apps[0].books()
    figures("allowances.race", { runs: runs.length, charged: String(total), violations: violations.length })
  })

  test("of many that are given at once, as many are held as there is money", async () => {
    const org = await apps[0].tenant("0.10")
    const session = await org.session()
    const parent = await given(session, "0.05", minting)
    const asked = Array.from({ length: 24 }, (_, n) => give(n % 2 === 0 ? session : parent.api_key, "0.01", n >> 1))
    const answers = await Promise.all(asked)
    const statuses = Map.groupBy(answers, ({ status }) => status)
    expect([statuses.get(200)?.length, statuses.get(402)?.length]).toEqual([10, 14])
    expect((await org.wallet()).available).toBe("0.00")
    await apps[0].books()
    // Their parents first: each ends once, whoever asks.
    const ids = answers.flatMap(({ body }) => (body.id === undefined ? [] : [body.id]))
    await Promise.all([parent.id, ...ids].map((id, n) => either(n).call(session, "DELETE", `/v1/allowances/${id}`)))
    await until("all of it is back", org.wallet, ({ available }) => available === "0.10")
    await apps[0].books()
  })

  test("the database refuses what a turn would never write", async () => {
    const org = await apps[0].tenant("0.10")
    const session = await org.session()
    const [outer, inner] = [await given(session, "0.05", minting), await given(session, "0.01")]
    const refused = (statement: string, values: ReadonlyArray<unknown>) =>
      apps[0].sql(statement, values).then(
        () => "accepted",
        (error: Error) => error.message
      )
    const cases: ReadonlyArray<readonly [string, ReadonlyArray<unknown>, string]> = [
      ["UPDATE key_budgets SET held = 0 WHERE key_id = $1", [inner.id], "does not hold what its allowances hold"],
      ["UPDATE key_budgets SET held = amount + 1 WHERE key_id = $1", [inner.id], "key_budget_held"],
      [
        "UPDATE key_budgets SET allowance = 'pending', held = 0 WHERE key_id = $1",
        [inner.id],
        "can't be pending again"
      ],
      ["UPDATE wallets SET allowances_held = reserved + 1 WHERE org_id = $1", [org.org_id], "wallet_allowances"],
      [
        `INSERT INTO allowances (key_id, org_id, budget_id, parent_key_id, depth, fingerprint)
         SELECT 'key_x', $1, budget_id, $2, 1, '' FROM key_budgets WHERE key_id = $3`,
        [org.org_id, outer.id, inner.id],
        "has another depth"
      ]
    ]
    for (const [statement, values, why] of cases)
      expect([statement, await refused(statement, values)]).toEqual([statement, expect.stringContaining(why)])
    await apps[0].books()
    await apps[0].sql("ALTER TABLE key_budgets DISABLE TRIGGER allowance_is_held")
    await apps[0].sql("UPDATE key_budgets SET held = held - 1 WHERE key_id = $1", [inner.id])
    await apps[0].sql("ALTER TABLE key_budgets ENABLE TRIGGER allowance_is_held")
    const found = await apps[0].call(session, "GET", "/v1/wallet/audit")
    expect(found.text).toContain(inner.id)
    expect(found.text).toContain("E18")
  })
})
