/** Names of people, organizations and keys are one line of printable text, so that none can forge a line of a mail, a log or a page. */
import { beforeAll, expect, test } from "bun:test"
import { type Tenant, withApp } from "../kit/app.ts"

const app = withApp()
const password = "correct horse battery"
let org: Tenant
let session: string
let key_id: string
beforeAll(async () => {
  org = await app.tenant("1.00")
  session = await org.session()
  key_id = org.key_id
})

/** CR and LF, other control characters, line separators, and characters that turn a text around. */
const hidden = ["a\r\nb", "a\nb", "a\tb", "\u0007", "a\u001b[31m", "a\u0085b", "a\u2028b", "a\u202eb", "a\u2066b"]
const expires_at = new Date(Date.now() + 3_600_000).toISOString()

/** Nobody sees these, so two names would look the same. */
const invisible = [
  "a\u200bb",
  "a\u00adb",
  "a\u2060b",
  "\ufeffa",
  "a\u{e0041}",
  "\u3164",
  "a\u034fb",
  "a\ufe00b",
  "a\ufe0f"
]

const expectRefused = async (name: string) => {
  const asked: ReadonlyArray<readonly [string, string, object, string]> = [
    ["POST", "/v1/auth/sign-up", { email: "cr@example.com", password, organization: name }, "organization"],
    ["POST", "/v1/auth/sign-up", { email: `${name}x@example.com`, password, organization: "X" }, "email"],
    ["POST", "/v1/invitations", { email: `${name}x@example.com`, role: "viewer" }, "email"],
    ["POST", "/v1/api-keys", { name, environment: "test" }, "name"],
    ["PATCH", `/v1/api-keys/${key_id}`, { name }, "name"],
    ["POST", "/v1/allowances", { name, amount: "0.10", expires_at }, "name"],
    ["POST", "/v1/webhook-endpoints", { url: `https://example.com/${name}`, events: ["run.finished"] }, "url"]
  ]
  for (const [method, path, body, field] of asked) {
    const reply = await app.call(path.includes("/auth/") ? null : session, method, path, { body })
    expect([path, reply.status, reply.body.error.details?.[0]?.path]).toEqual([path, 400, field])
  }
}

test.each(invisible)("%j is a name of nothing", (name) => expectRefused(name))

test.each(hidden)("%j is a name of nothing, also in the database", async (name) => {
  await expectRefused(name)
  // The database has the rule too. A row that has such a name from before can be changed otherwise.
  await expect(app.sql("UPDATE api_keys SET name = $1 WHERE key_id = $2", [name, key_id])).rejects.toThrow("printable")
  await expect(app.sql("INSERT INTO orgs (org_id, name) VALUES ('org_x', $1)", [name])).rejects.toThrow("printable")
})

test("names of every script are accepted", async () => {
  for (const name of [
    "Ærø & Søn",
    "日本語",
    "עברית",
    "🦊 agents",
    "👩\u200d🚀",
    "می\u200cخواهم",
    "❤\ufe0f",
    "1\ufe0f\u20e3",
    "a  b"
  ]) {
    const { body } = await app.call(session, "POST", "/v1/api-keys", { body: { name, environment: "test" } })
    expect((await app.call(session, "GET", `/v1/api-keys/${body.id}`)).body.name).toBe(name)
  }
})
