/** The operator's session: one use of a printed link, a cookie of its own, and no door that it shares with customers. */
import { beforeAll, describe, expect, test } from "bun:test"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { runMain } from "../../../chaos/processes.ts"
import { compiledCommand } from "../../../kit/compiled-command.ts"
import { contract } from "../../../kit/documented-answers.ts"
import { cookieOf, operatorOf, ownPage, printedLink, signIn } from "../../../http/operator/operator.ts"

const password = "correct horse battery"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("5.00")
})

const mine = (cookie: string, headers: Record<string, string> = {}) =>
  app.call(null, "GET", "/v1/operator/session", { headers: { cookie, ...headers } })

describe("a sign-in link", () => {
  test("is printed by rungate admin console, stored as a digest, and opens one session", async () => {
    const command = runMain(["admin", "console"], app.settings, [await compiledCommand()])
    const { code } = await command.ended
    expect([code, command.errors().includes("within 10 minutes")]).toEqual([0, true])
    const link = new URL(command.output().trim())
    expect([link.pathname, link.search]).toEqual(["/operator/sign-in", ""])
    const token = link.hash.slice(1)
    expect(token).toMatch(/^rg_operator_[0-9A-Za-z]{43}$/)
    expect(JSON.stringify(await app.sql("SELECT * FROM operator_links"))).not.toContain(token)

    const opened = await signIn(app, token)
    expect([opened.status, opened.text.includes("rg_oper")]).toEqual([200, false])
    const attributes = (opened.headers.get("set-cookie") ?? "").split("; ").slice(1)
    for (const one of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/"]) expect(attributes).toContain(one)
    expect(cookieOf(opened)).toMatch(/^__Host-rungate_operator=rg_oper_/)
    const read = await mine(cookieOf(opened))
    expect([read.status, read.headers.get("cache-control")]).toEqual([200, "no-store"])
    expect(read.body).toEqual(opened.body)

    const again = await signIn(app, token)
    expect([again.status, again.body.error.message.includes("rungate admin console")]).toEqual([401, true])
  })

  test("opens one session however many ask at once", async () => {
    const token = await printedLink(app)
    const replies = await Promise.all(Array.from({ length: 8 }, () => signIn(app, token)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 401)])
  })

  test("is refused after its time, made up, or as something else", async () => {
    const late = await printedLink(app, "grace", "11 minutes")
    for (const token of [late, "rg_operator_0", org.key, "x".repeat(200)]) {
      const { status, headers } = await signIn(app, token)
      expect([token, status, headers.get("set-cookie")]).toEqual([token, 401, null])
    }
    expect((await signIn(app, "x".repeat(201))).status).toBe(400)
    expect((await signIn(app, "a\u0000b")).status).toBe(400)
    expect((await signIn(app, "\ud800")).status).toBeLessThan(500)
  })

  test("is used up by a page of this service only", async () => {
    const token = await printedLink(app)
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" }
    expect((await signIn(app, token, foreign)).status).toBe(403)
    const program = await app.call(null, "POST", "/v1/operator/sign-in", { body: { token } })
    expect(program.status).toBe(403)
    expect((await signIn(app, token)).status).toBe(200)
  })
})

