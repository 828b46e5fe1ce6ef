/**
 * An organization moves from one cell to another while both serve: what it has reads the same afterwards, the cell that it left refuses it, and
 * nothing of it is left there. What it refuses: cells-fence.test.ts. Kills and load: test/chaos/cells-move.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { readCatalog, tablesOf } from "../../../src/layers/cells/tables.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"
import { type App, startApp, until } from "../../kit/app.ts"
import { clientOf, move } from "../../kit/cell-move.ts"

const catalogOf = (app: App) => Effect.runPromise(Effect.scoped(Effect.flatMap(clientOf(app), readCatalog)))

const folder = "src/layers/postgres/schema"
const schemaText = async () => {
  const files = await Array.fromAsync(new Bun.Glob("*.sql").scan(folder))
  return (await Promise.all(files.map((file) => Bun.file(`${folder}/${file}`).text()))).join("\n")
}

const verify = (name: string) => ({ capability: "email.verify", input: { email: `${name}@acme.com` } })
const send = (to: string, more: object = {}) => ({
  capability: "email.send",
  input: { from: "sales@acme.example", to, subject: "Hello", text: "Hi" },
  ...more
})

/** Ids of tables whose rows an organization has, and how many. */
const rowsOf = async (app: App, org_id: string) => {
  const catalog = await catalogOf(app)
  const users = await app.sql("SELECT user_id FROM members WHERE org_id = $1", [org_id])
  const tables = tablesOf(
    catalog,
    org_id,
    users.map((row) => String(row["user_id"]))
  )
  const counts = await Promise.all(
    tables.map(async ({ name, where }) => {
      const [row] = await app.sql(`SELECT count(*)::int AS rows FROM ${name} WHERE ${where}`)
      return [name, Number(row?.["rows"])] as const
    })
  )
  return counts.filter(([, rows]) => rows > 0)
}

/** What an organization reads of itself. */
const paths = (ids: Readonly<Record<string, string>>) => [
  "/v1/wallet",
  "/v1/wallet/transactions",
  "/v1/runs",
  `/v1/runs/${ids["run"]}`,
  `/v1/runs/${ids["waiting"]}`,
  "/v1/runs?metadata.campaign=spring",
  `/v1/history?q=ada@acme.com`,
  `/v1/batches/${ids["batch"]}`,
  "/v1/api-keys",
  "/v1/members",
  "/v1/invitations",
  "/v1/opt-outs",
  "/v1/label-budgets",
  "/v1/approval-rules",
  "/v1/approvals",
  "/v1/allowances",
  "/v1/webhook-endpoints",
  "/v1/senders",
  "/v1/usage",
  "/v1/spend-guard"
]

