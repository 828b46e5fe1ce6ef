/** An installation that becomes a cell: new tokens say where they belong, and the tokens from before work on. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { tagOf } from "../../../../src/schema/accounts/TokenText.ts"
import { type App, startApp, type Tenant, verify } from "../../../kit/app.ts"
import { connect, posted } from "../../../http/oauth/agent.ts"

const password = "correct horse battery"
let before: App
let cell: App
let old: Tenant
let old_session: string
let org_id: string
let session: string

beforeAll(async () => {
  before = await startApp()
  cell = await startApp({ beside: before, settings: { RUNGATE_CELL: "eu1" } })
  old = await before.tenant("1.00")
  old_session = await old.session()
  const account = { email: "ada@example.com", password, organization: "Analytical" }
  const { body } = await cell.call(null, "POST", "/v1/auth/sign-up", { body: account })
  session = body.session_token
  org_id = body.organization.id
})
afterAll(async () => {
  await cell.stop()
  await before.stop()
})

const marked = (kind: string, of = org_id) => new RegExp(`^rg_${kind}_eu1-${tagOf(of)}_[0-9A-Za-z]{43}$`)

describe("a cell", () => {
  test("gives sessions and keys that name it and the organization, and takes them", async () => {
    expect(session).toMatch(marked("sess"))
    const signedIn = await cell.call(null, "POST", "/v1/auth/sign-in", { body: { email: "ada@example.com", password } })
    expect(signedIn.body.session_token).toMatch(marked("sess"))
    const { body } = await cell.call(session, "POST", "/v1/api-keys", {
      body: { name: "of a cell", environment: "test" }
    })
    expect(body.api_key).toMatch(marked("test"))
    const listed = await cell.call(session, "GET", "/v1/api-keys")
    expect(listed.body.items[0].display).toBe(`${body.api_key.slice(0, -39)}…${body.api_key.slice(-4)}`)
    expect((await cell.call(body.api_key, "GET", "/v1/wallet")).status).toBe(200)
    const { body: rotated } = await cell.call(session, "POST", `/v1/api-keys/${body.id}/rotate`, { body: {} })
    expect(rotated.api_key).toMatch(marked("test"))
  })

  test("gives a session of the organization that somebody switches to", async () => {
    await cell.sql(
      "INSERT INTO members (org_id, user_id, role) SELECT $1, user_id, 'owner' FROM users WHERE email = $2",
      [old.org_id, "ada@example.com"]
    )
    const signedIn = await cell.call(null, "POST", "/v1/auth/sign-in", {
      body: { email: "ada@example.com", password, organization_id: old.org_id }
    })
    expect(signedIn.body.session_token).toMatch(marked("sess", old.org_id))
    expect(signedIn.body.organization.id).toBe(old.org_id)
    const cookie = `__Host-rungate_session=${signedIn.body.session_token}`
    const switched = await fetch(`${cell.url}/v1/auth/browser/switch`, {
      method: "POST",
      headers: {
        cookie,
        "content-type": "application/json",
        "x-rungate-console": "1",
        "sec-fetch-site": "same-origin"
      },
      body: JSON.stringify({ organization_id: org_id })
    })
    const given = /__Host-rungate_session=([^;]+)/.exec(switched.headers.get("set-cookie") ?? "")?.[1]
    expect(given).toMatch(marked("sess"))
  })

  test("gives agents codes, access tokens and refresh tokens that name it, and renews them", async () => {
    const { kept, answer } = await connect(cell, session)
    expect(new URL(answer.body.redirect_to).searchParams.get("code")).toMatch(marked("code"))
    expect(kept.tokens?.access_token).toMatch(marked("test"))
    const refresh_token = kept.tokens?.refresh_token ?? ""
    expect(refresh_token).toMatch(new RegExp(`^rg_refresh_eu1-${tagOf(org_id)}_[0-9A-Za-z]{43}_[0-9A-Za-z]{43}$`))
    const client_id = kept.client?.client_id ?? ""
    const renewed = await posted(cell, "/oauth/token", { grant_type: "refresh_token", refresh_token, client_id })
    expect(renewed.status).toBe(200)
    expect(renewed.body.access_token).toMatch(marked("test"))
    expect(renewed.body.refresh_token).toStartWith(refresh_token.slice(0, -43))
  })

  test("gives allowances and invitations that name it", async () => {
    const body = { name: "a child", amount: "0.50", expires_at: new Date(Date.now() + 3_600_000).toISOString() }
    const minted = await cell.call(old_session, "POST", "/v1/allowances", { body })
    expect(minted.body.api_key).toMatch(marked("test", old.org_id))
    const invited = await cell.call(session, "POST", "/v1/invitations", {
      body: { email: "bob@example.com", role: "member" }
    })
    expect(new URL(invited.body.link).searchParams.get("token")).toMatch(marked("join"))
  })

  test("takes the keys and sessions from before, whose text says nothing of cells", async () => {
    expect(old.key).toMatch(/^rg_test_[0-9A-Za-z]{43}$/)
    const run = await cell.call(old.key, "POST", "/v1/run", { body: verify() })
    expect([run.status, run.body.status]).toEqual([200, "succeeded"])
    expect((await cell.call(old_session, "GET", "/v1/auth/session")).body.organization.id).toBe(old.org_id)
  })

  test("does not take a key whose mark was changed", async () => {
    const { body } = await cell.call(session, "POST", "/v1/api-keys", { body: { name: "whole", environment: "test" } })
    const other = await cell.call(body.api_key.replace("_eu1-", "_us1-"), "GET", "/v1/wallet")
    expect(other.status).toBe(401)
  })
})
