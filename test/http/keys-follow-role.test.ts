/** What a demoted or removed member created loses the rights that the member lost: API keys, connections of agents, allowances. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client as Postgres } from "pg"
import { type Reply, until, verify, withApp } from "../kit/app.ts"
import { preparedSchema } from "../kit/postgres.ts"
import { codeIn, asked, connect, decided, posted, transportOf, type Kept } from "./oauth/agent.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"

const app = withApp()
const password = "correct horse battery"

const call = (token: string | null, method: string, path: string, body?: unknown) =>
  app.call(token, method, path, body === undefined ? {} : { body })
const code = ({ status, body }: Reply) => [status, body?.error?.code]

interface Person {
  readonly token: string
  readonly id: string
  readonly org_id: string
}

let count = 0
const person = ({ body }: Reply): Person => ({
  token: body.session_token,
  id: body.user.id,
  org_id: body.organization.id
})
const organization = async (): Promise<Person> => {
  const email = `owner.${(count += 1)}@example.com`
  const owner = person(await call(null, "POST", "/v1/auth/sign-up", { email, password, organization: "Acme" }))
  await call(owner.token, "POST", "/v1/wallet/topups/checkout", { amount: "10.00" })
  return owner
}
const join = async (owner: Person, role: string): Promise<Person> => {
  const { body } = await call(owner.token, "POST", "/v1/invitations", { email: `p.${(count += 1)}@example.com`, role })
  const token = new URL(body.link).searchParams.get("token")
  return person(await call(null, "POST", "/v1/invitations/accept", { token, password }))
}
const mint = async (by: Person, more: object = {}) =>
  (await call(by.token, "POST", "/v1/api-keys", { name: "x", environment: "test", ...more })).body
const setRole = (by: Person, who: Person, role: string) => call(by.token, "PATCH", `/v1/members/${who.id}`, { role })
const remove = (by: Person, who: Person, query = "") => call(by.token, "DELETE", `/v1/members/${who.id}${query}`)
const keyOf = async (by: Person, id: string) => (await call(by.token, "GET", `/v1/api-keys/${id}`)).body
const allowance = async (by: Person) =>
  (
    await call(by.token, "POST", "/v1/allowances", {
      name: "agent",
      amount: "1.00",
      expires_at: new Date(Date.now() + 86_400_000).toISOString()
    })
  ).body
const run = (key: string) => call(key, "POST", "/v1/run", verify())
const lowersLimit = (key: string) => call(key, "POST", "/v1/spend-guard", { daily_limit: "1.00" })
const connectionOf = async (by: Person) => {
  const { kept } = await connect(app, by.token)
  const { body } = await call(by.token, "GET", "/v1/api-keys?limit=1")
  return { kept, id: body.items[0].id, token: kept.tokens?.access_token ?? "" }
}
const refreshed = (kept: Kept) =>
  posted(app, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: kept.tokens?.refresh_token ?? "",
    client_id: kept.client?.client_id ?? ""
  })
const entries = async (owner: Person, action: string) =>
  (await call(owner.token, "GET", `/v1/audit-log?action=${action}`)).body.items.map(
    (one: { object: string; actor: { id: string } }) => [one.object, one.actor.id]
  )

describe("an admin who becomes a member", () => {
  test("keeps keys that run, and each unrestricted one gets a scope at once", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    const [wide, narrow, theirs] = [
      await mint(eve, { name: "wide" }),
      await mint(eve, { allow: { read_only: true } }),
      await mint(owner)
    ]
    const connection = await connectionOf(eve)
    // The caller of an API key is cached by POST /v1/run.
    expect((await run(wide.api_key)).status).toBe(200)
    expect((await lowersLimit(wide.api_key)).status).toBe(200)
    const changed = await setRole(owner, eve, "member")
    expect(changed.body).toMatchObject({
      id: eve.id,
      role: "member",
      keys: [{ id: wide.id, name: "wide", connected: false, change: "narrowed" }]
    })
    expect(code(await lowersLimit(wide.api_key))).toEqual([403, "forbidden"])
    expect((await run(wide.api_key)).status).toBe(200)
    expect((await keyOf(owner, wide.id)).allow).toEqual({ raw: true })
    expect((await keyOf(owner, narrow.id)).allow).toEqual({ read_only: true })
    expect((await lowersLimit(theirs.api_key)).status).toBe(200)
    expect((await run(connection.token)).status).toBe(200)
    expect(await entries(owner, "key.changed")).toEqual([[wide.id, owner.id]])
    // Who has the same role as before loses nothing.
    expect((await setRole(owner, eve, "member")).body.keys).toEqual([])
  })

  test("may not use a key of theirs that an owner widened for more than it was given for", async () => {
    const owner = await organization()
    const ada = await join(owner, "member")
    const key = await mint(ada)
    await call(owner.token, "PATCH", `/v1/api-keys/${key.id}`, { allow: null })
    for (const reply of [
      await call(ada.token, "POST", `/v1/api-keys/${key.id}/rotate`, {}),
      await call(ada.token, "POST", `/v1/api-keys/${key.id}/rotate`, { grace_seconds: 60 }),
      await call(ada.token, "PATCH", `/v1/api-keys/${key.id}`, { expires_at: null })
    ])
      expect([...code(reply), reply.body.error.message]).toEqual([403, "forbidden", expect.stringContaining("widened")])
    expect((await call(ada.token, "PATCH", `/v1/api-keys/${key.id}`, { allow: null })).body.allow).toEqual({
      raw: true
    })
    expect((await call(ada.token, "POST", `/v1/api-keys/${key.id}/rotate`, {})).status).toBe(200)
  })
})

describe("who becomes a viewer", () => {
  test("loses keys, connections and allowances in the same transaction, and the answer lists them", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    const [key, theirs] = [await mint(eve), await mint(owner)]
    const connection = await connectionOf(eve)
    const given = await allowance(eve)
    expect((await run(key.api_key)).status).toBe(200)
    expect((await run(connection.token)).status).toBe(200)
    const { body } = await setRole(owner, eve, "viewer")
    expect(body.keys).toEqual([
      { id: key.id, name: "x", connected: false, change: "revoked" },
      { id: connection.id, name: "Test agent (connected)", connected: true, change: "revoked" },
      { id: given.id, name: "agent", connected: false, change: "revoked" }
    ])
    for (const token of [key.api_key, connection.token, given.api_key]) {
      expect(code(await run(token))).toEqual([401, "unauthorized"])
      expect(code(await call(token, "GET", "/v1/wallet"))).toEqual([401, "unauthorized"])
    }
    expect((await refreshed(connection.kept)).body.error).toBe("invalid_grant")
    expect((await run(theirs.api_key)).status).toBe(200)
    const revoked = await entries(owner, "key.revoked")
    expect(revoked.sort()).toEqual([key.id, connection.id, given.id].map((id) => [id, owner.id]).sort())
    expect(await entries(owner, "connection.changed")).toEqual([[connection.id, owner.id]])
  })

  test("gets no connection from a consent that was given before", async () => {
    const owner = await organization()
    const ada = await join(owner, "member")
    const kept: Kept = {}
    const transport = transportOf(app, kept)
    await expect(new Client({ name: "test", version: "1" }).connect(transport)).rejects.toThrow()
    const answer = await decided(app, ada.token, asked(kept.sent))
    await setRole(owner, ada, "viewer")
    await expect(transport.finishAuth(codeIn(answer))).rejects.toThrow()
    expect((await call(owner.token, "GET", "/v1/api-keys")).body.items).toEqual([])
  })

  test("finds their own keys in the list, and may revoke these and no others", async () => {
    const owner = await organization()
    const ada = await join(owner, "viewer")
    const [mine, theirs] = [await mint(owner), await mint(owner)]
    // A key that an earlier release left to a viewer.
    await app.sql("UPDATE api_keys SET created_by = $1 WHERE key_id = $2", [ada.id, mine.id])
    const { items } = (await call(ada.token, "GET", "/v1/api-keys")).body
    expect(items.filter((one: { created_by: string }) => one.created_by === ada.id)).toMatchObject([{ id: mine.id }])
    expect(code(await call(ada.token, "DELETE", `/v1/api-keys/${theirs.id}`))).toEqual([403, "forbidden"])
    expect((await call(ada.token, "DELETE", `/v1/api-keys/${mine.id}`)).body.revoked).toBe(true)
    const [given, other] = [await allowance(owner), await allowance(owner)]
    await app.sql("UPDATE api_keys SET created_by = $1 WHERE key_id = $2", [ada.id, given.id])
    expect(code(await call(ada.token, "DELETE", `/v1/allowances/${other.id}`))).toEqual([403, "forbidden"])
    expect((await call(ada.token, "DELETE", `/v1/allowances/${given.id}`)).status).toBe(200)
  })
})

describe("a removed member", () => {
  test("keeps nothing, and the answer lists what was revoked", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    const key = await mint(eve)
    const connection = await connectionOf(eve)
    const { body } = await remove(owner, eve)
    expect(body.revoked_keys).toEqual([key.id, connection.id])
    expect(body.keys.map((one: { change: string }) => one.change)).toEqual(["revoked", "revoked"])
    expect((await refreshed(connection.kept)).body.error).toBe("invalid_grant")
  })

  test("with keep_keys=true the keys stay with the scope of a member, and connections end", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    const key = await mint(eve)
    const connection = await connectionOf(eve)
    const { body } = await remove(owner, eve, "?keep_keys=true")
    expect(body).toMatchObject({
      revoked_keys: [connection.id],
      keys: [
        { id: key.id, change: "narrowed" },
        { id: connection.id, change: "revoked" }
      ]
    })
    expect((await run(key.api_key)).status).toBe(200)
    expect(code(await lowersLimit(key.api_key))).toEqual([403, "forbidden"])
    expect(code(await run(connection.token))).toEqual([401, "unauthorized"])
  })

  test("who leaves can't keep their own keys", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    const key = await mint(eve)
    const refused = await remove(eve, eve, "?keep_keys=true")
    expect([...code(refused), refused.body.error.message]).toEqual([
      403,
      "forbidden",
      expect.stringContaining("keep_keys")
    ])
    expect((await remove(eve, eve)).body.revoked_keys).toEqual([key.id])
  })
})

describe("the database", () => {
  const service = `service_${process.pid}_${Date.now()}`
  beforeAll(async () => {
    await app.sql(`CREATE ROLE ${service}`)
    await app.sql(`GRANT USAGE ON SCHEMA ${preparedSchema} TO ${service}`)
    await app.sql(`GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${preparedSchema} TO ${service}`)
  })
  afterAll(async () => {
    await app.sql(`DROP OWNED BY ${service}; DROP ROLE ${service}`)
  })

  /** Writes as the service does, for a person. The statements of one text are one transaction. */
  const as = async (user_id: string, text: string, values: ReadonlyArray<unknown>) => {
    const actor = JSON.stringify({ kind: "person", id: user_id, name: null, address: null })
    const inline = values.reduce<string>((all, value, index) => all.replaceAll(`$${index + 1}`, `'${value}'`), text)
    await app.sql(`SET LOCAL ROLE ${service}; SELECT set_config('rungate.actor', '${actor}', true); ${inline}`)
  }
  const insert = (allow: string) => `
    INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display, allow)
    VALUES ('key_' || md5(random()::text), $1, 'direct', 'test', sha256(random()::text::bytea), 'x', ${allow})`

  test("refuses an unrestricted key of an acting member, however it is written", async () => {
    const owner = await organization()
    const [ada, eve] = [await join(owner, "member"), await join(owner, "viewer")]
    for (const allow of ["NULL", "'null'", "'{}'", `'{"raw": null}'`, "'[]'"]) {
      await expect(as(ada.id, insert(allow), [owner.org_id])).rejects.toThrow("without a scope")
      await as(owner.id, insert(allow), [owner.org_id])
    }
    await as(ada.id, insert(`'{"raw": true}'`), [owner.org_id])
    await expect(as(eve.id, insert(`'{"raw": true}'`), [owner.org_id])).rejects.toThrow("may not")
    // Without a person, as workers and operators act.
    await app.sql(insert("NULL").replace("$1", `'${owner.org_id}'`))
  })

  test("refuses that an acting member removes or renews the scope of a key, and lets owners do it", async () => {
    const owner = await organization()
    const ada = await join(owner, "member")
    const key = await mint(ada)
    const widen = "UPDATE api_keys SET allow = NULL WHERE key_id = $1"
    await expect(as(ada.id, widen, [key.id])).rejects.toThrow("without a scope")
    await as(owner.id, widen, [key.id])
    await expect(as(ada.id, "UPDATE api_keys SET expires_at = NULL WHERE key_id = $1", [key.id])).rejects.toThrow(
      "without a scope"
    )
    await as(ada.id, "UPDATE api_keys SET revoked_at = now() WHERE key_id = $1", [key.id])
    expect((await keyOf(owner, key.id)).revoked).toBe(true)
  })

  test("narrows and revokes also when another process changes the role", async () => {
    const owner = await organization()
    const [eve, ada] = [await join(owner, "admin"), await join(owner, "admin")]
    const [key, other] = [await mint(eve), await mint(ada)]
    await app.sql("UPDATE members SET role = 'member' WHERE user_id = $1", [eve.id])
    expect((await keyOf(owner, key.id)).allow).toEqual({ raw: true })
    await app.sql("UPDATE members SET role = 'viewer' WHERE user_id = $1", [eve.id])
    expect((await keyOf(owner, key.id)).revoked).toBe(true)
    await app.sql("DELETE FROM members WHERE user_id = $1", [ada.id])
    expect(await keyOf(owner, other.id)).toMatchObject({ revoked: false, allow: { raw: true } })
  })

  test("a key that is created while its creator is demoted has no more than the new role", async () => {
    const owner = await organization()
    for (let round = 0; round < 5; round += 1) {
      const eve = await join(owner, "admin")
      const [changed] = await Promise.all([
        setRole(owner, eve, "member"),
        ...Array.from({ length: 3 }, () => call(eve.token, "POST", "/v1/api-keys", { name: "x", environment: "test" }))
      ])
      expect(changed.status).toBe(200)
      const left = "SELECT key_id FROM api_keys WHERE created_by = $1 AND revoked_at IS NULL AND allow IS NULL"
      expect(await app.sql(left, [eve.id])).toEqual([])
    }
  })
})