describe("a move between two cells", () => {
  const held = heldProvider()
  let here: App
  let there: App
  beforeAll(async () => {
    ;[here, there] = await Promise.all([startApp({ held }), startApp()])
    // Databases of the tests are copies of one, and share its secrets.
    await there.sql("UPDATE contact_secret SET secret = 'of the other cell', created_at = now() + interval '1 day'")
  })
  afterAll(() => Promise.all([here.stop(), there.stop()]))

  /** An organization with rows in nearly every table. */
  const filled = async (app: App) => {
    const org = await app.tenant("50.00")
    const session = await org.session()
    const done = async (method: string, path: string, body?: unknown) => {
      const answer = await app.call(session, method, path, body === undefined ? {} : { body })
      if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
      return answer.body
    }
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    await done("POST", "/v1/api-keys", {
      name: "budgeted",
      environment: "test",
      budget: { limit: "5.00", period: "day" }
    })
    await done("PUT", "/v1/label-budgets", { label: "campaign", limit: "5.00", period: "month" })
    await done("POST", "/v1/webhook-endpoints", { url: "https://hooks.acme.example/rungate", events: ["run.finished"] })
    await done("POST", "/v1/senders", { domain: "acme.example" })
    await done("POST", "/v1/opt-outs", { values: ["left@acme.com"] })
    await done("POST", "/v1/invitations", { email: "new@acme.example", role: "member" })
    await done("POST", "/v1/spend-guard", { daily_limit: "20.00", contact_guard_days: 30 })
    await done("POST", "/v1/allowances", { name: "agent", amount: "0.50", expires_at })
    const run = await org.run({ ...verify("ada"), metadata: { campaign: "spring" } }, { "idempotency-key": "first" })
    expect(run.body.status).toBe("succeeded")
    const { body: sent } = await org.run(send("grace@acme.com"))
    expect(sent.status).toBe("succeeded")
    const batch = await org.post("/v1/batches", { runs: [verify("alan"), verify("kurt")] })
    await until(
      "the batch has ended",
      () => org.get(`/v1/batches/${batch.body.id}`),
      ({ body }) => body.done
    )
    await done("POST", "/v1/approval-rules", { name: "sends", capabilities: ["email.send"] })
    const { body: waiting } = await org.run(send("emmy@acme.com"))
    expect(waiting).toMatchObject({ approval: { code: "approval_required" } })
    await until(
      "its runs are indexed and counted",
      () => app.sql("SELECT org_id FROM history_queue UNION ALL SELECT org_id FROM usage_queue"),
      (queued) => queued.length === 0
    )
    const ids = { run: run.body.run_id, batch: batch.body.id, waiting: waiting.run_id }
    return { org, session, ids }
  }

  const read = async (app: App, token: string, ids: Readonly<Record<string, string>>) => {
    const answers = []
    for (const path of paths(ids)) {
      const { status, text } = await app.call(token, "GET", path)
      answers.push([path, status, text.replace(/"(last_used_at|duration_ms)":("[^"]*"|null|\d+)/g, "")])
    }
    return answers
  }

  test("everything reads the same, works, and adds up on both sides", async () => {
    const { org, session, ids } = await filled(here)
    const stays = await here.tenant("5.00")
    expect((await stays.run(verify("ada"))).body.status).toBe("succeeded")
    const receipt = await here.call(org.key, "GET", `/v1/runs/${ids.run}/receipt`)
    const before = await read(here, session, ids)
    expect(before.filter(([, status]) => status !== 200)).toEqual([])
    const { body: log } = await here.call(session, "GET", "/v1/audit-log")
    const rows = await rowsOf(here, org.org_id)

    const moved = await move(org.org_id, here, there)
    expect(moved).toEqual({ tables: expect.any(Number), rows: expect.any(BigInt) })
    expect(await read(there, session, ids)).toEqual(before)
    expect(await rowsOf(here, org.org_id)).toEqual([])
    // The move added its own entries to the log, and the key of what the other cell has hashed.
    const own = (counts: typeof rows) => counts.filter(([name]) => !/^(audit_log|contact_secrets)$/.test(name))
    expect(own(await rowsOf(there, org.org_id))).toEqual(own(rows))
    expect(own(rows).length).toBeGreaterThan(25)
    const logged = await there.call(session, "GET", "/v1/audit-log")
    expect(logged.body.items.slice(-log.items.length)).toEqual(log.items)

    // The cell that it left names the other one, to its key, its session and its admissions from memory.
    for (const token of [org.key, session]) {
      const refused = await here.call(token, "GET", "/v1/wallet")
      expect([refused.status, refused.body.error.code]).toEqual([421, "organization_moved"])
      expect(refused.text).toContain("cell two")
    }
    expect((await here.call(org.key, "POST", "/v1/run", { body: verify("late") })).status).toBe(421)
    expect((await here.call("rg_test_" + "7".repeat(43), "GET", "/v1/wallet")).status).toBe(401)
    expect((await stays.run(verify("emmy"))).body.status).toBe("succeeded")

    // There it goes on: the same Idempotency-Key is the same run, the guards remember, and the receipt is still good.
    const moving = org.over(there)
    const again = await moving.run(
      { ...verify("ada"), metadata: { campaign: "spring" } },
      { "idempotency-key": "first" }
    )
    expect(again.body.run_id).toBe(ids.run)
    expect((await moving.run(verify("next"))).body.status).toBe("succeeded")
    const contacted = await moving.run(send("grace@acme.com"))
    expect(contacted.body.error.code).toBe("contact_guard")
    expect((await moving.run(send("left@acme.com"))).body.error.code).toBe("opt_out")
    const keys = await there.call(null, "GET", "/.well-known/jwks.json")
    const { kid } = JSON.parse(Buffer.from(receipt.text.split(".")[0] ?? "", "base64url").toString())
    expect(keys.body.keys.map((key: { kid: string }) => key.kid)).toContain(kid)
    const audit = await there.call(session, "GET", "/v1/wallet/audit")
    expect([audit.body.adds_up, audit.body.chain_verified]).toEqual([true, true])
    await here.books()
    await there.books()

    // And back.
    await until(
      "its runs are indexed and counted there",
      () => there.sql("SELECT org_id FROM history_queue UNION ALL SELECT org_id FROM usage_queue"),
      (queued) => queued.length === 0
    )
    expect(await move(org.org_id, there, here)).toMatchObject({ rows: expect.any(BigInt) })
    expect((await org.run(verify("home"))).body.status).toBe("succeeded")
    expect((await there.call(org.key, "GET", "/v1/wallet")).status).toBe(421)
    await here.books()
    await there.books()
  })

  test("a person of two organizations signs in at both cells", async () => {
    const [leaves, stays] = [await here.tenant("1.00"), await here.tenant("1.00")]
    const session = await leaves.session()
    const [user] = await here.sql("SELECT user_id FROM users WHERE org_id = $1", [leaves.org_id])
    await here.sql("INSERT INTO members (org_id, user_id, role) VALUES ($1, $2, 'owner')", [
      stays.org_id,
      user?.["user_id"]
    ])
    expect(await move(leaves.org_id, here, there)).toMatchObject({ rows: expect.any(BigInt) })
    expect((await there.call(session, "GET", "/v1/auth/session")).status).toBe(200)
    expect(await here.sql("SELECT org_id FROM users WHERE user_id = $1", [user?.["user_id"]])).toEqual([
      { org_id: stays.org_id }
    ])
    expect(await there.sql("SELECT org_id FROM users WHERE user_id = $1", [user?.["user_id"]])).toEqual([
      { org_id: leaves.org_id }
    ])
  })

  test("an open run ends before the move, which is undone if it takes too long or is interrupted", async () => {
    const org = await here.tenant("5.00")
    const open = org.run(rehearseHeld(), { "idempotency-key": "open" })
    await held.holds(1)
    expect(await move(org.org_id, here, there, { seconds: 1 })).toContain("1 open runs")
    expect((await org.run(verify("first"))).body.status).toBe("succeeded")

    const drained = () =>
      until(
        "it drains",
        () => here.sql("SELECT FROM wallets WHERE org_id = $1 AND moving = 1", [org.org_id]),
        (rows) => rows.length === 1
      )
    const interrupt = new AbortController()
    const interrupted = move(org.org_id, here, there, { seconds: 600, signal: interrupt.signal }).catch(() => "ended")
    await drained()
    const during = await org.run(verify("second"), { "idempotency-key": "second" })
    expect([during.status, during.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^[1-9]$/)])
    interrupt.abort()
    expect(await interrupted).toBe("ended")
    await until(
      "it is undone",
      () => here.sql("SELECT FROM wallets WHERE org_id = $1 AND moving = 0", [org.org_id]),
      (rows) => rows.length === 1
    )
    expect((await org.run(verify("second"), { "idempotency-key": "second" })).body.status).toBe("succeeded")

    const moved = move(org.org_id, here, there, { seconds: 600 })
    await drained()
    held.release()
    expect((await open).body.status).toBe("succeeded")
    expect(await moved).toMatchObject({ rows: expect.any(BigInt) })
    expect((await org.over(there).run(rehearseHeld(), { "idempotency-key": "open" })).body.status).toBe("succeeded")
    await here.books()
    await there.books()
  })

  test("each table has rows of organizations, or is listed here as the cell's", async () => {
    const catalog = await catalogOf(here)
    const owned = new Set(tablesOf(catalog, `org_${"7".repeat(26)}`, []).map(({ name }) => name))
    const ours = new Set([...(await schemaText()).matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name))
    const ofCell = catalog.tables.map(({ name }) => name).filter((name) => ours.has(name) && !owned.has(name))
    expect(ofCell.join(" ")).toBe(
      `actor_inputs attempt_windows audit_checks background_migrations books_schedule catalog_documents cell_moves contact_secret
      cost_drifts dropped_months history_progress installation lane_count loss_sums moved_tokens offer_outcomes operator_links
      operator_sessions opt_out_service processor_cursors provider_checks provider_credit_holds provider_credits receipt_keys
      receipt_secrets replies schema_compatibility service_mode wallet_head_days warranty_fund workers`.replace(
        /\s+/g,
        " "
      )
    )
  })
})
