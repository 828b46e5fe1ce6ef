import { beforeAll, describe, expect, test } from "bun:test"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { pages, pageText } from "./cli/pages.ts"
import { rehearse, startApp, type Tenant, until, verify, withApp } from "../kit/app.ts"
import { heldProvider, rehearseHeld } from "../kit/held-provider.ts"

/** Every operation under /v1 that this service has. A new route is a line here and a line in the matrix of credentials. */
const operations = [
  "DELETE /v1/api-keys/{key_id}",
  "DELETE /v1/auth/sessions",
  "DELETE /v1/history",
  "GET /v1/api-keys",
  "GET /v1/auth/session",
  "GET /v1/history",
  "GET /v1/runs",
  "GET /v1/runs/{run_id}",
  "GET /v1/spend-guard",
  "GET /v1/wallet",
  "GET /v1/wallet/audit",
  "GET /v1/wallet/transactions",
  "POST /v1/api-keys",
  "POST /v1/auth/password",
  "POST /v1/auth/password-reset",
  "POST /v1/auth/password-reset/confirm",
  "POST /v1/auth/sign-in",
  "POST /v1/auth/sign-out",
  "POST /v1/auth/sign-up",
  "POST /v1/auth/verify-email",
  "POST /v1/auth/verify-email/resend",
  "POST /v1/history",
  "POST /v1/inspect",
  "POST /v1/run",
  "POST /v1/runs/{run_id}/cancel",
  "POST /v1/spend-guard",
  "POST /v1/wallet/topups/checkout"
]

