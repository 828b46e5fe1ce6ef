/**
 * A run costs the same however many runs, keys and months there are. Its statements touch no month that has left `runs_recent`. Of the tables
 * that grow they read rows of this run only, with plans that were made while the tables were small.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Client } from "pg"
import { type App, startApp, type Tenant, until, verify } from "../../kit/app.ts"
import { pastMonths } from "../../kit/past-months.ts"

const [pastKeys, pastApiKeys] = [3_000, 1_000]

let app: App
let door: App
let org: Tenant
let client: Client

beforeAll(async () => {
  app = await startApp()
  client = new Client({ connectionString: app.databaseUrl })
  await client.connect()
  await pastMonths((text) => client.query(text), 6)
  for (;;) if ((await client.query("SELECT age_month() AS step")).rows[0].step === null) break
  org = await app.tenant("50.00")
  // Its runs come to the turns through the mailbox.
  door = await startApp({ beside: app, role: "http" })
})
afterAll(() => client.end())

/** Runs over both routes, with and without Idempotency-Keys. Returns the number of runs. */
const runs = async (name: string): Promise<number> => {
  const sent = [app, door].flatMap((one) =>
    [1, 2, 3, 4, 5].flatMap((n) => {
      const ask = (headers: Record<string, string>) =>
        one.call(org.key, "POST", "/v1/run", {
          body: verify(`${name}${n}`),
          headers,
          signal: AbortSignal.timeout(10_000)
        })
      return [ask({}), ask({ "idempotency-key": `${name}-${n}-${one.url}` })]
    })
  )
  for (const { body, text } of await Promise.all(sent)) expect([body.status, text]).toEqual(["succeeded", text])
  return sent.length
}

test("waits for no month that is over", async () => {
  const { rows } = await client.query(`
    SELECT relid::regclass::text AS name FROM pg_partition_tree('runs') t WHERE isleaf AND parentrelid = 'runs'::regclass
    UNION ALL SELECT 'ledger_' || substr(relid::regclass::text, 6) FROM pg_partition_tree('runs')
    WHERE isleaf AND parentrelid = 'runs'::regclass AND relid <> 'runs_first'::regclass ORDER BY 1`)
  const over = rows.map(({ name }) => name).filter((name) => name !== "runs_first")
  expect(over.length).toBeGreaterThanOrEqual(8)
  await client.query(`BEGIN; LOCK TABLE ${over.join(", ")} IN ACCESS EXCLUSIVE MODE`)
  try {
    await runs("ada")
  } finally {
    await client.query("ROLLBACK")
  }
  await app.books()
})

test("reads the keys of its own organization only", async () => {
  // Plans are made now.
  await runs("abe")
  await client.query(
    `INSERT INTO idempotency_keys SELECT 'org_other', 'key-' || n, 'run_0000000000' || n FROM generate_series(1, ${pastKeys}) n`
  )
  await client.query(
    `INSERT INTO orgs (org_id, name) SELECT 'org_' || n, 'Other' FROM generate_series(1, ${pastApiKeys}) n`
  )
  await client.query(`
    INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display)
    SELECT 'key_' || n, 'org_' || n, 'key', 'test', sha256(n::text::bytea), 'key' FROM generate_series(1, ${pastApiKeys}) n`)
  // What this session has read to make the keys is reported before.
  await client.query("SELECT pg_stat_force_next_flush()")
  await client.query("SELECT pg_stat_reset()")
  let count = 0
  for (const name of ["bob", "cleo", "dora", "eve"]) count += await runs(name)
  await door.stop()
  await app.stop()
  // A session reports what it has read when it ends.
  const others =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
  await until(
    "the services' sessions have ended",
    async () => (await client.query(others)).rows[0].n,
    (n) => n === 0
  )
  const { rows } = await client.query(`
    SELECT relname, sum(idx_tup_read)::int + max(s.seq_tup_read)::int AS n FROM pg_stat_user_indexes i JOIN pg_stat_user_tables s USING (relid, relname)
    WHERE relname IN ('idempotency_keys', 'api_keys') GROUP BY relname`)
  const read = new Map(rows.map(({ relname, n }) => [relname, n]))
  // A look-up outside of the runs may read all keys once or twice by a plan from before. Runs that did would read ten times as many.
  expect(read.get("idempotency_keys")).toBeLessThan((count * pastKeys) / 10)
  expect(read.get("api_keys")).toBeGreaterThan(0)
  expect(read.get("api_keys")).toBeLessThan((count * pastApiKeys) / 10)
})