describe("an operator's session", () => {
  test("ends when the operator signs out, and when its time is over", async () => {
    const tab = await operatorOf(app)
    const out = await tab.post("/sign-out")
    expect([out.status, out.headers.get("set-cookie")?.includes("Max-Age=0")]).toEqual([200, true])
    expect((await tab.get("/session")).status).toBe(403)

    const other = await operatorOf(app)
    await app.sql(
      "UPDATE operator_sessions SET created_at = now() - interval '9 hours', expires_at = now() - interval '1 hour' WHERE ended_at IS NULL"
    )
    expect((await other.get("/session")).status).toBe(403)
  })

  test("changes nothing for another site, nor without the console's header", async () => {
    const { cookie } = await operatorOf(app)
    const out = (headers: Record<string, string>) =>
      app.call(null, "POST", "/v1/operator/sign-out", { headers: { cookie, ...headers } })
    const header = { "x-rungate-console": "1" }
    const refused: ReadonlyArray<Record<string, string>> = [
      {},
      header,
      { origin: app.url, "sec-fetch-site": "same-origin" },
      { ...header, "sec-fetch-site": "cross-site", origin: app.url },
      { ...header, "sec-fetch-site": "same-site" },
      { ...header, origin: "https://evil.example" }
    ]
    for (const headers of refused) expect([headers, (await out(headers)).status]).toEqual([headers, 403])
    expect((await mine(cookie)).status).toBe(200)
    expect((await mine(cookie, { "sec-fetch-site": "cross-site" })).status).toBe(403)
  })

  test("is in the audit log with its name and address, and no organization reads that", async () => {
    await operatorOf(app, "hopper")
    const [entry] = await app.sql(
      "SELECT org_id, actor, actor_name, address IS NOT NULL AS addressed, after FROM audit_log WHERE action = 'operator_session.created' AND actor_name = 'hopper'"
    )
    expect([entry?.org_id, entry?.actor, entry?.addressed]).toEqual([null, "operator", true])
    expect(JSON.stringify(entry?.after)).not.toContain("token")
  })
})

describe("operators and customers share no door", () => {
  const operators = () => contract().operations.filter(({ id }) => id.startsWith("operator"))
  const open = new Set(["operatorSession.signIn"])

  test("every operation of the operator refuses everybody else, without saying more", async () => {
    const signedUp = await app.call(null, "POST", "/v1/auth/browser/sign-up", {
      body: { email: "owner@doors.example", password, organization: "Doors" },
      headers: ownPage(app)
    })
    const customer = cookieOf(signedUp)
    const value = customer.split("=")[1] ?? ""
    const { cookie } = await operatorOf(app)
    const operator = cookie.split("=")[1] ?? ""
    const session = await org.session()
    const asked: ReadonlyArray<readonly [string, string | null, Record<string, string>]> = [
      ["nobody", null, {}],
      ["a key", org.key, {}],
      ["a session", session, {}],
      ["a customer's cookie", null, { cookie: customer }],
      ["a customer's session in the operator's cookie", null, { cookie: `__Host-rungate_operator=${value}` }],
      ["an operator's token as a bearer token", operator, {}],
      ["a key beside the operator's cookie", org.key, { cookie }],
      ["a made-up token", null, { cookie: `__Host-rungate_operator=rg_oper_${"0".repeat(43)}` }],
      ["nonsense", null, { cookie: "__Host-rungate_operator=%00" }]
    ]
    expect(operators().length).toBeGreaterThan(2)
    for (const { id, method, path } of operators().filter((one) => !open.has(one.id))) {
      for (const [name, token, headers] of asked) {
        const filled = path.replace(/\{[^}]+\}/g, org.org_id)
        const { status, body } = await app.call(token, method, filled, {
          ...(method === "GET" ? {} : { body: {} }),
          headers: { ...ownPage(app), ...headers }
        })
        expect([id, name, status, body.error.code]).toEqual([id, name, 403, "forbidden"])
      }
    }
  })

  test("the operator's session opens no operation of a customer", async () => {
    const { cookie } = await operatorOf(app)
    const operator = cookie.split("=")[1] ?? ""
    const asked: ReadonlyArray<readonly [string | null, Record<string, string>]> = [
      [null, { cookie }],
      [null, { cookie: `__Host-rungate_session=${operator}` }],
      [operator, {}]
    ]
    for (const [token, headers] of asked)
      for (const path of ["/v1/wallet", "/v1/runs", "/v1/auth/session", "/v1/audit-log"]) {
        const { status } = await app.call(token, "GET", path, { headers: { ...ownPage(app), ...headers } })
        expect([path, status]).toEqual([path, 401])
      }
  })
})