describe("the process's own routes", () => {
  const held = heldProvider()
  let org: Tenant
  const app = withApp({ held })
  beforeAll(async () => {
    org = await app.tenant("5.00")
  })
  const get = (path: string) => app.call(null, "GET", path)

  test("/livez, /healthz and /readyz answer without a key", async () => {
    for (const path of ["/livez", "/healthz"]) {
      const { status, body } = await get(path)
      expect([status, body]).toEqual([200, { status: "ok" }])
    }
    const { status, body } = await get("/readyz")
    expect([status, body]).toEqual([200, { status: "ok", checks: { database: "ok", lanes: "ok", queues: "postgres" } }])
  })

  test("/metrics is Prometheus text that knows no customer", async () => {
    const running = await org.run({ ...rehearseHeld(), async: true })
    const text = await until("the run counts as running", app.metrics, (answer) =>
      answer.includes('rungate_open_runs{capability="email.verify",state="running"} 1')
    )
    expect(text).toContain("rungate_wallet_reserved_microdollars 4800\n")
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[0-9.e+]+)$/)
    }
    expect(text).not.toContain(org.org_id)
    await held.holds(1)
    held.release()
    await org.get(`/v1/runs/${running.body.run_id}?wait=20`)
    expect(await app.metrics()).toContain("rungate_wallet_reserved_microdollars 0\n")
  })

  test("/openapi.json is a valid document that names every route", async () => {
    const { status, body } = await get("/openapi.json")
    expect(status).toBe(200)
    expect(body.openapi).toStartWith("3.1")
    const paths: Record<string, Record<string, { responses: object; operationId: string }>> = body.paths
    const found = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
    )
    // Other groups of routes may come; none of these may go.
    expect(operations.filter((one) => !found.includes(one))).toEqual([])
    const ids = Object.values(paths).flatMap((item) => Object.values(item).map((one) => one.operationId))
    expect(new Set(ids).size).toBe(ids.length)
    // Every reference leads somewhere.
    const references = Array.from(JSON.stringify(body).matchAll(/"\$ref":"#\/([^"]+)"/g), (match) => match[1] ?? "")
    expect(references.length).toBeGreaterThan(10)
    for (const reference of references) {
      const target = reference
        .split("/")
        .reduce(
          (node: ReturnType<typeof JSON.parse>, part) => node?.[part.replaceAll("~1", "/").replaceAll("~0", "~")],
          body
        )
      expect(target, reference).toBeDefined()
    }
  })

  test("answers have the shape that /openapi.json promises", async () => {
    const { body: api } = await get("/openapi.json")
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    addFormats(ajv)
    ajv.addSchema({ $id: "api", components: api.components })
    const run = await org.run(verify())
    const asked: ReadonlyArray<readonly [string, string, string, unknown]> = [
      ["post", "/v1/run", "/v1/run", verify()],
      ["post", "/v1/run", "/v1/run", { ...rehearse("slow_1"), async: true }],
      ["post", "/v1/run", "/v1/run", {}],
      ["post", "/v1/run", "/v1/run", { capability: "none", input: {} }],
      ["get", "/v1/history", "/v1/history?q=jane.doe@example.com", undefined],
      ["get", "/v1/history", "/v1/history?q=jane%20doe%20said", undefined],
      ["get", "/v1/history", "/v1/history?q=", undefined],
      ["post", "/v1/history", "/v1/history", { subjects: ["jane.doe@example.com", "never said", ""] }],
      ["delete", "/v1/history", "/v1/history?q=jane.doe@example.com", undefined],
      ["post", "/v1/inspect", "/v1/inspect", { capability: "people.search" }],
      ["get", "/v1/runs", "/v1/runs?limit=1", undefined],
      ["get", "/v1/runs/{run_id}", `/v1/runs/${run.body.run_id}`, undefined],
      ["post", "/v1/runs/{run_id}/cancel", `/v1/runs/${run.body.run_id}/cancel`, undefined],
      ["get", "/v1/wallet", "/v1/wallet", undefined],
      ["get", "/v1/wallet/transactions", "/v1/wallet/transactions", undefined],
      ["post", "/v1/wallet/topups/checkout", "/v1/wallet/topups/checkout", { amount: "10.00" }],
      ["get", "/v1/spend-guard", "/v1/spend-guard", undefined],
      ["post", "/v1/spend-guard", "/v1/spend-guard", {}],
      ["get", "/v1/api-keys", "/v1/api-keys", undefined],
      ["post", "/v1/api-keys", "/v1/api-keys", { name: "x", environment: "test" }]
    ]
    for (const [method, path, url, body] of asked) {
      const answer = await app.call(org.key, method.toUpperCase(), url, body === undefined ? {} : { body })
      const schema = api.paths[path][method].responses[answer.status]?.content?.["application/json"]?.schema
      expect(schema, `${method} ${path} ${answer.status} is documented`).toBeDefined()
      const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')))
      check(answer.body)
      expect(check.errors ?? [], `${method} ${path} ${answer.status}`).toEqual([])
    }
  })

  test("/llms.txt lists every page of the docs and the skill, which are served as they are in the package", async () => {
    const { status, text, headers } = await get("/llms.txt")
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
    const links = Array.from(text.matchAll(/^- \[([^\]]+)\]\((\S+)\): (.+)$/gm), ([, title, link = "", about]) => ({
      title,
      link,
      about
    }))
    expect(links.filter(({ about }) => about === undefined || about.length < 20)).toEqual([])
    const paths = links.map(({ link }) => new URL(link).pathname).filter((path) => path !== "/openapi.json")
    const files = [...pages.filter((page) => page.startsWith("docs/")), "docs/skill/SKILL.md"].map((page) => `/${page}`)
    expect(paths.toSorted()).toEqual(files.toSorted())
    for (const path of paths) {
      const page = await get(path)
      expect([path, page.status, page.headers.get("content-type")]).toEqual([path, 200, "text/markdown; charset=utf-8"])
      expect(page.text).toBe(pageText(path.slice(1)))
    }
    expect(pageText("docs/skill/SKILL.md")).toMatch(/^---\nname: rungate\ndescription: .{50,1024}\n---\n/)
    for (const path of ["/docs/nothing.md", "/docs/..%2FREADME.md", "/docs/%2e%2e%2fpackage.json", "/docs/skill"])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })

  test("/docs/api is a page that loads nothing from elsewhere, runs no script of its own, and is in no frame", async () => {
    const { status, text, headers } = await get("/docs/api")
    expect(status).toBe(200)
    expect(headers.get("content-type")).toContain("text/html")
    expect(text.match(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//g)).toBeNull()
    expect(text).not.toMatch(/<script(?![^>]+src=)/)
    const policy = (headers.get("content-security-policy") ?? "").split("; ")
    for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(part)
    expect(headers.get("x-frame-options")).toBe("DENY")
    const script = await get(/src="([^"]+)"/.exec(text)?.[1] ?? "")
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"])
    expect(script.text).toContain('Scalar.createApiReference("#reference"')
    expect(script.text).not.toContain("sourceMappingURL")
  })

  test("unknown paths and methods answer with the one error body", async () => {
    for (const [method, path, status, code] of [
      ["GET", "/v1", 404, "not_found"],
      ["GET", "/v1/nothing", 404, "not_found"],
      ["GET", "/v2/wallet", 404, "not_found"],
      ["POST", "/livez/x", 404, "not_found"],
      ["DELETE", "/v1/wallet", 405, "method_not_allowed"],
      ["GET", "/v1/run", 405, "method_not_allowed"],
      ["PUT", "/v1/spend-guard", 405, "method_not_allowed"],
      ["POST", "/livez", 405, "method_not_allowed"]
    ] as const) {
      const answer = await app.call(org.key, method, path)
      expect([method, path, answer.status, answer.body?.error?.code]).toEqual([method, path, status, code])
      expect(answer.body.request_id).toBe(answer.headers.get("x-request-id"))
      if (status === 405) expect(answer.headers.get("allow")).not.toBeNull()
    }
  })

  test("every answer carries a request id of its own", async () => {
    const answers = await Promise.all(
      ["/livez", "/readyz", "/metrics", "/openapi.json", "/docs", "/v1/wallet", "/nothing"].map((path) =>
        app.call(org.key, "GET", path)
      )
    )
    const ids = answers.map((one) => one.headers.get("x-request-id"))
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-z]{26}$/)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test("a request that a message names comes with its command, in both forms of an error", async () => {
    const [http, cli] = ["GET /v1/catalog/providers", "rungate api GET /v1/catalog/providers"]
    for (const accept of ["application/json", "application/problem+json"]) {
      const asked = { body: { query: "x", provider: "nobody" }, headers: { accept } }
      const { body } = await app.call(null, "POST", "/v1/discover", asked)
      const { message, details } = body.error ?? { message: body.detail, details: body.errors }
      expect(message).toContain(`${http} lists them`)
      expect(details).toEqual([{ path: "", message: `${http}, or at a terminal: ${cli}`, http, cli }])
    }
  })

  test("errors come as application/problem+json to who asks for it", async () => {
    const accept = { headers: { accept: "application/problem+json" } }
    const { status, body, headers } = await app.call(org.key, "POST", "/v1/run", {
      body: { capability: "email.verify" },
      ...accept
    })
    expect(headers.get("content-type")).toBe("application/problem+json")
    expect(body).toEqual({
      type: "/problems/invalid_request",
      title: "Invalid request",
      status: 400,
      detail: expect.any(String),
      code: "invalid_request",
      request_id: headers.get("x-request-id"),
      errors: [{ path: "input", message: expect.any(String) }]
    })
    expect(status).toBe(400)
    expect((await app.call(null, "GET", "/v1/wallet", accept)).body).toMatchObject({
      code: "unauthorized",
      status: 401
    })
    expect((await app.call(null, "GET", "/nothing", accept)).body).toMatchObject({ code: "not_found", status: 404 })
    // A run that failed is a run, not a problem.
    const run = await app.call(org.key, "POST", "/v1/run", { body: rehearse("error"), ...accept })
    expect([run.status, run.headers.get("content-type"), run.body.status]).toEqual([502, "application/json", "failed"])
  })
})

