/** What must never come out: keys at rest, keys and inputs in logs, and our insides in errors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, rehearse, startApp, until, verify } from "../app.ts"

describe("secrets", () => {
  test("T48 key.at_rest_and_once: raw keys, sessions and passwords are in no table, no log and no error", async () => {
    const app = await startApp()
    try {
      const password = "canary-password-4711"
      const account = { email: "canary@example.com", password, organization: "Canary" }
      const { body: session } = await app.call(null, "POST", "/v1/auth/sign-up", { body: account })
      const created = await app.call(session.session_token, "POST", "/v1/api-keys", {
        body: { name: "canary", environment: "test" }
      })
      const key: string = created.body.api_key
      await app.call(key, "POST", "/v1/wallet/topups/checkout", { body: { amount: "10.00" } })
      const answers = await Promise.all([
        app.call(key, "POST", "/v1/run", { body: verify() }),
        app.call(key, "POST", "/v1/run", { body: rehearse("error") }),
        app.call(key, "POST", "/v1/run", { body: { capability: key, input: {} } }).then(() => null),
        app.call(key, "POST", "/v1/run", { raw: "{", headers: { "content-type": "application/json" } }),
        app.call(key, "GET", "/v1/nothing"),
        app.call(key, "GET", "/v1/api-keys"),
        app.call(key, "DELETE", "/v1/api-keys/key_1"),
        app.call(null, "POST", "/v1/auth/sign-in", { body: { ...account, password: `${password}!` } }),
        app.call(null, "POST", "/v1/auth/sign-in", { body: { email: account.email, password, extra: 1 } }),
        app.call(`${key}x`, "GET", "/v1/wallet")
      ])
      const secrets = [key, key.slice(8), session.session_token, session.session_token.slice(8), password]
      const hits: Array<string> = []
      for (const secret of secrets) {
        for (const [index, answer] of answers.entries()) if (answer?.text.includes(secret)) hits.push(`answer ${index}`)
        for (const line of app.logs) if (line.includes(secret)) hits.push(`log: ${line.slice(0, 80)}`)
      }
      // Every column of every table, queues included, as text; what is stored in bytes is looked at as hexadecimal too.
      const columns = await app.sql(
        `SELECT table_schema, table_name, column_name FROM information_schema.columns
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`
      )
      for (const { table_schema, table_name, column_name } of columns) {
        for (const secret of secrets) {
          const [found] = await app.sql(
            `SELECT count(*)::int AS n FROM "${table_schema}"."${table_name}"
             WHERE position($1 IN "${column_name}"::text) > 0 OR position($2 IN "${column_name}"::text) > 0`,
            [secret, Buffer.from(secret).toString("hex")]
          )
          if (found?.["n"] !== 0) hits.push(`${table_schema}.${table_name}.${column_name}`)
        }
      }
      expect(hits).toEqual([])
      expect(columns.length).toBeGreaterThan(50)
      figures("T48 key.at_rest_and_once", {
        columns: columns.length,
        secrets: secrets.length,
        log_lines: app.logs.length,
        violations: hits.length
      })
      await app.books()
    } finally {
      await app.stop()
    }
  })

  test("T65 pii.logs: what a run was about is in no log line and no metric", async () => {
    const app = await startApp()
    try {
      const org = await app.tenant("5.00")
      for (const local of ["canary.person", "error", "timeout_once"]) {
        await org.run({ capability: "email.verify", input: { email: `${local}@sandbox.test` } })
      }
      await org.run({ capability: "email.find", input: { full_name: "Canary Person", company_domain: "example.com" } })
      await org.run({ capability: "email.find", input: { full_name: "Canary Person", company_domain: "not a domain" } })
      const metrics = await app.metrics()
      const hits = [...app.logs, metrics].filter((text) => /canary|sandbox\.test/i.test(text))
      expect(hits).toEqual([])
      figures("T65 pii.logs", { log_lines: app.logs.length, violations: hits.length })
    } finally {
      await app.stop()
    }
  })
})

describe("T62 errors.no_leak", () => {
  let app: App
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(() => app.stop())

  test("an internal error says that it happened, under which id, and nothing else", async () => {
    const org = await app.tenant("5.00")
    const session = await org.session()
    const { body: run } = await org.run(verify())
    // Each table goes away under a running service, and comes back.
    const breaks = [
      ["ledger", "GET", "/v1/wallet/transactions", undefined],
      ["wallets", "GET", "/v1/wallet", undefined],
      ["wallets", "POST", "/v1/run", verify()],
      ["runs", "GET", "/v1/runs", undefined],
      ["runs", "GET", `/v1/runs/${run.run_id}`, undefined],
      ["runs", "POST", "/v1/run", verify()],
      ["api_keys", "GET", "/v1/wallet", undefined],
      ["api_keys", "POST", "/v1/api-keys", { name: "x", environment: "test" }],
      ["mailbox", "POST", "/v1/wallet/topups/checkout", { amount: "10.00" }],
      ["mailbox", "POST", "/v1/spend-guard", {}],
      ["users", "POST", "/v1/auth/sign-in", { email: "a@example.com", password: "xxxxxxxxxx" }]
    ] as const
    const violations: Array<string> = []
    const ids: Array<string> = []
    for (const [table, method, path, body] of breaks) {
      await app.sql(`ALTER TABLE ${table} RENAME TO ${table}_away`)
      const token = path === "/v1/api-keys" ? session : org.key
      const answer = await app.call(token, method, path, { body })
      await app.sql(`ALTER TABLE ${table}_away RENAME TO ${table}`)
      const { request_id } = answer.body ?? {}
      const whole = JSON.stringify({
        error: { code: "internal_error", message: answer.body?.error?.message },
        request_id
      })
      if (answer.status !== 500 || answer.text !== whole)
        violations.push(`${table} ${method} ${path}: ${answer.status} ${answer.text}`)
      if (/relation|sql|column|postgres|\bat\b.*\.ts|select|error:/i.test(answer.body?.error?.message ?? ""))
        violations.push(answer.text)
      if (answer.headers.get("x-request-id") !== request_id) violations.push(`${path}: the request id is another one`)
      ids.push(request_id)
    }
    expect(violations).toEqual([])
    // Whoever reads the log finds the cause under the id that the client quotes.
    const unlogged = ids.filter((id) => !app.logs.some((line) => line.includes(id)))
    expect(unlogged).toEqual([])
    expect(
      (
        await until(
          "the service is well again",
          () => org.run(verify()),
          (answer) => answer.status === 200
        )
      ).status
    ).toBe(200)
    await app.books()
    figures("T62 errors.no_leak", { forced: breaks.length, violations: violations.length })
  })
})
