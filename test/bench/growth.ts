/**
 * Whether many runs make a run dearer: two services side by side, one on a database with a tenth of the other's runs, both spread over two years.
 * They are asked in turn, so that a busy machine slows both.
 *
 * `bun run bench:growth --runs 1000000`
 */
import { parseArgs } from "node:util"
import { Client } from "pg"
import { pastMonths } from "../kit/past-months.ts"
import { threadMicros } from "./machine.ts"
import { fund, newDatabase, openStage, type Running, start } from "./stage.ts"

const { values } = parseArgs({
  options: { runs: { type: "string", default: "1000000" }, rounds: { type: "string", default: "200" } }
})
const most = Number(values.runs)
const rounds = Number(values.rounds)
const [months, orgs] = [24, 5]
const main = new URL("../../src/main.ts", import.meta.url).pathname

const say = (text: string) => process.stderr.write(`${text}\n`)

/** Times that ids are made for. The runs of each follow one another by their number, so that most of an id costs nothing. */
const times = 10_000
/** Rows of one statement, so that none takes long. */
const step = 500_000

/**
 * Runs that succeeded and their entries, evenly over the months, newest last. Triggers are off: the hashes are made up. The rows are small,
 * so that ten million fit on a disk.
 */
const fill = async (client: Client, count: number) => {
  const org = "'org_bench' || lpad((n % 5)::text, 21, '0')"
  const id = `(SELECT of_time FROM bench_ids b WHERE b.at = ((n - 1)::bigint * ${times} / ${count})::int) || lpad(n::text, 16, '0')`
  await client.query(
    "SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '256MB'"
  )
  await client.query(`
    CREATE TEMP TABLE bench_ids AS
    SELECT at, run_id_at(to_timestamp(${Date.now() / 1000}) - (${times} - at) * make_interval(days => 730) / ${times} - interval '1 minute') AS of_time
    FROM generate_series(0, ${times - 1}) at`)
  await client.query("ALTER TABLE bench_ids ADD PRIMARY KEY (at)")
  // Keys are in no order, so their index is made at the end.
  await client.query("ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey")
  for (let from = 1; from <= count; from += step) {
    const numbers = `generate_series(${from}, ${Math.min(count, from + step - 1)}) n`
    await client.query(`CREATE TEMP TABLE bench_runs AS SELECT n, ${org} AS org_id, ${id} AS run_id FROM ${numbers}`)
    await client.query(`
      INSERT INTO runs (org_id, run_id, request_id, idempotency_key, key_claimed, fingerprint, kind, capability, provider, status, hold, quoted,
                        charged, input, plan, routing_reason, attempts, result, created_at, finished_at)
      SELECT org_id, run_id, 'req_' || n, md5(n::text), true, md5(n::text), 'capability', 'email.find', 'hunter', 'succeeded', 10, 10, 10,
             json_build_object('full_name', 'Person ' || n, 'company_domain', 'company-' || n || '.example'), '{"offers":[]}',
             'best_value', '[{"provider":"hunter","outcome":"succeeded","duration_ms":420,"detail":null}]',
             json_build_object('email', 'p' || n || '@company.example'), now(), now()
      FROM bench_runs`)
    await client.query("INSERT INTO idempotency_keys SELECT org_id, md5(n::text), run_id FROM bench_runs")
    await client.query(`
      INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, hash)
      SELECT org_id, 2 * ((n - 1) / 5 + 1) + e, 'txn_' || n || '_' || e, CASE e WHEN 0 THEN 'reserve' ELSE 'settle' END, -10,
             1000000000000 - 10 * ((n - 1) / 5 + e), CASE e WHEN 0 THEN 10 ELSE 0 END, run_id, 'ref', sha256('')
      FROM bench_runs, generate_series(0, 1) e`)
    await client.query("DROP TABLE bench_runs")
  }
  await client.query("ALTER TABLE idempotency_keys ADD PRIMARY KEY (org_id, idempotency_key)")
  await client.query(`
    UPDATE wallets w SET entry_seq = l.seq, balance = l.balance_after, reserved = l.reserved_after, head = l.hash
    FROM ledger l WHERE l.org_id = w.org_id AND l.seq = (SELECT max(seq) FROM ledger m WHERE m.org_id = w.org_id)`)
  await client.query(
    "UPDATE ledger_heads h SET seq = w.entry_seq, balance = w.balance, reserved = w.reserved FROM wallets w WHERE w.org_id = h.org_id"
  )
  await client.query("VACUUM ANALYZE runs, ledger, idempotency_keys")
  for (;;) if ((await client.query("SELECT age_month() AS step")).rows[0].step === null) break
  await client.query("CHECKPOINT")
}

const sizes = async (client: Client) => {
  const { rows } = await client.query(`
    SELECT what, sum(pg_indexes_size(relid))::float8 / 1e6 AS all_mb,
           (sum(pg_indexes_size(relid)) FILTER (WHERE relid::regclass::text = what || to_char(now(), '_YYYY_MM')))::float8 / 1e6 AS month_mb,
           sum(pg_table_size(relid))::float8 / 1e6 AS rows_mb
    FROM unnest(ARRAY['runs', 'ledger']) what, LATERAL pg_partition_tree(what::regclass) WHERE isleaf GROUP BY what ORDER BY what DESC`)
  const [keys] = (await client.query("SELECT pg_indexes_size('idempotency_keys')::float8 / 1e6 AS mb")).rows
  return { rows, keys: keys.mb }
}

