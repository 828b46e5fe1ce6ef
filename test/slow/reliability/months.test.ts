/**
 * Runs and ledger by month: an Idempotency-Key is one run in whatever month, months are made
 * ahead by several processes at once, and a month whose runs are final leaves the tables that turns read.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { makeId } from "../../../src/schema/Ids.ts"
import { type App, startApp, type Tenant, until, verify } from "../../kit/app.ts"
import { copies } from "../../kit/old-runs.ts"
import { pastMonths, patiently } from "../../kit/past-months.ts"

const monthMillis = 31 * 86_400_000
/** The partition of each run. */
const placeOf = async (app: App, run_id: string) =>
  (await app.sql("SELECT tableoid::regclass::text AS place FROM runs WHERE run_id = $1", [run_id]))[0]?.["place"]
const keyed = (org: Tenant, key: string, body: Record<string, unknown>) => org.run(body, { "idempotency-key": key })
/** Inserts a run without a word about who claims its key. */
const oldInsert = (run_id: string, key: string, conflict = "") => `
  INSERT INTO runs (org_id, run_id, request_id, idempotency_key, fingerprint, kind, capability, status, hold, quoted, input, plan, routing_reason, finished_at)
  SELECT org_id, '${run_id}', 'req', '${key}', '', 'capability', 'email.verify', 'failed', 0, 0, '{}', '{}', '', now() FROM orgs LIMIT 1 ${conflict}`

describe("the first partition", () => {
  let app: App
  let org: Tenant
  const old = makeId("run", Date.now() - 3 * monthMillis)
  beforeAll(async () => {
    app = await startApp()
    org = await app.tenant("20.00")
    await app.sql(oldInsert(old, "key-1"))
  })
  afterAll(() => app.stop())

  test("has the runs of before the months, and credits", async () => {
    expect(await placeOf(app, old)).toBe("runs_first")
    const [credit] = await app.sql("SELECT DISTINCT tableoid::regclass::text AS place FROM ledger WHERE run_id IS NULL")
    expect(credit).toEqual({ place: "ledger_first" })
  })

  test("keeps a run's key from every month, as each statement asks", async () => {
    expect((await keyed(org, "key-1", verify("bob"))).body.error.code).toBe("idempotency_key_reused")
    const later = makeId("run", Date.now() + 2 * monthMillis)
    await expect(app.sql(oldInsert(later, "key-1"))).rejects.toThrow("has the Idempotency-Key of")
    await app.sql(oldInsert(later, "key-1", "ON CONFLICT DO NOTHING"))
    expect(await placeOf(app, later)).toBeUndefined()
  })

  test("has no constraint that would keep a month from being moved later", async () => {
    // PostgreSQL attaches no table with a constraint that its new parent has and that is not validated.
    const unvalidated = await app.sql(`
      SELECT conrelid::regclass::text AS place, conname FROM pg_constraint
      WHERE NOT convalidated AND conrelid IN (SELECT relid FROM pg_partition_tree('runs') UNION SELECT relid FROM pg_partition_tree('ledger'))`)
    expect(unvalidated).toEqual([])
  })
})

