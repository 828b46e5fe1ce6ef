/** A browser's session over real HTTP: each door that a cookie opens, and each one that it must not open. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Layer } from "effect"
import { CheckSeconds, HeartbeatSeconds } from "../../src/actors/events/EventFeed.ts"
import { type App, type Reply, type Tenant, verify, withApp } from "../kit/app.ts"

const password = "correct horse battery"
const own = (app: App) => ({ origin: app.url, "sec-fetch-site": "same-origin", "x-rungate-console": "1" })

let other: Tenant
const app = withApp({
  limits: Layer.merge(Layer.succeed(CheckSeconds, 0.02), Layer.succeed(HeartbeatSeconds, 0.05))
})
beforeAll(async () => {
  other = await app.tenant("5.00")
})

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.call(null, "POST", path, { ...(body === undefined ? {} : { body }), headers: { ...own(app), ...headers } })
/** The cookie as a browser sends it back. */
const cookieOf = (reply: Reply) => (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? ""

let count = 0
const signUp = async () => {
  const email = `person${++count}@example.com`
  const reply = await post("/v1/auth/browser/sign-up", { email, password, organization: `Org ${count}` })
  expect(reply.status).toBe(200)
  return { email, reply, cookie: cookieOf(reply) }
}
const session = (cookie: string, headers: Record<string, string> = {}) =>
  app.call(null, "GET", "/v1/auth/session", { headers: { cookie, ...headers } })

describe("the cookie of a browser's session", () => {
  test("is HttpOnly, Secure, SameSite=Strict and bound to the host, and no body has the token", async () => {
    const { reply, cookie, email } = await signUp()
    const attributes = (reply.headers.get("set-cookie") ?? "").split("; ").slice(1)
    expect(attributes).toContain("HttpOnly")
    expect(attributes).toContain("Secure")
    expect(attributes).toContain("SameSite=Strict")
    expect(attributes).toContain("Path=/")
    expect(cookie).toMatch(/^__Host-rungate_session=rg_sess_/)
    expect(reply.text).not.toContain("rg_sess_")
    expect(reply.headers.get("cache-control")).toBe("no-store")
    const again = await post("/v1/auth/browser/sign-in", { email, password })
    expect([again.status, again.body.user.email, again.text.includes("rg_sess_")]).toEqual([200, email, false])
    const mine = await session(cookie)
    expect([mine.status, mine.body.user.email, mine.headers.get("cache-control")]).toEqual([200, email, "no-store"])
  })

  test("opens nothing when it is missing, made up, or an API key", async () => {
    expect((await session("")).status).toBe(401)
    expect((await session("__Host-rungate_session=rg_sess_0000000000000000000000000000000000000000000")).status).toBe(
      401
    )
    expect((await session(`__Host-rungate_session=${other.key}`)).status).toBe(401)
    expect((await session("__Host-rungate_session=%00;;=")).status).toBe(401)
    expect((await session("rungate_session=x")).status).toBe(401)
  })

  test("ends with its session: signed out, expired, all ended", async () => {
    const { cookie } = await signUp()
    const out = await post("/v1/auth/sign-out", undefined, { cookie })
    expect([out.status, out.headers.get("set-cookie")?.includes("Max-Age=0")]).toEqual([200, true])
    expect((await session(cookie)).status).toBe(401)

    const expired = await signUp()
    await app.sql("UPDATE sessions SET expires_at = now() - interval '1 second' WHERE user_id = $1", [
      expired.reply.body.user.id
    ])
    expect((await session(expired.cookie)).status).toBe(401)

    const ended = await signUp()
    const all = await app.call(null, "DELETE", "/v1/auth/sessions", { headers: { ...own(app), cookie: ended.cookie } })
    expect([all.status, all.body.sessions_ended, all.headers.get("set-cookie")?.includes("Max-Age=0")]).toEqual([
      200,
      1,
      true
    ])
    expect((await session(ended.cookie)).status).toBe(401)
  })
})

describe("a request with the cookie that changes something", () => {
  const guard = (cookie: string, headers: Record<string, string>) =>
    app.call(null, "POST", "/v1/spend-guard", { body: { daily_limit: "1.00" }, headers: { cookie, ...headers } })

  test("needs its own origin and the console's header", async () => {
    const { cookie } = await signUp()
    const header = { "x-rungate-console": "1" }
    const refused: ReadonlyArray<readonly [string, Record<string, string>]> = [
      ["only the cookie", {}],
      ["no header", { origin: app.url, "sec-fetch-site": "same-origin" }],
      ["no proof of origin", header],
      ["another site", { ...header, "sec-fetch-site": "cross-site", origin: app.url }],
      ["another host of the site", { ...header, "sec-fetch-site": "same-site" }],
      ["an address that was typed", { ...header, "sec-fetch-site": "none" }],
      ["another origin", { ...header, origin: "https://evil.example" }],
      ["an opaque origin", { ...header, origin: "null" }],
      ["another port", { ...header, origin: "http://127.0.0.1:1" }]
    ]
    for (const [name, headers] of refused) {
      const reply = await guard(cookie, headers)
      expect([name, reply.status, reply.body.error?.code]).toEqual([name, 403, "forbidden"])
    }
    expect((await guard(cookie, own(app))).status).toBe(200)
    expect((await guard(cookie, { ...header, origin: app.url })).status).toBe(200)
    // The header of a program wins, and needs no proof.
    const byKey = await app.call(other.key, "POST", "/v1/spend-guard", {
      body: { daily_limit: "1.00" },
      headers: { cookie }
    })
    expect(byKey.status).toBe(200)
  })

  test("is refused at every door that changes something", async () => {
    const { cookie } = await signUp()
    const doors: ReadonlyArray<readonly [string, string]> = [
      ["POST", "/v1/run"],
      ["POST", "/v1/api-keys"],
      ["POST", "/v1/wallet/topups/checkout"],
      ["POST", "/v1/auth/sign-out"],
      ["DELETE", "/v1/auth/sessions"],
      ["POST", "/v1/auth/password"],
      ["POST", "/v1/invitations"],
      ["POST", "/v1/auth/browser/switch"]
    ]
    for (const [method, path] of doors) {
      const reply = await app.call(null, method, path, {
        headers: { cookie, origin: "https://evil.example", "sec-fetch-site": "cross-site", "x-rungate-console": "1" },
        ...(method === "POST" ? { body: {} } : {})
      })
      expect([path, reply.status]).toEqual([path, 403])
    }
    expect((await session(cookie)).status).toBe(200)
  })

  test("a read of another site is refused too", async () => {
    const { cookie } = await signUp()
    expect((await session(cookie, { "sec-fetch-site": "cross-site" })).status).toBe(403)
    expect((await session(cookie, { "sec-fetch-site": "none" })).status).toBe(200)
  })
})

describe("a stream of events with the cookie", () => {
  test("goes on while the session lasts, and ends with it", async () => {
    const { cookie } = await signUp()
    const response = await fetch(`${app.url}/v1/events`, { headers: { cookie, "sec-fetch-site": "same-origin" } })
    expect(response.status).toBe(200)
    const reader = response.body?.getReader()
    // The credential is checked several times between two heartbeats.
    for (let heartbeats = 0; heartbeats < 5; heartbeats++) expect((await reader?.read())?.done).toBe(false)
    await post("/v1/auth/sign-out", undefined, { cookie })
    let last = await reader?.read()
    while (last?.done === false) last = await reader?.read()
    expect(last?.done).toBe(true)
  })
})

describe("signing in with a cookie", () => {
  test("is refused from another origin, and over http at an address where browsers keep no cookie", async () => {
    const { email } = await signUp()
    const from = (origin: string, site?: string) =>
      app.call(null, "POST", "/v1/auth/browser/sign-in", {
        body: { email, password },
        headers: { origin, "x-rungate-console": "1", ...(site === undefined ? {} : { "sec-fetch-site": site }) }
      })
    expect((await from("https://evil.example")).status).toBe(403)
    expect((await from(app.url, "cross-site")).status).toBe(403)
    const lan = await from("http://192.168.1.5:8787", "same-origin")
    expect([lan.status, lan.headers.get("set-cookie"), lan.body.error.message]).toEqual([
      403,
      null,
      expect.stringContaining("https")
    ])
    expect((await from(app.url)).status).toBe(200)
  })

  test("a wrong password sets no cookie", async () => {
    const { email } = await signUp()
    const reply = await post("/v1/auth/browser/sign-in", { email, password: "wrong password" })
    expect([reply.status, reply.headers.get("set-cookie")]).toEqual([401, null])
  })
})

describe("switching the organization", () => {
  test("replaces the session by one of another organization of the same person, and of no other", async () => {
    const owner = await signUp()
    const guest = await signUp()
    const invited = await app.call(null, "POST", "/v1/invitations", {
      body: { email: guest.email, role: "member" },
      headers: { ...own(app), cookie: owner.cookie }
    })
    const token = new URL(invited.body.link).searchParams.get("token")
    const joined = await post("/v1/auth/browser/accept-invitation", { token, password })
    expect([joined.status, joined.body.organization.id]).toEqual([200, owner.reply.body.organization.id])

    const home = guest.reply.body.organization.id
    const switched = await post("/v1/auth/browser/switch", { organization_id: home }, { cookie: cookieOf(joined) })
    expect([switched.status, switched.body.organization.id, switched.body.expires_at]).toEqual([
      200,
      home,
      joined.body.expires_at
    ])
    expect((await session(cookieOf(joined))).status).toBe(401)
    expect((await session(cookieOf(switched))).body.organization.id).toBe(home)

    const foreign = await post(
      "/v1/auth/browser/switch",
      { organization_id: other.org_id },
      { cookie: cookieOf(switched) }
    )
    expect([foreign.status, foreign.body.error.details[0].path]).toEqual([400, "organization_id"])
    expect((await session(cookieOf(switched))).status).toBe(200)
  })

  test("shows no run of another organization", async () => {
    const { cookie } = await signUp()
    const { body: run } = await other.run(verify())
    expect((await other.get(`/v1/runs/${run.run_id}`)).status).toBe(200)
    const read = (id: string) => app.call(null, "GET", `/v1/runs/${id}`, { headers: { cookie } })
    const [theirs, nobodys] = [await read(run.run_id), await read("run_01m81nzk95mq351g8pvrxgm8m4")]
    expect([theirs.status, theirs.body.error.code]).toEqual([nobodys.status, nobodys.body.error.code])
    expect(theirs.status).toBeGreaterThanOrEqual(400)
  })
})
