/** What strangers try at the authorization server: none of it gives a token, leaves a row, or sends a browser where nobody agreed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { clientId } from "../../../src/schema/oauth/Client.ts"
import { type App, startApp, type Tenant, until } from "../../kit/app.ts"
import { postTo, hello } from "../mcp-request.ts"
import { callback, codeIn, connect, decided, type Kept, posted, register } from "./agent.ts"

let app: App
/** The same service, which counts requests. */
let strict: App
let org: Tenant
let session: string
beforeAll(async () => {
  app = await startApp()
  strict = await startApp({ beside: app, role: "http", settings: { RUNGATE_RATE_LIMIT: "5" } })
  org = await app.tenant("1.00")
  session = await org.session()
})
afterAll(async () => {
  expect(app.logs.filter((line) => line.startsWith("Error"))).toEqual([])
  await strict.stop()
  await app.stop()
})

const verifier = "v".repeat(43)
const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url")
const client_id = clientId({ client_name: "Agent", redirect_uris: [callback] })
const request = {
  response_type: "code",
  client_id,
  redirect_uri: callback,
  code_challenge: challenge,
  code_challenge_method: "S256"
}
const newCode = async (more: Readonly<Record<string, string>> = {}) =>
  codeIn(await decided(app, session, { ...request, ...more }))
const exchange = (code: string, more: Readonly<Record<string, string>> = {}) =>
  posted(app, "/oauth/token", {
    grant_type: "authorization_code",
    code,
    client_id,
    redirect_uri: callback,
    code_verifier: verifier,
    ...more
  })
const refreshed = ({ tokens, client }: Kept, more: Readonly<Record<string, string>> = {}) =>
  posted(app, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: tokens?.refresh_token ?? "",
    client_id: client?.client_id ?? client_id,
    ...more
  })
const rows = async () =>
  (
    await app.sql(
      "SELECT (SELECT count(*) FROM oauth_codes)::int + (SELECT count(*) FROM oauth_grants)::int + (SELECT count(*) FROM api_keys)::int AS many"
    )
  )[0]?.["many"]

describe("a flood", () => {
  test("of registrations leaves no row, and is slowed by address", async () => {
    const before = await rows()
    const given = { client_name: "Flood", redirect_uris: ["https://flood.example/cb"] }
    const all = await Promise.all(Array.from({ length: 40 }, () => register(strict, given)))
    const statuses = new Set(all.map(({ status }) => status))
    expect([statuses, await rows()]).toEqual([new Set([201, 429]), before])
  })
  test("of token requests and revocations is slowed by address", async () => {
    for (const path of ["/oauth/token", "/oauth/revoke"]) {
      const all = await Promise.all(Array.from({ length: 40 }, () => posted(strict, path, { grant_type: "x" })))
      expect(all.some(({ status }) => status === 429)).toBe(true)
      expect(all.every(({ status }) => status === 429 || status === 400)).toBe(true)
    }
  })
  test("of requests that have a client's document read is slowed by person", async () => {
    const asked = (client_id: string) => {
      const query = new URLSearchParams({ ...request, client_id })
      return strict.call(session, "GET", `/v1/oauth/authorization?${query}`)
    }
    let count = 0
    const another = () => asked(`https://127.0.0.1/client-${(count += 1)}.json`)
    const { status, body } = await until("the reader is slowed", another, ({ body }) =>
      String(body.error?.message).includes("Too many attempts")
    )
    expect([status, body.error.code, count > 10]).toEqual([429, "rate_limited", true])
    await until(
      "a client without a document is not",
      () => asked(client_id),
      (answer) => answer.status === 200
    )
  })

  test("of consents keeps 100 open codes at most", async () => {
    const other = await app.tenant()
    const theirs = await other.session()
    await app.sql(
      `INSERT INTO oauth_codes (code_hash, org_id, user_id, client_hash, client_name, redirect_uri, challenge, scope, expires_at)
       SELECT sha256(n::text::bytea), $1, user_id, sha256('c'), 'c', 'https://c.example', repeat('a', 43), 'run', now() + interval '1 minute'
       FROM generate_series(1, 100) n, (SELECT user_id FROM members WHERE org_id = $1 LIMIT 1) m`,
      [other.org_id]
    )
    expect((await decided(app, theirs, request)).status).toBe(429)
    await app.sql(
      "UPDATE oauth_codes SET created_at = now() - interval '2 minutes', expires_at = now() - interval '1 second' WHERE org_id = $1",
      [other.org_id]
    )
    expect((await decided(app, theirs, request)).status).toBe(200)
    const [left] = await app.sql("SELECT count(*)::int AS many FROM oauth_codes WHERE org_id = $1", [other.org_id])
    expect(left?.["many"]).toBe(1)
  })
  test("of consents at once keeps that limit too", async () => {
    const other = await app.tenant()
    const theirs = await other.session()
    await app.sql(
      `INSERT INTO oauth_codes (code_hash, org_id, user_id, client_hash, client_name, redirect_uri, challenge, scope, expires_at)
       SELECT sha256(('at once ' || n)::bytea), $1, user_id, sha256('c'), 'c', 'https://c.example', repeat('a', 43), 'run', now() + interval '1 minute'
       FROM generate_series(1, 97) n, (SELECT user_id FROM members WHERE org_id = $1 LIMIT 1) m`,
      [other.org_id]
    )
    const all = await Promise.all(Array.from({ length: 20 }, () => decided(app, theirs, request)))
    expect(all.filter(({ status }) => status === 200).length).toBe(3)
  })
})

