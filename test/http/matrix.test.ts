import { beforeAll, describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { figures, type Reply, type Tenant, verify, withApp } from "../kit/app.ts"
import { Context, Effect } from "effect"
import { howMany } from "../kit/input-samples.ts"
import { authTiming } from "../reliability/auth-timing.ts"
import { tLimit } from "../kit/compare-times.ts"

/** Who may call what. A new route is a line here. `session` is the status of a session, `key` that of an API key. */
interface Line {
  readonly method: string
  /** `{run}`, `{key}` and `{sender}` stand for ids of the caller's own organization. */
  readonly path: string
  readonly body?: unknown
  readonly open?: true
  readonly key: number
  readonly session: number
}
interface Ids {
  readonly run: string
  readonly key: string
  readonly sender: string
}
const autoTopup = { enabled: false, threshold: "5.00", amount: "10.00" }
const lines: ReadonlyArray<Line> = [
  { method: "POST", path: "/v1/run", body: verify(), key: 200, session: 200 },
  { method: "GET", path: "/v1/runs", key: 200, session: 200 },
  { method: "GET", path: "/v1/runs/{run}", key: 200, session: 200 },
  { method: "POST", path: "/v1/runs/{run}/cancel", key: 400, session: 400 },
  { method: "GET", path: "/v1/history?q=nobody@nowhere.example", key: 200, session: 200 },
  { method: "POST", path: "/v1/history", body: { subjects: ["nobody@nowhere.example"] }, key: 200, session: 200 },
  { method: "DELETE", path: "/v1/history?q=nobody@nowhere.example", key: 403, session: 200 },
  { method: "POST", path: "/v1/inspect", body: { capability: "email.find" }, key: 200, session: 200 },
  { method: "GET", path: "/v1/wallet", key: 200, session: 200 },
  { method: "GET", path: "/v1/wallet/transactions", key: 200, session: 200 },
  { method: "GET", path: "/v1/wallet/audit", key: 200, session: 200 },
  { method: "POST", path: "/v1/wallet/topups/checkout", body: { amount: "10.00" }, key: 200, session: 200 },
  { method: "GET", path: "/v1/referrals", key: 200, session: 200 },
  { method: "GET", path: "/v1/wallet/auto-topup", key: 200, session: 200 },
  { method: "POST", path: "/v1/wallet/auto-topup", body: autoTopup, key: 403, session: 200 },
  { method: "GET", path: "/v1/spend-guard", key: 200, session: 200 },
  { method: "GET", path: "/v1/events", key: 200, session: 200 },
  { method: "POST", path: "/v1/spend-guard", body: {}, key: 200, session: 200 },
  { method: "GET", path: "/v1/api-keys", key: 200, session: 200 },
  { method: "POST", path: "/v1/api-keys", body: { name: "x", environment: "test" }, key: 403, session: 200 },
  { method: "DELETE", path: "/v1/api-keys/{key}", key: 403, session: 200 },
  { method: "GET", path: "/v1/senders", key: 200, session: 200 },
  { method: "POST", path: "/v1/senders", body: { domain: "example.com" }, key: 403, session: 200 },
  { method: "POST", path: "/v1/senders/{sender}/verify", key: 403, session: 200 },
  { method: "DELETE", path: "/v1/senders/{sender}", key: 403, session: 200 },
  { method: "GET", path: "/v1/members", key: 403, session: 200 },
  { method: "PATCH", path: "/v1/members/usr_none", body: { role: "admin" }, key: 403, session: 404 },
  { method: "DELETE", path: "/v1/members/usr_none", key: 403, session: 404 },
  { method: "GET", path: "/v1/invitations", key: 403, session: 200 },
  {
    method: "POST",
    path: "/v1/invitations",
    body: { email: "matrix@example.com", role: "viewer" },
    key: 403,
    session: 200
  },
  { method: "DELETE", path: "/v1/invitations/inv_none", key: 403, session: 404 },
  { method: "GET", path: "/v1/auth/sessions", key: 403, session: 200 },
  { method: "DELETE", path: "/v1/auth/sessions/ses_none", key: 403, session: 404 },
  { method: "GET", path: "/v1/audit-log", key: 403, session: 200 },
  { method: "POST", path: "/v1/invitations/preview", body: {}, open: true, key: 400, session: 400 },
  { method: "POST", path: "/v1/invitations/accept", body: {}, open: true, key: 400, session: 400 },
  { method: "GET", path: "/v1/auth/session", key: 403, session: 200 },
  { method: "POST", path: "/v1/auth/verify-email", body: {}, open: true, key: 400, session: 400 },
  { method: "POST", path: "/v1/auth/verify-email/resend", key: 403, session: 200 },
  {
    method: "POST",
    path: "/v1/auth/password",
    body: { current_password: "not mine", new_password: "correct horse battery" },
    key: 403,
    session: 400
  },
  { method: "POST", path: "/v1/auth/password-reset", body: {}, open: true, key: 400, session: 400 },
  { method: "POST", path: "/v1/auth/password-reset/confirm", body: {}, open: true, key: 400, session: 400 },
  // Last, because it ends the session.
  { method: "POST", path: "/v1/auth/sign-out", key: 403, session: 200 },
  { method: "POST", path: "/v1/auth/sign-up", body: {}, open: true, key: 400, session: 400 },
  { method: "POST", path: "/v1/auth/sign-in", body: {}, open: true, key: 400, session: 400 },
  // Open to whoever can sign: no token of ours helps.
  { method: "POST", path: "/v1/webhooks/stripe", body: {}, open: true, key: 400, session: 400 }
]

describe("who may call what", () => {
  let org: Tenant
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant("100.00")
  })

  const spare = async (tenant: Tenant) => {
    const { body } = await tenant.run(verify())
    const accounts = Context.get(app.context, Accounts)
    const { id, token } = await Effect.runPromise(accounts.createKey(tenant.org_id, "spare", "test"))
    const domain = `d${Bun.randomUUIDv7()}.com`
    const sender = await app.call(await tenant.session(), "POST", "/v1/senders", { body: { domain } })
    return { run: body.run_id as string, key: id, sender: sender.body.id as string, token: Redacted.value(token) }
  }
  const ask = (line: Line, token: string | null, ids: Ids) => {
    const path = line.path.replace("{run}", ids.run).replace("{key}", ids.key).replace("{sender}", ids.sender)
    return app.call(token, line.method, path, { body: line.body })
  }

  test("T50 key.kind_matrix", async () => {
    const ids = await spare(org)
    const revoked = await spare(org)
    await app.call(revoked.token, "DELETE", `/v1/api-keys/${revoked.key}`)
    const ended = await org.session()
    await app.call(ended, "POST", "/v1/auth/sign-out")
    const live = `rg_live_${"a".repeat(43)}`
    const row =
      "INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display) VALUES ($1, $2, 'live', 'live', $3, 'x')"
    await app.sql(row, ["key_live", org.org_id, new Bun.CryptoHasher("sha256").update(live).digest()])
    const session = await org.session()

    const none: ReadonlyArray<readonly [string, string | null]> = [
      ["none", null],
      ["empty", ""],
      ["malformed", "rg_test_"],
      ["another scheme's", "dXNlcjpwYXNz"],
      ["too long", `rg_test_${"a".repeat(200)}`],
      ["unknown key", `rg_test_${"b".repeat(43)}`],
      ["unknown session", `rg_sess_${"b".repeat(43)}`],
      ["revoked key", revoked.token],
      ["ended session", ended],
      ["live key in the sandbox", live],
      ["a key's id", org.key_id],
      ["a key with a space behind", `${org.key}x`]
    ]
    let cells = 0
    const wrong: Array<string> = []
    const messages = new Map<string, Set<string>>()
    const check = (name: string, line: Line, answer: Reply, expected: number) => {
      cells += 1
      if (answer.status !== expected)
        wrong.push(`${line.method} ${line.path} with ${name}: ${answer.status}, not ${expected}`)
      if (expected === 401) {
        const { code, message, details = [], ...rest } = answer.body.error
        // Only the next step, which is the same for everybody.
        const told = details.filter((one: { http?: string }) => one.http === undefined)
        if (code !== "unauthorized" || Object.keys(rest).length > 0 || told.length > 0)
          wrong.push(`${line.path} with ${name}: ${answer.text}`)
        messages.set(name, (messages.get(name) ?? new Set()).add(message))
        if (answer.headers.get("www-authenticate") === null)
          wrong.push(`${line.path} with ${name}: no WWW-Authenticate`)
      }
    }
    for (const line of lines) {
      for (const [name, token] of none) check(name, line, await ask(line, token, ids), line.open === true ? 400 : 401)
      check("a key", line, await ask(line, org.key, ids), line.key)
      check("a session", line, await ask(line, session, ids), line.session)
    }
    // A session of its own, because it ends all.
    const last: Line = { method: "DELETE", path: "/v1/auth/sessions", key: 403, session: 200 }
    for (const [name, token] of none) check(name, last, await ask(last, token, ids), 401)
    check("a key", last, await ask(last, org.key, ids), last.key)
    check("a session", last, await ask(last, await org.session(), ids), last.session)
    expect(wrong).toEqual([])
    // The form of a credential decides its message. A key's or a session's own history does not.
    const alike = [
      ["none", "empty"],
      ["malformed", "another scheme's", "too long", "a key's id"],
      ["unknown key", "revoked key", "a key with a space behind"],
      ["unknown session", "ended session"],
      ["live key in the sandbox"]
    ]
    const told = alike.map((names) => [...new Set(names.flatMap((name) => [...(messages.get(name) ?? [])]))])
    expect(told.map((one) => one.length)).toEqual([1, 1, 1, 1, 1])
    expect(new Set(told.flat()).size).toBe(alike.length)
    expect(alike.flat().sort()).toEqual([...messages.keys()].sort())
    await app.books()
    figures("T50 key.kind_matrix", { cells, passed: cells - wrong.length, violations: wrong.length })
  })

  test("T53 auth.timing: an unknown, a similar and a revoked key take the same time and read alike", async () => {
    // The chaos suite takes the 20,000 samples of the plan.
    const samples = howMany(600, 300)
    const { t, attempts, control, bodies } = await authTiming(app, org, samples)
    expect(bodies.size).toBe(1)
    expect(t).toBeLessThan(tLimit)
    expect(control).toBeGreaterThan(tLimit)
    figures("T53 auth.timing", { samples, t_max: t, attempts, t_control: control, violations: bodies.size - 1 })
  })

  test("T54 mass_assignment: no field of an answer may be set by a request", async () => {
    const run = (await org.run({ ...verify(), response: { include_raw: true } })).body
    const failed = (await org.run({ capability: "email.verify", input: { email: "error@sandbox.test" } })).body
    const outputs = [
      ...new Set([
        ...Object.keys(run),
        ...Object.keys(failed),
        ...Object.keys(run.billing),
        ...Object.keys(await org.wallet()),
        ...Object.keys((await org.ledger())[0] ?? {}),
        ...Object.keys((await org.get("/v1/api-keys")).body.items[0]),
        ...Object.keys((await org.get("/v1/spend-guard")).body),
        ...Object.keys((await org.get("/v1/wallet/auto-topup")).body),
        ...[
          "org_id",
          "key_id",
          "user_id",
          "hold",
          "plan",
          "fingerprint",
          "__proto__",
          "constructor",
          "controls",
          "lane"
        ]
      ])
    ]
    const before = await Promise.all([org.wallet(), org.get("/v1/spend-guard"), org.list("?limit=200")])
    let tried = 0
    const violations: Array<string> = []
    const session = await org.session()
    const bodies: ReadonlyArray<readonly [string, string, Record<string, unknown>]> = [
      ["/v1/run", "", { ...verify() }],
      ["/v1/run", "routing.", { ...verify(), routing: {} }],
      ["/v1/run", "response.", { ...verify(), response: {} }],
      ["/v1/run", "input.", { ...verify() }],
      ["/v1/inspect", "", { capability: "email.find" }],
      ["/v1/history", "", { subjects: ["nobody@nowhere.example"] }],
      ["/v1/wallet/topups/checkout", "", { amount: "10.00" }],
      ["/v1/wallet/auto-topup", "", autoTopup],
      ["/v1/spend-guard", "", {}],
      ["/v1/api-keys", "", { name: "x", environment: "test" }],
      ["/v1/senders", "", { domain: "example.com" }]
    ]
    for (const [path, prefix, body] of bodies) {
      const inside = prefix.slice(0, -1)
      const place = (inside === "" ? body : (body[inside] ?? {})) as Record<string, unknown>
      const known = new Set([...Object.keys(place), ...allowed(path, prefix)])
      for (const field of outputs) {
        if (known.has(field)) continue
        tried += 1
        const changed = `${JSON.stringify(place).slice(0, -1)}${Object.keys(place).length === 0 ? "" : ","}${JSON.stringify(field)}:"1.00"}`
        const { [inside]: _inside, ...rest } = body
        const raw =
          inside === ""
            ? changed
            : `${JSON.stringify(rest).slice(0, -1)}${Object.keys(rest).length === 0 ? "" : ","}"${inside}":${changed}}`
        const answer = await app.call(session, "POST", path, { raw, headers: { "content-type": "application/json" } })
        const paths: ReadonlyArray<string> = answer.body?.error?.details?.map((one: { path: string }) => one.path) ?? []
        if (answer.status !== 400 || !paths.includes(`${prefix}${field}`))
          violations.push(`${path} ${prefix}${field}: ${answer.status} ${answer.text.slice(0, 200)}`)
      }
    }
    const after = await Promise.all([org.wallet(), org.get("/v1/spend-guard"), org.list("?limit=200")])
    expect(violations).toEqual([])
    expect(after.map((one) => ("body" in one ? one.body : one))).toEqual(
      before.map((one) => ("body" in one ? one.body : one))
    )
    figures("T54 mass_assignment", { fields: tried, violations: violations.length })
  })
})

/** Fields that a request has in common with an answer. */
const allowed = (path: string, prefix: string): ReadonlyArray<string> => {
  if (path === "/v1/run" && prefix === "") return ["capability", "endpoint", "provider"]
  if (path === "/v1/run" && prefix === "routing.") return ["provider"]
  if (path === "/v1/history") return ["kind"]
  if (path === "/v1/spend-guard") return ["per_run_limit", "daily_limit", "low_balance"]
  return []
}