describe("an invitation on its way while its sender loses the right to send it", () => {
  test.each([
    ["is removed", remove],
    ["is demoted", (owner: Person, eve: Person) => setRole(owner, eve, "member")]
  ] as const)("ends when the sender %s", async (_name, change) => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    const other = new Postgres({ connectionString: app.databaseUrl })
    await other.connect()
    try {
      // Whoever changes the organization holds this lock, so the invitation waits after its sender's role was checked.
      await other.query("BEGIN")
      await other.query("SELECT 1 FROM orgs WHERE org_id = $1 FOR NO KEY UPDATE", [owner.org_id])
      const email = `friend.${(count += 1)}@example.com`
      const inviting = call(eve.token, "POST", "/v1/invitations", { email, role: "admin" })
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
      const waits = () => app.sql(waiting)
      await until("the invitation waits", waits, ({ length }) => length > 0)
      const changing = change(owner, eve)
      await Promise.race([changing, until("the change waits too", waits, ({ length }) => length > 1)])
      await other.query("COMMIT")
      await Promise.all([inviting, changing])
      const { body } = await call(owner.token, "GET", "/v1/invitations")
      expect(body.items).toEqual([])
    } finally {
      await other.end()
    }
  })
})

test.each([
  ["change a role", (eve: Person, target: Person) => setRole(eve, target, "owner")],
  ["remove a member", (eve: Person, target: Person) => remove(eve, target)]
] as const)("an owner who is demoted meanwhile can't %s", async (_name, change) => {
  const owner = await organization()
  const target = await join(owner, "member")
  const eve = await join(owner, "owner")
  const other = new Postgres({ connectionString: app.databaseUrl })
  await other.connect()
  try {
    await other.query("BEGIN")
    await other.query("SELECT 1 FROM members WHERE user_id = $1 FOR NO KEY UPDATE", [target.id])
    const changing = change(eve, target)
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await until(
      "the change waits",
      () => app.sql(waiting),
      ({ length }) => length > 0
    )
    expect((await setRole(owner, eve, "member")).status).toBe(200)
    await other.query("COMMIT")
    expect(code(await changing)).toEqual([403, "forbidden"])
    expect((await call(owner.token, "GET", "/v1/members")).body.items).toContainEqual(
      expect.objectContaining({ id: target.id, role: "member" })
    )
  } finally {
    await other.end()
  }
})
