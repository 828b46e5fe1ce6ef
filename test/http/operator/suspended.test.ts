/** A suspended wallet as the operator sees it: why, in the list and alone, and a resume that checks the books first. */
import { beforeAll, expect, test } from "bun:test"
import { type Tenant, verify, withApp } from "../../kit/app.ts"
import { checkedBooks, spoil } from "../../kit/wallet-damage.ts"
import { type OperatorTab, operatorOf, ownPage } from "./operator.ts"

let org: Tenant
let tab: OperatorTab
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("5.00")
  tab = await operatorOf(app, "grace")
})

const read = async () => (await tab.get(`/organizations/${org.org_id}`)).body
const resume = (org_id = org.org_id) => tab.post(`/organizations/${org_id}/resume`)
const logged = () =>
  app.sql("SELECT actor, actor_name, action FROM audit_log WHERE object = $1 ORDER BY entry_id", [org.org_id])

test("a suspended wallet says why, and is resumed in the operator's name when its books add up", async () => {
  expect((await read()).suspension).toBeNull()
  const nothing = await resume()
  expect([nothing.status, nothing.body]).toEqual([200, { org_id: org.org_id, suspended: false, already: true }])
  expect(await logged()).toEqual([])

  await spoil(app, org, "spoilt")
  await checkedBooks(app)
  const { suspension } = await read()
  expect(suspension).toEqual({
    since: expect.stringMatching(/^\d{4}-.*Z$/),
    violations: [expect.stringMatching(new RegExp(`^E9 .*${org.org_id}`))]
  })
  const other = await app.tenant("1.00")
  const { items } = (await tab.get("/organizations")).body
  const shown = items.map((one: { org_id: string; suspension: unknown }) => [one.org_id, one.suspension])
  expect(shown).toEqual([
    [other.org_id, null],
    [org.org_id, suspension]
  ])

  expect((await tab.get("/books")).body.suspended).toMatchObject([{ org_id: org.org_id, since: suspension.since }])

  const early = await resume()
  expect([early.status, early.body.error.code]).toEqual([409, "wallet_suspended"])
  expect(early.body.error.message).toContain("E9 ")
  expect((await org.run(verify("early"))).body.error.code).toBe("wallet_suspended")

  await spoil(app, org, "test credit")
  const done = await resume()
  expect([done.status, done.body]).toEqual([200, { org_id: org.org_id, suspended: false, already: false }])
  expect((await org.run(verify("resumed"))).body.status).toBe("succeeded")
  expect((await read()).suspension).toBeNull()
  expect((await tab.get("/books")).body.suspended).toEqual([])
  expect(await logged()).toEqual([
    { actor: "system", actor_name: null, action: "wallet_suspension.created" },
    { actor: "operator", actor_name: "grace", action: "wallet_suspension.changed" }
  ])
})

test("an organization that does not exist has nothing to resume", async () => {
  for (const id of ["none", `org_${"0".repeat(26)}`, org.key_id])
    expect([id, (await resume(id)).status]).toEqual([id, 404])
  const path = `/v1/operator/organizations/${org.org_id}/resume`
  expect((await app.call(org.key, "POST", path, { headers: ownPage(app) })).status).toBe(403)
})
