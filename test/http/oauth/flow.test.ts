/** An agent connects by address alone: the SDK's own OAuth client against the real service. Its token is an API key with scope and budget. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, startApp, type Tenant } from "../../kit/app.ts"
import { verify } from "../cli/host.ts"
import { asked, codeIn, connect, connected, decided, type Kept, posted, transportOf } from "./agent.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"

let app: App
let org: Tenant
let session: string
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant("10.00")
  session = await org.session()
})
afterAll(async () => {
  await app.books()
  await app.stop()
})

const keys = async () => (await app.call(session, "GET", "/v1/api-keys")).body.items
/** Every connection may list its runs. */
const listed = (kept: Kept) => app.call(kept.tokens?.access_token ?? "", "GET", "/v1/runs")

describe("an agent", () => {
  test("connects by address alone, runs, refreshes, and is revoked in the list of keys", async () => {
    const { kept } = await connect(app, session, { approve: true, budget: { limit: "1.00", period: "month" } })
    expect(kept.tokens).toMatchObject({ token_type: "Bearer", scope: "run", expires_in: 28_800 })
    const [key] = await keys()
    expect(key).toMatchObject({
      name: "Test agent (connected)",
      connected: true,
      budget: { limit: "1.00", period: "month", spent: "0.00" },
      allow: { raw: true, read: "own" }
    })
    const client = await connected(app, kept)
    const run = await client.callTool({ name: "run", arguments: verify("oauth@example.com") })
    expect(run.structuredContent).toMatchObject({ status: "succeeded", billing: { charged: "0.003" } })

    // Eight hours later: the client refreshes by itself, and the budget goes on.
    const before = kept.tokens
    // The caller of an API key is cached by POST /v1/run.
    const body = { capability: "email.verify", input: { email: "oauth@example.com" } }
    const ran = () => app.call(before?.access_token ?? "", "POST", "/v1/run", { body })
    expect((await ran()).status).toBe(200)
    await app.sql("UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE key_id = $1", [key.id])
    const again = await client.callTool({ name: "wallet", arguments: {} })
    expect(again.isError).toBe(false)
    expect(kept.tokens?.access_token).not.toBe(before?.access_token)
    expect(kept.tokens?.refresh_token).not.toBe(before?.refresh_token)
    expect((await keys()).filter(({ name }: { name: string }) => name.includes("connected"))).toMatchObject([
      { id: key.id, budget: { spent: "0.006" } }
    ])
    expect((await ran()).status).toBe(401)
    expect((await app.call(before?.access_token ?? "", "GET", "/v1/wallet")).status).toBe(401)
    // It runs, and changes nothing else.
    const guard = await app.call(kept.tokens?.access_token ?? "", "POST", "/v1/spend-guard", { body: {} })
    expect(guard.status).toBe(403)

    expect((await app.call(session, "DELETE", `/v1/api-keys/${key.id}`)).body.revoked).toBe(true)
    expect((await listed(kept)).status).toBe(401)
    const { client_id } = kept.client ?? { client_id: "" }
    const refused = await posted(app, "/oauth/token", {
      grant_type: "refresh_token",
      refresh_token: kept.tokens?.refresh_token ?? "",
      client_id
    })
    expect([refused.status, refused.body.error]).toEqual([400, "invalid_grant"])
    await client.close()
    const log = await app.call(session, "GET", "/v1/audit-log?limit=200")
    const actions = log.body.items.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(["connection.created", "key.created", "key.revoked"]))
    expect(JSON.stringify(log.body)).not.toContain("hash")
  })

  test("gets look-ups only if the person says so, and nothing if they deny", async () => {
    const { kept } = await connect(app, session, { approve: true, lookup_only: true })
    expect([kept.tokens?.scope, (await keys())[0].allow]).toEqual(["lookup", { read_only: true, read: "own" }])

    const denied: Kept = {}
    await expect(new Client({ name: "test", version: "1" }).connect(transportOf(app, denied))).rejects.toThrow()
    const many = (await keys()).length
    const answer = await decided(app, session, asked(denied.sent), { approve: false })
    const back = new URL(answer.body.redirect_to)
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: "access_denied",
      state: "state-of-the-test",
      iss: app.url
    })
    expect((await keys()).length).toBe(many)
  })

  test("ends its connection at the revocation endpoint, by either token", async () => {
    for (const which of ["access_token", "refresh_token"] as const) {
      const { kept } = await connect(app, session)
      const token = kept.tokens?.[which] ?? ""
      expect((await posted(app, "/oauth/revoke", { token, client_id: "rgc_other" })).status).toBe(200)
      expect((await listed(kept)).status).toBe(200)
      expect((await posted(app, "/oauth/revoke", { token, token_type_hint: which })).status).toBe(200)
      expect((await listed(kept)).status).toBe(401)
    }
    // An ordinary key is not the endpoint's to revoke.
    expect((await posted(app, "/oauth/revoke", { token: org.key })).status).toBe(200)
    expect((await org.get("/v1/wallet")).status).toBe(200)
  })

  test("loses its key with the person who connected it", async () => {
    const owner = await org.session()
    const { kept } = await connect(app, owner)
    const { body } = await app.call(owner, "GET", "/v1/auth/session")
    expect((await app.call(session, "DELETE", `/v1/members/${body.user.id}`)).status).toBe(200)
    expect((await listed(kept)).status).toBe(401)
  })
})

test("a code comes with state and issuer, and keeps the client's own parameters", async () => {
  const registered = await fetch(`${app.url}/oauth/register`, {
    method: "POST",
    body: JSON.stringify({ redirect_uris: ["https://agents.example/cb?tenant=7"] })
  })
  const { client_id, client_name }: { client_id: string; client_name: string } = JSON.parse(await registered.text())
  expect(client_name).toBe("agents.example")
  const answer = await decided(app, session, {
    response_type: "code",
    client_id,
    redirect_uri: "https://agents.example/cb?tenant=7",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    state: "a b&c"
  })
  expect(answer.body.redirect_to).toStartWith("https://agents.example/cb?tenant=7&code=rg_code_")
  expect(codeIn(answer).length).toBeGreaterThan(40)
  expect(new URL(answer.body.redirect_to).searchParams.get("state")).toBe("a b&c")
})
