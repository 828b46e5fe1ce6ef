/** Organizations as the operator sees and changes them: money is booked once, and every change is in the organization's audit log. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, startApp, type Tenant, verify } from "../../kit/app.ts"
import { type OperatorTab, operatorOf, ownPage } from "./operator.ts"

let app: App
let org: Tenant
let tab: OperatorTab
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant("5.00")
  tab = await operatorOf(app, "grace")
})
afterAll(async () => {
  await app.books()
  await app.stop()
})

const at = (path = "") => `/organizations/${org.org_id}${path}`
const logged = async (action: string) =>
  app.sql("SELECT actor, actor_name, address, after FROM audit_log WHERE org_id = $1 AND action = $2", [
    org.org_id,
    action
  ])

describe("the list", () => {
  test("pages, newest first, and finds by name, address of a member, and id", async () => {
    const later = await app.tenant("1.00")
    await app.sql("UPDATE orgs SET name = 'Zebra <script>alert(1)</script>' WHERE org_id = $1", [later.org_id])
    const first = await tab.get("/organizations?limit=1")
    expect([first.status, first.body.items[0].org_id]).toEqual([200, later.org_id])
    const second = await tab.get(`/organizations?limit=1&cursor=${first.body.next_cursor}`)
    expect(second.body.items[0]).toMatchObject({ org_id: org.org_id, balance: "5.00", available: "5.00" })
    const ids = async (search: string) =>
      (await tab.get(`/organizations?search=${encodeURIComponent(search)}`)).body.items.map(
        (one: { org_id: string }) => one.org_id
      )
    expect(await ids("zebra")).toEqual([later.org_id])
    expect(await ids(org.org_id)).toEqual([org.org_id])
    expect(await ids("'; DROP TABLE orgs; --")).toEqual([])
  })

  test("is open to no one but a signed-in operator, and to no page of another site", async () => {
    const read = (headers: Record<string, string>) => app.call(null, "GET", "/v1/operator/organizations", { headers })
    const madeUp = `__Host-rungate_operator=rg_oper_${"0".repeat(43)}`
    for (const headers of [{}, { cookie: madeUp }, { cookie: tab.cookie, "sec-fetch-site": "cross-site" }]) {
      const { status, body } = await read(headers)
      expect([headers, status, body.error?.code]).toEqual([headers, 403, "forbidden"])
    }
    const allowed = await read({ cookie: tab.cookie })
    expect([allowed.status, allowed.headers.get("cache-control")]).toEqual([200, "no-store"])
  })

  test("refuses a cursor of something else, and a search that is too long", async () => {
    expect((await tab.get("/organizations?cursor=run_1")).body.error.details[0].path).toBe("query.cursor")
    expect((await tab.get(`/organizations?search=${"x".repeat(255)}`)).status).toBe(400)
    expect((await tab.get("/organizations?limit=0")).status).toBe(400)
  })
})

describe("one organization", () => {
  test("shows wallet, limits, people, keys and ledger", async () => {
    await org.run(verify())
    await org.session()
    const { status, body } = await tab.get(at())
    expect(status).toBe(200)
    expect([body.org_id, body.people.length > 0, body.keys[0].id]).toEqual([org.org_id, true, org.key_id])
    expect(body.entries.length).toBeGreaterThan(1)
    expect(JSON.stringify(body)).not.toContain(org.key)
    const audit = await tab.get(at("/audit"))
    expect([audit.status, audit.body.adds_up]).toEqual([200, true])
  })

  test("is not found if there is none", async () => {
    for (const id of ["none", "org_", `org_${"0".repeat(26)}`, "%F0%9F%92%A5", org.key_id])
      for (const path of ["", "/audit"]) {
        const { status } = await tab.get(`/organizations/${id}${path}`)
        expect([id, path, status]).toEqual([id, path, 404])
      }
  })
})

describe("credits", () => {
  const credit = (body: Record<string, unknown>) => tab.post(at("/credits"), body)
  const welcome = { type: "bonus", amount: "2.50", note: "welcome", reference: "welcome-1" }

  test("are booked once for a reference, in the operator's name", async () => {
    const before = await org.wallet()
    const first = await credit(welcome)
    expect([first.status, first.body.already, first.body.amount]).toEqual([200, false, "2.50"])
    const again = await Promise.all([credit(welcome), credit(welcome)])
    expect(again.map(({ status, body }) => [status, body.already, body.transaction_id])).toEqual([
      [200, true, first.body.transaction_id],
      [200, true, first.body.transaction_id]
    ])
    expect(Number((await org.wallet()).balance)).toBeCloseTo(Number(before.balance) + 2.5, 6)
    const other = await credit({ ...welcome, amount: "3.00" })
    expect([other.status, other.body.error.details[0].path]).toEqual([400, "reference"])
    const refund = await credit({ ...welcome, type: "refund" })
    expect([refund.status, refund.body.already]).toEqual([200, false])
    expect((await logged("wallet.credited"))[0]).toMatchObject({
      actor: "operator",
      actor_name: "grace",
      address: null,
      after: { amount: "2.50", note: "welcome" }
    })
    expect(await logged("wallet.refunded")).toHaveLength(1)
  })

  test("refuse nonsense by the name of the field, and book nothing", async () => {
    const before = await org.wallet()
    const wrong: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
      ["amount", { ...welcome, reference: "r1", amount: "0" }],
      ["amount", { ...welcome, reference: "r2", amount: "-1.00" }],
      ["amount", { ...welcome, reference: "r3", amount: "1000000.01" }],
      ["amount", { ...welcome, reference: "r4", amount: 1 }],
      ["note", { ...welcome, reference: "r5", note: "  " }],
      ["note", { ...welcome, reference: "r6", note: "a\u0000b" }],
      ["reference", { ...welcome, reference: "no spaces" }],
      ["type", { ...welcome, reference: "r7", type: "topup" }],
      ["typo", { ...welcome, reference: "r8", typo: 1 }]
    ]
    for (const [path, body] of wrong) {
      const reply = await credit(body)
      expect([path, reply.status, reply.body.error.details?.[0]?.path]).toEqual([path, 400, path])
    }
    const hostile = await tab.post("/organizations/none/credits", { ...welcome, reference: "r9" })
    expect(hostile.status).toBe(404)
    expect(await org.wallet()).toEqual(before)
  })
})

test("limits are set and removed, and the log has both values", async () => {
  const set = await tab.post(at("/spend-guard"), { daily_limit: "9.00", per_run_limit: "1.00" })
  expect([set.status, set.body.daily_limit, set.body.per_run_limit]).toEqual([200, "9.00", "1.00"])
  const raised = await tab.post(at("/spend-guard"), { daily_limit: null })
  expect([raised.body.daily_limit, raised.body.per_run_limit]).toEqual([null, "1.00"])
  const seen = await app.call(org.key, "GET", "/v1/spend-guard")
  expect([seen.body.daily_limit, seen.body.per_run_limit]).toEqual([null, "1.00"])
  const entries = await logged("spend_guard.changed")
  expect(entries.map(({ actor, actor_name }) => [actor, actor_name])).toEqual([
    ["operator", "grace"],
    ["operator", "grace"]
  ])
})

test("a key is revoked at once, and the answer says whose it was", async () => {
  const other = await app.tenant()
  const remove = (key_id: string) =>
    app.call(null, "DELETE", `/v1/operator/api-keys/${key_id}`, {
      headers: { ...ownPage(app), cookie: tab.cookie }
    })
  expect((await remove(`key_${"0".repeat(26)}`)).status).toBe(404)
  expect((await other.get("/v1/wallet")).status).toBe(200)
  const { status, body } = await remove(other.key_id)
  expect([status, body.id, body.org_id, body.revoked_at === null]).toEqual([200, other.key_id, other.org_id, false])
  expect((await other.get("/v1/wallet")).status).toBe(401)
})

describe("a look into an organization's runs", () => {
  const begin = (reason: unknown, org_id = org.org_id) => tab.post(`/organizations/${org_id}/impersonation`, { reason })

  test("needs a reason, which the organization reads, and opens reads of that organization only", async () => {
    const { body: run } = await org.run(verify())
    const runs = () => tab.get(at("/runs"))
    expect((await runs()).body.error.code).toBe("forbidden")
    expect((await tab.get(at(`/runs/${run.run_id}`))).status).toBe(403)

    const begun = await begin("ticket <b>4711</b>")
    expect([begun.status, begun.body.reason]).toEqual([200, "ticket <b>4711</b>"])
    const list = await tab.get(at("/runs?limit=1"))
    expect([list.status, list.body.items[0].run_id]).toEqual([200, run.run_id])
    const read = await tab.get(at(`/runs/${run.run_id}`))
    expect([read.status, read.body.result]).toEqual([200, run.result])
    expect((await tab.get(at("/runs?status=blocked"))).body.items).toEqual([])
    expect((await tab.get(at("/runs?cursor=x"))).status).toBe(400)
    expect((await tab.get(at("/runs/none"))).status).toBe(404)

    const other = await app.tenant("1.00")
    expect((await tab.get(`/organizations/${other.org_id}/runs`)).status).toBe(403)
    const theirs = await other.run(verify())
    expect((await tab.get(at(`/runs/${theirs.body.run_id}`))).status).toBe(404)
    const colleague = await operatorOf(app, "ada")
    expect((await colleague.get(at("/runs"))).status).toBe(403)

    const session = await org.session()
    const { body } = await app.call(session, "GET", "/v1/audit-log?action=impersonation")
    expect(body.items).toMatchObject([
      { action: "impersonation.created", actor: { kind: "operator", name: "grace" }, address: null }
    ])
    expect(body.items[0].after.reason).toBe("ticket <b>4711</b>")
  })

  test("ends by itself, and with the session", async () => {
    await app.sql(
      "UPDATE operator_impersonations SET created_at = now() - interval '1 hour', expires_at = now() - interval '30 minutes'"
    )
    expect((await tab.get(at("/runs"))).status).toBe(403)
  })

  test("is refused without a reason, and for nobody", async () => {
    for (const reason of ["", "  ", "x".repeat(501), "a\u0000b", 1])
      expect([reason, (await begin(reason)).body.error.details[0].path]).toEqual([reason, "reason"])
    expect((await begin("why", "none")).status).toBe(404)
    expect((await begin("why", `org_${"0".repeat(26)}`)).status).toBe(404)
  })
})
