/** The tool `allowances` as an agent that directs others has it, with a local host and a remote one: each child spends its own amount and no more. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, startApp, type Tenant } from "../../kit/app.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { type Arguments, closeHosts, type Host, hostOf, remoteHostOf, verify } from "../../http/cli/host.ts"
import { calling, postTo } from "../../http/mcp-request.ts"

const command = await compiledCommand()

let app: App
let org: Tenant
/** Its key may give allowances. */
let parent: Omit<Host, "pid">
let parentKey: string
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant("5.00")
  const body = { name: "orchestrator", environment: "test", allow: { mint: true } }
  parentKey = (await app.call(await org.session(), "POST", "/v1/api-keys", { body })).body.api_key
  parent = await remoteHostOf(app.url, parentKey)
})
afterAll(async () => {
  await closeHosts()
  await app.books()
  await app.stop()
})

const available = async () => (await org.wallet()).available
const create = (more: Arguments = {}): Arguments => ({
  action: "create",
  name: "agent",
  amount: "0.50",
  expires_in_seconds: 3_600,
  ...more
})

test("an agent gives another an amount, sees what it spent, and takes the rest back", async () => {
  const made = await parent.call("allowances", create({ allow: { capabilities: ["email.verify"] } }))
  expect([made.failed, made.body.id, made.body.api_key]).toEqual([
    false,
    expect.stringMatching(/^key_/),
    expect.stringMatching(/^rg_test_/)
  ])
  expect(await available()).toBe("4.50")
  const child = await remoteHostOf(app.url, made.body.api_key)
  expect((await child.call("run", verify("ada@example.com"))).body.billing.charged).toBe("0.003")
  const other = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }
  expect((await child.call("run", { ...other, max_cost: "0.10" })).body.error.code).toBe("forbidden")
  const { body: listed } = await parent.call("allowances", { action: "list" })
  expect([listed.items.length, listed.next_cursor]).toEqual([1, null])
  expect(listed.items[0]).toMatchObject({ id: made.body.id, spent: "0.003", available: "0.497", status: "active" })
  const ended = await parent.call("allowances", { action: "revoke", allowance_id: made.body.id })
  expect(ended.body).toMatchObject({ id: made.body.id, status: "ended", held: "0.00" })
  expect(await available()).toBe("4.997")
  expect((await postTo(app.url, calling("wallet"), { key: made.body.api_key })).status).toBe(401)
})

test("two equal calls give two allowances, and rungate mcp gives and ends them too", async () => {
  const before = await available()
  const local = await hostOf(command, ["mcp"], {
    RUNGATE_URL: app.url,
    RUNGATE_API_KEY: parentKey,
    PATH: process.env["PATH"] ?? ""
  })
  const made = [await local.call("allowances", create()), await local.call("allowances", create())]
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(2)
  for (const { body } of made) {
    const child = await remoteHostOf(app.url, body.api_key)
    expect((await child.call("wallet")).failed).toBe(false)
    const revoked = await local.call("allowances", { action: "revoke", allowance_id: body.id })
    expect([revoked.failed, revoked.body.status]).toEqual([false, "ended"])
  }
  expect(await available()).toBe(before)
})

test("what can't be given or ended is refused, says what to do, and holds nothing", async () => {
  const before = await available()
  const plain = await remoteHostOf(app.url, org.key)
  const stranger = await app.tenant()
  const cases: ReadonlyArray<readonly [Omit<Host, "pid">, Arguments, string, string]> = [
    [plain, create(), "forbidden", "needs a person"],
    [parent, create({ amount: undefined }), "invalid_request", "name, amount and expires_in_seconds"],
    [parent, create({ amount: true }), "invalid_request", "amount"],
    [parent, create({ expires_in_seconds: 0 }), "invalid_request", "expires_in_seconds"],
    [parent, create({ allow: { capabilities: ["no.such"] } }), "invalid_request", "call the tool again."],
    [parent, create({ amount: "5.01" }), "insufficient_balance", "needs a person"],
    [parent, { action: "revoke" }, "invalid_request", "allowance_id"],
    [parent, { action: "revoke", allowance_id: stranger.key_id }, "not_found", "action list"],
    [parent, { action: "renew" }, "invalid_request", "action"]
  ]
  for (const [by, given, code, hint] of cases) {
    const { failed, body } = await by.call("allowances", given)
    expect([given, failed, body.error.code]).toEqual([given, true, code])
    expect(body.error.hints.join()).toContain(hint)
  }
  expect(await available()).toBe(before)
})
