/**
 * T52 tenant.sql_backstop: every SQL statement of the HTTP layer is recorded on its way to PostgreSQL, while every operation and every MCP
 * tool is used. A statement that touches a table with an org_id must filter by it; the few that can't are listed with the reason.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, startApp, type Tenant, verify } from "../kit/app.ts"
import { faultyPostgres } from "../faults/postgres.ts"
import type { Wire } from "../faults/wire.ts"
import { contract } from "../kit/documented-answers.ts"

/** Statements that no organization's id can be in, and what protects them instead. */
const exceptions: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /SELECT EXISTS \(SELECT FROM cell_moves WHERE state IN/,
    "asks whether any organization moves, before it asks which"
  ],
  [/FROM api_keys\s+WHERE key_hash = \$1/, "finds out whose key it is, by the digest of the secret"],
  [/FROM sessions s .*WHERE s\.token_hash = \$1/s, "finds out whose session it is, by the digest of the secret"],
  [/UPDATE sessions SET ended_at = now\(\) WHERE token_hash = \$1/, "ends the session whose secret the caller has"],
  [
    /UPDATE sessions SET ended_at = now\(\)\s+WHERE user_id = \$1/,
    "ends the sessions of the caller, known by their own session"
  ],
  [/^SELECT 1 AS locked FROM users WHERE user_id = \$1 FOR UPDATE$/, "locks the caller, whose sessions then end"],
  [/FROM users WHERE lower\(email\) = lower\(\$1\)/, "signs in: the password is checked before anything is told"],
  [
    /UPDATE api_keys SET last_used_at = now\(\) WHERE key_id = ANY/,
    "notes the use of keys that were just authenticated"
  ],
  [/FROM mailbox\s+WHERE parked IS NULL GROUP BY lane/, "readiness: counts by lane, no row of anybody"],
  [
    /JOIN history_blocks t ON t\.segment = n\.segment/,
    "reads segments that the statement before it found for the organization"
  ],
  [
    /UPDATE ((alert|webhook)_mails m|member_invitations i) SET attempts/,
    "claims e-mails that are due, of whatever organization, for the sender"
  ],
  [
    /^SELECT ARRAY\[EXISTS .*\]::boolean\[\] AS due$/s,
    "looks whether background work is due, and reads no row of anybody"
  ],
  [/SELECT .*FROM replies WHERE command_id|DELETE FROM replies/s, "replies to commands that this process made ids for"]
]

let app: App
let wire: Wire
let front: App
let org: Tenant
const statements = new Set<string>()
beforeAll(async () => {
  app = await startApp()
  wire = await faultyPostgres(app.databaseUrl)
  front = await startApp({ beside: app, role: "http", settings: { DATABASE_URL: wire.url } })
  org = (await app.tenant("50.00")).over(front)
  const record = ({ text, from }: { readonly text: string; readonly from: string }) => {
    if (from === "rungate") statements.add(text)
    return false
  }
  wire.arm(record, 0, "before")
})
afterAll(async () => {
  await front.stop()
  await app.stop()
  await wire.stop()
})

const account = { email: "jane@sql.example", password: "correct horse battery", organization: "Acme" }
const bodies: Readonly<Record<string, unknown>> = {
  "runs.run": verify(),
  "history.batch": { subjects: ["nobody@nowhere.example"] },
  "discovery.discover": { query: "verify an e-mail address" },
  "catalog.inspect": { capability: "email.find" },
  "wallet.setGuard": { daily_limit: "90.00" },
  "topups.checkout": { amount: "10.00" },
  "topups.setAutoTopup": { enabled: false, threshold: "5.00", amount: "10.00" },
  "keys.create": { name: "x", environment: "test" },
  "allowances.create": { name: "x", amount: "0.01", expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  "auth.signUp": account,
  "auth.signIn": { email: account.email, password: account.password }
}
const tools = (run_id: string): ReadonlyArray<readonly [string, unknown]> => [
  ["run", { ...verify("tool"), max_cost: "1.00" }],
  ["get_run", { run_id }],
  ["cancel_run", { run_id }],
  ["list_runs", {}],
  ["history", { q: "nobody@nowhere.example" }],
  ["wallet", { transactions: 5 }]
]

const useEverything = async () => {
  const { body: run } = await org.run(verify(), { "idempotency-key": "T52" })
  await org.run(verify(), { "idempotency-key": "T52" })
  for (const token of [org.key, await org.session()]) {
    const inOrder = contract().operations.toSorted(
      (a, b) => Number(a.id === "auth.signOut") - Number(b.id === "auth.signOut")
    )
    for (const { id, method, path } of inOrder) {
      const filled = path
        .replace("{run_id}", run.run_id)
        .replace("{key_id}", `key_${"7".repeat(26)}`)
        .replace("{provider}", "hunter")
      const asked = id.startsWith("history.") && method !== "POST" ? `${filled}?q=nobody@nowhere.example` : filled
      await front.call(token, method, asked, { body: bodies[id] })
    }
  }
  for (const [name, given] of tools(run.run_id))
    await org.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } })
}

/** Filters by organization: compares org_id with something, or writes it as a column. */
const filters =
  /\borg_id\s*(=|IN\b)|=\s*\w*\.?org_id\b|INSERT INTO \w+ \([^)]*\borg_id\b|INSERT INTO \w+ \("org_id"|"org_id"|USING \(org_id/i

describe("T52 tenant.sql_backstop", () => {
  test("every statement on a tenant's table filters by organization", async () => {
    const columns = await app.sql(
      "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'org_id'"
    )
    const tables = columns.map(({ table_name }) => String(table_name))
    await useEverything()
    const naming = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE)\\s+"?(${tables.join("|")})\\b`, "i")
    const touching = [...statements].filter((text) => naming.test(text))
    const unfiltered = touching.filter((text) => !filters.test(text))
    const unexplained = unfiltered.filter((text) => !exceptions.some(([known]) => known.test(text)))
    expect(unexplained.map((text) => text.replace(/\s+/g, " "))).toEqual([])
    expect(tables.length).toBeGreaterThan(10)
    expect(touching.length).toBeGreaterThan(20)
    figures("T52 tenant.sql_backstop", {
      statements: statements.size,
      on_tenant_tables: touching.length,
      by_secret_or_for_the_process: unfiltered.length,
      violations: unexplained.length
    })
  })
})