describe("months", () => {
  let app: App
  let worker: App
  let org: Tenant
  beforeAll(async () => {
    app = await startApp({ role: "http" })
    await pastMonths((text) => app.sql(text), 5)
    const client = new Client({ connectionString: app.databaseUrl })
    await client.connect()
    // A worker looks after the months when it starts. It must be done before the tests do the same step by step.
    await client.query("SELECT pg_advisory_lock(hashtext(current_schema()), hashtext('months'))")
    worker = await startApp({ beside: app, role: "worker" })
    const tried = async () => worker.logs.some((line) => line.includes("Background work (partitions) failed"))
    await until("the worker has tried", tried, (done) => done)
    await client.end()
    org = await app.tenant("20.00")
  })
  afterAll(async () => {
    await worker.stop()
    await app.stop()
  })

  test("a key of an earlier month belongs to its run", async () => {
    const old = makeId("run", Date.now() - 2 * monthMillis)
    await app.sql(oldInsert(old, "key-old"))
    expect(await placeOf(app, old)).toMatch(/^runs_\d{4}_\d\d$/)
    const reused = await keyed(org, "key-old", verify("ada"))
    expect([reused.status, reused.body.error.code]).toEqual([422, "idempotency_key_reused"])
    expect(reused.text).toContain(old)
  })

  test("are made by processes that try at once, and a row that came before its month is in it", async () => {
    const early = makeId("run", Date.now() + 4 * monthMillis)
    await app.sql(oldInsert(early, "key-early"))
    expect(await placeOf(app, early)).toBe("runs_future")
    const all = "SELECT count(*)::int AS n FROM pg_inherits WHERE inhparent = 'runs_recent'::regclass"
    const [before] = await app.sql(all)
    const made = await Promise.all([1, 2, 3, 4].map(() => app.sql("SELECT make_months('runs') AS waiting")))
    expect(made.map(([row]) => row?.["waiting"])).toEqual([true, true, true, true])
    expect(await app.sql(all)).toEqual([before ?? {}])
    // As it is when nobody made months for a while: the last one is missing, and has a row.
    const [last] = await app.sql("SELECT to_char(date_trunc('month', now()) + interval '1 month', 'YYYY_MM') AS month")
    await app.sql("DELETE FROM runs_future")
    await app.sql(`DROP TABLE runs_future, runs_${last?.["month"]}`)
    await app.sql(
      "SELECT make_partition('runs_recent', 'runs_future', run_id_at(date_trunc('month', now()) + interval '1 month'), NULL)"
    )
    const [due] = await app.sql(
      "SELECT run_id_at(date_trunc('month', now()) + interval '1 month 3 days') || 'abcdefghjkmnpqrs' AS id"
    )
    await app.sql(oldInsert(String(due?.["id"]), "key-due"))
    expect(await app.sql("SELECT make_months('runs') AS waiting")).toEqual([{ waiting: false }])
    expect(await placeOf(app, String(due?.["id"]))).toBe(`runs_${last?.["month"]}`)
  })

  test("leave the tables of turns when their runs are final, and stay readable", async () => {
    const from = (await org.run(verify("dora"))).body.run_id
    const [done = ""] = await copies(app, org, from, [130])
    const [open = ""] = await copies(app, org, from, [100], "created")
    const recent = async (run_id: string) =>
      (await app.sql("SELECT 1 FROM runs_recent WHERE run_id = $1", [run_id])).length === 1
    const age = async () => {
      const steps: Array<unknown> = []
      for (let n = 0; n < 30; n++) {
        const [row] = await patiently(() => app.sql("SELECT age_month() AS step"))
        if (row?.["step"] === null) break
        steps.push(row?.["step"])
      }
      return steps
    }
    expect((await age()).filter((step) => String(step).endsWith("moved")).length).toBeGreaterThan(0)
    expect([await recent(done), await recent(open)]).toEqual([false, true])
    expect((await org.get(`/v1/runs/${done}`)).body.status).toBe("failed")
    // A process whose clock is months behind can't add a run that no turn would see.
    const place = String(await placeOf(app, done))
    await expect(copies(app, org, from, [130], "created")).rejects.toThrow("all_final")
    // What is final there may still be erased.
    await app.sql("UPDATE runs SET result = NULL, erased_at = now() WHERE run_id = $1", [done])
    await app.sql("UPDATE runs SET status = 'failed', finished_at = now() WHERE run_id = $1", [open])
    await age()
    expect(await recent(open)).toBe(false)
    expect(await placeOf(app, done)).toBe(place)
    expect((await org.run(verify("bob"))).body.status).toBe("succeeded")
  })

  test("an entry's number is used once, in whatever month, and by one of two transactions", async () => {
    await org.run(verify("cleo"))
    /** The wallet's next entry, a reservation of a run of some days ago. `ahead` 0 takes the newest number again. */
    const entry = (days: number, ahead: number, into = "ledger") => `
      WITH e AS (
        SELECT n.*, w.head AS before FROM wallets w, json_populate_record(NULL::ledger, json_build_object(
          'org_id', w.org_id, 'seq', w.entry_seq + ${ahead}, 'txn_id', 'txn_${days}', 'type', 'reserve', 'amount', -1, 'balance_after', w.balance,
          'reserved_after', w.reserved + 1, 'run_id', run_id_at(now() - interval '${days} days') || 'abcdefghjkmnpqrs', 'reference', 'twice',
          'created_at', now())) n
        WHERE w.org_id = '${org.org_id}'
      ), paid AS (
        UPDATE wallets w SET entry_seq = e.seq, reserved = e.reserved_after, head = ledger_hash(e.before, (e.org_id, e.seq, e.txn_id, e.type, e.amount,
          e.balance_after, e.reserved_after, e.run_id, e.reference, e.note, e.created_at, e.hash)::ledger)
        FROM e WHERE w.org_id = e.org_id AND ${ahead} > 0
      )
      INSERT INTO ${into} SELECT org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note, created_at,
        ledger_hash(before, (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note, created_at, hash)::ledger) FROM e`
    // No month of 35, 60 or 100 days ago is the newest entry's.
    for (const days of [35, 60, 100])
      await expect(app.sql(entry(days, 0))).rejects.toThrow("the ledger does not continue")
    const [month] = await app.sql("SELECT to_char(now() - interval '60 days', '\"ledger_\"YYYY_MM') AS name")
    await expect(app.sql(entry(60, 0, String(month?.["name"])))).rejects.toThrow("the ledger does not continue")
    await app.books()
    const [first, second] = [new Client(app.databaseUrl), new Client(app.databaseUrl)]
    await Promise.all([first.connect(), second.connect()])
    await first.query("BEGIN")
    await first.query(entry(60, 1))
    // The second transaction's entry has the same number. It takes no lock of the wallet, and waits for the first one all the same.
    const twin = second.query(entry(100, 1).replace(/, paid AS \([\s\S]*?\n {6}\)\n/, "\n")).catch((error) => error)
    const waits =
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%txn_100%'"
    await until(
      "the second waits",
      async () => (await app.sql(waits))[0]?.["n"],
      (n) => n === 1
    )
    await first.query("COMMIT")
    expect(String(await twin)).toContain("the ledger does not continue")
    const seqs = await app.sql(
      "SELECT count(*)::int AS n FROM ledger WHERE org_id = $1 GROUP BY seq HAVING count(*) > 1",
      [org.org_id]
    )
    expect(seqs).toEqual([])
    await expect(app.sql("UPDATE ledger_heads SET seq = seq - 1")).rejects.toThrow("used once")
    await expect(app.sql("DELETE FROM ledger_heads")).rejects.toThrow("used once")
    await Promise.all([first.end(), second.end()])
  })
})