describe("T58 rate limits", () => {
  test("say what is left, and when to come back; a refused call holds nothing", async () => {
    const app = await startApp({ settings: { RUNGATE_RATE_LIMIT: "2" } })
    try {
      const [org, other] = [await app.tenant("5.00"), await app.tenant("5.00")]
      const answers = await Promise.all(Array.from({ length: 12 }, () => org.run(verify())))
      const good = answers.filter((one) => one.status === 200)
      const limited = answers.filter((one) => one.status === 429)
      // Two a second and a burst of two seconds; a slow machine may refill one or two meanwhile.
      expect(good.length).toBeWithin(4, 8)
      expect(good.length + limited.length).toBe(12)
      for (const one of answers) {
        expect(one.headers.get("ratelimit-policy")).toBe('"default";q=4;w=2')
        expect(one.headers.get("ratelimit")).toMatch(/^"default";r=[0-4];t=\d+$/)
      }
      for (const one of limited) {
        expect(one.body.error.code).toBe("rate_limited")
        expect(Number(one.headers.get("retry-after"))).toBeWithin(1, 4)
        expect(one.headers.get("ratelimit")).toContain("r=0")
      }
      expect((await other.get("/v1/wallet")).status).toBe(200)
      await until(
        "the bucket refills",
        () => org.get("/v1/runs"),
        (answer) => answer.status === 200 && answer.body.items.length === good.length
      )
      await app.books()
    } finally {
      await app.stop()
    }
  })
})
