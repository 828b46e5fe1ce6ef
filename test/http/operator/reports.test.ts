/** Providers, payments, unknown outcomes and invitations, as the operator reads and resolves them. */
import { beforeAll, describe, expect, test } from "bun:test"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { type Tenant, verify, withApp } from "../../kit/app.ts"
import { type OperatorTab, operatorOf } from "./operator.ts"

let org: Tenant
let tab: OperatorTab
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("5.00")
  tab = await operatorOf(app, "grace")
})

const operatorLog = (action: string) =>
  app.sql("SELECT actor, actor_name, org_id FROM audit_log WHERE action = $1", [action])

test("providers say whether they are configured, checked and healthy", async () => {
  const { status, body } = await tab.get("/providers")
  expect([status, body.mode]).toEqual([200, "sandbox"])
  const hunter = body.providers.find((one: { provider: string }) => one.provider === "hunter")
  expect(hunter).toMatchObject({ variable: "RUNGATE_PROVIDER_HUNTER_API_KEY", checked_at: null })
  expect(hunter.serves.length).toBeGreaterThan(0)
  expect(body.paused).toEqual([])
})

test("margins add up to what the wallet was charged, and losses are listed", async () => {
  const { body: run } = await org.run(verify())
  expect(run.status).toBe("succeeded")
  const margins = await tab.get("/margins?days=1")
  expect([margins.status, margins.body.total.charged]).toEqual([200, run.billing.charged])
  expect(margins.body.ended).toEqual([{ status: "succeeded", runs: 1 }])
  for (const days of ["0", "367", "x", "1.5"]) expect((await tab.get(`/margins?days=${days}`)).status).toBe(400)
  const losses = await tab.get("/losses?limit=1")
  expect([losses.status, Array.isArray(losses.body.items)]).toEqual([200, true])
})

describe("payments", () => {
  test("of all organizations are listed and filtered, and mismatches shown", async () => {
    const session = await org.session()
    const paid = await app.call(session, "POST", "/v1/wallet/topups/checkout", { body: { amount: "25.00" } })
    expect(paid.status).toBe(200)
    const { body } = await tab.get(`/payments?org_id=${org.org_id}`)
    expect(body.items).toHaveLength(1)
    expect(body.items[0]).toMatchObject({ org_id: org.org_id, amount: "25.00", kind: "simulated", state: "paid" })
    expect((await tab.get("/payments?state=failed")).body.items).toEqual([])
    const typo = await tab.get("/payments?org_id=nobody")
    expect([typo.status, typo.body.error.details[0].path]).toEqual([400, "query.org_id"])
    expect((await tab.get("/payments?state=stolen")).status).toBe(400)
    expect((await tab.get("/payments?cursor=x")).body.error.details[0].path).toBe("query.cursor")
    await app.sql(
      "INSERT INTO payment_events (event_id, payment_id, org_id, fact, outcome) VALUES ('evt_<b>', $1, $2, 'Paid', 'mismatch')",
      [body.items[0].payment_id, org.org_id]
    )
    const { body: mismatches } = await tab.get("/payments/mismatches")
    expect(mismatches.items).toMatchObject([{ event_id: "evt_<b>", payment_id: body.items[0].payment_id }])
  })
})

describe("unknown outcomes", () => {
  const unknownRun = async () => {
    const { body } = await org.run(verify())
    await app.sql(
      "INSERT INTO unknown_outcomes (run_id, org_id, provider, why) VALUES ($1, $2, 'hunter', 'no_answer')",
      [body.run_id, org.org_id]
    )
    return String(body.run_id)
  }
  const resolve = (run_id: string, finding: string, note = "found in their account") =>
    tab.post(`/unknown-outcomes/${run_id}/resolve`, { finding, note })

  test("are listed, resolved once, and told to the organization without moving money", async () => {
    const [first, second] = [await unknownRun(), await unknownRun()]
    const before = await org.wallet()
    const page = await tab.get("/unknown-outcomes?limit=1")
    expect(page.body.items.map((one: { run_id: string }) => one.run_id)).toEqual([second])
    const next = await tab.get(`/unknown-outcomes?limit=1&cursor=${page.body.next_cursor}`)
    expect(next.body.items.map((one: { run_id: string }) => one.run_id)).toEqual([first])

    const done = await resolve(first, "delivered")
    expect([done.status, done.body.finding]).toEqual([200, "delivered"])
    expect((await resolve(first, "delivered")).status).toBe(200)
    const other = await resolve(first, "not_delivered")
    expect([other.status, other.body.error.details[0].path]).toEqual([400, "finding"])
    expect(await org.wallet()).toEqual(before)
    const { body } = await org.get(`/v1/runs/${first}`)
    expect(JSON.stringify(body.hints)).toContain("it was carried out")
    expect(await operatorLog("outcome.changed")).toEqual([
      { actor: "operator", actor_name: "grace", org_id: org.org_id }
    ])
    expect((await tab.get("/unknown-outcomes?resolved=true")).body.items).toHaveLength(2)
  })

  test("refuse what does not fit", async () => {
    expect((await resolve(newId("run"), "delivered")).status).toBe(404)
    expect((await resolve("none", "delivered")).status).toBe(404)
    const run_id = await unknownRun()
    expect((await resolve(run_id, "perhaps")).body.error.details[0].path).toBe("finding")
    expect((await resolve(run_id, "delivered", "  ")).body.error.details[0].path).toBe("note")
    expect((await tab.get("/unknown-outcomes?cursor=x")).status).toBe(400)
  })
})

test("the audit log has every organization's changes, filtered and paged", async () => {
  await tab.post("/invitations", { email: "logged@people.example" })
  const newest = await tab.get("/audit-log?actor=operator&action=sign_up_invitation&limit=1")
  expect(newest.body.items).toMatchObject([
    { org_id: null, actor: { kind: "operator", name: "grace" }, object: "logged@people.example" }
  ])
  const all = await tab.get("/audit-log?limit=1")
  const next = await tab.get(`/audit-log?limit=1&cursor=${all.body.next_cursor}`)
  expect(next.body.items[0].id < all.body.items[0].id).toBe(true)
  expect((await tab.get("/audit-log?org_id=nobody")).body.error.message).toContain('There is no organization "nobody"')
  expect((await tab.get("/audit-log?cursor=x")).status).toBe(400)
})

describe("invitations", () => {
  test("give a link once, for an address without an account", async () => {
    const made = await tab.post("/invitations", { email: "new@people.example" })
    expect(made.status).toBe(200)
    const link = new URL(made.body.link)
    expect(link.pathname).toBe("/invitation")
    const token = link.searchParams.get("token") ?? ""
    const list = await tab.get("/invitations")
    expect(list.body.items[0]).toMatchObject({ email: "new@people.example", status: "open", org_id: null })
    expect(list.text).not.toContain(token)
    const signedUp = await app.call(null, "POST", "/v1/auth/sign-up", {
      body: {
        email: "new@people.example",
        password: "correct horse battery",
        organization: "People",
        invitation: token
      }
    })
    expect(signedUp.status).toBe(200)
    expect((await tab.get("/invitations")).body.items[0]).toMatchObject({
      status: "used",
      org_id: signedUp.body.organization.id
    })
    const again = await tab.post("/invitations", { email: "new@people.example" })
    expect([again.status, again.body.error.details[0].path]).toEqual([400, "email"])
    expect((await tab.post("/invitations", { email: "nobody" })).status).toBe(400)
    expect((await operatorLog("sign_up_invitation.created")).at(-1)).toEqual({
      actor: "operator",
      actor_name: "grace",
      org_id: null
    })
  })
})
