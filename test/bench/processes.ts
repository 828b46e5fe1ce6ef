/**
 * `bun run bench:processes`: 1, 2 and 4 processes of each role, and what limits them.
 *
 * One PostgreSQL and one Redis serve all cases of a call, which runs on one machine: it shows what more processes cost there, and what
 * each part spends on a run. `--only redis|postgres|floor` picks the queues, or processes of the floor (floor.ts) that share the wallets,
 * `--lanes 4` the number of lanes, `--seconds 4` a case's length.
 */
import { parseArgs } from "node:util"
import { Client } from "pg"
import { type Cost, costOf, idleCores, sizesOf, sum } from "./counters.ts"
import { fund, loadIn, newDatabase, openStage, type Running, type Stage, start } from "./stage.ts"

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "redis,postgres" },
    lanes: { type: "string", default: "2" },
    seconds: { type: "string", default: "4" },
    clients: { type: "string", default: "128" }
  }
})
const [seconds, clients] = [Number(options.seconds), Number(options.clients)]
const main = new URL("../../src/main.ts", import.meta.url).pathname
const [warmUpSeconds, idleMillis] = [3, 1_500]
const cores = navigator.hardwareConcurrency

const floor = new URL("./floor.ts", import.meta.url).pathname
/** Processes of each role: `all` does everything, `http` and `worker` share the work. */
const layouts = [
  { all: 1, http: 0, worker: 0 },
  { all: 2, http: 0, worker: 0 },
  { all: 4, http: 0, worker: 0 },
  { all: 0, http: 1, worker: 1 },
  { all: 0, http: 2, worker: 2 },
  { all: 0, http: 4, worker: 4 }
] as const
const floorLayouts = [1, 2, 4, 8].map((all) => ({ all, http: 0, worker: 0 }))
type Role = keyof (typeof layouts)[number]
type Layout = Readonly<Record<Role, number>>
const nameOf = ({ all, http, worker }: Layout) => (all > 0 ? `${all} x all` : `${http} x http + ${worker} x worker`)

interface Row extends Cost {
  readonly queues: string
  readonly processes: string
  /** Share of one core that all processes take without a run, PostgreSQL and Redis included. */
  readonly idle: number
}
const rows: Array<Row> = []

const startAll = (layout: Layout, env: Record<string, string>, isFloor: boolean) =>
  Promise.all(
    (["all", "http", "worker"] as const).flatMap((role) =>
      Array.from({ length: layout[role] }, async () => ({
        role,
        running: await start(isFloor ? [floor] : [main, "serve", "--role", role], env)
      }))
    )
  )
const measure = async (
  stage: Stage,
  queues: string,
  layout: Layout,
  started: ReadonlyArray<{ readonly role: Role; readonly running: Running }>,
  client: Client,
  keys: ReadonlyArray<string>
) => {
  const urls = started.flatMap(({ running }) => (running.url === "" ? [] : [running.url])).join(",")
  // Code that is not compiled yet costs several times as much.
  await loadIn(urls, keys, clients, warmUpSeconds)
  const parts = new Map<string, ReadonlyArray<number>>()
  for (const { role, running } of started) parts.set(role, [...(parts.get(role) ?? []), running.pid])
  parts.set("postgres", [stage.postgresPid])
  if (queues === "redis" && stage.redisPid !== null) parts.set("redis", [stage.redisPid])
  const idle = sum(Object.values(await idleCores(parts, idleMillis)))
  const row: Row = {
    queues,
    processes: nameOf(layout),
    idle: Number(idle.toFixed(3)),
    ...(await costOf(parts, [client], () => loadIn(urls, keys, clients, seconds)))
  }
  rows.push(row)
  const one = rows.find(
    (first) => first.queues === queues && first.processes === nameOf(layouts[layout.all > 0 ? 0 : 3])
  )
  const relative = one === undefined ? 1 : row.runs_per_s / one.runs_per_s
  const dearer = one === undefined ? 1 : row.cpu_total / one.cpu_total
  console.log(
    `${queues.padEnd(8)} ${row.processes.padEnd(21)} ${String(row.runs_per_s).padStart(5)} runs/s (${relative.toFixed(2)} of one)  p99 ${row.p99_ms} ms  CPU ${row.cpu_total} s/1000 (${dearer.toFixed(2)} of one: ${Object.entries(
      row.cpu
    )
      .map(([name, value]) => `${name} ${value}`)
      .join(
        ", "
      )})  ${row.commits_per_run} commits, ${row.wal_bytes_per_run} B of WAL a run  ${row.commits_per_s} commits/s, ${row.wal_syncs_per_s} syncs/s  ${row.connections} connections  idle ${row.idle} cores  machine busy ${Math.round(row.busy * 100)} %, with us ${Math.round(row.ours * 100)} %${row.failed === 0 ? "" : `  FAILED ${row.failed}: ${row.failure}`}`
  )
}

const stage = await openStage({ max_connections: "400" })
console.log(
  `PostgreSQL durable; ${options.lanes} lanes, ${clients} clients, 100 wallets, ${seconds} s a case, ${cores} cores`
)
for (const queues of ["redis", "postgres", "floor"] as const) {
  if (!options.only.split(",").includes(queues) || (queues === "redis" && stage.redis === undefined)) continue
  const database = await newDatabase(stage)
  const env = {
    ...{ DATABASE_URL: database, PORT: "0", RUNGATE_RATE_LIMIT: "0", RUNGATE_LANES: options.lanes },
    ...(queues === "redis" ? { REDIS_URL: stage.redis ?? "" } : {}),
    ...(queues === "floor" ? { FLOOR_SHARED: "1" } : {})
  }
  const first = await start([main, "serve"], env)
  const keys = await fund(database, 100, Number(options.lanes))
  await first.stop()
  const client = new Client({ connectionString: database })
  await client.connect()
  const empty = await sizesOf(client)
  for (const layout of queues === "floor" ? floorLayouts : layouts) {
    const started = await startAll(layout, env, queues === "floor")
    await measure(stage, queues, layout, started, client, keys)
    await Promise.all(started.map(({ running }) => running.stop()))
  }
  const audit = Bun.spawnSync([process.execPath, main, "audit"], { env: { ...process.env, DATABASE_URL: database } })
  console.log(audit.stdout.toString().trim())
  const grown = await sizesOf(client)
  const { rows: counted } = await client.query("SELECT count(*)::int AS runs FROM runs")
  const tables = [...grown]
    .map(([table, bytes]) => [table, Math.round((bytes - (empty.get(table) ?? 0)) / counted[0].runs)] as const)
    .sort(([, a], [, b]) => b - a)
  const disk = tables.reduce((total, [, bytes]) => total + bytes, 0)
  const largest = tables.slice(0, 6).map(([table, bytes]) => `${table} ${bytes}`)
  console.log(`${counted[0].runs} runs: ${disk} B each on disk with indexes (${largest.join(", ")})`)
  await client.end()
}
console.log(JSON.stringify(rows))
process.exit(0)
