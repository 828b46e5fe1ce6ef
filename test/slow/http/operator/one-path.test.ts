/** A change by `rungate admin` and the same change in the operator console: one check, one error, one entry in the audit log. */
import { beforeAll, describe, expect, test } from "bun:test"
import { type Command, runMain } from "../../../chaos/processes.ts"
import { type OperatorTab, operatorOf, ownPage } from "../../../http/operator/operator.ts"
import { compiledCommand } from "../../../kit/compiled-command.ts"
import { type Tenant, withApp } from "../../../kit/app.ts"

const command: Command = [await compiledCommand()]
const app = withApp()
let tab: OperatorTab
beforeAll(async () => {
  tab = await operatorOf(app)
})

const rungate = async (...args: ReadonlyArray<string>) => {
  const { ended, output, errors } = runMain(args, { DATABASE_URL: app.databaseUrl }, command)
  const { code } = await ended
  return { code, out: output(), err: errors() }
}
const remove = (path: string) =>
  app.call(null, "DELETE", `/v1/operator${path}`, { headers: { ...ownPage(app), cookie: tab.cookie } })

const imported = async () => {
  const document = JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Example", version: "1" },
    servers: [{ url: "https://api.example.com" }],
    paths: { "/v1/people": { get: { summary: "Read it", responses: { 200: { description: "ok" } } } } }
  })
  const { status } = await tab.post("/catalog/imports", { provider: "example", document, apply: true, based_on: null })
  expect(status).toBe(200)
}

/** What a change writes, without ids, times and the operator's name. */
const logged = async (change: () => Promise<unknown>) => {
  const [last] = await app.sql("SELECT coalesce(max(entry_id), '') AS id FROM audit_log")
  await change()
  const rows = await app.sql(
    `SELECT action, actor, actor_id, address, org_id IS NULL AS of_service, actor_name IS NULL AS unnamed,
            array(SELECT jsonb_object_keys(before)) AS before, array(SELECT jsonb_object_keys(after)) AS after
     FROM audit_log WHERE entry_id > $1 ORDER BY entry_id`,
    [last?.["id"]]
  )
  expect(rows.length).toBeGreaterThan(0)
  return rows
}

interface Change {
  readonly inConsole: (org: Tenant) => Promise<{ readonly status: number }>
  readonly byCommand: (org: Tenant) => ReadonlyArray<string>
  readonly before?: () => Promise<void>
}
const credit = (type: "bonus" | "refund", amount: string) => (org: Tenant) =>
  tab.post(`/organizations/${org.org_id}/credits`, { type, amount, note: "sorry", reference: "t-1" })
const changes: Readonly<Record<string, Change>> = {
  credit: {
    inConsole: credit("bonus", "1.00"),
    byCommand: ({ org_id }) => ["admin", "credit", org_id, "1.00", "--note", "sorry", "--reference", "t-1"]
  },
  refund: {
    inConsole: credit("refund", "0.50"),
    byCommand: ({ org_id }) => ["admin", "refund", org_id, "0.50", "--note", "sorry", "--reference", "t-1"]
  },
  "a revoked key": {
    inConsole: ({ key_id }) => remove(`/api-keys/${key_id}`),
    byCommand: ({ key_id }) => ["admin", "keys", "revoke", key_id]
  },
  "an invitation": {
    inConsole: ({ org_id }) => tab.post("/invitations", { email: `${org_id}@a.example` }),
    byCommand: ({ org_id }) => ["admin", "invite", `${org_id}@b.example`]
  },
  "a deleted import": {
    before: imported,
    inConsole: () => remove("/catalog/imports/example"),
    byCommand: () => ["catalog", "reset", "example"]
  }
}

test.each(Object.keys(changes))("%s leaves the same entry", async (name) => {
  const { before = async () => {}, inConsole, byCommand } = changes[name] ?? {}
  if (inConsole === undefined || byCommand === undefined) throw new Error(name)
  const [one, other] = [await app.tenant(), await app.tenant()]
  await before()
  const shown = await logged(async () => expect((await inConsole(one)).status).toBe(200))
  await before()
  const typed = await logged(async () => expect((await rungate(...byCommand(other))).code).toBe(0))
  expect(typed).toEqual(shown)
  await app.books()
})

describe("an error says the same", () => {
  let org: Tenant
  beforeAll(async () => {
    org = await app.tenant()
  })
  const nobody = `org_${"0".repeat(26)}`
  const nothing = `run_${"0".repeat(26)}`
  test.each([
    ["an amount", () => credit("bonus", "0")(org), () => ["credit", org.org_id, "0", "--note", "n"]],
    [
      "a note",
      () => tab.post(`/disputes/${nothing}/accept`, { note: " " }),
      () => ["disputes", "accept", nothing, "--note", " "]
    ],
    ["a filter", () => tab.get(`/losses?org_id=${nobody}`), () => ["losses", "--org", nobody]],
    [
      "a dispute",
      () => tab.post(`/disputes/${nothing}/refuse`, { note: "n" }),
      () => ["disputes", "refuse", nothing, "--note", "n"]
    ],
    [
      "an outcome",
      () => tab.post(`/unknown-outcomes/${nothing}/resolve`, { finding: "delivered", note: "n" }),
      () => ["unknown", "resolve", nothing, "--delivered", "--note", "n"]
    ],
    ["a key", () => remove(`/api-keys/key_${"0".repeat(26)}`), () => ["keys", "revoke", `key_${"0".repeat(26)}`]]
  ])("about %s", async (_what, inConsole, byCommand) => {
    const { body } = await inConsole()
    const { code, err } = await rungate("admin", ...byCommand())
    expect(code === 5 || code === 250).toBe(true)
    // People read commands in the place of requests.
    const [start = ""] = String(body.error.message).split(" with GET ")
    expect(err).toContain(start.trim())
  })
})
