/**
 * `bun run bench`: starts everything it needs, loads it, and prints a table and JSON.
 *
 * The simple service runs in the same call on the same machine, so its ratio holds where the absolute figures drift.
 * `--quick` shortens it; `--only floor|redis|postgres|waiters` picks a part.
 */
import { cpuSeconds, peakRssMb } from "./machine.ts"
import { fund, loadIn, newDatabase, openStage, program, type Running, start } from "./stage.ts"
import { waiters } from "./waiters.ts"

const quick = process.argv.includes("--quick")
const only = process.argv.includes("--only") ? (process.argv[process.argv.indexOf("--only") + 1] ?? "") : ""
const wanted = (part: string) => only === "" || only.split(",").includes(part)
const seconds = quick ? 3 : 6
const root = new URL("../../", import.meta.url).pathname

interface Row {
  readonly service: string
  readonly wallets: number
  readonly clients: number
  readonly runs_per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly cpu_s_per_1000: number
  readonly peak_rss_mb: number
  readonly failed: number
}
const rows: Array<Row> = []

const measure = async (
  service: string,
  running: Running,
  others: ReadonlyArray<number>,
  keys: ReadonlyArray<string>,
  clients: number
) => {
  await loadIn(running.url, keys, clients, quick ? 1 : 2)
  const roots = [running.pid, ...others]
  const spent = () => roots.map((root) => cpuSeconds([root]))
  const before = spent()
  const result = await loadIn(running.url, keys, clients, seconds)
  const parts = spent().map((after, index) => after - (before[index] ?? 0))
  const cpu = parts.reduce((a, b) => a + b)
  const row: Row = {
    service,
    wallets: keys.length,
    clients,
    runs_per_s: Math.round(result.runs / result.seconds),
    p50_ms: Number(result.p50.toFixed(2)),
    p99_ms: Number(result.p99.toFixed(2)),
    cpu_s_per_1000: Number(((cpu / result.runs) * 1000).toFixed(3)),
    peak_rss_mb: peakRssMb(running.pid),
    failed: result.failed
  }
  rows.push(row)
  const { runs_per_s, p50_ms, p99_ms, cpu_s_per_1000, peak_rss_mb, failed } = row
  console.log(
    `${service.padEnd(18)} ${String(keys.length).padStart(4)} wallets ${String(clients).padStart(4)} clients: ${String(runs_per_s).padStart(6)} runs/s  p50 ${p50_ms} ms  p99 ${p99_ms} ms  CPU ${cpu_s_per_1000} s/1000 (${parts.map((part) => ((part / result.runs) * 1000).toFixed(2)).join(" + ")})  RSS ${peak_rss_mb} MB${failed === 0 ? "" : `  FAILED ${failed}`}`
  )
}

/** Compiles the hot code and prepares the statements, for both services alike: a service lives for weeks, not for seconds. */
const warmUp = (running: Running, keys: ReadonlyArray<string>) => loadIn(running.url, keys, 32, quick ? 3 : 8)

const cases: ReadonlyArray<readonly [wallets: number, clients: number]> = process.argv.includes("--busy")
  ? [
      [1, 128],
      [100, 128]
    ]
  : quick
    ? [
        [1, 1],
        [1, 128],
        [100, 128]
      ]
    : [
        [1, 1],
        [100, 1],
        [1, 32],
        [100, 32],
        [1, 128],
        [100, 128]
      ]

const stage = await openStage()
console.log(
  `PostgreSQL durable (fsync and synchronous_commit on), ${stage.redis === undefined ? "no Redis" : "Redis"}; ${seconds} s per case`
)

if (wanted("simple") || only === "redis" || only === "") {
  const database = await newDatabase(stage)
  const running = await start([`${root}test/bench/simple.ts`], { DATABASE_URL: database })
  const keys = Array.from({ length: 100 }, (_, n) => `key_${n}`)
  await warmUp(running, keys)
  for (const [wallets, clients] of cases)
    await measure("simple", running, [stage.postgresPid], keys.slice(0, wallets), clients)
  await running.stop()
}

if (wanted("floor")) {
  const database = await newDatabase(stage)
  const migrating = await start([await program(), "serve"], { DATABASE_URL: database, PORT: "0" })
  const keys = await fund(database, 100)
  await migrating.stop()
  const running = await start([`${root}test/bench/floor.ts`], { DATABASE_URL: database })
  await warmUp(running, keys)
  for (const [wallets, clients] of cases)
    await measure("floor", running, [stage.postgresPid], keys.slice(0, wallets), clients)
  await running.stop()
}

for (const backend of ["redis", "postgres"] as const) {
  if (!wanted(backend) || (backend === "redis" && stage.redis === undefined)) continue
  const database = await newDatabase(stage)
  const env = { DATABASE_URL: database, PORT: "0", RUNGATE_RATE_LIMIT: "0" }
  const redis: Record<string, string> = backend === "redis" ? { REDIS_URL: stage.redis ?? "" } : {}
  const running = await start([await program(), "serve"], { ...env, ...redis })
  const keys = await fund(database, 100)
  const others = [stage.postgresPid, ...(backend === "redis" && stage.redisPid !== null ? [stage.redisPid] : [])]
  await warmUp(running, keys)
  for (const [wallets, clients] of cases)
    await measure(`rungate ${backend}`, running, others, keys.slice(0, wallets), clients)
  await running.stop()
  const audit = Bun.spawnSync([process.execPath, await program(), "audit"], {
    env: { ...process.env, DATABASE_URL: database }
  })
  console.log(audit.stdout.toString().trim())
}

const waited = wanted("waiters") ? await waiters(stage, quick ? 1_000 : 10_000) : null

const find = (service: string, wallets: number) =>
  rows.find((row) => row.service === service && row.wallets === wallets && row.clients === 128)
for (const wallets of [1, 100]) {
  const ours = find("rungate redis", wallets)
  const simple = find("simple", wallets)
  if (ours !== undefined && simple !== undefined) {
    console.log(
      `${wallets === 1 ? "hot wallet" : "100 wallets"}, 128 clients: ${(ours.runs_per_s / simple.runs_per_s).toFixed(2)}x the simple service`
    )
  }
}
console.log(JSON.stringify({ rows, waiters: waited }))
process.exit(0)