interface Stored {
  readonly running: Running
  readonly keys: ReadonlyArray<string>
  readonly ids: ReadonlyArray<{ readonly run_id: string; readonly idempotency_key: string }>
  readonly count: number
  /** The service and its sessions of PostgreSQL. */
  readonly pids: () => Promise<ReadonlyArray<number>>
}

const stage = await openStage()
const made = async (count: number): Promise<Stored> => {
  const database = await newDatabase(stage)
  const env = { PORT: "0", DATABASE_URL: database, RUNGATE_RATE_LIMIT: "0" }
  await (await start([main, "serve"], env)).stop()
  const keys = await fund(database, orgs)
  const client = new Client({ connectionString: database })
  await client.connect()
  await pastMonths((text) => client.query(text), months)
  const began = performance.now()
  await fill(client, count)
  say(`${count.toLocaleString("en")} runs in ${Math.round((performance.now() - began) / 1000)} s`)
  const { rows: ids } = await client.query(
    "SELECT run_id, idempotency_key FROM runs TABLESAMPLE SYSTEM (5) WHERE org_id = 'org_bench' || lpad('0', 21, '0') ORDER BY random() LIMIT 2000"
  )
  const { rows, keys: keysMb } = await sizes(client)
  for (const { what, rows_mb, all_mb, month_mb } of rows)
    say(
      `${what}: ${rows_mb.toFixed(0)} MB, indexes ${all_mb.toFixed(1)} MB, of the current month ${(month_mb ?? 0).toFixed(2)} MB`
    )
  say(`idempotency_keys: indexes ${keysMb.toFixed(1)} MB`)
  const redis = stage.redis === undefined ? {} : { REDIS_URL: stage.redis }
  const running = await start([main, "serve"], { ...env, ...redis })
  const pids = async () => {
    const { rows: sessions } = await client.query(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'rungate'"
    )
    return [running.pid, ...sessions.map(({ pid }) => pid)]
  }
  return { running, keys, ids, count, pids }
}

const body = JSON.stringify({
  capability: "email.find",
  input: { full_name: "Ada Lovelace", company_domain: "example.com" }
})
/** A run is a POST of the body; with a key it has that Idempotency-Key. */
const requests: Readonly<
  Record<string, (to: Stored, n: number) => readonly [path: string, init?: { key: string | null }]>
> = {
  "a run": () => ["/v1/run", { key: null }],
  "a run with an Idempotency-Key": () => ["/v1/run", { key: crypto.randomUUID() }],
  "a run's key with another body": ({ ids }, n) => ["/v1/run", { key: ids[n % ids.length]?.idempotency_key ?? "" }],
  "a run by id": ({ ids }, n) => [`/v1/runs/${ids[n % ids.length]?.run_id}`],
  "the newest 50 runs": () => ["/v1/runs?limit=50"],
  "the newest 50 entries": () => ["/v1/wallet/transactions?limit=50"]
}

const ask = async (to: Stored, path: string, init?: { key: string | null }) => {
  const headers: Record<string, string> = { authorization: `Bearer ${to.keys[0]}` }
  const post = init === undefined ? {} : { method: "POST", body }
  if (init !== undefined) headers["content-type"] = "application/json"
  if (init !== undefined && init.key !== null) headers["idempotency-key"] = init.key
  const sent = performance.now()
  const response = await fetch(`${to.running.url}${path}`, { headers, ...post })
  await response.text()
  if (![200, 422].includes(response.status)) throw new Error(`${path}: ${response.status}`)
  return performance.now() - sent
}

const few = await made(Math.ceil(most / 10))
const many = await made(most)
const median = (times: Array<number>) => times.sort((a, b) => a - b)[times.length >> 1] ?? 0
const print = (cells: ReadonlyArray<string>) => process.stdout.write(`| ${cells.join(" | ")} |\n`)
const header = [few, many].map(({ count }) => `${count.toLocaleString("en")} runs: p50 ms | CPU ms`)
print(["request", ...header, "p50", "CPU"])
print(Array.from({ length: 7 }, () => "---"))
for (const [name, request] of Object.entries(requests)) {
  const [fewPids, manyPids] = [await few.pids(), await many.pids()]
  const sides = [
    { to: few, pids: fewPids, times: new Array<number>(), cpu: 0 },
    { to: many, pids: manyPids, times: new Array<number>(), cpu: 0 }
  ]
  for (let n = -20; n < rounds; n++) {
    for (const side of n % 2 === 0 ? sides : sides.toReversed()) {
      const before = threadMicros(side.pids)
      const took = await ask(side.to, ...request(side.to, n + 20))
      if (n < 0) continue
      side.times.push(took)
      side.cpu += threadMicros(side.pids) - before
    }
  }
  const figures = sides.map(({ times, cpu }) => [median(times), cpu / rounds / 1000] as const)
  const [[time = 0, cpu = 0] = [], [laterTime = 0, laterCpu = 0] = []] = figures
  print([
    name,
    ...[time, cpu, laterTime, laterCpu].map((one) => one.toFixed(2)),
    ...[laterTime / time, laterCpu / cpu].map((one) => one.toFixed(2))
  ])
}
await few.running.stop()
await many.running.stop()
process.exit(0)