describe("a code", () => {
  test("with a wrong verifier, client, redirect URI or resource gives nothing, and is used up", async () => {
    const other = clientId({ client_name: "Other", redirect_uris: [callback] })
    const cases = [{ code_verifier: "w".repeat(43) }, { client_id: other }, { redirect_uri: `${callback}/` }]
    for (const more of cases) {
      const code = await newCode()
      expect([more, (await exchange(code, more)).body.error]).toEqual([more, "invalid_grant"])
      expect([more, (await exchange(code)).body.error]).toEqual([more, "invalid_grant"])
    }
    const code = await newCode()
    expect((await exchange(code, { resource: "https://evil.example/mcp" })).body.error).toBe("invalid_target")
    expect((await exchange(code, { client_id: "made-up" })).body.error).toBe("invalid_client")
    expect((await exchange(code, { code_verifier: "" })).body.error).toBe("invalid_request")
    expect((await posted(app, "/oauth/token", `grant_type=authorization_code&code=a&code=b`)).body.error).toBe(
      "invalid_request"
    )
    expect((await exchange(code, { resource: `${app.url}/mcp` })).status).toBe(200)
  })

  test("works once, also for two at once; a replay ends the connection", async () => {
    const code = await newCode()
    const both = await Promise.all([exchange(code), exchange(code)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400])
    const token = both.find(({ status }) => status === 200)?.body.access_token
    expect((await app.call(token, "GET", "/v1/wallet")).status).toBe(401)
  })

  test("expires", async () => {
    const code = await newCode()
    await app.sql(
      "UPDATE oauth_codes SET created_at = now() - interval '2 minutes', expires_at = now() - interval '1 second'"
    )
    expect((await exchange(code)).body.error).toBe("invalid_grant")
  })

  test("is refused to who is no member any more", async () => {
    const owner = await org.session()
    const code = codeIn(await decided(app, owner, request))
    const { body } = await app.call(owner, "GET", "/v1/auth/session")
    await app.call(session, "DELETE", `/v1/members/${body.user.id}`)
    expect((await exchange(code)).body.error).toBe("invalid_grant")
  })
})

describe("a refresh token", () => {
  test("that comes a second time ends the connection of both", async () => {
    const { kept } = await connect(app, session)
    const first = await refreshed(kept)
    expect(first.status).toBe(200)
    expect((await refreshed(kept)).body.error).toBe("invalid_grant")
    expect((await app.call(first.body.access_token, "GET", "/v1/wallet")).status).toBe(401)
    expect((await refreshed(kept, { refresh_token: first.body.refresh_token })).body.error).toBe("invalid_grant")
  })
  test("waits while its organization has 100 other keys in use", async () => {
    const full = await app.tenant()
    const { kept } = await connect(app, await full.session())
    await app.sql(
      "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE org_id = $1 AND name LIKE '%(connected)'",
      [full.org_id]
    )
    await app.sql(
      "INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display) SELECT 'key_' || n || $1, $1, 'x', 'test', sha256((n || $1)::bytea), 'x' FROM generate_series(1, 99) n",
      [full.org_id]
    )
    expect((await refreshed(kept)).body.error).toBe("invalid_request")
    await app.call(full.key, "DELETE", `/v1/api-keys/${full.key_id}`)
    expect((await refreshed(kept)).status).toBe(200)
  })
  test("is nothing to another client, and is no API key", async () => {
    const { kept } = await connect(app, session)
    const other = clientId({ client_name: "Other", redirect_uris: [callback] })
    expect((await refreshed(kept, { client_id: other })).body.error).toBe("invalid_grant")
    expect((await app.call(kept.tokens?.refresh_token ?? "", "GET", "/v1/wallet")).status).toBe(401)
    expect((await refreshed(kept)).status).toBe(200)
  })
})

