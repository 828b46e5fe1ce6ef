/** What the operator's machines ask: metrics are theirs alone, and a process that is not ready says why. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, callUrl, startApp, until } from "../kit/app.ts"

const token = "a-scraper-s-own-token"
const port = { RUNGATE_METRICS_PORT: "0" }
let app: App
const others: Array<App> = []
beforeAll(async () => {
  app = await startApp({ role: "http", settings: { RUNGATE_METRICS_TOKEN: token } })
})
afterAll(async () => {
  for (const other of others) await other.stop()
  await app.stop()
})
const beside = async (settings: Readonly<Record<string, string>>, role: "http" | "worker" = "http") => {
  const other = await startApp({ beside: app, role, settings: { RUNGATE_METRICS_TOKEN: "", ...settings } })
  others.push(other)
  return other
}
/** Where the listener says it is. */
const listener = ({ logs }: App) =>
  /http:\/\/127\.0\.0\.1:\d+(?=\/metrics)/.exec(logs.join("\n"))?.[0] ?? expect.unreachable("no listener")

describe("/metrics", () => {
  test("needs the token, and no API key will do", async () => {
    const { key } = await app.tenant()
    for (const sent of [null, "", "wrong", key, `${token}x`, token.slice(0, -1)]) {
      const { status, body, headers } = await app.call(sent, "GET", "/metrics")
      expect([sent, status, body.error.code]).toEqual([sent, 401, "unauthorized"])
      expect(headers.get("www-authenticate")).toBe("Bearer")
    }
    const { status, text } = await app.call(token, "GET", "/metrics")
    expect([status, text.includes("rungate_mailbox_depth")]).toEqual([200, true])
  })

  test("is closed without a setting, and says which one opens it", async () => {
    const { status, body } = await (await beside({})).call(null, "GET", "/metrics")
    expect([status, body.error.code]).toEqual([403, "forbidden"])
    expect(body.error.message).toMatch(/RUNGATE_METRICS_TOKEN.+RUNGATE_METRICS_PORT/)
  })

  test("stands on a port of its own, and nowhere else then", async () => {
    const other = await beside(port)
    const own = listener(other)
    const scraped = await callUrl(own, null, "GET", "/metrics")
    expect([scraped.status, scraped.text.includes("rungate_mailbox_depth")]).toEqual([200, true])
    expect((await other.call(null, "GET", "/metrics")).status).toBe(404)
    expect((await callUrl(own, null, "GET", "/readyz")).body.checks.database).toBe("ok")
    for (const path of ["/v1/wallet", "/docs", "/openapi.json"])
      expect((await callUrl(own, null, "GET", path)).status).toBe(404)
  })

  test("asks for the token there, too, when there is one; a worker has the port as well", async () => {
    const worker = await beside({ ...port, RUNGATE_METRICS_TOKEN: token }, "worker")
    const own = listener(worker)
    expect((await callUrl(own, null, "GET", "/metrics")).status).toBe(401)
    expect((await callUrl(own, token, "GET", "/metrics")).status).toBe(200)
    await others.pop()?.stop()
  })

  test("a token that is too short to be one is refused at start", () => {
    expect(startApp({ beside: app, role: "http", settings: { RUNGATE_METRICS_TOKEN: "short" } })).rejects.toThrow(
      "RUNGATE_METRICS_TOKEN must be at least 16"
    )
  })
})

describe("/readyz", () => {
  test("keeps its body when it fails: it says what is not ready", async () => {
    const org = await app.tenant()
    // A command that no worker has taken for a minute.
    await app.sql(
      `INSERT INTO mailbox (lane, command_id, org_id, tag, payload, created_at)
       SELECT lane, 'cmd_late', org_id, 'SetGuard', '{}', now() - interval '1 minute' FROM wallets WHERE org_id = $1`,
      [org.org_id]
    )
    const { body, headers } = await until(
      "the answer of a moment ago is looked up again",
      () => app.call(null, "GET", "/readyz"),
      ({ status }) => status === 503
    )
    expect(body).toEqual({
      status: "not ready",
      checks: {
        database: "ok",
        lanes: expect.stringMatching(/^oldest command waits \d+ s; is a worker running\?$/),
        queues: "postgres"
      }
    })
    expect(headers.get("x-request-id")).toStartWith("req_")
    await app.sql("DELETE FROM mailbox WHERE command_id = 'cmd_late'")
  })
})
