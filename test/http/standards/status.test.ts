/** The status page: closed until it is switched on, then the same for everybody, without names of customers. */
import { beforeAll, describe, expect, test } from "bun:test"
import { reportOf } from "../../../src/http/status/StatusReport.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { startApp, type Tenant, verify, withApp } from "../../kit/app.ts"

const hostile = `<img src=x onerror=alert(1)>"'&`
const asBrowser = { headers: { accept: "text/html,application/xhtml+xml" } }

describe("the status page", () => {
  let org: Tenant
  const app = withApp({ settings: { RUNGATE_STATUS_PAGE: "on" } })
  beforeAll(async () => {
    // Before the first answer, because answers are kept.
    await app.catalog({ ...documentOf("evil", [endpointOf({ path: "/x" })]), title: hostile })
    org = await app.tenant("5.00")
    await org.run(verify("somebody.private"))
  })

  test("says as a page and as JSON how the service and its providers are", async () => {
    const json = await app.call(null, "GET", "/status")
    expect([json.status, json.headers.get("content-type")]).toEqual([200, "application/json"])
    expect(json.headers.get("cache-control")).toBe("public, max-age=5")
    expect(json.body).toMatchObject({
      status: "ok",
      service: [
        { part: "api", status: "ok" },
        { part: "storage", status: "ok" },
        { part: "queue", status: "ok" }
      ]
    })
    expect(json.body.providers).toContainEqual({ provider: "hunter", title: "Hunter", status: "unknown" })
    const html = await app.call(null, "GET", "/status", asBrowser)
    expect([html.status, html.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    expect(html.text).toContain("Everything works")
    // In the console's look, with a way on.
    expect(html.text).toContain('<a href="/docs">Docs</a>')
    expect(html.text).toContain('<tr><th scope="row">Storage</th><td><span class="good">✓ works</span></td></tr>')
    expect(html.text).toContain('<th scope="row">Hunter</th>')
    expect(html.headers.get("content-security-policy")).toContain("default-src 'none'")
  })

  test("shows hostile names as text, and nothing of a customer or a secret", async () => {
    const html = await app.call(null, "GET", "/status", asBrowser)
    expect(html.text).toContain("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;")
    expect(html.text).not.toContain("<img")
    const json = await app.call(null, "GET", "/status")
    expect(json.body.providers).toContainEqual({ provider: "evil", title: hostile, status: "unknown" })
    for (const text of [html.text, json.text])
      expect(text).not.toMatch(new RegExp(`${org.org_id}|org_|rg_|somebody|postgres|:/{2}`))
  })

  test("a flood is answered from memory", async () => {
    const times = await Promise.all(
      Array.from({ length: 60 }, async () => (await app.call(null, "GET", "/status")).body.checked_at)
    )
    expect(new Set(times).size).toBeLessThanOrEqual(2)
  })

  test("a service without the setting has none, and says who can switch it on", async () => {
    const closed = await startApp({ beside: app, role: "http", settings: { RUNGATE_STATUS_PAGE: "off" } })
    const { status, body } = await closed.call(null, "GET", "/status")
    const html = await closed.call(null, "GET", "/status", asBrowser)
    await closed.stop()
    expect([status, body.error.code]).toEqual([404, "not_found"])
    expect(body.error.message).toContain("RUNGATE_STATUS_PAGE=on")
    expect([html.status, html.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
    expect(html.text).toContain(body.error.message)
  })
})

describe("its verdict", () => {
  const good = { database: "ok", lanes: "ok" }
  const provider = (name: string, status: "healthy" | "degraded" | "outage") => ({
    provider: name,
    title: name,
    status
  })
  const at = new Date(0)

  test("failing providers degrade it and come first, and no detail of the database is told", () => {
    const report = reportOf(good, [provider("a", "healthy"), provider("b", "degraded"), provider("c", "outage")], at)
    expect([report.status, report.providers.map((one) => one.provider)]).toEqual(["degraded", ["c", "b", "a"]])
    const down = reportOf({ database: "unreachable at db.internal", lanes: "unknown" }, [], at)
    expect(down.status).toBe("outage")
    expect(down.service.map((one) => one.status)).toEqual(["ok", "outage", "unknown"])
    expect(JSON.stringify(down)).not.toContain("internal")
    expect(reportOf({ database: "ok", lanes: "oldest command waits 40 s" }, [], at).status).toBe("outage")
  })
})