describe("consent", () => {
  test("is a person's, of the organization they saw, for a request that is exactly what was registered", async () => {
    const other = await (await app.tenant()).session()
    const before = await rows()
    const wrong: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
      ["redirect_uri", { redirect_uri: "https://evil.example/cb" }],
      ["redirect_uri", { redirect_uri: `${callback}?x=1` }],
      ["redirect_uri", { redirect_uri: callback.replace("7777", "7778") }],
      ["client_id", { client_id: "rgc_bm90aGluZw" }],
      ["code_challenge_method", { code_challenge_method: "plain" }],
      ["code_challenge", { code_challenge: verifier.slice(1) }],
      ["response_type", { response_type: "token" }],
      ["resource", { resource: "https://evil.example/mcp" }],
      ["scope", { scope: "admin" }]
    ]
    for (const [path, more] of wrong) {
      const answer = await decided(app, session, { ...request, ...more })
      expect([more, answer.status, answer.body.error.details[0].path]).toEqual([more, 400, path])
      const query = new URLSearchParams({ ...request, ...more })
      expect((await app.call(session, "GET", `/v1/oauth/authorization?${query}`)).status).toBe(400)
    }
    const body = { ...request, organization_id: org.org_id, approve: true }
    expect((await app.call(org.key, "POST", "/v1/oauth/authorization", { body })).status).toBe(403)
    expect((await app.call(null, "POST", "/v1/oauth/authorization", { body })).status).toBe(401)
    const elsewhere = await app.call(other, "POST", "/v1/oauth/authorization", { body })
    expect([elsewhere.status, elsewhere.body.error.details[0].path]).toEqual([400, "organization_id"])
    // A page of another site, with the person's cookie.
    const cookie = `__Host-rungate_session=${session}`
    for (const headers of [
      { cookie, origin: "https://evil.example", "sec-fetch-site": "cross-site", "x-rungate-console": "1" },
      { cookie, origin: app.url, "sec-fetch-site": "same-origin" }
    ])
      expect((await app.call(null, "POST", "/v1/oauth/authorization", { body, headers })).status).toBe(403)
    expect(await rows()).toBe(before)
  })
})

test("a registration takes https and loopback addresses only, and a name without hidden characters", async () => {
  const refused = [
    "http://agents.example/cb",
    "javascript:alert(1)",
    "data:text/html,x",
    "cursor://callback",
    "https://user@agents.example/cb",
    "https://agents.example/cb#x",
    "https://agents.example\\@evil.example/",
    "http://localhost.evil.example/cb",
    "http://127.0.0.1.evil.example/cb",
    "https://agents.example/c b",
    `https://agents.example/${"a".repeat(500)}`
  ]
  for (const uri of refused) {
    const { status, body } = await register(app, { redirect_uris: ["https://good.example/cb", uri] })
    expect([uri, status, body.error]).toEqual([uri, 400, "invalid_redirect_uri"])
  }
  const hostile = `<script>alert(1)</script>\u202Eevil\u0007\u200B${"x".repeat(300)}`
  const { body } = await register(app, { client_name: hostile, redirect_uris: ["http://localhost:3000/cb"] })
  expect(body.client_name).toMatch(/^<script>alert\(1\)<\/script> evil x+$/)
  expect(body.client_name.length).toBe(100)
  for (const given of [
    null,
    [],
    {},
    { redirect_uris: [] },
    { redirect_uris: [1] },
    { redirect_uris: Array(6).fill("https://a.example") }
  ])
    expect([given, (await register(app, given)).body.error]).toEqual([given, "invalid_client_metadata"])
})

test("/mcp without a token, or with a wrong one, says where a token comes from", async () => {
  const metadata = `${app.url}/.well-known/oauth-protected-resource/mcp`
  const without = await postTo(app.url, hello)
  expect([without.status, without.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer resource_metadata="${metadata}", scope="run"`
  ])
  expect(JSON.parse(await without.text()).error.message).toContain("API key")
  for (const key of ["x", "rg_test_unknown", `rg_test_${"b".repeat(43)}`, `rg_live_${"b".repeat(43)}`]) {
    const wrong = await postTo(app.url, hello, { key })
    expect([key, wrong.status, wrong.headers.get("www-authenticate")]).toEqual([
      key,
      401,
      `Bearer error="invalid_token", resource_metadata="${metadata}", scope="run"`
    ])
  }
  const { body: resource } = await app.call(null, "GET", new URL(metadata).pathname)
  expect(resource).toMatchObject({ resource: `${app.url}/mcp`, authorization_servers: [app.url] })
  const { body: server } = await app.call(null, "GET", "/.well-known/oauth-authorization-server")
  expect(server).toMatchObject({ issuer: app.url, code_challenge_methods_supported: ["S256"] })
  // The host of the request is no address that other text could be put into.
  const odd = await fetch(metadata, { headers: { host: 'evil.example"/><script>' } })
  expect(await odd.text()).not.toContain("script")
})
