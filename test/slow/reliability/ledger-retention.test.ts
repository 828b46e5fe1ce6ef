/**
 * Retention by month: old runs and their entries are dropped as whole partitions, and what remains adds up for the operator's audit and for the
 * customer's. A month with anything unfinished stays.
 */
import { beforeAll, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { Client } from "pg"
import { Audit } from "../../../src/layers/audit/Audit.ts"
import { type App, startApp, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { pastMonths, patiently } from "../../kit/past-months.ts"
import { indexedAndCounted } from "../../kit/finished-work.ts"

/** Moves a run and its entries to an earlier time, and chains the wallet's entries anew, as if it had been made then and had waited for an approval. */
const moveBack = async (app: App, run_id: string, days: number): Promise<string> => {
  await indexedAndCounted(app)
  const client = new Client(app.databaseUrl)
  await client.connect()
  await client.query("SET session_replication_role = replica")
  const { rows } = await client.query("SELECT run_id_at(now() - make_interval(days => $1)) || right($2, 16) AS id", [
    days,
    run_id
  ])
  const { id } = rows[0]
  for (const table of ["runs", "ledger", "idempotency_keys"])
    await client.query(`UPDATE ${table} SET run_id = $1 WHERE run_id = $2`, [id, run_id])
  await client.query(
    `INSERT INTO approvals (run_id, org_id, rule_id, rule_name, role, self_approval, hold, state, requested_at, expires_at, decided_at, decided_by, via)
     SELECT run_id, org_id, 'apr_1', 'all', 'admin', true, hold, 'approved', created_at, finished_at, created_at, 'usr_1', 'session'
     FROM runs WHERE run_id = $1`,
    [id]
  )
  await client.query(`DO $$
    DECLARE e ledger; previous bytea; org text := (SELECT org_id FROM runs WHERE run_id = '${id}');
    BEGIN
      FOR e IN SELECT * FROM ledger WHERE org_id = org ORDER BY seq LOOP
        previous := ledger_hash(previous, e);
        UPDATE ledger SET hash = previous WHERE org_id = org AND seq = e.seq;
      END LOOP;
      UPDATE wallets SET head = previous, version = version + 1 WHERE org_id = org;
    END $$`)
  await client.end()
  return id
}

const retention = { RUNGATE_RETENTION_DAYS: "60", RUNGATE_RETENTION_MONTHS: "3" }
const keyed = (org: Tenant, key: string, body: Record<string, unknown>) => org.run(body, { "idempotency-key": key })

let org: Tenant
let idle: Tenant
/** The newest run of each time. */
const ids: Record<number, string> = {}
const stored = async (run_id: string) => (await app.sql("SELECT 1 FROM runs WHERE run_id = $1", [run_id])).length === 1
const before = "date_trunc('month', now(), 'UTC') - interval '3 months'"
const steps = async () => {
  const done: Array<string> = []
  for (;;) {
    const [row] = await patiently(() => app.sql(`SELECT done, waits FROM drop_months(${before})`))
    if (row === undefined) return done
    done.push(String(row["done"] ?? row["waits"]))
    if (row["done"] === null) return done
  }
}
let audited: Record<string, unknown>

const app = withApp()
beforeAll(async () => {
  await pastMonths((text) => app.sql(text), 8)
  org = await app.tenant("20.00")
  idle = await app.tenant("5.00")
  for (const days of [200, 165, 130, 40]) {
    const charged = (await keyed(org, `key-${days}`, verify("ada"))).body.run_id
    const free = (await org.run(verify("error", "sandbox.test"))).body.run_id
    ids[days] = await moveBack(app, charged, days)
    await moveBack(app, free, days)
    await org.credit("1.00")
  }
  await moveBack(app, (await idle.run(verify("ada"))).body.run_id, 200)
  await org.run(verify("bob"))
  await app.books()
  audited = (await org.get("/v1/wallet/audit")).body
})

test("a run is in the month of its id, and keeps a month that is not finished from being dropped", async () => {
  const [place] = await app.sql("SELECT tableoid::regclass::text AS name FROM runs WHERE run_id = $1", [ids[200]])
  const [month] = await app.sql("SELECT to_char(now() - interval '200 days', '\"runs_\"YYYY_MM') AS name")
  expect(place).toEqual(month ?? {})
  for (;;) if ((await patiently(() => app.sql("SELECT age_month() AS step")))[0]?.["step"] === null) break
  // Months without runs are dropped first.
  expect((await steps()).at(-1)).toMatch(/^\d{4}-\d\d: a run is not erased$/)
  await app.sql("UPDATE runs SET erased_at = now() WHERE run_id < run_id_at(now() - interval '60 days')")
  const run_id = ids[200] ?? ""
  await app.sql(
    "INSERT INTO open_runs (run_id, org_id, hold, state, side_effect) VALUES ($1, $2, 0, 'queued', false)",
    [run_id, org.org_id]
  )
  expect((await steps()).join()).toMatch(/: a run is open$/)
  await app.sql("DELETE FROM open_runs WHERE run_id = $1", [run_id])
  await app.sql("UPDATE runs SET erased_at = NULL WHERE run_id < run_id_at(now() - interval '60 days')")
  expect(await stored(run_id)).toBe(true)
})

test("a worker that is told to erases the runs of old months, and then drops these", async () => {
  const worker = await startApp({ beside: app, role: "worker", settings: retention })
  const unerased = `SELECT count(*)::int AS n FROM runs WHERE erased_at IS NULL AND run_id < run_id_at(now() - interval '60 days')`
  await until(
    "the old runs are erased",
    async () => (await app.sql(unerased))[0]?.["n"],
    (n) => n === 0
  )
  await worker.stop()
  // A second start needs no ten minutes.
  const second = await startApp({ beside: app, role: "worker", settings: retention })
  await until(
    "the old months are dropped",
    () => stored(ids[130] ?? ""),
    (is) => !is
  )
  await second.stop()
  expect(await Promise.all([200, 165, 130, 40].map((days) => stored(ids[days] ?? "")))).toEqual([
    false,
    false,
    false,
    true
  ])
  expect(await app.sql("SELECT 1 FROM idempotency_keys WHERE idempotency_key IN ('key-200', 'key-130')")).toEqual([])
  const approvals = await app.sql("SELECT run_id FROM approvals WHERE run_id = ANY($1)", [Object.values(ids)])
  expect(approvals).toEqual([{ run_id: ids[40] ?? "" }])
  expect((await org.get(`/v1/runs/${ids[200]}`)).text).toContain("There is no run")
  expect((await org.get(`/v1/runs/${ids[40]}`)).status).toBe(200)
})

test("what remains adds up: the books, each customer's audit, and the next runs", async () => {
  await app.books()
  const after = (await org.get("/v1/wallet/audit")).body
  expect({ ...after, checked_at: null }).toEqual({ ...audited, checked_at: null })
  // This wallet's newest entry was dropped.
  expect((await idle.get("/v1/wallet/audit")).body).toMatchObject({ violations: [] })
  for (const one of [org, idle]) expect((await one.run(verify("cleo"))).body.status).toBe("succeeded")
  const again = await keyed(org, "key-200", verify("ada"))
  expect([again.status, again.body.run_id === ids[200]]).toEqual([200, false])
  expect((await keyed(org, "key-40", verify("ada"))).body.run_id).toBe(ids[40])
  await app.books()
})

test("the audit names what changes in a checkpoint, or in the entry after it", async () => {
  const found = async () =>
    (await Effect.runPromise(Context.get(app.context, Audit).run)).violations.map((one) => one.equation.split(" ")[0])
  const unguarded = async (table: string, text: string) => {
    await app.sql(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
    await app.sql(text)
    await app.sql(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
  }
  await expect(app.sql("UPDATE ledger_checkpoints SET settle = settle - 1")).rejects.toThrow("append-only")
  await expect(app.sql("DELETE FROM dropped_months")).rejects.toThrow("append-only")
  const newest = `org_id = '${org.org_id}' AND seq = (SELECT max(seq) FROM ledger_checkpoints WHERE org_id = '${org.org_id}')`
  for (const [change, back, equation] of [
    ["settle = settle - 1, release = release - 1", "settle = settle + 1, release = release + 1", "E1"],
    ["balance_after = balance_after + 1", "balance_after = balance_after - 1", "E7"],
    ["hash = set_byte(hash, 0, get_byte(hash, 0) # 1)", "hash = set_byte(hash, 0, get_byte(hash, 0) # 1)", "E9"]
  ] as const) {
    await unguarded("ledger_checkpoints", `UPDATE ledger_checkpoints SET ${change} WHERE ${newest}`)
    expect(await found()).toContain(equation)
    await unguarded("ledger_checkpoints", `UPDATE ledger_checkpoints SET ${back} WHERE ${newest}`)
  }
  expect(await found()).toEqual([])
})
