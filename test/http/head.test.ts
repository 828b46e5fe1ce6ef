/** HEAD answers like GET, without a body: every GET of /openapi.json, and every page. */
import { beforeAll, describe, expect, test } from "bun:test"
import { callUrl, startApp, type Tenant, until, verify, withApp } from "../kit/app.ts"
import { contract } from "../kit/documented-answers.ts"

let org: Tenant
let session: string
let run_id: string
const app = withApp({
  settings: {
    RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    RUNGATE_STATUS_PAGE: "on",
    RUNGATE_WARRANTY_SHARE: "1"
  }
})
beforeAll(async () => {
  org = await app.tenant("5.00")
  session = await org.session()
  // The sandbox calls it valid, so that it can be disputed.
  run_id = (await org.run(verify("bounce", "sandbox.test"))).body.run_id
  const dispute = { reason: "bounced", evidence: "my mail server says so" }
  expect((await org.post(`/v1/runs/${run_id}/dispute`, dispute)).status).toBe(200)
})

/** What differs between any two requests. */
const own = new Set(["x-request-id", "date", "connection"])
/** How long a stream is, is not known before its end. */
const streams = new Set(["text/event-stream", "application/x-ndjson", "text/csv; charset=utf-8"])
const length = new Set(["content-length", "transfer-encoding"])
const shown = (headers: Headers) => {
  const isStream = streams.has(headers.get("content-type") ?? "")
  return Object.fromEntries([...headers].filter(([name]) => !own.has(name) && !(isStream && length.has(name))))
}

const both = async (path: string, token: string | null) => {
  const get = await callUrl(app.url, token, "GET", path)
  const head = await callUrl(app.url, token, "HEAD", path)
  expect([path, head.status, shown(head.headers)]).toEqual([path, get.status, shown(get.headers)])
  expect([path, head.text]).toEqual([path, ""])
  expect(head.headers.get("x-request-id")).toMatch(path.startsWith("/%") ? /./ : /^req_/)
  return get
}

describe("HEAD", () => {
  test("answers like GET on every operation", async () => {
    // A customer's session opens none of the operator's.
    const mine = contract().operations.filter(({ id }) => !id.startsWith("operator"))
    const paths = mine.flatMap(({ method, path }) => (method === "GET" ? [path] : []))
    expect(paths.length).toBeGreaterThan(12)
    const made = (what: string, body: object) => app.call(session, "POST", `/v1/${what}`, { body })
    const { body: key } = await made("api-keys", { name: "x", environment: "test" })
    const hook = { url: "https://hooks.example.com/", events: ["run.finished"] }
    const { body: endpoint } = await made("webhook-endpoints", hook)
    await app.call(session, "PUT", "/v1/provider-accounts/hunter", { body: { api_key: "a key of hunter" } })
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const { body: allowance } = await made("allowances", { name: "x", amount: "0.01", expires_at })
    // Its row makes no run, and so no event that would change a list in the middle.
    const { body: batch } = await made("batches", { runs: [{ capability: "email.verify", input: {} }] })
    await until(
      "the batch to finish",
      () => org.get(`/v1/batches/${batch.id}`),
      ({ body }) => body.done
    )
    const queries: Readonly<Record<string, string>> = {
      "/v1/history": "?q=a@b.example",
      "/v1/label-budgets/statement": "?label=customer&value=acme"
    }
    for (const path of paths) {
      const filled = path
        .replace("{run_id}", run_id)
        .replace("{key_id}", key.id)
        .replace("{endpoint_id}", endpoint.id)
        .replace("{allowance_id}", allowance.id)
        .replace("{batch_id}", batch.id)
        .replace("{provider}", "hunter")
      const { status } = await both(`${filled}${queries[path] ?? ""}`, session)
      // A client that is not registered is refused, and so is a run that waits for nobody, in both.
      const refused = ["/v1/oauth/authorization", "/v1/approvals/{run_id}"]
      expect([path, status]).toEqual([path, refused.includes(path) ? 400 : 200])
    }
  })

  test("answers like GET on every page", async () => {
    const pages = [
      "/",
      "/docs",
      "/openapi.json",
      "/livez",
      "/healthz",
      "/readyz",
      "/status",
      "/top-up/success",
      "/top-up/cancelled"
    ]
    for (const path of pages) expect([path, (await both(path, null)).status]).toEqual([path, 200])
    expect((await both("/join/NOSUCHCODE", null)).status).toBe(404)
  })

  test("answers errors like GET", async () => {
    expect((await both("/v1/wallet", null)).status).toBe(401)
    expect((await both("/v1/runs/run_none", org.key)).status).toBe(400)
    expect((await both("/nothing", null)).status).toBe(404)
  })

  test("is not for what has no GET", async () => {
    const { status, headers, text } = await callUrl(app.url, org.key, "HEAD", "/v1/run")
    expect([status, headers.get("allow"), text]).toEqual([405, "POST", ""])
    const wrong = await callUrl(app.url, org.key, "PUT", "/v1/wallet")
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"])
    const odd = await callUrl(app.url, org.key, "PROPFIND", "/v1/wallet")
    expect([odd.status, odd.headers.get("allow")]).toEqual([405, "GET, HEAD"])
  })
})

describe("the page at /", () => {
  test("says what this is, where the documentation is and how to get a key, without a script", async () => {
    const { status, headers, text } = await callUrl(app.url, null, "GET", "/")
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    for (const part of ["/docs", "/openapi.json", "/mcp", "POST /v1/api-keys", "POST /v1/auth/sign-up", "Sandbox"])
      expect(text).toContain(part)
    expect(text).not.toMatch(/<script|javascript:|\son\w+=/i)
    expect(headers.get("content-security-policy")).toContain("default-src 'none'")
  })

  test("names whom to ask where sign-up is not open", async () => {
    const other = await startApp({ settings: { RUNGATE_MODE: "production" } })
    try {
      const { text } = await callUrl(other.url, null, "GET", "/")
      expect(text).toContain("Sign-up is by invitation.")
      expect(text).not.toContain("Sandbox")
    } finally {
      await other.stop()
    }
  })
})
