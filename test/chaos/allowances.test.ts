/**
 * Allowances while processes die: between the key, the hold and the answer. A retry gets the one allowance, whose amount is held once, and
 * what nobody asks for again returns.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { until } from "./processes.ts"
import { report, World } from "./world.ts"

/** What a turn writes, it writes at once: crash.test.ts. */
const points = ["allowance.stored", "allowance.held"] as const
const expires_at = new Date(Date.now() + 3_600_000).toISOString()
const micros = 2_000_000

let world: World
beforeAll(async () => {
  world = await World.open({ backend: "postgres" })
  await world.start("all")
  await world.openAccounts()
  await world.query(`UPDATE api_keys SET allow = '{"mint": true}'`)
})
afterAll(() => world?.close())

const give = async (url: string, key: string | null, amount = "2.00") => {
  const [customer] = world.customers
  if (customer === undefined) throw new Error("open the accounts first")
  const response = await fetch(`${url}/v1/allowances`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${customer.token}`,
      "content-type": "application/json",
      ...(key === null ? {} : { "idempotency-key": key })
    },
    body: JSON.stringify({ name: "agent", amount, expires_at }),
    signal: AbortSignal.timeout(20_000)
  }).catch(() => null)
  return { status: response?.status ?? null, body: JSON.parse((await response?.text().catch(() => "")) || "{}") }
}
const held = async () => {
  const [row] = await world.query("SELECT sum(allowances_held)::int AS held FROM wallets")
  return Number(row?.["held"])
}
const survivor = () => {
  const [service] = world.services
  if (service === undefined) throw new Error("no process")
  return service
}

test.each(points)(
  "killed at %s",
  async (point) => {
    const doomed = await world.start("all", { RUNGATE_CRASH_AT: `${point}:1` })
    await Promise.all([give(doomed.url, point), give(doomed.url, null)])
    await until(`death at ${point}`, 10_000, () => !doomed.alive())
    const [first, again] = [await give(survivor().url, point), await give(survivor().url, point)]
    expect([first.status, again.status, again.body.id]).toEqual([200, 200, first.body.id])
    // Whoever never came back for an allowance gets no money.
    await world.query("UPDATE key_budgets SET created_at = now() - interval '2 minutes' WHERE allowance = 'pending'")
    await until("nothing is pending", 20_000, async () => {
      const [row] = await world.query("SELECT count(*)::int AS open FROM key_budgets WHERE allowance = 'pending'")
      return row?.["open"] === 0
    })
    const [row] = await world.query("SELECT count(*)::int AS open FROM key_budgets WHERE allowance = 'open'")
    expect(await held()).toBe(Number(row?.["open"]) * micros)
    expect(await held()).toBeGreaterThanOrEqual(micros)
    await world.query(
      "UPDATE api_keys SET revoked_at = now() WHERE revoked_at IS NULL AND key_id IN (SELECT key_id FROM allowances)"
    )
    await until("all of it is back", 20_000, async () => (await held()) === 0)
    const violations = await world.violations()
    report({ test: "allowances.kill9", point, violations })
    expect(violations).toEqual([])
  },
  180_000
)

test("killed before it has said that the amount is refused", async () => {
  const doomed = await world.start("all", { RUNGATE_CRASH_AT: "allowance.held:1" })
  await give(doomed.url, "refused", "999999.00")
  await until("the death", 10_000, () => !doomed.alive())
  const again = () => give(survivor().url, "refused", "999999.00")
  // The first repeat can't say why, and forgets the allowance.
  expect([(await again()).status, (await again()).body.error.code]).toEqual([503, "insufficient_balance"])
  const keys = await world.query(
    "SELECT FROM api_keys k JOIN key_budgets b USING (key_id) WHERE b.allowance = 'closed' AND k.revoked_at IS NULL"
  )
  expect(keys).toEqual([])
})
