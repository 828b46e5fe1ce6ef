import { beforeAll, describe, expect, test } from "bun:test"
import { startApp, verify, withApp } from "../kit/app.ts"

const password = "correct horse battery"

describe("sign-up, sign-in, sessions", () => {
  let opened: { session_token: string; organization: { id: string; name: string } }
  const app = withApp()
  beforeAll(async () => {
    const account = { email: "ada@example.com", password, organization: "Analytical" }
    const { status, body } = await app.call(null, "POST", "/v1/auth/sign-up", { body: account })
    expect(status).toBe(200)
    opened = body
  })
  const auth = (path: string, body?: unknown, token: string | null = null) =>
    app.call(token, "POST", `/v1/auth/${path}`, body === undefined ? {} : { body })

  test("sign-up opens a session of a new organization with an empty wallet", async () => {
    expect<object>(opened).toEqual({
      session_token: expect.stringMatching(/^rg_sess_[0-9A-Za-z]{43}$/),
      expires_at: expect.stringMatching(/Z$/),
      organization: { id: expect.stringMatching(/^org_/), name: "Analytical" },
      user: { id: expect.stringMatching(/^usr_/), email: "ada@example.com" },
      role: "owner"
    })
    expect((await app.call(opened.session_token, "GET", "/v1/wallet")).body.balance).toBe("0.00")
    const guard = await app.call(opened.session_token, "GET", "/v1/spend-guard")
    expect(guard.body).toMatchObject({ per_run_limit: null, daily_limit: null })
    const { session_token: _token, ...rest } = opened
    expect((await app.call(opened.session_token, "GET", "/v1/auth/session")).body).toEqual({
      ...rest,
      organizations: [{ ...opened.organization, role: "owner" }]
    })
  })

  test("a session may do all that a key may", async () => {
    const token = opened.session_token
    await app.call(token, "POST", "/v1/wallet/topups/checkout", { body: { amount: "10.00" } })
    const { status, body } = await app.call(token, "POST", "/v1/run", { body: verify() })
    expect([status, body.status]).toEqual([200, "succeeded"])
    expect((await app.call(token, "GET", `/v1/runs/${body.run_id}`)).body).toEqual(body)
  })

  test("one account per e-mail, whatever its case", async () => {
    const { status, body } = await auth("sign-up", { email: "ADA@example.com", password, organization: "Second" })
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", "email"])
    expect(await app.sql("SELECT 1 FROM orgs WHERE name = 'Second'")).toEqual([])
  })

  test("sign-in opens another session; the wrong password and an unknown account read alike", async () => {
    const { status, body } = await auth("sign-in", { email: "Ada@Example.com", password })
    expect(status).toBe(200)
    expect(body.organization).toEqual(opened.organization)
    expect(body.session_token).not.toBe(opened.session_token)
    const wrong = await auth("sign-in", { email: "ada@example.com", password: `${password}!` })
    const unknown = await auth("sign-in", { email: "nobody@example.com", password })
    expect([wrong.status, unknown.status]).toEqual([401, 401])
    expect(wrong.body.error).toEqual(unknown.body.error)

    // Signing out ends this session and no other.
    const out = await auth("sign-out", undefined, body.session_token)
    expect([out.status, out.body]).toEqual([200, { signed_out: true }])
    expect((await app.call(body.session_token, "GET", "/v1/wallet")).status).toBe(401)
    expect((await app.call(opened.session_token, "GET", "/v1/wallet")).status).toBe(200)
  })

  test("a session that has expired is none", async () => {
    const org = await app.tenant()
    const session = await org.session()
    expect((await app.call(session, "GET", "/v1/auth/session")).status).toBe(200)
    await app.sql("UPDATE sessions SET expires_at = now() - interval '1 second' WHERE org_id = $1", [org.org_id])
    expect((await app.call(session, "GET", "/v1/auth/session")).status).toBe(401)
  })

  test("a key is no session", async () => {
    const org = await app.tenant()
    for (const [method, path] of [
      ["GET", "/v1/auth/session"],
      ["POST", "/v1/auth/sign-out"],
      ["DELETE", "/v1/history?q=nobody@nowhere.example"]
    ] as const) {
      const { status, body } = await app.call(org.key, method, path)
      expect([status, body.error.code]).toEqual([403, "forbidden"])
    }
    const setting = { enabled: false, threshold: "5.00", amount: "10.00" }
    const { status, body } = await app.call(org.key, "POST", "/v1/wallet/auto-topup", { body: setting })
    expect([status, body.error.code]).toEqual([403, "forbidden"])
    expect(body.error.message).toContain("Sign in with POST /v1/auth/sign-in")
  })

  test.each([
    [{ email: "x", password, organization: "X" }, "email"],
    [{ email: `${"x".repeat(250)}@example.com`, password, organization: "X" }, "email"],
    [{ email: "x@example.com", password: "123456789", organization: "X" }, "password"],
    [{ email: "x@example.com", password: "x".repeat(501), organization: "X" }, "password"],
    [{ email: "x@example.com", password, organization: "" }, "organization"],
    [{ email: "x@example.com", password }, "organization"],
    [{ email: "x@example.com", password, organization: "X", admin: true }, "admin"]
  ])("sign-up refuses %j", async (asked, path) => {
    const { status, body, text } = await auth("sign-up", asked)
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(body.error.details.map((one: { path: string }) => one.path)).toContain(path)
    expect(text).not.toContain(asked.password.length > 10 ? asked.password : "123456789")
  })
})

describe("attempts to sign in", () => {
  test("are limited per account, and answered before a password is looked at", async () => {
    const app = await startApp({ settings: { RUNGATE_RATE_LIMIT: "50" } })
    try {
      // A refused referral code costs no password hash, and counts as an attempt.
      const asked = { email: "eve@example.com", password, organization: "X", referral_code: "none" }
      const statuses: Array<number> = []
      for (let i = 0; i < 11; i++)
        statuses.push((await app.call(null, "POST", "/v1/auth/sign-up", { body: asked })).status)
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429])
      const limited = await app.call(null, "POST", "/v1/auth/sign-in", { body: { email: "EVE@example.com", password } })
      expect([limited.status, limited.body.error.code]).toEqual([429, "rate_limited"])
      expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0)
      const other = await app.call(null, "POST", "/v1/auth/sign-up", { body: { ...asked, email: "bob@example.com" } })
      expect(other.status).toBe(400)
    } finally {
      await app.stop()
    }
  })
})
