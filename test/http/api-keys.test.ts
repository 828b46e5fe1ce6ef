import { beforeAll, describe, expect, test } from "bun:test"
import { type Tenant, verify, withApp } from "../kit/app.ts"

describe("/v1/api-keys", () => {
  let org: Tenant
  let session: string
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant("5.00")
    session = await org.session()
  })
  const create = (body: unknown, token = session) => app.call(token, "POST", "/v1/api-keys", { body })

  test("a session creates a key; the raw key is in that answer and nowhere else", async () => {
    const { status, body } = await create({ name: "integration", environment: "test" })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      api_key: expect.stringMatching(/^rg_test_[0-9A-Za-z]{43}$/),
      note: expect.stringContaining("not shown again")
    })
    const listed = await org.get("/v1/api-keys")
    expect(listed.text).not.toContain(body.api_key)
    expect(listed.body.items[0]).toEqual({
      id: body.id,
      name: "integration",
      environment: "test",
      display: expect.stringMatching(/^rg_test_.{1,8}…/),
      last_used_at: null,
      revoked: false,
      expires_at: null,
      replaced_by: null,
      connected: false,
      allowance: false,
      budget: null,
      allow: null,
      created_at: expect.stringMatching(/Z$/),
      created_by: expect.stringMatching(/^usr_/)
    })
    expect(body.api_key).toStartWith(listed.body.items[0].display.split("…")[0])
    expect(body.api_key).toEndWith(listed.body.items[0].display.split("…")[1])
    expect((await app.call(body.api_key, "GET", "/v1/wallet")).body.balance).toBe("5.00")
  })

  test("an API key may not create one", async () => {
    const { status, body } = await create({ name: "more", environment: "test" }, org.key)
    expect([status, body.error.code]).toEqual([403, "forbidden"])
    expect(body.error.message).toContain("sign-in")
  })

  test("the sandbox mints no live keys", async () => {
    const { status, body } = await create({ name: "live", environment: "live" })
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", "environment"])
  })

  test.each([
    [{}, "name"],
    [{ name: "", environment: "test" }, "name"],
    [{ name: "x".repeat(201), environment: "test" }, "name"],
    [{ name: "x", environment: "prod" }, "environment"],
    [{ name: "x", environment: "test", id: "key_1" }, "id"]
  ])("refuses %j", async (asked, path) => {
    const { status, body } = await create(asked)
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(body.error.details.map((one: { path: string }) => one.path)).toContain(path)
  })

  test("DELETE revokes at once and for ever, and may be repeated", async () => {
    const { body } = await create({ name: "short-lived", environment: "test" })
    expect((await app.call(body.api_key, "POST", "/v1/run", { body: verify() })).status).toBe(200)
    const path = `/v1/api-keys/${body.id}`
    const first = await app.call(session, "DELETE", path)
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ id: body.id, name: "short-lived", revoked: true })
    expect((await app.call(body.api_key, "GET", "/v1/wallet")).status).toBe(401)
    expect((await app.call(body.api_key, "POST", "/v1/run", { body: verify() })).status).toBe(401)
    const again = await app.call(session, "DELETE", path)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    const [row] = (await org.get("/v1/api-keys")).body.items
    expect(row).toMatchObject({ id: body.id, revoked: true })
    const back = app.sql("UPDATE api_keys SET revoked_at = NULL WHERE key_id = $1", [body.id])
    expect(back).rejects.toThrow("stays revoked")
  })

  test("a key may revoke itself", async () => {
    const { body } = await create({ name: "own", environment: "test" })
    expect((await app.call(body.api_key, "DELETE", `/v1/api-keys/${body.id}`)).body.revoked).toBe(true)
    expect((await app.call(body.api_key, "DELETE", `/v1/api-keys/${body.id}`)).status).toBe(401)
  })

  test("a key revokes no other key, known or not", async () => {
    const { body } = await create({ name: "other", environment: "test" })
    for (const id of [body.id, `key_${"0".repeat(26)}`, "x"]) {
      const refused = await app.call(org.key, "DELETE", `/v1/api-keys/${id}`)
      expect([refused.status, refused.body.error.code]).toEqual([403, "forbidden"])
      expect(refused.body.error.message).toContain("POST /v1/auth/sign-in")
    }
    expect((await app.call(body.api_key, "GET", "/v1/wallet")).status).toBe(200)
  })

  test("an organization has at most 100 keys in use, also when they are created at once", async () => {
    const crowded = await app.tenant()
    const person = await crowded.session()
    const made = await Promise.all(
      Array.from({ length: 110 }, (_, n) => create({ name: `key ${n}`, environment: "test" }, person))
    )
    expect(made.filter(({ status }) => status === 200)).toHaveLength(99)
    const { body } = made.find(({ status }) => status === 400) ?? expect.unreachable("nothing was refused")
    expect(body.error.code).toBe("invalid_request")
    expect(body.error.message).toMatch(/100 API keys.+Revoke one/)
    await app.call(crowded.key, "DELETE", `/v1/api-keys/${crowded.key_id}`)
    const again = [
      await create({ name: "a", environment: "test" }, person),
      await create({ name: "b", environment: "test" }, person)
    ]
    expect(again.map(({ status }) => status)).toEqual([200, 400])
  })

  test("does not know other organizations' keys", async () => {
    const other = await app.tenant()
    const person = await other.session()
    const theirs = await app.call(person, "DELETE", `/v1/api-keys/${org.key_id}`)
    const none = await app.call(person, "DELETE", `/v1/api-keys/key_${"0".repeat(26)}`)
    expect([theirs.status, none.status]).toEqual([400, 400])
    expect(theirs.body.error.details).toEqual(none.body.error.details)
    expect((await org.get("/v1/wallet")).status).toBe(200)
    const listed = (await other.get("/v1/api-keys")).body.items
    expect(listed.map((one: { id: string }) => one.id)).toEqual([other.key_id])
  })

  test("pages, newest first", async () => {
    const all = (await org.get("/v1/api-keys?limit=200")).body.items.map((one: { id: string }) => one.id)
    const seen: Array<string> = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? "?limit=2" : `?limit=2&cursor=${cursor}`
      const { body } = await org.get(`/v1/api-keys${query}`)
      seen.push(...body.items.map((one: { id: string }) => one.id))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(all.length).toBeGreaterThan(3)
    expect(seen).toEqual(all)
    expect(all).toEqual([...all].sort().reverse())
  })
})
