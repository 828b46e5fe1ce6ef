/** Each field of what the operator reads is the stored column of that name, in its form of JSON. */
import { beforeAll, expect, test } from "bun:test"
import { type Tenant, verify, withApp } from "../../kit/app.ts"
import { type OperatorTab, operatorOf } from "./operator.ts"

let org: Tenant
let tab: OperatorTab
let run_id: string
const app = withApp()
const at = new Date("2026-11-20T10:11:12.345Z")
const time = at.toISOString()
beforeAll(async () => {
  org = await app.tenant("5.00")
  tab = await operatorOf(app, "grace")
  run_id = (await org.run(verify())).body.run_id
})

test("a payment, as listed and as a part of its organization", async () => {
  const row = ["pay_1", org.org_id, "cs_1", "pi_1", at, new Date(at.getTime() + 1_000)]
  await app.sql(
    `INSERT INTO payments (payment_id, org_id, kind, amount, state, session_id, payment_intent, clawed_back, failure, created_at, ended_at)
     VALUES ($1, $2, 'checkout', 25000000, 'paid', $3, $4, 1230000, 'card declined', $5, $6)`,
    row
  )
  const payment = {
    payment_id: "pay_1",
    kind: "checkout",
    amount: "25.00",
    state: "paid",
    session_id: "cs_1",
    payment_intent: "pi_1",
    clawed_back: "1.23",
    failure: "card declined",
    created_at: time,
    ended_at: "2026-11-20T10:11:13.345Z"
  }
  const { body } = await tab.get("/payments")
  const [named] = await app.sql("SELECT name AS organization FROM orgs WHERE org_id = $1", [org.org_id])
  expect(body).toEqual({ items: [{ ...payment, ...named, org_id: org.org_id }], next_cursor: null })
  expect((await tab.get(`/organizations/${org.org_id}`)).body.payments).toEqual([payment])
})

test("a loss, with the totals of all losses", async () => {
  await app.sql(
    `INSERT INTO losses (run_id, org_id, provider, reason, measured, charge, cost, at)
     VALUES ($1, $2, 'hunter', 'below_cost', false, 3000, 5000, $3)`,
    [run_id, org.org_id, at]
  )
  const [listed] = await app.sql("SELECT capability, endpoint FROM runs WHERE run_id = $1", [run_id])
  const { body } = await tab.get(`/losses?org_id=${org.org_id}`)
  expect(body).toEqual({
    items: [
      {
        run_id,
        org_id: org.org_id,
        ...listed,
        provider: "hunter",
        reason: "below_cost",
        charge: "0.003",
        cost: "0.005",
        loss: "0.002",
        cost_basis: "partly_estimated",
        at: time
      }
    ],
    totals: [{ provider: "hunter", reason: "below_cost", runs: 1, loss: "0.002" }],
    next_cursor: null
  })
  expect((await tab.get(`/organizations/${org.org_id}`)).body.losses).toEqual({ runs: 1, loss: "0.002" })
})

test("an unknown outcome with what was found out", async () => {
  await app.sql(
    `INSERT INTO unknown_outcomes (run_id, org_id, provider, why, provider_state, at, finding, note, found_at)
     VALUES ($1, $2, 'hunter', 'no_answer', '{"job": 7}', $3, 'delivered', 'seen', $3)`,
    [run_id, org.org_id, at]
  )
  const [listed] = await app.sql("SELECT capability, endpoint FROM runs WHERE run_id = $1", [run_id])
  expect((await tab.get("/unknown-outcomes?resolved=true")).body.items).toEqual([
    {
      run_id,
      org_id: org.org_id,
      provider: "hunter",
      ...listed,
      why: "no_answer",
      provider_state: '{"job": 7}',
      at: time,
      finding: "delivered",
      note: "seen",
      found_at: time,
      next_look: null
    }
  ])
})

test("people, keys, entries and limits of an organization", async () => {
  const { body } = await tab.get(`/organizations/${org.org_id}`)
  const [wallet] = await app.sql("SELECT balance::text, reserved::text FROM wallets WHERE org_id = $1", [org.org_id])
  const micros = (amount: string) => String(Math.round(Number(amount) * 1e6))
  expect({ balance: micros(body.balance), reserved: micros(body.reserved) }).toMatchObject({ ...wallet })
  const keys = await app.sql("SELECT key_id AS id, name, environment FROM api_keys WHERE org_id = $1", [org.org_id])
  expect(body.keys).toMatchObject(keys)
  expect(Object.keys(body.keys[0])).toContain("revoked_at")
  const entries = await app.sql(
    "SELECT txn_id AS id, type, reference, note FROM ledger WHERE org_id = $1 ORDER BY seq DESC LIMIT 20",
    [org.org_id]
  )
  expect(body.entries).toMatchObject(entries)
  expect(body.guard).toMatchObject({ per_run_limit: null, daily_limit: null })
})
